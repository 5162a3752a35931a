/*
 * selftest.c - the scene outside the box, the twins, and the verdicts
 */
#include "selftest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "coop/run.h"

#define PROGRAM_VIEW "/opt/coop-selftest"
#define TIMEOUT_MS   30000

struct stage {
    struct selftest_scene scene;
    char work[600];
    int leak_fd; /* on the directory, without close-on-exec: it must not get into the box */
    int tcp_fd, abstract_fd, workspace_fd;
    char process_name[16];
    sigset_t signals;
};

static int listen_on(const struct sockaddr *address, socklen_t length, const char *what, int *out,
                     coop_error **err)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, address, length) < 0 || listen(fd, 16) < 0) {
        int e = errno;
        close_fd(&fd);
        return fail(err, e, "listen on %s", what);
    }
    *out = fd;
    return 0;
}

static int open_sockets(struct stage *stage, coop_error **err)
{
    struct sockaddr_in loopback = { .sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    socklen_t length = sizeof loopback;

    int r = listen_on((struct sockaddr *)&loopback, length, "the loopback", &stage->tcp_fd, err);
    if (r < 0)
        return r;
    if (getsockname(stage->tcp_fd, (struct sockaddr *)&loopback, &length) < 0)
        return fail(err, errno, "find the port");
    stage->scene.port = ntohs(loopback.sin_port);
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "coop-doctor-%s",
                     stage->scene.token);
    length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    r = listen_on((struct sockaddr *)&address, length, "an abstract socket", &stage->abstract_fd,
                  err);
    if (r < 0)
        return r;
    n = snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", stage->work);
    if (n < 0 || (size_t)n >= sizeof address.sun_path)
        return fail(err, ENAMETOOLONG, "listen in '%s'", stage->work);
    return listen_on((struct sockaddr *)&address, sizeof address, "a socket in the workspace",
                     &stage->workspace_fd, err);
}

static int write_canary(const struct selftest_scene *scene, int directory_fd, coop_error **err)
{
    auto_close int fd =
        openat(directory_fd, "canary", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    if (fd < 0 || write(fd, scene->token, SELFTEST_TOKEN - 1) != SELFTEST_TOKEN - 1)
        return fail(err, errno, "write a canary in '%s'", scene->directory);
    return 0;
}

static int make_files(struct stage *stage, coop_error **err)
{
    struct selftest_scene *scene = &stage->scene;
    const char *temporary = getenv("TMPDIR");
    char pattern[512];
    char link_path[620];

    (void)snprintf(pattern, sizeof pattern, "%s/coop-doctor-XXXXXX",
                   temporary && *temporary == '/' ? temporary : "/tmp");
    if (!mkdtemp(pattern))
        return fail(err, errno, "make a directory '%s'", pattern);
    (void)snprintf(scene->directory, sizeof scene->directory, "%s", pattern);
    stage->leak_fd = open(scene->directory, O_RDONLY | O_DIRECTORY);
    if (stage->leak_fd < 0)
        return fail(err, errno, "open '%s'", scene->directory);
    int r = write_canary(scene, stage->leak_fd, err);
    if (r < 0)
        return r;
    (void)snprintf(stage->work, sizeof stage->work, "%s/work", scene->directory);
    (void)snprintf(link_path, sizeof link_path, "%s/out", stage->work);
    if (mkdir(stage->work, 0755) < 0 || symlink(scene->directory, link_path) < 0)
        return fail(err, errno, "make the workspace '%s'", stage->work);
    return 0;
}

static int stage_set(struct stage *stage, coop_error **err)
{
    struct selftest_scene *scene = &stage->scene;
    unsigned char bytes[(SELFTEST_TOKEN - 1) / 2];
    char name[16];
    sigset_t usr1;

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return fail(err, errno, "get random bytes");
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(scene->token + 2 * i, 3, "%02x", bytes[i]);
    scene->pid = getpid();
    (void)prctl(PR_GET_NAME, stage->process_name);
    selftest_process_name(scene, name);
    (void)prctl(PR_SET_NAME, name);
    (void)sigemptyset(&usr1);
    (void)sigaddset(&usr1, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &usr1, &stage->signals);
    if (setenv("COOP_DOCTOR_CANARY", scene->token, 1) < 0)
        return fail_no_memory(err);
    int r = make_files(stage, err);
    return r < 0 ? r : open_sockets(stage, err);
}

/* Whether the doctor was signalled since it last looked. */
static bool take_signal(void)
{
    const struct timespec now = { 0 };
    sigset_t usr1;

    (void)sigemptyset(&usr1);
    (void)sigaddset(&usr1, SIGUSR1);
    return sigtimedwait(&usr1, NULL, &now) == SIGUSR1;
}

static void stage_clear(struct stage *stage)
{
    const char *const names[] = { "work/out", "work/socket", "canary" };

    (void)take_signal();
    (void)sigprocmask(SIG_SETMASK, &stage->signals, NULL);
    (void)unsetenv("COOP_DOCTOR_CANARY");
    (void)prctl(PR_SET_NAME, stage->process_name);
    for (size_t i = 0; stage->leak_fd >= 0 && i < COUNT(names); i++)
        (void)unlinkat(stage->leak_fd, names[i], 0);
    if (stage->leak_fd >= 0)
        (void)unlinkat(stage->leak_fd, "work", AT_REMOVEDIR);
    if (stage->scene.directory[0])
        (void)rmdir(stage->scene.directory);
    close_fd(&stage->leak_fd);
    close_fd(&stage->tcp_fd);
    close_fd(&stage->abstract_fd);
    close_fd(&stage->workspace_fd);
}

/* The same act outside, from the workspace, in a process that has all that the box must not. */
static int run_twin(const struct selftest_act *act, const struct stage *stage)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        (void)alarm(10);
        if (chdir(stage->work) < 0)
            _exit(errno);
        _exit(act->attempt(&stage->scene));
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return errno;
    int r = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    if (act->by_signal && !take_signal() && r == 0)
        return ESRCH;
    return r;
}

/* The box's own words, one line per act; a line without the token is not ours. */
static void read_answers(const char *text, const struct stage *stage,
                         struct selftest_report *reports, bool was_signalled)
{
    for (size_t i = 0; i < selftest_n_acts; i++) {
        struct selftest_report *report = &reports[i];
        char start[64];
        int n = snprintf(start, sizeof start, "%s %s ", stage->scene.token, report->act->name);
        const char *line = strstr(text, start);

        if (report->act->by_signal && was_signalled) {
            report->outcome = SELFTEST_NOT_HELD;
            continue;
        }
        if (!line) {
            report->outcome = SELFTEST_NO_ANSWER;
            continue;
        }
        report->inside = (int)strtol(line + n, NULL, 10);
        if (report->act->by_signal && report->inside == 0)
            report->inside = ESRCH; /* it met a process of the box that has the same number */
        if (report->inside == 0)
            report->outcome = SELFTEST_NOT_HELD;
        else
            report->outcome = report->outside == 0 ? SELFTEST_HELD : SELFTEST_NOT_COUNTED;
    }
}

/* Shows this very program in the box. Without a mount namespace it keeps its own path. */
static int make_policy(const struct stage *stage, coop_tier tier, const char *program,
                       coop_policy **out, coop_error **err)
{
    const char *view = tier == COOP_TIER_LANDLOCK ? NULL : PROGRAM_VIEW;
    coop_policy *policy = NULL;
    int r = coop_policy_new(&policy, err);

    if (r == 0)
        r = coop_policy_set_workspace(policy, stage->work, err);
    if (r == 0)
        r = coop_policy_add_bind(policy, program, view, true, err);
    if (r == 0)
        r = coop_policy_set_mode(policy, COOP_MODE_PREFERRED, err);
    if (r < 0) {
        coop_policy_free(policy);
        return r;
    }
    *out = policy;
    return 0;
}

static int run_box(const struct stage *stage, coop_tier tier, const char *program,
                   coop_result **out, coop_error **err)
{
    coop_run_options options = { .size = sizeof options, .timeout_ms = TIMEOUT_MS };
    const char *view = tier == COOP_TIER_LANDLOCK ? program : PROGRAM_VIEW;
    coop_policy *policy = NULL;
    coop_sandbox *sandbox = NULL;
    char pid[16];
    char port[16];
    char *argv[] = { (char *)view,
                     (char *)"doctor",
                     (char *)"--inside",
                     (char *)stage->scene.token,
                     pid,
                     port,
                     (char *)stage->scene.directory,
                     NULL };

    (void)snprintf(pid, sizeof pid, "%d", (int)stage->scene.pid);
    (void)snprintf(port, sizeof port, "%d", stage->scene.port);
    int r = make_policy(stage, tier, program, &policy, err);
    if (r == 0)
        r = coop_sandbox_new(policy, &sandbox, err);
    if (r == 0)
        r = coop_run(sandbox, argv, &options, out, err);
    coop_sandbox_free(sandbox);
    coop_policy_free(policy);
    return r;
}

static int run_and_judge(const struct stage *stage, coop_tier tier, struct selftest_report *reports,
                         coop_error **err)
{
    coop_result *result = NULL;
    char program[PATH_MAX];
    size_t length = 0;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

    if (n < 0)
        return fail(err, errno, "find this program by '/proc/self/exe'");
    program[n] = '\0';
    int r = run_box(stage, tier, program, &result, err);
    if (r < 0)
        return r;
    const char *output = coop_result_output(result, COOP_STREAM_STDOUT, &length);
    auto_free char *text = strndup(output ? output : "", output ? length : 0);
    r = text ? 0 : fail_no_memory(err);
    if (text && !strstr(text, stage->scene.token)) {
        size_t error_length = 0;
        const char *words = coop_result_output(result, COOP_STREAM_STDERR, &error_length);
        r = fail_kind(err, COOP_ERROR_SETUP, EIO, "the box reported nothing (status %d): %.*s",
                      coop_result_status(result), words ? (int)error_length : 0,
                      words ? words : "");
    } else if (text) {
        read_answers(text, stage, reports, take_signal());
    }
    coop_result_free(result);
    return r;
}

int selftest_run(coop_tier tier, struct selftest_report *reports, coop_error **err)
{
    struct stage stage = { .leak_fd = -1, .tcp_fd = -1, .abstract_fd = -1, .workspace_fd = -1 };
    int r = stage_set(&stage, err);

    for (size_t i = 0; r == 0 && i < selftest_n_acts; i++) {
        reports[i].act = &selftest_acts[i];
        reports[i].outside = run_twin(&selftest_acts[i], &stage);
    }
    if (r == 0)
        r = run_and_judge(&stage, tier, reports, err);
    stage_clear(&stage);
    return r < 0 ? fail_within(err, r, "self-test") : 0;
}
