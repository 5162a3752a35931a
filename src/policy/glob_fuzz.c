/*
 * The first line is a path, the others are patterns. Deciding by path and walking down by names must
 * agree, also with each pattern alone, and a directory that is said to have nothing below it must
 * have nothing. Plain patterns are compared with the C library's fnmatch().
 */
#include "policy/glob.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/glob_set.h"
#include "test/fuzz.h"

#define MAX_RULES 16
#define MAX_WORDS 200

/* Whether fnmatch() means the same by it: no classes, no '**', no slashes too many, only ASCII. */
static bool is_plain(const char *text, bool is_pattern)
{
    for (const char *at = text; *at; at++) {
        if ((unsigned char)*at >= 0x80 || (is_pattern && *at == '['))
            return false;
    }
    size_t n = strlen(text);
    return n > 0 && n < 64 && text[0] != '/' && text[n - 1] != '/' && !strstr(text, "//") &&
           !(is_pattern && strstr(text, "**"));
}

static void check_finding(const struct findings *findings, const char *path)
{
    REQUIRE_OF(path, !findings->failed);
    REQUIRE_OF(path, findings->n > 0 && findings->n_errors == findings->n);
    for (size_t i = 0; i < findings->n; i++) {
        REQUIRE_OF(path, strncmp(findings->items[i].message, "the pattern '", 13) == 0);
        REQUIRE_OF(path, findings->items[i].fix != NULL);
    }
}

/* The best of the rules that match, one by one. */
static int decide_singly(const struct glob_rule *rules, size_t n, const char *path,
                         bool is_directory, bool ignore_case)
{
    struct glob *best = NULL;
    int action = -1;

    for (size_t i = 0; i < n; i++) {
        struct findings findings = { 0 };
        struct glob *glob = glob_new(rules[i].pattern, rules[i].length, ignore_case,
                                     (struct origin){ 0 }, &findings);

        REQUIRE_OF(path, glob && glob_compare(glob, glob) == 0);
        bool is_match = glob_match(glob, path, is_directory);
        if (!ignore_case && is_plain(path, false) && is_plain(glob_text(glob), true))
            REQUIRE_OF(path, is_match == (fnmatch(glob_text(glob), path, FNM_PATHNAME) == 0));
        if (is_match && (!best || glob_compare(glob, best) >= 0)) {
            glob_free(best);
            best = glob;
            action = rules[i].action;
        } else {
            glob_free(glob);
        }
    }
    glob_free(best);
    return action;
}

/* Goes down by names, remembering where it was said that nothing can match any more. */
static int decide_walking(const struct glob_set *set, const char *path, bool is_directory)
{
    uint64_t state[2][MAX_WORDS];
    bool may_match = true;
    unsigned now = 0;
    char directory[GLOB_PATH_MAX + 1];
    const char *at = path + strspn(path, "/");

    glob_set_start(set, state[now]);
    for (;;) {
        size_t n = strcspn(at, "/");
        const char *rest = at + n + strspn(at + n, "/");
        if (!*rest) {
            const struct glob_rule *rule =
                glob_set_decide_name(set, state[now], at, n, is_directory);

            REQUIRE_OF(path, may_match || !rule);
            return rule ? rule->action : -1;
        }
        bool may_match_below = glob_set_enter(set, state[now], at, n, state[!now]);
        REQUIRE_OF(path, may_match || !may_match_below);
        may_match = may_match_below;
        (void)snprintf(directory, sizeof directory, "%.*s", (int)(at + n - path), path);
        REQUIRE_OF(path, glob_set_may_match_below(set, directory) == may_match);
        now = !now;
        at = rest;
    }
}

static void fuzz(const struct glob_rule *rules, size_t n, const char *path, bool ignore_case)
{
    struct findings findings = { 0 };
    struct glob_set *set = glob_set_new(rules, n, ignore_case, &findings);

    if (!set) {
        check_finding(&findings, path);
        findings_done(&findings);
        return;
    }
    REQUIRE_OF(path, findings.n == 0);
    for (unsigned is_directory = 0; is_directory < 2; is_directory++) {
        const struct glob_rule *rule = glob_set_decide(set, path, is_directory);
        int action = rule ? rule->action : -1;

        REQUIRE_OF(path, decide_singly(rules, n, path, is_directory, ignore_case) == action);
        if (path[strspn(path, "/")] && glob_set_words(set) <= MAX_WORDS)
            REQUIRE_OF(path, decide_walking(set, path, is_directory) == action);
    }
    glob_set_free(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[2048];
    struct glob_rule rules[MAX_RULES];
    size_t n = 0;

    if (size >= sizeof text || memchr(data, '\0', size))
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    char *next = strchr(text, '\n');
    while (next && n < MAX_RULES) {
        *next++ = '\0';
        char *end = strchr(next, '\n');
        size_t length = end ? (size_t)(end - next) : strlen(next);

        rules[n] = (struct glob_rule){ next, length, (int)n, { "fuzz", (unsigned)n + 1, 1 } };
        n++;
        next = end;
    }
    fuzz(rules, n, text, false);
    fuzz(rules, n, text, true);
    return 0;
}
