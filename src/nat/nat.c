/*
 * nat.c - coop-nat: keeps the way out of one box
 *
 *   coop-nat veth|user     with the supervisor's socket as descriptor 0 and the rules as 1
 *   coop-nat sweep         removes what killed ones have left on the host; prints how much
 *
 * The box sends its namespace, this makes the way out and answers, and then waits for the
 * end-of-file to take it down. What speaks with the box meanwhile is another process: nat/resident.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/host/host_rule.h"
#include "nat/resident.h"
#include "nat/table.h"
#include "nat/uplink.h"
#include "sys/kernel.h"

#define N_FDS       6
#define LAST_MS     900 /* the supervisor waits for a second */
#define RESIDENT_ID 65534

struct uplink_owner {
    struct nat_sockets sockets;
    int fds[N_FDS]; /* in the order of the protocol; -1: none */
    struct nat_uplink uplink;
    pid_t sender; /* of the box */
    pid_t resident;
    int resident_fd;
};

int nat_words_set(struct nat_words *words, int error, const char *hint, const char *format, ...)
{
    va_list args;

    *words = (struct nat_words){ .sentence = "" };
    va_start(args, format);
    (void)vsnprintf(words->sentence, sizeof words->sentence, format, args);
    va_end(args);
    (void)snprintf(words->hint, sizeof words->hint, "%s", hint);
    return -error;
}

/* ---- the box */

/* The kernel says who sent it: the supervisor has asked for that. */
static size_t take_control(struct uplink_owner *owner, struct msghdr *header)
{
    size_t n_fds = 0;

    for (struct cmsghdr *at = CMSG_FIRSTHDR(header); at; at = CMSG_NXTHDR(header, at)) {
        if (at->cmsg_level != SOL_SOCKET)
            continue;
        if (at->cmsg_type == SCM_RIGHTS) {
            n_fds = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            memcpy(owner->fds, CMSG_DATA(at), n_fds * sizeof(int));
        } else if (at->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;

            memcpy(&sender, CMSG_DATA(at), sizeof sender);
            owner->sender = sender.pid;
        }
    }
    return n_fds;
}

/* 1; 0: there is to be none. */
static int take_box(struct uplink_owner *owner)
{
    union {
        char space[CMSG_SPACE(N_FDS * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr header;
    } control;
    struct iovec io = { &owner->sockets, sizeof owner->sockets };
    struct msghdr header = { .msg_iov = &io,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof control.space };
    ssize_t n;

    do
        n = recvmsg(NAT_CONTROL_FD, &header, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n < 0 ? -errno : 0;
    size_t n_fds = take_control(owner, &header);
    if (n != sizeof owner->sockets || owner->sockets.magic != NAT_SOCKETS_MAGIC ||
        n_fds != (owner->sockets.has_log ? N_FDS : N_FDS - 1))
        return -EBADMSG;
    return 1;
}

/* Whether a rule names addresses, so that one of the host's own may be among them. */
static bool reaches_host(void)
{
    char line[HOST_RULE_TEXT_MAX + 16];
    FILE *rules = fdopen(fcntl(NAT_RULES_FD, F_DUPFD_CLOEXEC, 3), "re");
    bool does = false;

    while (rules && !does && fgets(line, sizeof line, rules))
        does = strncmp(line, "allow ", strlen("allow ")) == 0;
    if (rules)
        (void)fclose(rules);
    return does;
}

/* ---- the resident */

_Noreturn static void reside(const struct uplink_owner *owner, pid_t parent)
{
    const struct nat_resident_sockets sockets = { .control_fd = NAT_CONTROL_FD,
                                                  .rules_fd = NAT_RULES_FD,
                                                  .udp_fd = owner->fds[3],
                                                  .tcp_fd = owner->fds[4],
                                                  .log_fd = owner->fds[5] };

    for (int i = 0; i < 3; i++)
        (void)close(owner->fds[i]);
    /* Root becomes nobody; others are who they are. */
    (void)setgroups(0, NULL);
    if (geteuid() == 0 &&
        (setresgid(RESIDENT_ID, RESIDENT_ID, RESIDENT_ID) < 0 ||
         setresuid(RESIDENT_ID, RESIDENT_ID, RESIDENT_ID) < 0) &&
        errno != EINVAL) /* a user namespace need not know of nobody */
        _exit(1);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    _exit(nat_resident_run(sockets));
}

static int start_resident(struct uplink_owner *owner)
{
    pid_t parent = getpid();
    pid_t pid = fork();

    if (pid < 0)
        return -errno;
    if (pid == 0)
        reside(owner, parent);
    owner->resident = pid;
    owner->resident_fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
    for (int i = 2; i < N_FDS; i++)
        close_fd(&owner->fds[i]);
    return owner->resident_fd < 0 ? -errno : 0;
}

/* It has last words, unless it is stuck. */
static void end_resident(struct uplink_owner *owner)
{
    struct pollfd end = { .fd = owner->resident_fd, .events = POLLIN };

    if (owner->resident <= 0)
        return;
    if (poll(&end, 1, LAST_MS) <= 0)
        (void)kill(owner->resident, SIGKILL);
    while (waitpid(owner->resident, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- the life of a way out */

static void answer(int r, enum nat_method method, const struct nat_words *words)
{
    const struct nat_answer message = {
        .magic = NAT_SOCKETS_MAGIC, .error = -r, .method = method, .words = *words
    };

    (void)send(NAT_CONTROL_FD, &message, sizeof message, MSG_NOSIGNAL);
}

static int go_up(struct uplink_owner *owner, bool is_veth, struct nat_words *words)
{
    const struct nat_box box = { .network_fd = owner->fds[0],
                                 .user_fd = owner->fds[1],
                                 .pid = owner->sender,
                                 .route_fd = owner->fds[2],
                                 .reaches_host = reaches_host() };

    return is_veth ? nat_veth_up(&owner->uplink, &box, words)
                   : nat_user_up(&owner->uplink, &box, NAT_CONTROL_FD, words);
}

static void go_down(struct uplink_owner *owner)
{
    for (int i = 0; i < N_FDS; i++)
        close_fd(&owner->fds[i]);
    if (owner->uplink.method == NAT_VETH)
        nat_veth_down(&owner->uplink);
    else
        nat_user_down(&owner->uplink);
}

/* Nobody sends anything more; it ends, or one of ours has, and then nothing is of use any more. */
static void await_end(const struct uplink_owner *owner)
{
    for (;;) {
        struct pollfd fds[] = { { .fd = NAT_CONTROL_FD, .events = POLLRDHUP },
                                { .fd = owner->resident_fd, .events = POLLIN },
                                { .fd = owner->uplink.pidfd, .events = POLLIN } };
        int n = poll(fds, COUNT(fds), -1);

        if (n > 0 || (n < 0 && errno != EINTR))
            return;
    }
}

static int keep(bool is_veth)
{
    struct uplink_owner owner = { .fds = { -1, -1, -1, -1, -1, -1 },
                                  .uplink = { .pidfd = -1, .said_fd = -1 },
                                  .resident_fd = -1 };
    struct nat_words words = { .sentence = "" };
    int r = take_box(&owner);

    if (r == 0)
        return 0;
    if (r > 0)
        r = go_up(&owner, is_veth, &words);
    else
        (void)nat_words_set(&words, -r, "", "take the box's namespace: %s", strerror(-r));
    answer(r, owner.uplink.method, &words);
    if (r == 0)
        r = start_resident(&owner);
    if (r == 0)
        await_end(&owner);
    end_resident(&owner);
    go_down(&owner);
    return r < 0;
}

static int sweep(void)
{
    int n = nat_table_sweep(true);

    if (n < 0) {
        fprintf(stderr, "coop-nat: look at the rules of nf_tables: %s\n", strerror(-n));
        return 1;
    }
    printf("%d\n", n);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";

    (void)signal(SIGPIPE, SIG_IGN);
    if (strcmp(what, "sweep") == 0)
        return sweep();
    if (strcmp(what, "veth") != 0 && strcmp(what, "user") != 0) {
        fprintf(stderr, "coop-nat: started by coop, not by hand\n");
        return 2;
    }
    /* A socket of ours must not become one of the first three. */
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
            return 1;
    (void)syscall(NR_CLOSE_RANGE, 3, ~0u, 0);
    return keep(*what == 'v');
}
