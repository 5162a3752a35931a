/* A second hello, where the server asks for one: see WORLD_RETRY in test/gate_world.h. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/gate_protocol.h"
#include "test/gate_changing.h"
#include "test/gate_checks.h"

#define ANSWER 43 /* bytes of the server's, before it echoes */
#define CHANGE "\x14\3\3\0\1\1"
#define DATA   "\x17\3\3\0\5early"

struct text {
    uint8_t bytes[2048];
    size_t n;
};

static struct text with(struct text text, const void *bytes, size_t n)
{
    memcpy(text.bytes + text.n, bytes, n);
    text.n += n;
    return text;
}
#define WITH(text, literal) with(text, literal, sizeof(literal) - 1)

static struct text with_hello(struct text text, const char *name)
{
    text.n += world_hello(text.bytes + text.n, name);
    return text;
}

/* The same hello, a byte in each record. */
static struct text with_pieces(struct text text, const char *name)
{
    uint8_t hello[512];
    size_t n = world_hello(hello, name);

    for (size_t i = 5; i < n; i++)
        text = with(with(text, "\x16\3\1\0\1", 5), hello + i, 1);
    return text;
}

static const struct text nothing;

/* Says a hello for that name, and has the server's answer. */
static int begin_tls(const char *name)
{
    struct text hello = with_hello(nothing, name);
    char back[1024];
    int fd = world_connect_name(&run, name, 443);

    CHECK(fd >= 0 && world_send(fd, hello.bytes, hello.n));
    CHECK(recv(fd, back, ANSWER + hello.n, MSG_WAITALL) == (ssize_t)(ANSWER + hello.n));
    CHECK(memcmp(back, "\x16\3\3", 3) == 0 && memcmp(back + ANSWER, hello.bytes, hello.n) == 0);
    return fd;
}

static bool comes_back(int fd, struct text text)
{
    char back[sizeof text.bytes];

    return world_send(fd, text.bytes, text.n) &&
           recv(fd, back, text.n, MSG_WAITALL) == (ssize_t)text.n &&
           memcmp(back, text.bytes, text.n) == 0;
}

TEST(a_second_hello_for_the_same_host_passes)
{
    struct text both = WITH(WITH(nothing, CHANGE), DATA);

    BEGIN("allow retry.example\n");
    int fd = begin_tls("retry.example");
    CHECK(comes_back(fd, WITH(with_hello(both, "retry.example"), DATA)));
    CHECK(comes_back(fd, WITH(nothing, "anything, from here on")));
    (void)close(fd);
    fd = begin_tls("retry.example");
    struct text pieces = with_hello(WITH(nothing, CHANGE), "Retry.Example");
    for (size_t i = 0; i < pieces.n; i++)
        CHECK(world_send(fd, pieces.bytes + i, 1));
    CHECK(recv(fd, both.bytes, pieces.n, MSG_WAITALL) == (ssize_t)pieces.n);
    (void)close(fd);
    fd = begin_tls("retry.example");
    CHECK(comes_back(fd, with_pieces(nothing, "retry.example")));
    (void)close(fd);
    END();
}

TEST(a_second_hello_for_another_host_is_refused)
{
    const struct text texts[] = {
        with_hello(nothing, "evil.example"),
        with_hello(WITH(nothing, CHANGE), "evil.example"),
        with_hello(WITH(WITH(nothing, DATA), DATA), "evil.example"),
        with_hello(WITH(nothing, "\x15\3\3\0\2\1\0"), "evil.example"),
        with_pieces(WITH(nothing, CHANGE), "evil.example"),
    };

    BEGIN("allow retry.example\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char back[1024];
        int fd = begin_tls("retry.example");

        CHECK(world_send(fd, texts[i].bytes, texts[i].n));
        (void)shutdown(fd, SHUT_WR);
        ssize_t n = world_read_all(fd, back, sizeof back);
        CHECK(n >= 7 && memcmp(back + n - 7, ALERT, 7) == 0 && !memmem(back, (size_t)n, "evil", 4));
        (void)close(fd);
    }
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_HEAD, "retry.example");
    CHECK(event && event->port == 443);
    CHECK_STR(event->detail, "evil.example");
    END();
}

/* It knows what will be asked, and does not wait for it. */
TEST(a_second_hello_that_comes_early_waits_and_is_refused)
{
    struct text both = with_hello(with_hello(nothing, "retry.example"), "evil.example");
    char back[1024];

    BEGIN("allow retry.example\n");
    int fd = world_connect_name(&run, "retry.example", 443);
    CHECK(fd >= 0 && world_send(fd, both.bytes, both.n));
    (void)shutdown(fd, SHUT_WR);
    ssize_t n = world_read_all(fd, back, sizeof back);
    CHECK(n >= 7 && memcmp(back + n - 7, ALERT, 7) == 0 && !memmem(back, (size_t)n, "evil", 4));
    (void)close(fd);
    END();
}

TEST(a_second_hello_must_be_one)
{
    static const char *const wrong[] = { "\x16\3\3\xff\xff\1", "\x80\x2e\1\3\1", "GET / HTTP/1.1" };

    BEGIN("allow retry.example\nallow *.wild.example\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char back[1024];
        int fd = begin_tls("retry.example");

        CHECK(say(fd, wrong[i]));
        ssize_t n = world_read_all(fd, back, sizeof back);
        CHECK(n == 7 && memcmp(back, ALERT, 7) == 0);
        (void)close(fd);
    }
    END();
}

/* From here on it is keys and noise, and a hello in it would be one as well. */
TEST(after_an_answer_that_asks_for_nothing_all_passes)
{
    BEGIN("allow final.example\n");
    int fd = begin_tls("final.example");
    CHECK(comes_back(fd, with_hello(nothing, "evil.example")));
    (void)close(fd);
    END();
}

TEST(early_data_arrives_behind_the_answer)
{
    struct text hello = with_hello(nothing, "final.example");
    struct text both = WITH(hello, DATA);
    char back[1024];

    BEGIN("allow final.example\n");
    int fd = world_connect_name(&run, "final.example", 443);
    CHECK(fd >= 0 && world_send(fd, both.bytes, both.n));
    CHECK(recv(fd, back, ANSWER + both.n, MSG_WAITALL) == (ssize_t)(ANSWER + both.n));
    CHECK(memcmp(back + ANSWER, both.bytes, both.n) == 0);
    (void)close(fd);
    END();
}

TEST(a_second_hello_that_changes_after_it_was_judged_goes_on_as_it_was)
{
    BEGIN("allow retry.example\n");
    changing_hellos("retry.example", "other.example", 100, begin_tls);
    END();
}
