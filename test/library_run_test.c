/*
 * library_run_test.c - runs as users of libcoop see them: what is given to a command, and what its result says
 *
 * builds: clang asan asan-root
 */
#include <fcntl.h>
#include <signal.h>

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

TEST(only_passed_variables_of_the_caller_are_seen)
{
    static const char *const passed[] = { "LIBRARY_PASSED", "LIBRARY_UNSET", NULL };
    const coop_run_options options = { .size = sizeof options, .env_pass = passed };
    coop_sandbox *sandbox = new_sandbox();

    if (tier_here() == COOP_TIER_NONE)
        SKIP("this host has no isolation layer at all");
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
