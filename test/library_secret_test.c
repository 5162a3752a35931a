/*
 * What remains of a secret in the memory of a program that uses libcoop: nothing, once policy and
 * sandbox are gone, whatever is kept of results and errors. The value is held here with every byte
 * changed, so that looking for it does not find the one who looks.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "coop/coop.h"

#define LENGTH   40
#define CHANGE   0x55
#define HUGE_MAP (4ul << 30) /* a sanitizer's notes about all other memory */

static unsigned char changed[LENGTH];
static char directory[256];

static void invent(void)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

    CHECK(fd >= 0 && read(fd, changed, sizeof changed) == LENGTH);
    for (size_t i = 0; i < LENGTH; i++)
        changed[i] = (unsigned char)letters[changed[i] % 32] ^ CHANGE;
    (void)close(fd);
}

static bool is_here(const unsigned char *bytes)
{
    size_t i = 0;

    while (i < LENGTH && (bytes[i] ^ CHANGE) == changed[i])
        i++;
    return i == LENGTH;
}

static size_t count_in(int memory, uintptr_t start, uintptr_t end, unsigned char *room, size_t size)
{
    size_t found = 0;

    while (start < end) {
        size_t n = end - start < size ? end - start : size;
        ssize_t got = pread(memory, room, n, (off_t)start);

        if (got < LENGTH)
            break;
        for (size_t i = 0; i + LENGTH <= (size_t)got; i++)
            found += is_here(room + i);
        if ((size_t)got < n || n < size)
            break;
        start += (size_t)got - (LENGTH - 1);
    }
    return found;
}

/* In all memory of this process that can be written, without the room that it is read into. */
static size_t copies(void)
{
    enum { SIZE = 1 << 20 };
    static unsigned char room[SIZE];
    FILE *maps = fopen("/proc/self/maps", "re");
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    size_t found = 0;
    char line[512];

    CHECK(maps && memory >= 0);
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        char rights[8];

        if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) != 3 || rights[1] != 'w' ||
            strstr(line, "[v") || end - start > HUGE_MAP)
            continue;
        uintptr_t here = (uintptr_t)room;
        if (here >= start && here < end) {
            found += count_in(memory, start, here, room, SIZE);
            memset(room, 0, SIZE);
            start = here + SIZE;
        }
        found += count_in(memory, start, end, room, SIZE);
        memset(room, 0, SIZE);
    }
    (void)fclose(maps);
    (void)close(memory);
    return found;
}

static void write_value(char *out)
{
    for (size_t i = 0; i < LENGTH; i++)
        out[i] = (char)(changed[i] ^ CHANGE);
    out[LENGTH] = '\0';
}

static coop_policy *policy_with_secret(void)
{
    coop_policy *policy = NULL;
    char value[LENGTH + 1];

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_workspace(policy, directory, NULL) == 0);
    write_value(value);
    CHECK(coop_policy_add_secret(policy, "key", "KEY", value, NULL) == 0);
    explicit_bzero(value, sizeof value);
    return policy;
}

TEST(looking_finds_it_where_it_is)
{
    const char *base = getenv("TMPDIR");
    char value[LENGTH + 1];

    (void)snprintf(directory, sizeof directory, "%.200s/coop-library-secret.XXXXXX",
                   base ? base : "/tmp");
    CHECK(mkdtemp(directory));
    invent();
    CHECK(copies() == 0);
    char *copy = malloc(LENGTH + 1);
    write_value(value);
    memcpy(copy, value, LENGTH + 1);
    CHECK(copies() >= 2);
    explicit_bzero(value, sizeof value);
    explicit_bzero(copy, LENGTH + 1);
    free(copy);
    CHECK(copies() == 0);
}

static size_t n_passed;
static char passed[4096];

static void take(void *context, coop_stream stream, const char *bytes, size_t n)
{
    (void)context;
    (void)stream;
    if (n_passed + n < sizeof passed)
        memcpy(passed + n_passed, bytes, n);
    n_passed += n;
}

static void run(coop_sandbox *sandbox, const coop_run_options *options, coop_result **out)
{
    char *argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                     (char *)(uintptr_t) "echo \"a $KEY b\"; echo \"$KEY\" >&2; printf %s \"$KEY\"",
                     NULL };
    coop_error *err = NULL;

    if (coop_run(sandbox, argv, options, out, &err) < 0) {
        printf("# %s\n", coop_error_message(err));
        CHECK(false);
    }
}

TEST(nothing_is_left_when_policy_and_sandbox_are_gone)
{
    const coop_run_options streaming = { .size = sizeof streaming, .on_output = take };
    coop_policy *policy = policy_with_secret();
    coop_sandbox *sandbox = NULL;
    coop_result *results[3] = { NULL };
    coop_error *err = NULL;
    char *plan = NULL;
    char *argv[] = { (char *)(uintptr_t) "/no/such/program", NULL };

    CHECK(copies() == 1);
    CHECK(coop_sandbox_new(policy, &sandbox, NULL) == 0);
    for (int i = 0; i < 2; i++) /* the second has a template */
        run(sandbox, NULL, &results[i]);
    run(sandbox, &streaming, &results[2]);
    CHECK(coop_run(sandbox, argv, NULL, &results[2], &err) < 0);
    CHECK(coop_plan_json(sandbox, argv, NULL, &plan, NULL) == 0);
    CHECK(strstr(plan, "KEY"));
    coop_policy_free(policy);
    CHECK(copies() == 1); /* the sandbox's */
    coop_sandbox_free(sandbox);
    CHECK(copies() == 0);

    CHECK_STR(coop_result_output(results[0], COOP_STREAM_STDOUT, NULL),
              "a [secret key] b\n[secret key]");
    CHECK_STR(coop_result_output(results[1], COOP_STREAM_STDERR, NULL), "[secret key]\n");
    CHECK(coop_result_json(results[0]));
    CHECK(n_passed < sizeof passed && strstr(passed, "a [secret key] b\n"));
    CHECK(copies() == 0);
    for (int i = 0; i < 3; i++)
        coop_result_free(results[i]);
    coop_error_free(err);
    free(plan);
    CHECK(rmdir(directory) == 0);
}

TEST(two_values_have_one_digest)
{
    coop_policy *one = policy_with_secret();
    coop_policy *two = policy_with_secret();
    coop_policy *three = policy_with_secret();
    char first[65];

    CHECK(coop_policy_add_secret(one, "other", "OTHER", "abcd", NULL) == 0);
    CHECK(coop_policy_add_secret(two, "other", "OTHER", "efgh", NULL) == 0);
    (void)snprintf(first, sizeof first, "%s", coop_policy_digest(one));
    CHECK_STR(coop_policy_digest(two), first);
    CHECK(strcmp(coop_policy_digest(three), first) != 0);
    coop_policy_free(one);
    coop_policy_free(two);
    coop_policy_free(three);
    CHECK(copies() == 0);
}

TEST(what_cannot_be_a_secret_is_refused_without_its_value)
{
    static const struct {
        const char *name, *variable, *value;
    } bad[] = {
        { "", "A", "canary" },
        { "a\nb", "A", "canary" },
        { NULL, "A", "canary" },
        { "a", "", "canary" },
        { "a", NULL, "canary" },
        { "a", "B=C", "canary" },
        { "a", "COOP_KEY", "canary" },
        { "a", "OBEY_KEY", "canary" },
        { "a", "TAKEN", "canary" },
        { "a", "A", "" },
        { "a", "A", NULL },
    };
    coop_policy *policy = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_add_secret(policy, "first", "TAKEN", "value", NULL) == 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        coop_error *err = NULL;

        CHECK(coop_policy_add_secret(policy, bad[i].name, bad[i].variable, bad[i].value, &err) < 0);
        CHECK(!strstr(coop_error_message(err), "canary"));
        coop_error_free(err);
    }
    coop_policy_free(policy);
}

TEST(facts_are_told_when_asked_for)
{
    static const char *const prefixes[] = { "obey", "COOP_", "LC_", "X", NULL };
    coop_policy *policy = NULL;
    coop_error *err = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_fact(policy, COOP_FACT_SESSION, NULL, NULL) == 0);
    CHECK(coop_policy_set_fact(policy, COOP_FACT_CAMPAIGN, "spring", NULL) == 0);
    CHECK(coop_policy_set_fact(policy, COOP_FACT_CAMPAIGN, NULL, &err) < 0);
    coop_error_free(err);
    CHECK(coop_policy_set_fact(policy, COOP_FACT_COUNT, "x", NULL) < 0);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        CHECK(coop_policy_set_second_prefix(policy, prefixes[i], NULL) < 0);
    CHECK(coop_policy_set_env(policy, "ACME_X", "1", NULL) == 0);
    CHECK(coop_policy_set_second_prefix(policy, "ACME_", NULL) < 0); /* taken already */
    CHECK(coop_policy_set_second_prefix(policy, "OTHER_", NULL) == 0);
    CHECK(coop_policy_set_env(policy, "OTHER_X", "1", NULL) < 0);
    coop_policy_free(policy);
}
