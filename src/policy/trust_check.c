/*
 * trust_check.c - mistakes in the list of users and groups
 *
 * Names and patterns are sorted, so that a hundred thousand of them are still looked at once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/trust.h"

/* ---- names */

static int by_name(const void *a, const void *b)
{
    const struct trust_user *const *x = a;
    const struct trust_user *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);

    return order ? order : (*x > *y) - (*x < *y); /* the first one written comes first */
}

static void check_names(const struct trust_user *users, size_t n, struct findings *findings)
{
    auto_free const struct trust_user **sorted = calloc(n + 1, sizeof *sorted);

    if (!sorted) {
        findings->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const char *bad = trust_bad_text(users[i].name);

        sorted[i] = &users[i];
        if (bad)
            findings_add(findings, SEVERITY_ERROR, users[i].origin,
                         "give the user a 'name' of plain characters",
                         "the name '%.64s' of a user %s", users[i].name, bad);
    }
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 1; i < n; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            findings_add(findings, SEVERITY_ERROR, sorted[i]->origin,
                         "give one of them another name, or put both lists into one 'match'",
                         "the user '%.64s' is defined twice, first on line %u", sorted[i]->name,
                         sorted[i - 1]->origin.line);
}

/* ---- patterns */

struct trust_place {
    const struct trust_user *user;
    const struct trust_pattern *pattern;
    size_t n; /* of the beginning, without the '*' */
    bool is_open;
};

/* By beginning; of equal ones first the open one, which covers the other. */
static int by_pattern(const void *a, const void *b)
{
    const struct trust_place *x = a;
    const struct trust_place *y = b;
    size_t n = x->n < y->n ? x->n : y->n;
    int order = memcmp(x->pattern->text, y->pattern->text, n);

    if (order)
        return order;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    if (x->is_open != y->is_open)
        return x->is_open ? -1 : 1;
    if (x->user != y->user)
        return x->user < y->user ? -1 : 1;
    return (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

static bool covers(const struct trust_place *wide, const struct trust_place *narrow)
{
    return wide->is_open && wide->n <= narrow->n &&
           memcmp(wide->pattern->text, narrow->pattern->text, wide->n) == 0;
}

static size_t collect(const struct trust_user *users, size_t n, struct trust_place *places,
                      struct findings *findings)
{
    size_t n_places = 0;

    for (size_t i = 0; i < n; i++) {
        if (users[i].n_patterns == 0)
            findings_add(findings, SEVERITY_WARNING, users[i].origin,
                         "write for example match = [\"signal:+15555550101\"]",
                         "the 'match' of user '%.64s' is empty, so no identity is theirs",
                         users[i].name);
        for (size_t j = 0; j < users[i].n_patterns; j++) {
            const struct trust_pattern *pattern = &users[i].patterns[j];
            auto_error coop_error *err = NULL;

            if (trust_pattern_check(pattern->text, &err) < 0) {
                findings_add(findings, SEVERITY_ERROR, pattern->origin, coop_error_hint(err),
                             "%s, in the 'match' of user '%.64s'", coop_error_message(err),
                             users[i].name);
                continue;
            }
            size_t length = strlen(pattern->text);
            bool is_open = pattern->text[length - 1] == '*';
            places[n_places++] =
                (struct trust_place){ &users[i], pattern, length - is_open, is_open };
        }
    }
    return n_places;
}

static void compare_equal(const struct trust_place *first, const struct trust_place *again,
                          struct findings *findings)
{
    if (first->user != again->user)
        findings_add(findings, SEVERITY_ERROR, again->pattern->origin, "leave it with one of them",
                     "'%s' is in the 'match' of user '%.64s' and of user '%.64s'",
                     again->pattern->text, first->user->name, again->user->name);
    else
        findings_add(findings, SEVERITY_WARNING, again->pattern->origin, "remove one of them",
                     "'%s' is twice in the 'match' of user '%.64s'", again->pattern->text,
                     again->user->name);
}

/* The stack holds the open patterns that cover the present one, the narrowest on top. */
static void compare_places(const struct trust_place *places, size_t n,
                           const struct trust_place **stack, struct findings *findings)
{
    size_t depth = 0;

    for (size_t i = 0; i < n; i++) {
        const struct trust_place *place = &places[i];

        if (i > 0 && place->n == places[i - 1].n && place->is_open == places[i - 1].is_open &&
            covers(&(struct trust_place){ .pattern = places[i - 1].pattern,
                                          .n = places[i - 1].n,
                                          .is_open = true },
                   place)) {
            compare_equal(&places[i - 1], place, findings);
            continue;
        }
        while (depth > 0 && !covers(stack[depth - 1], place))
            depth--;
        if (depth > 0 && stack[depth - 1]->user == place->user)
            findings_add(findings, SEVERITY_WARNING, place->pattern->origin, "remove it",
                         "'%s' changes nothing: '%s' of the same user '%.64s' covers it",
                         place->pattern->text, stack[depth - 1]->pattern->text, place->user->name);
        if (place->is_open)
            stack[depth++] = place;
    }
}

static void check_patterns(const struct trust_user *users, size_t n, struct findings *findings)
{
    size_t n_places = 0;

    for (size_t i = 0; i < n; i++)
        n_places += users[i].n_patterns;
    auto_free struct trust_place *places = calloc(n_places + 1, sizeof *places);
    auto_free const struct trust_place **stack = calloc(n_places + 1, sizeof *stack);
    if (!places || !stack) {
        findings->failed = true;
        return;
    }
    n_places = collect(users, n, places, findings);
    qsort(places, n_places, sizeof *places, by_pattern);
    compare_places(places, n_places, stack, findings);
}

/* ---- owners */

static void check_owners(const struct trust_user *users, size_t n, bool sandbox_enabled,
                         struct findings *findings)
{
    const struct trust_user *owner = NULL;

    for (size_t i = 0; i < n; i++) {
        if (users[i].trust != TRUST_OWNER)
            continue;
        if (owner)
            findings_add(findings, SEVERITY_WARNING, users[i].trust_origin,
                         "write trust = \"full\" for all but one",
                         "user '%.64s' is owner, and so is '%.64s': each runs on the host without "
                         "a sandbox",
                         users[i].name, owner->name);
        else
            owner = &users[i];
    }
    if (owner || !sandbox_enabled)
        return;
    struct trust_match terminal = trust_match(users, n, TRUST_TERMINAL);
    if (terminal.user)
        findings_add(findings, SEVERITY_WARNING, terminal.pattern->origin,
                     "write trust = \"owner\" for whoever sits at the terminal",
                     "no user is owner, and '" TRUST_TERMINAL
                     "' belongs to user '%.64s' (%s): everything is sandboxed, at the terminal too",
                     terminal.user->name, trust_names[terminal.user->trust]);
    else
        findings_add(findings, SEVERITY_INFO, (struct origin){ 0 }, NULL,
                     "no user is owner: whoever uses the terminal is, because nobody's 'match' "
                     "names '" TRUST_TERMINAL "'");
}

void trust_check_users(const struct trust_user *users, size_t n, bool sandbox_enabled,
                       struct findings *findings)
{
    check_names(users, n, findings);
    check_patterns(users, n, findings);
    check_owners(users, n, sandbox_enabled, findings);
}

/* ---- groups */

static int by_group(const void *a, const void *b)
{
    const struct trust_group *const *x = a;
    const struct trust_group *const *y = b;
    int order = strcmp((*x)->pattern, (*y)->pattern);

    return order ? order : (*x > *y) - (*x < *y);
}

static void check_group(const struct trust_group *group, struct findings *findings)
{
    const char *bad = trust_bad_text(group->pattern);
    const char *star = strchr(group->pattern, '*');

    if (!bad && star && star[1])
        bad = "has a '*' before its end";
    if (bad)
        findings_add(findings, SEVERITY_ERROR, group->origin,
                     "write a group's name, or its beginning with '*' behind it",
                     "the group '%.64s' %s", group->pattern, bad);
    else if (group->ceiling == TRUST_OWNER)
        findings_add(findings, SEVERITY_WARNING, group->origin, "write \"full\" or less",
                     "in the group '%s' the owner's commands run on the host, though others write "
                     "there too",
                     group->pattern);
}

void trust_check_groups(const struct trust_group *groups, size_t n, struct findings *findings)
{
    auto_free const struct trust_group **sorted = calloc(n + 1, sizeof *sorted);

    if (!sorted) {
        findings->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        check_group(&groups[i], findings);
        sorted[i] = &groups[i];
    }
    qsort(sorted, n, sizeof *sorted, by_group);
    for (size_t i = 1; i < n; i++)
        if (strcmp(sorted[i - 1]->pattern, sorted[i]->pattern) == 0)
            findings_add(findings, SEVERITY_ERROR, sorted[i]->origin, "remove one of them",
                         "the group '%.64s' has two ceilings, the first on line %u",
                         sorted[i]->pattern, sorted[i - 1]->origin.line);
}
