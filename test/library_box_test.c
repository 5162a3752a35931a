/*
 * library_box_test.c - boxes of libcoop in an event loop: steps, signals, cancelling, a terminal
 *
 * builds: clang asan asan-root
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "library.h"

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
