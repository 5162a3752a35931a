#include "trust.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "base/utf8.h"

const char *const trust_names[] = {
    [TRUST_OWNER] = "owner",       [TRUST_FULL] = "full",     [TRUST_INNER] = "inner",
    [TRUST_FAMILIAR] = "familiar", [TRUST_PUBLIC] = "public", [TRUST_COUNT] = NULL,
};

const char *const trust_tools_names[] = {
    [TRUST_TOOLS_NONE] = "none",
    [TRUST_TOOLS_READ_FILES] = "read-only file tools",
    [TRUST_TOOLS_BASH_AND_FILES] = "bash and file tools",
    [TRUST_TOOLS_ALL] = "all",
};

const char *const trust_store_names[] = {
    [TRUST_STORE_PRIVATE] = "private",
    [TRUST_STORE_SHARED] = "shared",
    [TRUST_STORE_SOCIAL] = "social",
};

/* The stores in the order private, shared, social. */
const struct trust_meaning trust_meanings[] = {
    [TRUST_OWNER] = { false,
                      TRUST_TOOLS_ALL,
                      { true, true, true },
                      "everything, directly on the host, without a sandbox" },
    [TRUST_FULL] = { true,
                     TRUST_TOOLS_ALL,
                     { true, true, true },
                     "all tools, commands in the sandbox" },
    [TRUST_INNER] = { true,
                      TRUST_TOOLS_BASH_AND_FILES,
                      { false, true, true },
                      "commands and file tools in the sandbox" },
    [TRUST_FAMILIAR] = { true,
                         TRUST_TOOLS_READ_FILES,
                         { false, false, true },
                         "file tools that only read, no commands" },
    [TRUST_PUBLIC] = { true, TRUST_TOOLS_NONE, { false, false, false }, "nothing" },
};

int trust_parse(const char *text, enum trust *out, coop_error **err)
{
    auto_buffer struct buffer shown = { 0 };

    for (int i = 0; i < TRUST_COUNT; i++)
        if (strcmp(text, trust_names[i]) == 0) {
            *out = (enum trust)i;
            return 0;
        }
    printable_append(&shown, text, strnlen(text, 64));
    if (shown.failed)
        return fail_no_memory(err);
    const char *near = suggest(text, trust_names);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "bad trust level '%s': expected owner, full, inner, familiar or public",
                      shown.data ? shown.data : "");
    return near ? fail_hint(err, r, "did you mean '%s'?", near) : r;
}

/* ---- identities and patterns */

const char *trust_bad_text(const char *text)
{
    size_t n = strnlen(text, TRUST_IDENTITY_MAX + 1);

    if (n == 0)
        return "is empty";
    if (n > TRUST_IDENTITY_MAX)
        return "is longer than 256 bytes";
    for (const char *p = text, *end = text + n; p < end;) {
        uint32_t cp;
        size_t taken = utf8_decode((const unsigned char *)p, (size_t)(end - p), &cp);

        if (utf8_valid_prefix(p, taken) != taken)
            return "is not UTF-8";
        if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0))
            return "has a control character in it";
        p += taken;
    }
    return NULL;
}

/* The form that identities and patterns share: a channel and something behind it. */
static const char *bad_parts(const char *text)
{
    const char *bad = trust_bad_text(text);
    const char *colon = strchr(text, ':');

    if (bad)
        return bad;
    if (!colon)
        return "has no ':' after the channel";
    if (colon == text)
        return "has no channel before the ':'";
    if (!colon[1])
        return "has nothing after the ':'";
    return NULL;
}

static int fail_text(coop_error **err, const char *what, const char *text, const char *why)
{
    auto_buffer struct buffer shown = { 0 };

    printable_append(&shown, text, strnlen(text, 64));
    if (shown.failed)
        return fail_no_memory(err);
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the %s '%s' %s", what,
                     shown.data ? shown.data : "", why);
}

int trust_identity_check(const char *identity, coop_error **err)
{
    const char *bad = bad_parts(identity);

    if (!bad)
        return 0;
    int r = fail_text(err, "identity", identity, bad);
    return fail_hint(err, r, "an identity is 'channel:id', for example '" TRUST_TERMINAL "'");
}

int trust_pattern_check(const char *pattern, coop_error **err)
{
    const char *bad = bad_parts(pattern);
    const char *star = strchr(pattern, '*');

    if (!bad && star && star < strchr(pattern, ':'))
        bad = "has a '*' in its channel";
    else if (!bad && star && star[1])
        bad = "has a '*' before its end";
    else if (strcmp(pattern, "*") == 0)
        bad = "would match every channel, the terminal too";
    if (!bad)
        return 0;
    int r = fail_text(err, "pattern", pattern, bad);
    return fail_hint(err, r,
                     "write a whole identity such as 'signal:+15555550101', or its "
                     "beginning with '*' behind it, such as 'signal:*'");
}

/* How well a pattern fits: 0 not at all, otherwise more is better. */
static size_t fit(const char *pattern, const char *text)
{
    size_t n = strlen(pattern);

    if (n == 0 || pattern[n - 1] != '*')
        return strcmp(pattern, text) == 0 ? SIZE_MAX : 0;
    return strncmp(pattern, text, n - 1) == 0 ? n : 0;
}

struct trust_match trust_match(const struct trust_user *users, size_t n, const char *identity)
{
    struct trust_match match = { .kind = TRUST_MATCH_NONE };
    size_t best = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < users[i].n_patterns; j++) {
            size_t how = fit(users[i].patterns[j].text, identity);

            if (how > best) {
                best = how;
                match = (struct trust_match){ .kind = TRUST_MATCH_USER,
                                              .user = &users[i],
                                              .pattern = &users[i].patterns[j] };
            } else if (how > 0 && how == best && match.user != &users[i]) {
                match.kind = TRUST_MATCH_AMBIGUOUS;
                match.other = &users[i];
            }
        }
    return match;
}

/* ---- the decision */

/* Of two equal lines the less trusting one holds; the check reports them. */
static const struct trust_group *find_group(const struct trust_rules *rules, const char *name)
{
    const struct trust_group *found = NULL;
    size_t best = 0;

    for (size_t i = 0; i < rules->n_groups; i++) {
        size_t how = fit(rules->groups[i].pattern, name);

        if (how > best ||
            (how > 0 && how == best && found && rules->groups[i].ceiling > found->ceiling)) {
            best = how;
            found = &rules->groups[i];
        }
    }
    return found;
}

static enum trust trust_of_nobody(const struct trust_rules *rules, const char *identity)
{
    if (strcmp(identity, TRUST_TERMINAL) != 0)
        return TRUST_PUBLIC;
    /* Whoever sits at the terminal has the machine anyway. */
    if (rules->sandbox_enabled)
        return TRUST_OWNER;
    return rules->n_users == 0 ? TRUST_FULL : TRUST_PUBLIC;
}

static int check_group_name(const char *group, coop_error **err)
{
    const char *bad = *group ? trust_bad_text(group) : NULL;

    return bad ? fail_text(err, "group", group, bad) : 0;
}

int trust_decide(const struct trust_rules *rules, const char *identity, const char *group,
                 struct trust_decision *out, coop_error **err)
{
    struct trust_decision decision = { .user_trust = TRUST_PUBLIC };
    int r = trust_identity_check(identity, err);

    if (r < 0 || (group && (r = check_group_name(group, err)) < 0))
        return r;
    struct trust_match match = trust_match(rules->users, rules->n_users, identity);
    if (match.kind == TRUST_MATCH_AMBIGUOUS)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the identity '%s' is ambiguous: users '%s' and '%s' both match it with "
                         "'%s'",
                         identity, match.user->name, match.other->name, match.pattern->text);
    decision.user = match.user;
    decision.pattern = match.pattern;
    decision.user_trust = match.user ? match.user->trust : trust_of_nobody(rules, identity);
    decision.trust = decision.user_trust;
    if (group) {
        decision.has_ceiling = true;
        decision.group = find_group(rules, group);
        decision.ceiling = decision.group ? decision.group->ceiling : TRUST_GROUP_CEILING;
        decision.trust = trust_resolve(decision.user_trust, decision.ceiling);
    }
    *out = decision;
    return 0;
}
