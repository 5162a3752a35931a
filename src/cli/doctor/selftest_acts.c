/*
 * selftest_acts.c - the forbidden acts
 *
 * Each works on an ordinary host and must not work in a box. They run in a process of their own,
 * inside as well as outside, so they may leave it in any state; outside of it they leave nothing.
 */
#include "selftest.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

#define HIGHEST_FD 256
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif

void selftest_process_name(const struct selftest_scene *scene, char out[16])
{
    (void)snprintf(out, 16, "coop-%.10s", scene->token);
}

/* Whether the file holds the token: then it is ours and no other of that name. */
static int read_canary(int directory_fd, const char *path, const struct selftest_scene *scene)
{
    char text[SELFTEST_TOKEN] = "";
    auto_close int fd = openat(directory_fd, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
        return errno;
    return strcmp(text, scene->token) == 0 ? 0 : ENOENT;
}

static int read_outside(const struct selftest_scene *scene)
{
    char path[600];

    (void)snprintf(path, sizeof path, "%s/canary", scene->directory);
    return read_canary(AT_FDCWD, path, scene);
}

static int read_by_link(const struct selftest_scene *scene)
{
    return read_canary(AT_FDCWD, "out/canary", scene);
}

/* A descriptor that leads out of the box: the doctor leaves one open, without close-on-exec. */
static int read_by_descriptor(const struct selftest_scene *scene)
{
    for (int fd = 0; fd < HIGHEST_FD; fd++) {
        char path[64];
        if (read_canary(fd, "canary", scene) == 0)
            return 0;
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d/canary", fd);
        if (read_canary(AT_FDCWD, path, scene) == 0)
            return 0;
    }
    return ENOENT;
}

static int create(const char *path)
{
    auto_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno;
    (void)unlink(path);
    return 0;
}

/* Seen in the box's own /tmp it would be no harm: the directory itself must be missing there. */
static int write_outside(const struct selftest_scene *scene)
{
    char path[600];

    (void)snprintf(path, sizeof path, "%s/written-%d", scene->directory, (int)getpid());
    return create(path);
}

static int write_usr(const struct selftest_scene *scene)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/usr/.coop-doctor-%s", scene->token);
    return create(path);
}

static int see_processes(const struct selftest_scene *scene)
{
    DIR *directory = opendir("/proc");
    char wanted[16];
    int r = ENOENT;

    if (!directory)
        return errno;
    selftest_process_name(scene, wanted);
    for (struct dirent *entry; r && (entry = readdir(directory));) {
        char path[300];
        char name[16] = "";
        (void)snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
        auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && read(fd, name, sizeof name - 1) > 0)
            r = strncmp(name, wanted, strlen(wanted)) == 0 ? 0 : ENOENT;
    }
    (void)closedir(directory);
    return r;
}

/* In the box the number may belong to somebody else: the doctor looks whether it got the signal. */
static int signal_doctor(const struct selftest_scene *scene)
{
    (void)signal(SIGUSR1, SIG_IGN);
    return kill(scene->pid, SIGUSR1) < 0 ? errno : 0;
}

static int connect_to(const struct sockaddr *address, socklen_t length)
{
    auto_close int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return errno;
    return connect(fd, address, length) < 0 ? errno : 0;
}

static int connect_loopback(const struct selftest_scene *scene)
{
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons((uint16_t)scene->port),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    return connect_to((const struct sockaddr *)&address, sizeof address);
}

static int connect_abstract(const struct selftest_scene *scene)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int n =
        snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "coop-doctor-%s", scene->token);

    return connect_to((const struct sockaddr *)&address,
                      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
}

static int connect_in_workspace(const struct selftest_scene *scene)
{
    const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };

    (void)scene;
    return connect_to((const struct sockaddr *)&address, sizeof address);
}

static int make_namespace(const struct selftest_scene *scene)
{
    (void)scene;
    return unshare(CLONE_NEWUSER) < 0 ? errno : 0;
}

/* An ordinary user mounts in a namespace of its own; so would whoever wants out. */
static int mount_something(const struct selftest_scene *scene)
{
    (void)scene;
    (void)unshare(CLONE_NEWUSER | CLONE_NEWNS);
    return mount("none", "/tmp", "tmpfs", 0, NULL) < 0 ? errno : 0;
}

static int trace(pid_t pid)
{
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
        return errno;
    (void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return 0;
}

/* Pid 1 in the box only: outside it would be the machine's own. */
static int trace_process(const struct selftest_scene *scene)
{
    if (scene->is_inside && trace(1) == 0)
        return 0;
    pid_t child = fork();
    if (child < 0)
        return errno;
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)pause();
        _exit(0);
    }
    int r = trace(child);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    return r;
}

/* Reading would be enough. */
static int open_memory(const struct selftest_scene *scene)
{
    auto_close int fd =
        open(scene->is_inside ? "/proc/1/mem" : "/proc/self/mem", O_RDONLY | O_CLOEXEC);

    return fd < 0 ? errno : 0;
}

/* Opened, never written. */
static int open_sysrq(const struct selftest_scene *scene)
{
    auto_close int fd = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);

    (void)scene;
    return fd < 0 ? errno : 0;
}

static int use_keyring(const struct selftest_scene *scene)
{
    long key = syscall(SYS_add_key, "user", scene->token, "x", 1, KEY_SPEC_PROCESS_KEYRING);

    return key < 0 ? errno : 0;
}

static int make_handle(const struct selftest_scene *scene)
{
    struct {
        struct file_handle header;
        char bytes[MAX_HANDLE_SZ];
    } handle = { .header.handle_bytes = MAX_HANDLE_SZ };
    int mount_id;

    (void)scene;
    return name_to_handle_at(AT_FDCWD, "/", &handle.header, &mount_id, 0) < 0 ? errno : 0;
}

static int use_io_uring(const struct selftest_scene *scene)
{
    char parameters[120] = { 0 };
    long fd = syscall(SYS_io_uring_setup, 1, parameters);

    (void)scene;
    if (fd < 0)
        return errno;
    (void)close((int)fd);
    return 0;
}

static int have_capabilities(const struct selftest_scene *scene)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

    (void)scene;
    if (syscall(SYS_capget, &header, data) < 0)
        return errno;
    return data[0].permitted || data[1].permitted ? 0 : EPERM;
}

static int gain_privileges(const struct selftest_scene *scene)
{
    (void)scene;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : EPERM;
}

static int read_environment(const struct selftest_scene *scene)
{
    const char *value = getenv("COOP_DOCTOR_CANARY");

    return value && strcmp(value, scene->token) == 0 ? 0 : ENOENT;
}

const struct selftest_act selftest_acts[] = {
    { "read-outside", "read a file outside the workspace", read_outside, false },
    { "read-by-link", "follow a link out of the workspace", read_by_link, false },
    { "read-by-descriptor", "use a descriptor that leads out", read_by_descriptor, false },
    { "write-outside", "write outside the workspace", write_outside, false },
    { "write-usr", "write to /usr", write_usr, false },
    { "see-processes", "see a process of the host", see_processes, false },
    { "signal-host", "signal a process of the host", signal_doctor, true },
    { "connect-loopback", "connect to the host's loopback", connect_loopback, false },
    { "connect-abstract", "connect to an abstract socket", connect_abstract, false },
    { "connect-workspace", "connect to a host socket in the workspace", connect_in_workspace,
      false },
    { "mount", "mount a file system", mount_something, false },
    { "unshare", "make a user namespace", make_namespace, false },
    { "ptrace", "trace a process, pid 1 first", trace_process, false },
    { "open-memory", "open the memory of pid 1", open_memory, false },
    { "sysrq", "open /proc/sysrq-trigger", open_sysrq, false },
    { "keyring", "add a key to a keyring", use_keyring, false },
    { "file-handle", "make a file handle", make_handle, false },
    { "io-uring", "set up io_uring", use_io_uring, false },
    { "capabilities", "hold capabilities", have_capabilities, false },
    { "new-privileges", "gain privileges by exec", gain_privileges, false },
    { "environment", "read the caller's environment", read_environment, false },
};
const size_t selftest_n_acts = COUNT(selftest_acts);

/* Each in a process of its own: one that is killed for trying says so and stops no other. */
static int attempt_alone(const struct selftest_act *act, const struct selftest_scene *scene)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        (void)alarm(10);
        _exit(act->attempt(scene));
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int selftest_inside(int argc, char **argv)
{
    struct selftest_scene scene = { .is_inside = true };

    if (argc != 4)
        return 2;
    (void)snprintf(scene.token, sizeof scene.token, "%s", argv[0]);
    scene.pid = (pid_t)strtol(argv[1], NULL, 10);
    scene.port = (int)strtol(argv[2], NULL, 10);
    (void)snprintf(scene.directory, sizeof scene.directory, "%s", argv[3]);
    for (size_t i = 0; i < selftest_n_acts; i++) {
        int r = attempt_alone(&selftest_acts[i], &scene);
        printf("%s %s %d\n", scene.token, selftest_acts[i].name, r);
        (void)fflush(stdout);
    }
    return 0;
}
