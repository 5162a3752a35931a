/*
 * check.h - unit tests that speak TAP
 *
 *   TEST(names_the_behaviour)
 *   {
 *       if (!can_do_it())
 *           SKIP("why not");
 *       CHECK(1 + 1 == 2);
 *       CHECK_STR(text, "expected");
 *   }
 *
 * One binary per module; tests register themselves and run in the order of the file. A skip counts
 * as a failure when COOP_TEST_MUST_RUN=1. With COOP_TEST_CASE=NAME only that one runs.
 */
#pragma once

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check_test {
    const char *name;
    void (*run)(void);
    struct check_test *next;
};

static struct check_test *check_first;
static struct check_test **check_last = &check_first;
static jmp_buf check_leave;
static int check_failed;
static const char *check_skipped;

#define TEST(test_name)                                                           \
    static void test_name(void);                                                  \
    static struct check_test check_##test_name = { #test_name, test_name, NULL }; \
    __attribute__((constructor)) static void check_add_##test_name(void)          \
    {                                                                             \
        *check_last = &check_##test_name;                                         \
        check_last = &check_##test_name.next;                                     \
    }                                                                             \
    static void test_name(void)

#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            printf("# %s:%d: CHECK(%s)\n", __FILE__, __LINE__, #condition); \
            check_failed = 1;                                               \
            longjmp(check_leave, 1);                                        \
        }                                                                   \
    } while (0)

#define CHECK_STR(actual, expected)                                          \
    do {                                                                     \
        const char *check_actual = (actual);                                 \
        const char *check_expected = (expected);                             \
        if (!check_actual || strcmp(check_actual, check_expected) != 0) {    \
            printf("# %s:%d: got '%s', expected '%s'\n", __FILE__, __LINE__, \
                   check_actual ? check_actual : "(null)", check_expected);  \
            check_failed = 1;                                                \
            longjmp(check_leave, 1);                                         \
        }                                                                    \
    } while (0)

#define SKIP(reason)              \
    do {                          \
        check_skipped = (reason); \
        longjmp(check_leave, 1);  \
    } while (0)

/* "$TMPDIR/coop-NAME.XXXXXX", for mkdtemp() and its like: what a test leaves behind that is killed goes
 * with the directory that it was given. */
__attribute__((unused)) static char *check_temporary(char *out, size_t size, const char *name)
{
    const char *base = getenv("TMPDIR");

    if ((size_t)snprintf(out, size, "%s/coop-%s.XXXXXX", base && *base ? base : "/tmp", name) >=
        size)
        abort();
    return out;
}

/* How often something random is tried: less in the quick part of the suite, more in the long one. */
__attribute__((unused)) static unsigned check_rounds(unsigned n)
{
    const char *quick = getenv("COOP_TEST_QUICK");
    const char *is_long = getenv("COOP_TEST_LONG");

    return quick && *quick == '1' && n > 10 ? n / 10 : is_long && *is_long == '1' ? n * 20 : n;
}

/* For what this kind of machine cannot do at all: stays a skip also where skips are failures. */
static int check_may_skip;
#define SKIP_NEVER(reason)        \
    do {                          \
        check_may_skip = 1;       \
        check_skipped = (reason); \
        longjmp(check_leave, 1);  \
    } while (0)

/* Leaves the one of that name, or none. */
static void check_select(const char *name)
{
    struct check_test *t = check_first;

    while (t && strcmp(t->name, name) != 0)
        t = t->next;
    check_first = t;
    if (t)
        t->next = NULL;
    else
        printf("# there is no case '%s'\n", name);
}

int main(void)
{
    const char *must_run = getenv("COOP_TEST_MUST_RUN");
    const char *only = getenv("COOP_TEST_CASE");
    volatile int n = 0;
    volatile int bad = 0;

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (only && *only)
        check_select(only);
    for (struct check_test *t = check_first; t; t = t->next)
        n++;
    printf("1..%d\n", n);
    n = 0;
    for (struct check_test *t = check_first; t; t = t->next) {
        n++;
        check_failed = 0;
        check_skipped = NULL;
        check_may_skip = 0;
        if (setjmp(check_leave) == 0)
            t->run();
        if (check_skipped && !check_may_skip && must_run && *must_run == '1')
            check_failed = 1;
        if (check_failed)
            bad++;
        if (check_skipped && check_failed)
            printf("not ok %d - %s (must run, but: %s)\n", n, t->name, check_skipped);
        else if (check_skipped)
            printf("ok %d - %s # SKIP %s\n", n, t->name, check_skipped);
        else
            printf("%s %d - %s\n", check_failed ? "not ok" : "ok", n, t->name);
    }
    return bad != 0 || n == 0;
}
