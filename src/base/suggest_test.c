/* worlds: user */
#include "suggest.h"

#include <string.h>

#include "test/check.h"

static const char *const commands[] = { "run",   "plan", "status", "doctor",  "why",
                                        "check", "exec", "logs",   "restart", NULL };
static const char *const options[] = { "--workspace", "--same-path", "--ro",       "--rw",
                                       "--mount",     "--memory",    "--network",  "--timeout",
                                       "--tty",       "--env",       "--env-pass", "-v",
                                       NULL };

TEST(finds_one_mistyping)
{
    CHECK_STR(suggest("rnu", commands), "run");
    CHECK_STR(suggest("stauts", commands), "status");
    CHECK_STR(suggest("statsu", commands), "status");
    CHECK_STR(suggest("docter", commands), "doctor");
    CHECK_STR(suggest("chek", commands), "check");
    CHECK_STR(suggest("planm", commands), "plan");
    CHECK_STR(suggest("RUN", commands), "run");
    CHECK_STR(suggest("--momory", options), "--memory");
    CHECK_STR(suggest("--tiemout", options), "--timeout");
    CHECK_STR(suggest("-timeout", options), "--timeout");
    CHECK_STR(suggest("--work-space", options), "--workspace");
}

TEST(forgives_more_in_longer_words)
{
    CHECK_STR(suggest("restrat", commands), "restart");
    CHECK_STR(suggest("rsetrat", commands), "restart");
    CHECK_STR(suggest("--wrokspcae", options), "--workspace");
}

TEST(prefers_the_nearest_and_then_the_first)
{
    static const char *const list[] = { "best", "rest", "test", NULL };

    CHECK_STR(suggest("test", list), "test");
    CHECK_STR(suggest("zest", list), "best");
    CHECK_STR(suggest("resf", list), "rest");
}

TEST(completes_what_only_one_begins_with)
{
    CHECK_STR(suggest("--mem", options), "--memory");
    CHECK_STR(suggest("--net", options), "--network");
    CHECK_STR(suggest("stat", commands), "status");
    CHECK(!suggest("--m", options)); /* one letter is too little to go by */

    static const char *const two[] = { "restart", "remove-all", NULL };
    CHECK(!suggest("re", two));
}

TEST(is_silent_about_strangers)
{
    CHECK(!suggest("frobnicate", commands));
    CHECK(!suggest("ls", commands));
    CHECK(!suggest("xyz", commands));
    CHECK(!suggest("", commands));
    CHECK(!suggest("x", commands));
    CHECK(!suggest("--", options));
    CHECK(!suggest("-x", options));
    CHECK(!suggest("--volume", options));
}

TEST(bears_words_of_any_length)
{
    static const char *const none[] = { NULL };
    char word[4096];
    char edge[64];

    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    const char *const list[] = { word, "b", NULL };
    CHECK(!suggest(word, commands));
    CHECK(!suggest("aaaa", commands));
    CHECK_STR(suggest("aaaa", list), word); /* too long to be mistyped, but it can be completed */
    CHECK(!suggest("run", none));

    memset(edge, 'a', 63);
    edge[63] = '\0';
    const char *const edges[] = { edge, NULL };
    CHECK(suggest(edge, edges) == edge);
    CHECK(suggest(edge + 1, edges) == edge);
}
