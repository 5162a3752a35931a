/* worlds: user */
#include "mcp/exchange/exchange.h"

#include <signal.h>
#include <unistd.h>

#include "test/check.h"

/* An exchange that remembers. */
struct recorder {
    struct exchange exchange;
    char said[1000];
    int n_forgone, n_freed;
};

static void record(struct exchange *exchange, enum exchange_kind kind, const char *bytes, size_t n)
{
    struct recorder *recorder = (struct recorder *)exchange;

    (void)strcat(recorder->said, kind == EXCHANGE_REPLY ? "R:" : "N:");
    (void)strncat(recorder->said, bytes, n);
    (void)strcat(recorder->said, ";");
}

static void record_forgone(struct exchange *exchange)
{
    ((struct recorder *)exchange)->n_forgone++;
}

static void record_freed(struct exchange *exchange)
{
    ((struct recorder *)exchange)->n_freed++;
}

static const struct exchange_type recording = { record, record_forgone, record_freed };

static void send_text(struct exchange *exchange, enum exchange_kind kind, const char *text)
{
    struct buffer message = { 0 };

    buffer_append_string(&message, text);
    exchange_send(exchange, kind, &message);
    CHECK(!message.data);
}

TEST(a_batch_answers_when_all_are_there)
{
    struct recorder below = { 0 };

    exchange_init(&below.exchange, &recording);
    struct exchange *batch = exchange_batch_new(&below.exchange, 3);
    CHECK(batch->bottom == &below.exchange);
    send_text(batch, EXCHANGE_REPLY, "1");
    send_text(batch, EXCHANGE_NOTE, "n");
    exchange_forgo(batch);
    CHECK_STR(below.said, "N:n;");
    send_text(batch, EXCHANGE_REPLY, "2");
    CHECK_STR(below.said, "N:n;R:[1,2];");
    exchange_unref(batch);
    CHECK(below.n_forgone == 0 && below.n_freed == 0);
    exchange_unref(&below.exchange);
    CHECK(below.n_freed == 1);
}

TEST(a_batch_without_answers_is_none)
{
    struct recorder below = { 0 };

    exchange_init(&below.exchange, &recording);
    struct exchange *batch = exchange_batch_new(&below.exchange, 2);
    exchange_forgo(batch);
    exchange_forgo(batch);
    CHECK_STR(below.said, "");
    CHECK(below.n_forgone == 1);
    exchange_unref(batch);
}

TEST(a_message_is_one_line)
{
    struct recorder below = { 0 };

    exchange_init(&below.exchange, &recording);
    send_text(&below.exchange, EXCHANGE_NOTE, "{\n\"a\":\n1}");
    CHECK_STR(below.said, "N:{ \"a\": 1};");
}

TEST(an_answer_without_memory_is_an_error)
{
    struct recorder below = { 0 };
    struct buffer failed = { .failed = true };

    exchange_init(&below.exchange, &recording);
    exchange_send(&below.exchange, EXCHANGE_NOTE, &failed);
    CHECK_STR(below.said, "");
    failed.failed = true;
    exchange_send(&below.exchange, EXCHANGE_REPLY, &failed);
    CHECK(strstr(below.said, "out of memory"));
}

static void count(void *context)
{
    ++*(int *)context;
}

TEST(lines_are_written_until_nobody_reads)
{
    int ends[2];
    int n_broken = 0;
    char read_back[10] = "";

    CHECK(pipe(ends) == 0);
    struct exchange *lines = exchange_lines_new(ends[1], count, &n_broken);
    send_text(lines, EXCHANGE_REPLY, "{}");
    send_text(lines, EXCHANGE_BEAT, "1");
    CHECK(read(ends[0], read_back, sizeof read_back) == 5);
    CHECK_STR(read_back, "{}\n1\n");
    CHECK(close(ends[0]) == 0);
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    send_text(lines, EXCHANGE_REPLY, "{}");
    send_text(lines, EXCHANGE_REPLY, "{}");
    (void)signal(SIGPIPE, old);
    CHECK(n_broken == 1);
    exchange_unref(lines);
    CHECK(close(ends[1]) == 0);
}

TEST(what_may_be_left_out_never_waits)
{
    int ends[2];
    int n_broken = 0;

    CHECK(pipe(ends) == 0);
    struct exchange *lines = exchange_lines_new(ends[1], count, &n_broken);
    for (int i = 0; i < 100000; i++) /* more than a pipe holds, and nobody reads */
        send_text(lines, EXCHANGE_BEAT, "{\"a\":1}");
    CHECK(n_broken == 0);
    exchange_unref(lines);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}
