/*
 * user.c - everybody's way out: pasta, else slirp4netns
 *
 * They join the box's namespaces, make an interface there, and speak for the box with sockets on
 * this side. Some versions wait for ever for what they cannot have, so the device that both need
 * is tried first, and each has a few seconds to make a route. They end with us: by the signal that
 * our end sends them, and by their own exit where we have one.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "nat/uplink.h"
#include "net/inside/nat_programs.h"
#include "sys/kernel.h"

#define PATIENCE_MS 5000
#define N_ARGUMENTS 40
#define PATH_BYTES  64

/* NETWORK and USER stand for the paths of the namespaces, PROCESS for the number of one in both. Ports of the host's loopback lead nowhere
 * and no port leads inside, names are asked for elsewhere; one address for everybody. */
#define NETWORK "@network"
#define USER    "@user"
#define PROCESS "@process"
static const char *const pasta[] = {
    NAT_PROGRAMS_PASTA,
    "--foreground",
    "--quiet",
    "--config-net",
    "--no-map-gw",
    "--tcp-ports",
    "none",
    "--udp-ports",
    "none",
    "--tcp-ns",
    "none",
    "--udp-ns",
    "none",
    "--no-dhcp",
    "--no-dhcpv6",
    "--no-ra",
    "--ns-ifname",
    "eth0",
    PROCESS,
    NULL,
};
static const char *const slirp[] = {
    NAT_PROGRAMS_SLIRP,
    "--configure",
    "--mtu=65520",
    "--disable-host-loopback",
    "--disable-dns",
    "--netns-type=path",
    "--userns-path",
    USER,
    NETWORK,
    "eth0",
    NULL,
};

static const struct program {
    enum nat_method method;
    const char *const *arguments;
} programs[] = { { NAT_PASTA, pasta }, { NAT_SLIRP, slirp } };

/* ---- starting one */

struct start {
    const char *path;
    char *arguments[N_ARGUMENTS];
    char network[PATH_BYTES], user[PATH_BYTES], process[PATH_BYTES];
    int said[2]; /* what it complains of */
};

/* Descriptors of ours by their names: programs close those that they do not know. pasta could open
 * only the first of them, because it joins one namespace before it opens the next. */
static void fill_arguments(struct start *start, const char *const *arguments,
                           const struct nat_box *box)
{
    (void)snprintf(start->network, PATH_BYTES, "/proc/%d/fd/%d", (int)getpid(), box->network_fd);
    (void)snprintf(start->user, PATH_BYTES, "/proc/%d/fd/%d", (int)getpid(), box->user_fd);
    (void)snprintf(start->process, PATH_BYTES, "%d", (int)box->pid);
    for (size_t i = 0; arguments[i] && i < N_ARGUMENTS - 1; i++)
        start->arguments[i] = strcmp(arguments[i], NETWORK) == 0 ? start->network
                              : strcmp(arguments[i], USER) == 0  ? start->user
                              : strcmp(arguments[i], PROCESS) == 0
                                  ? start->process
                                  : (char *)(uintptr_t)arguments[i];
}

_Noreturn static void become(const struct start *start, pid_t parent)
{
    char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    char *environment[] = { path, NULL };
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    (void)dup2(nothing, 0);
    (void)dup2(start->said[1], 1);
    (void)dup2(start->said[1], 2);
    (void)syscall(NR_CLOSE_RANGE, 3, ~0u, 0);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)execve(start->path, start->arguments, environment);
    _exit(127);
}

static int start_program(struct nat_uplink *uplink, const struct start *start)
{
    pid_t parent = getpid();
    pid_t pid = fork();

    if (pid < 0)
        return -errno;
    if (pid == 0)
        become(start, parent);
    uplink->pid = pid;
    uplink->pidfd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
    if (uplink->pidfd >= 0)
        return 0;
    int error = errno;
    nat_user_down(uplink);
    return -error;
}

/* ---- waiting for the route */

static bool is_way_out(const struct nlmsghdr *message)
{
    const struct rtmsg *route = NLMSG_DATA(message);

    return message->nlmsg_type == RTM_NEWROUTE &&
           message->nlmsg_len >= NLMSG_LENGTH(sizeof *route) && route->rtm_dst_len == 0 &&
           route->rtm_table == RT_TABLE_MAIN && route->rtm_type == RTN_UNICAST;
}

static bool hears_of_way_out(int route_fd)
{
    union {
        char bytes[8192];
        struct nlmsghdr header;
    } answer;
    ssize_t got;

    while ((got = recv(route_fd, &answer, sizeof answer, MSG_DONTWAIT)) > 0) {
        size_t n = (size_t)got;

        for (const struct nlmsghdr *message = &answer.header; NLMSG_OK(message, n);
             message = NLMSG_NEXT(message, n))
            if (is_way_out(message))
                return true;
    }
    return false;
}

/* 0; -ETIME, -ECHILD: it has ended; -ECANCELED: nobody wants it any more. */
static int await_route(const struct nat_uplink *uplink, int route_fd, int control_fd)
{
    int64_t until = clock_now_ms() + PATIENCE_MS;

    for (;;) {
        struct pollfd fds[] = { { .fd = route_fd, .events = POLLIN },
                                { .fd = uplink->pidfd, .events = POLLIN },
                                { .fd = control_fd } };
        int64_t left = until - clock_now_ms();

        if (left <= 0)
            return -ETIME;
        if (poll(fds, COUNT(fds), (int)left) < 0 && errno != EINTR)
            return -errno;
        if (fds[0].revents && hears_of_way_out(route_fd))
            return 0;
        if (fds[1].revents)
            return -ECHILD;
        if (fds[2].revents & POLLHUP)
            return -ECANCELED;
    }
}

/* ---- */

/* The last line of what it said, less that nobody keeps its log. */
static void read_complaint(int fd, char *out, size_t size)
{
    char said[2000];
    ssize_t n = read(fd, said, sizeof said - 1);
    char *rest = said;
    char *line;

    said[n > 0 ? n : 0] = '\0';
    out[0] = '\0';
    while ((line = strsep(&rest, "\n")))
        if (*line && !strstr(line, "syslog"))
            (void)snprintf(out, size, "%s", line);
    for (char *at = out; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
}

static int fail_with(const char *name, int r, int said_fd, struct nat_words *words)
{
    char complaint[200];

    read_complaint(said_fd, complaint, sizeof complaint);
    return nat_words_set(words,
                         r == -ETIME    ? ETIMEDOUT
                         : r == -ECHILD ? ENETDOWN
                                        : -r,
                         "use --network gate, which needs no other program",
                         "%s did not make a way out %s%s%s", name,
                         r == -ETIME    ? "within 5 seconds"
                         : r == -ECHILD ? "but ended"
                                        : strerror(-r),
                         complaint[0] ? ": " : "", complaint);
}

static int try_program(struct nat_uplink *uplink, const struct program *program, const char *path,
                       const struct nat_box *box, int control_fd, struct nat_words *words)
{
    struct start start = { .path = path, .said = { -1, -1 } };

    /* A reader that we are not must not hold it up. */
    if (pipe2(start.said, O_CLOEXEC | O_NONBLOCK) < 0)
        return nat_words_set(words, errno, "", "make a pipe: %s", strerror(errno));
    fill_arguments(&start, program->arguments, box);
    uplink->method = program->method;
    int r = start_program(uplink, &start);
    if (r == 0)
        r = await_route(uplink, box->route_fd, control_fd);
    if (r < 0) {
        nat_user_down(uplink);
        r = fail_with(program->arguments[0], r, start.said[0], words);
    }
    (void)close(start.said[1]);
    if (r < 0)
        (void)close(start.said[0]);
    else
        uplink->said_fd = start.said[0];
    return r;
}

static int try_tun(struct nat_words *words)
{
    auto_close int fd = open(NAT_PROGRAMS_TUN, O_RDWR | O_CLOEXEC);

    if (fd >= 0)
        return 0;
    return nat_words_set(
        words, errno,
        errno == EACCES ? "run 'chmod 666 /dev/net/tun' as root, as most distributions have "
                          "it, or use --network gate"
                        : "run 'modprobe tun' as root, or use --network gate",
        "the network 'nat' needs the device " NAT_PROGRAMS_TUN " for other users than root: %s",
        strerror(errno));
}

int nat_user_up(struct nat_uplink *uplink, const struct nat_box *box, int control_fd,
                struct nat_words *words)
{
    char path[NAT_PROGRAMS_PATH];
    int r = try_tun(words);

    if (r < 0)
        return r;
    r = -ENOENT;
    for (size_t i = 0; i < COUNT(programs); i++) {
        if (!nat_programs_find(programs[i].arguments[0], path))
            continue;
        r = try_program(uplink, &programs[i], path, box, control_fd, words);
        if (r == 0 || r == -ECANCELED)
            return r;
    }
    if (r == -ENOENT)
        return nat_words_set(words, ENOENT,
                             "install the package passt (for pasta) or slirp4netns, or use "
                             "--network gate",
                             "the network 'nat' needs the program pasta or slirp4netns for other "
                             "users than root, and neither is installed");
    return r;
}

void nat_user_down(struct nat_uplink *uplink)
{
    if (uplink->pid > 0) {
        (void)kill(uplink->pid, SIGKILL);
        while (waitpid(uplink->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    uplink->pid = 0;
    close_fd(&uplink->pidfd);
    close_fd(&uplink->said_fd);
}
