#include "live.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plan/seccomp/seccomp.h"
#include "policy/policy.h"

#define PROGRAM_VIEW \
    "/run/coop-check"        /* where a box can have a mount and no project shows through */
#define EXECVE_CHECK 0x10000 /* AT_EXECVE_CHECK, which libc may lack */
#define TIMEOUT_MS   20000
#define CONNECT_MS   5000
#define ANSWER       "coop-check "

/* ---- inside */

/* A directory that is hidden is an empty one, so something must be found in it. */
static int read_directory(int fd)
{
    DIR *directory = fdopendir(fd);
    int r = ENOENT;

    if (!directory)
        return errno;
    errno = 0;
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = 0;
    if (errno)
        r = errno;
    (void)closedir(directory);
    return r;
}

static int try_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;
    char byte;
    int r = 0;

    if (fd < 0 || fstat(fd, &st) < 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return read_directory(fd);
    if (read(fd, &byte, 1) < 0 && errno != EAGAIN)
        r = errno;
    (void)close(fd);
    return r;
}

static int make_and_remove(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno;
    (void)close(fd);
    return unlink(path) < 0 ? errno : 0;
}

static int try_write(const char *path)
{
    char inner[PATH_MAX];
    struct stat st;

    if (stat(path, &st) < 0)
        return errno == ENOENT ? make_and_remove(path) : errno;
    if (S_ISDIR(st.st_mode)) {
        int n = snprintf(inner, sizeof inner, "%s/.coop-check-%d", path, (int)getpid());

        return n < 0 || (size_t)n >= sizeof inner ? ENAMETOOLONG : make_and_remove(inner);
    }
    auto_close int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? errno : 0;
}

/* Where the kernel cannot be asked: the mode, and whether programs may be on that mount at all. */
static int look_executable(const char *path)
{
    struct statvfs file_system;

    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 || statvfs(path, &file_system) < 0)
        return errno;
    return file_system.f_flag & ST_NOEXEC ? EACCES : 0;
}

static int check_executable(const char *path)
{
    char *const nothing[] = { NULL };

    /* AT_EXECVE_CHECK: Linux 6.14. */
    if (syscall(SYS_execveat, AT_FDCWD, path, nothing, nothing, EXECVE_CHECK) == 0)
        return 0;
    return errno == EINVAL || errno == ENOSYS ? look_executable(path) : errno;
}

/* A name without a slash is looked for, as a shell does. */
static int try_exec(const char *name)
{
    const char *path = getenv("PATH");
    char whole[PATH_MAX];
    int r = ENOENT;

    if (strchr(name, '/'))
        return check_executable(name);
    while (path && *path && r != 0) {
        size_t n = strcspn(path, ":");

        if (snprintf(whole, sizeof whole, "%.*s/%s", (int)n, path, name) < (int)sizeof whole) {
            int error = check_executable(whole);

            r = error == ENOENT || error == ENOTDIR ? r : error;
        }
        path += n;
        path += *path == ':';
    }
    return r;
}

static int connect_to(const struct addrinfo *address)
{
    auto_close int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct pollfd wait = { .fd = fd, .events = POLLOUT };
    int error = 0;
    socklen_t n = sizeof error;

    if (fd < 0)
        return errno;
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    if (poll(&wait, 1, CONNECT_MS) <= 0)
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) < 0 ? errno : error;
}

static int connect_file(const char *path)
{
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    if (strlen(path) >= sizeof address.sun_path)
        return ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
        return errno;
    return 0;
}

/* Calls `attempt` with the addresses of HOST:PORT, until one works. */
static int try_addresses(const char *target, int (*attempt)(const struct addrinfo *address))
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    auto_free char *host = strdup(target);
    char *port = host ? strrchr(host, ':') : NULL;
    struct addrinfo *list = NULL;
    int r = EHOSTUNREACH;

    if (!port)
        return EINVAL;
    *port++ = '\0';
    char *name = host;
    if (*name == '[') {
        name++;
        name[strcspn(name, "]")] = '\0';
    }
    if (getaddrinfo(name, port, &hints, &list) != 0)
        return EHOSTUNREACH;
    for (struct addrinfo *address = list; address && r != 0; address = address->ai_next)
        r = attempt(address);
    freeaddrinfo(list);
    return r;
}

static int try_connect(const char *target)
{
    return *target == '/' ? connect_file(target) : try_addresses(target, connect_to);
}

static int bind_to(const struct addrinfo *address)
{
    auto_close int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd < 0 || bind(fd, address->ai_addr, address->ai_addrlen) < 0 ? errno : 0;
}

static int try_bind(const char *target)
{
    return try_addresses(target, bind_to);
}

/* With arguments that no kernel accepts; for calls that the filter refuses. */
static int try_syscall(const char *name)
{
    int nr = seccomp_call_number(name);

    if (nr < 0)
        return EINVAL;
    if (syscall(nr, -1L, -1L, -1L, -1L, -1L, -1L) >= 0)
        return 0;
    return errno == EPERM || errno == ENOSYS ? errno : 0;
}

static int try_env(const char *name)
{
    return getenv(name) ? 0 : ENOENT;
}

/* By enum decide_act. */
static const struct {
    const char *name;
    int (*attempt)(const char *target);
} acts[] = {
    [DECIDE_READ] = { "read", try_read },          [DECIDE_WRITE] = { "write", try_write },
    [DECIDE_EXEC] = { "exec", try_exec },          [DECIDE_CONNECT] = { "connect", try_connect },
    [DECIDE_BIND] = { "bind", try_bind },          [DECIDE_ENV] = { "env", try_env },
    [DECIDE_SYSCALL] = { "syscall", try_syscall },
};

int live_inside(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < COUNT(acts); i++)
        if (strcmp(argv[0], acts[i].name) == 0) {
            printf(ANSWER "%d\n", acts[i].attempt(argv[1]));
            return 0;
        }
    return 2;
}

/* ---- outside */

static int make_policy(const struct live_request *request, const char *program, coop_policy **out,
                       coop_error **err)
{
    const char *view = request->tier == COOP_TIER_LANDLOCK ? NULL : PROGRAM_VIEW;
    coop_policy *policy = NULL;
    int r = policy_copy(request->policy, &policy, err);

    if (r < 0)
        return r;
    r = coop_policy_add_bind(policy, program, view, true, err);
    /* What tries is none of the allowed programs. The box has no others, so it must become one. */
    if (policy->commands.strength == COOP_COMMANDS_ENFORCE && r == 0)
        r = coop_policy_allow_command(policy, view ? view : program, err);
    else
        policy->commands.strength = COOP_COMMANDS_OFF;
    if (r < 0)
        coop_policy_free(policy);
    else
        *out = policy;
    return r;
}

static int read_answer(const coop_result *result, int *out, coop_error **err)
{
    size_t n = 0;
    const char *output = coop_result_output(result, COOP_STREAM_STDOUT, &n);
    auto_free char *text = strndup(output ? output : "", output ? n : 0);
    const char *answer = text ? strstr(text, ANSWER) : NULL;

    if (!text)
        return fail_no_memory(err);
    if (!answer)
        return fail_kind(err, COOP_ERROR_SETUP, EIO, "the box reported nothing (status %d)",
                         coop_result_status(result));
    *out = atoi(answer + strlen(ANSWER));
    return 0;
}

int live_try(const struct live_request *request, int *out, coop_error **err)
{
    const coop_run_options options = { .size = sizeof options,
                                       .timeout_ms = TIMEOUT_MS,
                                       .env_pass = request->env_pass };
    const char *target = request->place ? request->place : request->question->target;
    coop_policy *policy = NULL;
    coop_sandbox *sandbox = NULL;
    coop_result *result = NULL;
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

    if (n < 0)
        return fail(err, errno, "find this program by '/proc/self/exe'");
    program[n] = '\0';
    char *argv[] = { request->tier == COOP_TIER_LANDLOCK ? program : (char *)PROGRAM_VIEW,
                     (char *)"check",
                     (char *)LIVE_INSIDE,
                     (char *)(uintptr_t)acts[request->question->act].name,
                     (char *)(uintptr_t)target,
                     NULL };
    int r = make_policy(request, program, &policy, err);
    if (r == 0)
        r = coop_sandbox_new(policy, &sandbox, err);
    if (r == 0)
        r = coop_run(sandbox, argv, &options, &result, err);
    if (r == 0)
        r = read_answer(result, out, err);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    coop_policy_free(policy);
    return r;
}

int live_decide(const struct live_request *request, const char *text, int *out, coop_error **err)
{
    const coop_run_options options = { .size = sizeof options, .env_pass = request->env_pass };
    char *const argv[] = { (char *)(uintptr_t) "bash", (char *)(uintptr_t) "-c",
                           (char *)(uintptr_t)text, NULL };
    auto_error coop_error *refusal = NULL;
    auto_free char *plan = NULL;
    coop_sandbox *sandbox = NULL;
    int r = coop_sandbox_new(request->policy, &sandbox, err);

    if (r < 0)
        return r;
    r = coop_plan_text(sandbox, argv, &options, &plan, &refusal);
    coop_sandbox_free(sandbox);
    *out = r < 0 ? EACCES : 0;
    if (r == 0 || coop_error_get_kind(refusal) == COOP_ERROR_DENIED)
        return 0;
    return fail_kind(err, coop_error_get_kind(refusal), coop_error_errno(refusal), "%s",
                     coop_error_message(refusal));
}
