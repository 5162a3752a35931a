/*
 * library_test.c - libcoop as its users see it: runs, boxes, results, errors, plans
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>

#include <sys/eventfd.h>

#include "library.h"

TEST(gives_exit_code_and_both_streams)
{
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result = run_text(sandbox, "echo out; echo err >&2; exit 3", NULL);
    size_t length = 0;

    CHECK(result);
    CHECK(coop_result_exit_code(result) == 3);
    CHECK(coop_result_signal(result) == 0);
    CHECK(coop_result_status(result) == 3);
    CHECK(coop_result_ended_by(result) == COOP_ERROR_NONE);
    CHECK(!coop_result_timed_out(result));
    CHECK(!coop_result_out_of_memory(result));
    CHECK(!coop_result_pids_hit(result));
    CHECK_STR(coop_result_output(result, COOP_STREAM_STDOUT, &length), "out\n");
    CHECK(length == 4);
    CHECK_STR(coop_result_output(result, COOP_STREAM_STDERR, &length), "err\n");
    CHECK_STR(coop_result_shown(result, COOP_STREAM_STDOUT, &length), "out\n");
    CHECK(length == 4);
    CHECK(coop_result_output_dropped(result, COOP_STREAM_STDOUT) == 0);
    CHECK(!coop_result_cut_note(result, COOP_STREAM_STDOUT));
    CHECK(coop_result_duration_us(result) > 0);
    CHECK(coop_result_peak_memory(result) > 0);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(tells_the_signal_that_ended_a_command)
{
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result = run_text(sandbox, "kill -SEGV $$", NULL);

    CHECK(result);
    CHECK(coop_result_exit_code(result) == -1);
    CHECK(coop_result_signal(result) == SIGSEGV);
    CHECK(coop_result_status(result) == 128 + SIGSEGV);
    CHECK(coop_result_ended_by(result) == COOP_ERROR_NONE);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

static bool has_denial(const coop_result *result, const char *operation)
{
    for (size_t i = 0; i < coop_result_n_denials(result); i++)
        if (strcmp(coop_result_denial(result, i)->operation, operation) == 0)
            return true;
    return false;
}

TEST(a_timeout_is_a_result_that_says_so)
{
    coop_sandbox *sandbox = new_sandbox();
    const coop_run_options options = { .size = sizeof options, .timeout_ms = 50 };
    coop_result *result = run_text(sandbox, "sleep 1000", &options);

    CHECK(result);
    CHECK(coop_result_timed_out(result));
    CHECK(coop_result_ended_by(result) == COOP_ERROR_TIMEOUT);
    CHECK(coop_result_status(result) == 124);
    CHECK(has_denial(result, "time"));
    CHECK(!coop_result_denial(result, coop_result_n_denials(result)));
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(a_command_may_use_the_grace_after_a_timeout)
{
    coop_sandbox *sandbox = new_sandbox();
    const coop_run_options options = { .size = sizeof options,
                                       .timeout_ms = 300,
                                       .grace_ms = 60000 };
    coop_result *result =
        run_text(sandbox, "trap 'echo tidied; exit 5' TERM; while :; do sleep 1; done", &options);

    CHECK(result);
    CHECK_STR(out_of(result), "tidied\n");
    CHECK(coop_result_exit_code(result) == 5);
    CHECK(coop_result_status(result) == 124);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(the_grace_ends_a_command_that_ignores_the_signal)
{
    coop_sandbox *sandbox = new_sandbox();
    const coop_run_options options = { .size = sizeof options, .timeout_ms = 300, .grace_ms = 50 };
    coop_result *result =
        run_text(sandbox, "trap '' TERM; echo deaf; while :; do sleep 1000; done", &options);

    CHECK(result);
    CHECK_STR(out_of(result), "deaf\n");
    CHECK(coop_result_signal(result) == SIGKILL);
    CHECK(coop_result_ended_by(result) == COOP_ERROR_TIMEOUT);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

/* A box with an output callback: the test waits for words of the command's. */
struct watched {
    coop_box *box;
    char text[2][65536];
    size_t length[2];
};

static void take_output(void *context, coop_stream stream, const char *bytes, size_t n)
{
    struct watched *watched = context;
    size_t room = sizeof watched->text[stream] - 1 - watched->length[stream];

    n = n < room ? n : room;
    memcpy(watched->text[stream] + watched->length[stream], bytes, n);
    watched->length[stream] += n;
}

static int start_watched(coop_sandbox *sandbox, const char *text, struct watched *watched)
{
    const coop_run_options options = { .size = sizeof options,
                                       .on_output = take_output,
                                       .context = watched };

    memset(watched, 0, sizeof *watched);
    return coop_start(sandbox, shell(text), &options, &watched->box, NULL);
}

/* Steps until the condition holds; false when the box has ended before. */
#define STEP_UNTIL(watched, condition)                                                      \
    ({                                                                                      \
        bool ended = false;                                                                 \
        while (!(condition) && !ended) {                                                    \
            struct pollfd pollfd = { .fd = coop_box_fd((watched)->box), .events = POLLIN }; \
            (void)poll(&pollfd, 1, -1);                                                     \
            ended = coop_step((watched)->box, NULL) != 0;                                   \
        }                                                                                   \
        !ended;                                                                             \
    })

TEST(steps_through_a_box_in_an_event_loop)
{
    static struct watched watched;
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result = NULL;
    int r = 0;

    CHECK(start_watched(sandbox, "echo one; echo two >&2; exit 4", &watched) == 0);
    CHECK(coop_box_tier(watched.box) == tier_here());
    CHECK(coop_box_terminal(watched.box) == -1);
    while (r == 0) {
        struct pollfd pollfd = { .fd = coop_box_fd(watched.box), .events = POLLIN };

        CHECK(poll(&pollfd, 1, 60000) == 1);
        r = coop_step(watched.box, NULL);
    }
    CHECK(r == 1);
    CHECK(coop_step(watched.box, NULL) == 1);
    CHECK(coop_wait(watched.box, &result, NULL) == 0);
    CHECK(coop_result_exit_code(result) == 4);
    CHECK_STR(watched.text[COOP_STREAM_STDOUT], "one\n");
    CHECK_STR(watched.text[COOP_STREAM_STDERR], "two\n");
    /* Given to the callback instead of being captured. */
    CHECK_STR(out_of(result), "");
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(a_step_does_not_wait)
{
    static struct watched watched;
    coop_sandbox *sandbox = new_sandbox();

    CHECK(start_watched(sandbox, "echo up; sleep 1000", &watched) == 0);
    CHECK(STEP_UNTIL(&watched, watched.length[0] == 3));
    for (int i = 0; i < 100; i++)
        CHECK(coop_step(watched.box, NULL) == 0);
    coop_result *result = NULL;
    CHECK(coop_kill(watched.box) == 0);
    CHECK(coop_wait(watched.box, &result, NULL) == 0);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

static void *kill_it(void *box)
{
    (void)coop_kill(box);
    return NULL;
}

TEST(another_thread_cancels_a_box)
{
    static struct watched watched;
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result = NULL;
    pthread_t thread;

    /* Children that ignore everything and leave the session go with it. */
    CHECK(start_watched(sandbox,
                        "trap '' TERM HUP INT; (setsid sleep 1000 &) ; echo up; sleep 1000",
                        &watched) == 0);
    CHECK(STEP_UNTIL(&watched, watched.length[0] == 3));
    CHECK(pthread_create(&thread, NULL, kill_it, watched.box) == 0);
    CHECK(!STEP_UNTIL(&watched, false));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(coop_wait(watched.box, &result, NULL) == 0);
    CHECK(coop_result_ended_by(result) == COOP_ERROR_CANCELLED);
    CHECK(!coop_result_timed_out(result));
    CHECK(coop_result_signal(result) == SIGKILL);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

static void *write_soon(void *fd)
{
    const uint64_t one = 1;

    return write(*(int *)fd, &one, sizeof one) == (ssize_t)sizeof one ? fd : NULL;
}

TEST(a_descriptor_cancels_a_run_that_blocks)
{
    coop_sandbox *sandbox = new_sandbox();
    int fd = eventfd(0, EFD_CLOEXEC);
    const coop_run_options options = { .size = sizeof options,
                                       .can_cancel = true,
                                       .cancel_fd = fd };
    coop_result *result = NULL;
    pthread_t thread;

    CHECK(fd >= 0 && pthread_create(&thread, NULL, write_soon, &fd) == 0);
    CHECK(coop_run(sandbox, shell("sleep 1000"), &options, &result, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(coop_result_ended_by(result) == COOP_ERROR_CANCELLED);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    (void)close(fd);
}

TEST(cancelling_what_has_ended_changes_nothing)
{
    static struct watched watched;
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result = NULL;

    CHECK(start_watched(sandbox, "exit 3", &watched) == 0);
    CHECK(!STEP_UNTIL(&watched, false));
    CHECK(coop_kill(watched.box) == 0);
    CHECK(coop_wait(watched.box, &result, NULL) == 0);
    CHECK(coop_result_exit_code(result) == 3);
    CHECK(coop_result_ended_by(result) == COOP_ERROR_NONE);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(a_signal_reaches_the_command)
{
    static struct watched watched;
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result = NULL;

    CHECK(start_watched(sandbox, "trap 'exit 7' USR1; echo up; while :; do sleep 1; done",
                        &watched) == 0);
    CHECK(STEP_UNTIL(&watched, watched.length[0] == 3));
    CHECK(coop_signal(watched.box, SIGUSR1) == 0);
    CHECK(coop_wait(watched.box, &result, NULL) == 0);
    CHECK(coop_result_exit_code(result) == 7);
    CHECK(coop_result_ended_by(result) == COOP_ERROR_NONE);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(tells_when_a_command_is_stopped_and_goes_on)
{
    static struct watched watched;
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result = NULL;

    NEED_NAMESPACES();
    CHECK(start_watched(sandbox, "echo up; kill -STOP $$; echo on; sleep 1000", &watched) == 0);
    CHECK(STEP_UNTIL(&watched, coop_box_is_stopped(watched.box)));
    CHECK(coop_signal(watched.box, SIGCONT) == 0);
    CHECK(STEP_UNTIL(&watched, !coop_box_is_stopped(watched.box)));
    CHECK(STEP_UNTIL(&watched, watched.length[0] == 6));
    (void)coop_kill(watched.box);
    CHECK(coop_wait(watched.box, &result, NULL) == 0);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(one_sandbox_holds_several_boxes_at_once)
{
    coop_sandbox *sandbox = new_sandbox();
    coop_box *boxes[8];

    for (size_t i = 0; i < COUNT(boxes); i++) {
        char text[64];

        (void)snprintf(text, sizeof text, "echo %zu; exit %zu", i, i);
        CHECK(coop_start(sandbox, shell(text), NULL, &boxes[i], NULL) == 0);
    }
    for (size_t i = COUNT(boxes); i-- > 0;) {
        coop_result *result = NULL;

        CHECK(coop_wait(boxes[i], &result, NULL) == 0);
        CHECK(coop_result_exit_code(result) == (int)i);
        CHECK(atoi(out_of(result)) == (int)i);
        coop_result_free(result);
    }
    coop_sandbox_free(sandbox);
}

TEST(input_arrives_whole)
{
    static char input[1 << 20];
    coop_sandbox *sandbox = new_sandbox();
    size_t length = 0;

    for (size_t i = 0; i < sizeof input; i++)
        input[i] = (char)(i * 7 + i / 251);
    const coop_run_options options = { .size = sizeof options,
                                       .input = input,
                                       .input_length = sizeof input };
    coop_result *result = run_text(sandbox, "cat", &options);
    CHECK(result);
    const char *output = coop_result_output(result, COOP_STREAM_STDOUT, &length);
    CHECK(length == sizeof input);
    CHECK(memcmp(output, input, length) == 0);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(without_input_a_command_reads_its_end)
{
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result = run_text(sandbox, "cat; echo end", NULL);

    CHECK(result);
    CHECK_STR(out_of(result), "end\n");
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(relayed_input_that_was_not_read_is_given_back)
{
    coop_sandbox *sandbox = new_sandbox();
    FILE *file = tmpfile();

    CHECK(file);
    CHECK(fputs("abcdef", file) >= 0 && fflush(file) == 0);
    CHECK(lseek(fileno(file), 0, SEEK_SET) == 0);
    const coop_run_options options = { .size = sizeof options,
                                       .relay_input = true,
                                       .input_fd = fileno(file) };
    coop_result *result = run_text(sandbox, "dd bs=1 count=2 2>/dev/null", &options);
    CHECK(result);
    CHECK_STR(out_of(result), "ab");
    CHECK(lseek(fileno(file), 0, SEEK_CUR) == 2);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    (void)fclose(file);
}

TEST(only_kept_descriptors_are_inherited)
{
    coop_sandbox *sandbox = new_sandbox();
    int leak_fd =
        open("/dev/null", O_RDONLY); /* not close-on-exec: must not be seen all the same */
    int pipe_fds[2];

    CHECK(leak_fd >= 0);
    CHECK(pipe2(pipe_fds, O_CLOEXEC) == 0);
    int kept_fd = dup3(pipe_fds[0], 8, O_CLOEXEC);
    CHECK(kept_fd == 8);
    CHECK(write(pipe_fds[1], "through\n", 8) == 8);
    const coop_run_options options = { .size = sizeof options,
                                       .keep_fds = &kept_fd,
                                       .n_keep_fds = 1 };
    coop_result *result = run_text(sandbox, "read x <&8; echo $x; ls /proc/$$/fd; :", &options);
    CHECK(result);
    CHECK_STR(out_of(result), "through\n0\n1\n2\n8\n");
    CHECK(fcntl(kept_fd, F_GETFD) == FD_CLOEXEC);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    (void)close(leak_fd);
    (void)close(kept_fd);
    (void)close(pipe_fds[0]);
    (void)close(pipe_fds[1]);
}

TEST(captured_output_keeps_the_end_and_counts_the_rest)
{
    coop_sandbox *sandbox = new_sandbox();
    const coop_run_options options = { .size = sizeof options, .capture_max = 1000 };
    coop_result *result = run_text(
        sandbox, "i=0; while [ $i -lt 2000 ]; do echo 0123456; i=$((i+1)); done; echo last",
        &options);
    size_t length = 0;

    CHECK(result);
    const char *output = coop_result_output(result, COOP_STREAM_STDOUT, &length);
    CHECK(length > 0 && length <= 1000);
    CHECK(coop_result_output_dropped(result, COOP_STREAM_STDOUT) + length == 2000 * 8 + 5);
    CHECK(memcmp(output + length - 5, "last\n", 5) == 0);
    CHECK(coop_result_cut_note(result, COOP_STREAM_STDOUT));
    CHECK(!coop_result_cut_note(result, COOP_STREAM_STDERR));
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(shown_output_ends_on_whole_lines_and_says_what_was_cut)
{
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result =
        run_text(sandbox, "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo $i; done", NULL);
    size_t length = 0;
    size_t n_lines = 0;

    CHECK(result);
    const char *shown = coop_result_shown(result, COOP_STREAM_STDOUT, &length);
    for (size_t i = 0; i < length; i++)
        n_lines += shown[i] == '\n';
    CHECK(n_lines == 2000);
    CHECK(strncmp(shown, "1001\n", 5) == 0);
    CHECK(strstr(coop_result_cut_note(result, COOP_STREAM_STDOUT), "1,000 lines"));
    CHECK(coop_result_output_dropped(result, COOP_STREAM_STDOUT) == 0);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(a_terminal_of_the_box_is_given_to_the_caller)
{
    coop_sandbox *sandbox = new_sandbox();
    const coop_run_options options = { .size = sizeof options, .terminal = true };
    coop_box *box = NULL;
    coop_result *result = NULL;
    char text[64] = "";

    NEED_NAMESPACES();
    CHECK(coop_start(sandbox,
                     shell("test -t 0 && test -t 1 && test -t 2 && echo tty; read x; exit 6"),
                     &options, &box, NULL) == 0);
    int fd = coop_box_terminal(box);
    CHECK(fd >= 0);
    CHECK(read(fd, text, sizeof text - 1) == 5);
    CHECK_STR(text, "tty\r\n");
    CHECK(write(fd, "\n", 1) == 1);
    CHECK(coop_wait(box, &result, NULL) == 0);
    CHECK(coop_result_exit_code(result) == 6);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

/* What a run that must fail says; frees nothing it was not given. */
struct refusal {
    int r;
    coop_error_kind kind;
    int errnum;
    char message[512];
};

static struct refusal refusal_of(const coop_policy *policy, char *const argv[],
                                 const coop_run_options *options)
{
    struct refusal refusal = { 0 };
    coop_sandbox *sandbox = NULL;
    coop_error *err = NULL;
    coop_result *untouched = (coop_result *)&refusal;
    coop_result *result = untouched;

    refusal.r = coop_sandbox_new(policy, &sandbox, &err);
    if (refusal.r == 0)
        refusal.r = coop_run(sandbox, argv, options, &result, &err);
    refusal.kind = coop_error_get_kind(err);
    refusal.errnum = coop_error_errno(err);
    (void)snprintf(refusal.message, sizeof refusal.message, "%s", coop_error_message(err));
    coop_error_free(err);
    if (result != untouched) {
        coop_result_free(result);
        refusal.r = 1; /* it ran, or changed what it must not */
    }
    coop_sandbox_free(sandbox);
    return refusal;
}

TEST(a_bad_policy_is_told_by_its_kind)
{
    char *const no_command[] = { NULL };
    coop_policy *policy = new_policy();
    struct refusal refusal = refusal_of(policy, no_command, NULL);

    CHECK(refusal.r == -EINVAL && refusal.kind == COOP_ERROR_BAD_POLICY);
    CHECK(coop_policy_set_workspace(policy, "/no/such/place", NULL) == 0);
    refusal = refusal_of(policy, shell(":"), NULL);
    CHECK(refusal.r == -ENOENT && refusal.kind == COOP_ERROR_BAD_POLICY);
    CHECK(refusal.errnum == ENOENT);
    CHECK(strstr(refusal.message, "'/no/such/place'"));
    CHECK(coop_policy_set_workspace(policy, "/", NULL) == 0);
    CHECK(refusal_of(policy, shell(":"), NULL).kind == COOP_ERROR_BAD_POLICY);
    CHECK(coop_policy_set_workspace(policy, "/dev/null", NULL) == 0);
    CHECK(refusal_of(policy, shell(":"), NULL).r == -ENOTDIR);
    coop_policy_free(policy);
}

TEST(a_descriptor_to_keep_must_be_open)
{
    const int fds[] = { 987, 0 };
    coop_run_options options = { .size = sizeof options, .keep_fds = fds, .n_keep_fds = 1 };
    coop_policy *policy = new_policy();
    struct refusal refusal = refusal_of(policy, shell(":"), &options);

    CHECK(refusal.r == -EBADF && refusal.kind == COOP_ERROR_BAD_POLICY);
    CHECK(strstr(refusal.message, "987"));
    options.keep_fds = &fds[1]; /* the box has its own */
    refusal = refusal_of(policy, shell(":"), &options);
    CHECK(refusal.r == -EINVAL && refusal.kind == COOP_ERROR_BAD_POLICY);
    coop_policy_free(policy);
}

TEST(a_failed_step_is_told_by_its_kind)
{
    coop_policy *policy = new_policy();

    NEED_NAMESPACES();
    CHECK(coop_policy_set_directory(policy, "no/such/place", NULL) == 0);
    struct refusal refusal = refusal_of(policy, shell(":"), NULL);
    CHECK(refusal.r == -ENOENT && refusal.kind == COOP_ERROR_SETUP);
    CHECK(strstr(refusal.message, "step "));
    CHECK(strstr(refusal.message, "/work/no/such/place"));
    coop_policy_free(policy);
}

TEST(a_command_that_cannot_be_executed_is_told_by_its_kind)
{
    char absent[] = "no-such-command-anywhere";
    char directory[] = "/usr";
    char *const run_absent[] = { absent, NULL };
    char *const run_directory[] = { directory, NULL };
    coop_policy *policy = new_policy();
    struct refusal refusal = refusal_of(policy, run_absent, NULL);

    CHECK(refusal.r == -ENOENT && refusal.kind == COOP_ERROR_EXEC);
    CHECK(strstr(refusal.message, absent));
    refusal = refusal_of(policy, run_directory, NULL);
    CHECK(refusal.r == -EACCES && refusal.kind == COOP_ERROR_EXEC);
    coop_policy_free(policy);
}

TEST(every_error_kind_has_its_own_name)
{
    for (int i = COOP_ERROR_NONE; i <= COOP_ERROR_DENIED; i++)
        for (int j = COOP_ERROR_NONE; j < i; j++)
            CHECK(strcmp(coop_error_kind_name((coop_error_kind)i),
                         coop_error_kind_name((coop_error_kind)j)) != 0);
    CHECK_STR(coop_error_kind_name((coop_error_kind)999), "unknown");
    CHECK_STR(coop_error_kind_name(COOP_ERROR_NOT_AVAILABLE), "not-available");
}

TEST(errors_may_be_ignored)
{
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = new_sandbox();
    char absent[] = "no-such-command-anywhere";
    char *const argv[] = { absent, NULL };
    coop_result *result = NULL;

    CHECK(coop_run(sandbox, argv, NULL, &result, NULL) == -ENOENT);
    CHECK(!result);
    CHECK(coop_policy_add_bind(policy, "relative", NULL, true, NULL) == -EINVAL);
    CHECK(coop_error_get_kind(NULL) == COOP_ERROR_NONE);
    CHECK(coop_error_errno(NULL) == 0);
    CHECK(coop_error_message(NULL));
    CHECK(!coop_error_hint(NULL));
    coop_policy_free(policy);
    coop_sandbox_free(sandbox);
}

TEST(freeing_nothing_is_fine)
{
    coop_error_free(NULL);
    coop_policy_free(NULL);
    coop_sandbox_free(NULL);
    coop_result_free(NULL);
    coop_probe_free(NULL);
}

/* What an older program was compiled with, and behind it something that is not ours to read. */
struct older_options {
    unsigned char bytes[offsetof(coop_run_options, env_pass)];
    unsigned char foreign[sizeof(coop_run_options)];
};

TEST(options_of_an_older_program_are_understood)
{
    static union {
        struct older_options older;
        coop_run_options now;
    } options;
    coop_sandbox *sandbox = new_sandbox();

    memset(&options, 0xa5, sizeof options);
    memset(options.older.bytes, 0, sizeof options.older.bytes);
    options.now.size = sizeof options.older.bytes;
    options.now.capture_max = 4;
    coop_result *result = run_text(sandbox, "echo 1; echo 2; echo 3", &options.now);
    CHECK(result);
    CHECK_STR(out_of(result), "2\n3\n");
    coop_result_free(result);
    char *text = NULL;
    CHECK(coop_plan_text(sandbox, shell(":"), &options.now, &text, NULL) == 0);
    CHECK(text);
    free(text);
    coop_sandbox_free(sandbox);
}

TEST(options_of_a_wrong_size_are_refused)
{
    static struct {
        coop_run_options now;
        char more[64];
    } options;
    coop_policy *policy = new_policy();

    struct refusal refusal = refusal_of(policy, shell(":"), &options.now); /* size not set */
    CHECK(refusal.r == -EINVAL && refusal.kind == COOP_ERROR_BAD_POLICY);
    CHECK(strstr(refusal.message, "size"));
    options.now.size = sizeof options; /* of a newer program: it may ask for what we cannot do */
    CHECK(refusal_of(policy, shell(":"), &options.now).kind == COOP_ERROR_BAD_POLICY);
    coop_policy_free(policy);
}

TEST(a_sandbox_keeps_its_own_copy_of_the_policy)
{
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = NULL;

    CHECK(coop_policy_set_env(policy, "WORD", "first", NULL) == 0);
    CHECK(coop_sandbox_new(policy, &sandbox, NULL) == 0);
    CHECK(coop_policy_set_env(policy, "WORD", "second", NULL) == 0);
    coop_policy_free(policy);
    for (int i = 0; i < 3; i++) {
        coop_result *result = run_text(sandbox, "echo $WORD", NULL);

        CHECK(result);
        CHECK_STR(out_of(result), "first\n");
        coop_result_free(result);
    }
    coop_sandbox_free(sandbox);
}

TEST(equal_policies_have_equal_digests)
{
    coop_policy *a = new_policy();
    coop_policy *b = new_policy();
    char before[65];

    CHECK(strlen(coop_policy_digest(a)) == 64);
    CHECK_STR(coop_policy_digest(a), coop_policy_digest(b));
    (void)snprintf(before, sizeof before, "%s", coop_policy_digest(a));
    CHECK(coop_policy_set_limit(a, COOP_LIMIT_PIDS, 100, NULL) == 0);
    CHECK(strcmp(coop_policy_digest(a), before) != 0);
    CHECK(coop_policy_add_tmpfs(b, "/scratch", 0, false, NULL) == 0);
    CHECK(strcmp(coop_policy_digest(b), before) != 0);
    coop_sandbox *sandbox = NULL;
    CHECK(coop_sandbox_new(a, &sandbox, NULL) == 0);
    coop_result *result = run_text(sandbox, ":", NULL);
    CHECK(result);
    CHECK_STR(coop_result_policy_digest(result), coop_policy_digest(a));
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    coop_policy_free(a);
    coop_policy_free(b);
}

TEST(bad_values_are_refused_by_the_call_that_brings_them)
{
    coop_policy *policy = new_policy();
    coop_error *err = NULL;

#define REFUSED(call)                                             \
    do {                                                          \
        CHECK((call) < 0);                                        \
        CHECK(coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY); \
        CHECK(*coop_error_message(err));                          \
        coop_error_free(err);                                     \
        err = NULL;                                               \
    } while (0)
    REFUSED(coop_policy_set_workspace(policy, "", &err));
    REFUSED(coop_policy_set_workspace(policy, "new\nline", &err));
    REFUSED(coop_policy_add_bind(policy, "relative", NULL, true, &err));
    REFUSED(coop_policy_add_bind(policy, "/usr", "relative", true, &err));
    REFUSED(coop_policy_add_bind(policy, "/usr", "/a/../b", true, &err));
    REFUSED(coop_policy_add_bind(policy, "/usr", "/", true, &err));
    REFUSED(coop_policy_add_bind(policy, "/usr", "/proc/1", true, &err));
    REFUSED(coop_policy_add_tmpfs(policy, "relative", 0, false, &err));
    REFUSED(coop_policy_add_block(policy, "/", &err));
    REFUSED(coop_policy_set_env(policy, "", "x", &err));
    REFUSED(coop_policy_set_env(policy, "A=B", "x", &err));
    REFUSED(coop_policy_set_directory(policy, "", &err));
    REFUSED(coop_policy_set_uid(policy, UINT32_MAX, &err));
    REFUSED(coop_policy_set_hostname(policy, "no spaces", &err));
    REFUSED(coop_policy_set_hostname(policy, "", &err));
    REFUSED(coop_policy_set_network(policy, (coop_network)99, &err));
    REFUSED(coop_policy_set_mode(policy, (coop_mode)99, &err));
    REFUSED(coop_policy_set_profile(policy, (coop_profile)99, &err));
    REFUSED(coop_policy_set_limit(policy, COOP_LIMIT_COUNT, 1, &err));
    REFUSED(coop_policy_set_limit(policy, COOP_LIMIT_PIDS, 0, &err));
    CHECK(coop_policy_add_tmpfs(policy, "/twice", 0, false, NULL) == 0);
    REFUSED(coop_policy_add_bind(policy, "/usr", "/twice", true, &err));
#undef REFUSED
    coop_policy_free(policy);
}

TEST(every_policy_call_has_its_effect)
{
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = NULL;

    NEED_NAMESPACES();
    CHECK(coop_policy_set_same_path(policy, true, NULL) == 0);
    CHECK(coop_policy_add_bind(policy, "/usr/bin", "/opt/tools", true, NULL) == 0);
    CHECK(coop_policy_add_tmpfs(policy, "/scratch", 1 << 20, false, NULL) == 0);
    CHECK(coop_policy_add_block(policy, "/usr/share", NULL) == 0);
    CHECK(coop_policy_set_env(policy, "WORD", "a word", NULL) == 0);
    CHECK(coop_policy_set_directory(policy, "/scratch", NULL) == 0);
    CHECK(coop_policy_set_uid(policy, 0, NULL) == 0);
    CHECK(coop_policy_set_hostname(policy, "elsewhere", NULL) == 0);
    CHECK(coop_policy_set_network(policy, COOP_NETWORK_OFF, NULL) == 0);
    CHECK(coop_policy_set_profile(policy, COOP_PROFILE_DEV, NULL) == 0);
    CHECK(coop_policy_set_host_sockets(policy, true, NULL) == 0);
    CHECK(coop_policy_set_limit(policy, COOP_LIMIT_OPEN_FILES, 64, NULL) == 0);
    CHECK(coop_sandbox_new(policy, &sandbox, NULL) == 0);
    coop_result *result = run_text(
        sandbox,
        "pwd; echo $WORD; id -u; cat /proc/sys/kernel/hostname; ulimit -n; [ -x /opt/tools/env ]"
        " && : >/scratch/f && [ -z \"$(ls /usr/share)\" ] && [ -w \"$HOME\" ] && echo $HOME",
        NULL);
    CHECK(result);
    char expected[PATH_MAX + 64];
    (void)snprintf(expected, sizeof expected, "/scratch\na word\n0\nelsewhere\n64\n%s\n",
                   workspace());
    CHECK_STR(out_of(result), expected);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    coop_policy_free(policy);
}

TEST(only_passed_variables_of_the_caller_are_seen)
{
    static const char *const passed[] = { "LIBRARY_PASSED", "LIBRARY_UNSET", NULL };
    const coop_run_options options = { .size = sizeof options, .env_pass = passed };
    coop_sandbox *sandbox = new_sandbox();

    if (tier_here() == COOP_TIER_NONE)
        SKIP("this host can hold no wall");
    CHECK(setenv("LIBRARY_PASSED", "yes", 1) == 0);
    CHECK(setenv("LIBRARY_SECRET", "no", 1) == 0);
    coop_result *result = run_text(sandbox, "env", &options);
    CHECK(result);
    CHECK(strstr(out_of(result), "LIBRARY_PASSED=yes\n"));
    CHECK(!strstr(out_of(result), "LIBRARY_SECRET"));
    CHECK(!strstr(out_of(result), "LIBRARY_UNSET"));
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(commands_are_decided_before_they_run)
{
    static char *const allowed[] = { (char *)"true", NULL };
    static char *const other[] = { (char *)"false", NULL };
    static char *const text[] = { (char *)"sh", (char *)"-c", (char *)"true; $(false)", NULL };

    for (int strength = COOP_COMMANDS_CHECK; strength <= COOP_COMMANDS_ENFORCE; strength++) {
        coop_policy *policy = new_policy();
        coop_sandbox *sandbox = NULL;

        CHECK(coop_policy_set_command_strength(policy, (coop_command_strength)strength, NULL) == 0);
        CHECK(coop_policy_allow_command(policy, "true", NULL) == 0);
        CHECK(coop_sandbox_new(policy, &sandbox, NULL) == 0);
        for (int i = 0; i < 3; i++) { /* the second time it is made from a template */
            coop_result *result = NULL;
            coop_error *err = NULL;

            CHECK(coop_run(sandbox, allowed, NULL, &result, NULL) == 0);
            CHECK(coop_result_status(result) == 0);
            CHECK((coop_result_wall(result, COOP_WALL_COMMANDS) != NULL) ==
                  (strength == COOP_COMMANDS_ENFORCE));
            coop_result_free(result);
            CHECK(coop_run(sandbox, other, NULL, &result, &err) == -EACCES);
            CHECK(coop_error_get_kind(err) == COOP_ERROR_DENIED);
            CHECK(strstr(coop_error_message(err), "'false' is not among the allowed"));
            coop_error_free(err);
            CHECK(coop_run(sandbox, text, NULL, &result, NULL) == -EACCES);
        }
        coop_sandbox_free(sandbox);
        coop_policy_free(policy);
    }
}

TEST(a_result_says_what_was_enforced)
{
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result = run_text(sandbox, ":", NULL);

    CHECK(result);
    coop_tier tier = coop_result_tier(result);
    for (int i = 0; i < COOP_WALL_COUNT; i++) {
        CHECK(*coop_wall_name((coop_wall)i));
        if (i != COOP_WALL_COMMANDS) /* nobody asked for it */
            CHECK((coop_result_wall(result, (coop_wall)i) != NULL) == (tier != COOP_TIER_NONE));
    }
    CHECK(!coop_result_wall(result, COOP_WALL_COUNT));
    CHECK_STR(coop_tier_name(COOP_TIER_FULL), "full");
    const char *json = coop_result_json(result);
    CHECK(json && *json == '{');
    CHECK(strstr(json, "\"version\": 2"));
    CHECK(strstr(json, coop_tier_name(tier)));
    CHECK(coop_result_json(result) == json);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

TEST(the_mode_disabled_runs_on_the_host_and_says_so)
{
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = NULL;

    CHECK(coop_policy_set_mode(policy, COOP_MODE_DISABLED, NULL) == 0);
    CHECK(coop_sandbox_new(policy, &sandbox, NULL) == 0);
    coop_result *result = run_text(sandbox, "pwd", NULL);
    CHECK(result);
    CHECK(coop_result_tier(result) == COOP_TIER_NONE);
    CHECK(strncmp(out_of(result), workspace(), strlen(workspace())) == 0);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    coop_policy_free(policy);
}

TEST(plans_are_printed_and_nothing_runs)
{
    static const struct {
        int (*print)(coop_sandbox *, char *const[], const coop_run_options *, char **,
                     coop_error **);
        const char *begins;
    } forms[] = {
        { coop_plan_text, "tier: " },
        { coop_plan_json, "{" },
        { coop_plan_bwrap, "env -i PATH=\"$PATH\" bwrap " },
    };
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = NULL;
    char path[PATH_MAX + 16];

    CHECK(coop_policy_set_env(policy, "TOKEN", "hunter2", NULL) == 0);
    CHECK(coop_sandbox_new(policy, &sandbox, NULL) == 0);
    (void)snprintf(path, sizeof path, "%s/ran", workspace());
    for (size_t i = 0; i < COUNT(forms); i++) {
        char *text = NULL;

        CHECK(forms[i].print(sandbox, shell("touch ran"), NULL, &text, NULL) == 0);
        CHECK(strncmp(text, forms[i].begins, strlen(forms[i].begins)) == 0);
        CHECK(strstr(text, "TOKEN"));
        CHECK(!strstr(text, "hunter2"));
        free(text);
    }
    CHECK(access(path, F_OK) < 0);
    char *const no_command[] = { NULL };
    char *untouched = path;
    coop_error *err = NULL;
    CHECK(coop_plan_text(sandbox, no_command, NULL, &untouched, &err) == -EINVAL);
    CHECK(untouched == path);
    CHECK(coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY);
    coop_error_free(err);
    coop_sandbox_free(sandbox);
    coop_policy_free(policy);
}

TEST(a_probe_names_each_capability_once)
{
    coop_probe *probe = NULL;

    CHECK(coop_probe_new(&probe, NULL) == 0);
    CHECK(*coop_probe_summary(probe));
    CHECK(*coop_probe_kernel(probe));
    CHECK(coop_probe_landlock_abi(probe) >= 0);
    CHECK(coop_probe_n_capabilities(probe) > 10);
    for (size_t i = 0; i < coop_probe_n_capabilities(probe); i++) {
        const coop_capability *capability = coop_probe_capability(probe, i);

        CHECK(capability && *capability->name && *capability->title && *capability->detail);
        CHECK(coop_probe_find(probe, capability->name) == capability);
        CHECK(!capability->available || !capability->fix);
    }
    CHECK(!coop_probe_capability(probe, coop_probe_n_capabilities(probe)));
    CHECK(!coop_probe_find(probe, "no-such-capability"));
    coop_probe_free(probe);
}

/* What is tried and what is done must not differ. */
TEST(the_probed_tier_is_the_tier_of_a_run)
{
    coop_probe *probe = NULL;

    CHECK(coop_probe_new(&probe, NULL) == 0);
    coop_tier tier = coop_probe_tier(probe);
    coop_probe_free(probe);
    CHECK(tier == tier_here());
}

TEST(the_library_and_its_headers_are_of_one_version)
{
    CHECK_STR(coop_version(), COOP_VERSION);
}
