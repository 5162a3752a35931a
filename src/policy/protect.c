#include "protect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "glob/glob.h"
#include "glob/name_fold.h"
#include "policy/policy.h"

/*
 * The screen: what the last component of a pattern asks of a name, read off the pattern's text
 * without compiling it. Only rules that hide or keep are in it; exceptions matter after them.
 */
enum screen_shape { SCREEN_LITERAL, SCREEN_PREFIX, SCREEN_SUFFIX, SCREEN_CONTAINS, SCREEN_ANY };

struct screen_part {
    enum screen_shape shape;
    const char *text;
    size_t length;
};

#define SCREEN_BUCKETS 256
#define SCREEN_NONE    UINT16_MAX
#define SCREEN_FIRST   0
#define SCREEN_LAST    1

struct entry {
    struct protect_rule rule;
    struct glob *glob; /* NULL until first needed */
    bool is_broken;    /* no memory for it: it matches everything then */
    uint16_t next;     /* in its bucket */
    bool is_built_in;
    struct screen_part part;
};

struct protect {
    struct entry *entries;
    size_t n;
    size_t n_built_in;
    bool ignore_case;
    bool has_deep; /* a rule for any depth: no directory can be left out */
    bool has_deep_own;
    bool has_exceptions; /* that somebody made */
    bool has_any;        /* a rule that says nothing about the last name */
    uint16_t buckets[SCREEN_BUCKETS];
    uint16_t *others; /* entries that are not literals */
    size_t n_others;
    uint16_t *inner; /* those of them that can match in the middle of a name */
    size_t n_inner;
    bool pairs[2][256];        /* that names which the others match begin with, or end with */
    struct entry *git;         /* the rules for git directories */
    struct entry **exceptions; /* that somebody made, by growing weight; NULL until first needed */
    size_t n_exceptions;
    struct protect_rule *blocks;
    size_t n_blocks;
};

/* ---- the screen */

static struct screen_part part_of(const char *pattern)
{
    size_t length = strlen(pattern);

    while (length > 0 && pattern[length - 1] == '/')
        length--;
    const char *slash = memrchr(pattern, '/', length);
    const char *name = slash ? slash + 1 : pattern;
    size_t n = (size_t)(pattern + length - name);
    struct screen_part part = { SCREEN_LITERAL, name, n };

    for (size_t i = 0; i < n; i++)
        if (name[i] == '?' || name[i] == '[' || name[i] == '\\')
            return (struct screen_part){ SCREEN_ANY, NULL, 0 };
    bool first = n > 0 && name[0] == '*';
    bool last = n > 1 && name[n - 1] == '*';
    part.text += first;
    part.length -= (size_t)first + (size_t)last;
    if (part.length == 0 || memchr(part.text, '*', part.length))
        return (struct screen_part){ SCREEN_ANY, NULL, 0 };
    part.shape = first && last ? SCREEN_CONTAINS
                 : first       ? SCREEN_SUFFIX
                 : last        ? SCREEN_PREFIX
                               : SCREEN_LITERAL;
    return part;
}

static unsigned bucket_of(const char *name, size_t length)
{
    unsigned hash = (unsigned)length;

    for (size_t i = 0; i < length; i++)
        hash = hash * 31 + (unsigned char)name[i];
    return (hash ^ hash >> 8 ^ hash >> 16) % SCREEN_BUCKETS;
}

static unsigned char pair_of(const char *two)
{
    return (unsigned char)((unsigned char)two[0] * 31 + (unsigned char)two[1]);
}

static bool contains(const char *name, size_t length, const struct screen_part *part)
{
    const char *end = name + length;

    while ((size_t)(end - name) >= part->length) {
        name = memchr(name, part->text[0], (size_t)(end - name) - part->length + 1);
        if (!name)
            return false;
        if (memcmp(name, part->text, part->length) == 0)
            return true;
        name++;
    }
    return false;
}

static bool part_matches(const struct screen_part *part, const char *name, size_t length)
{
    if (part->shape == SCREEN_ANY)
        return true;
    if (length < part->length)
        return false;
    switch (part->shape) {
    case SCREEN_LITERAL:
        return length == part->length && memcmp(name, part->text, length) == 0;
    case SCREEN_PREFIX:
        return memcmp(name, part->text, part->length) == 0;
    case SCREEN_SUFFIX:
        return memcmp(name + length - part->length, part->text, part->length) == 0;
    case SCREEN_CONTAINS:
        return contains(name, length, part);
    case SCREEN_ANY:
        break;
    }
    return true;
}

bool protect_concerns_name(const struct protect *protect, const char *name, size_t length)
{
    if (protect->has_any)
        return true;
    for (size_t i = protect->buckets[bucket_of(name, length)]; i != SCREEN_NONE;
         i = protect->entries[i].next)
        if (part_matches(&protect->entries[i].part, name, length))
            return true;
    if (length < 2 || protect->pairs[SCREEN_FIRST][pair_of(name)] ||
        protect->pairs[SCREEN_LAST][pair_of(name + length - 2)]) {
        for (size_t i = 0; i < protect->n_others; i++)
            if (part_matches(&protect->entries[protect->others[i]].part, name, length))
                return true;
        return false;
    }
    for (size_t i = 0; i < protect->n_inner; i++)
        if (part_matches(&protect->entries[protect->inner[i]].part, name, length))
            return true;
    return false;
}

static bool is_deep(const char *pattern)
{
    while (*pattern == '/')
        pattern++;
    return strncmp(pattern, "**", 2) == 0;
}

/* By its two first or last bytes, most names are told from what begins or ends like a pattern. */
static void add_pair(struct protect *protect, uint16_t i)
{
    const struct screen_part *part = &protect->entries[i].part;

    if (part->shape == SCREEN_CONTAINS || part->length < 2)
        protect->inner[protect->n_inner++] = i;
    else if (part->shape == SCREEN_PREFIX)
        protect->pairs[SCREEN_FIRST][pair_of(part->text)] = true;
    else
        protect->pairs[SCREEN_LAST][pair_of(part->text + part->length - 2)] = true;
}

/* Folded comparisons are left to the compiled patterns: who ignores case asks for each name. */
static void add_to_screen(struct protect *protect, uint16_t i)
{
    struct entry *entry = &protect->entries[i];

    entry->part = part_of(entry->rule.pattern);
    if (entry->rule.action == COOP_PROTECT_SHOW) {
        protect->has_exceptions |= !entry->is_built_in;
        return;
    }
    if (is_deep(entry->rule.pattern)) {
        protect->has_deep = true;
        protect->has_deep_own |= !entry->is_built_in;
    }
    if (entry->part.shape == SCREEN_ANY || protect->ignore_case) {
        protect->has_any = true;
    } else if (entry->part.shape == SCREEN_LITERAL) {
        unsigned bucket = bucket_of(entry->part.text, entry->part.length);

        entry->next = protect->buckets[bucket];
        protect->buckets[bucket] = i;
    } else {
        protect->others[protect->n_others++] = i;
        add_pair(protect, i);
    }
}

/* ---- life */

int protect_new(const coop_policy *policy, struct protect **out, coop_error **err)
{
    size_t n_built_in = policy->no_protect_defaults ? 0 : protect_n_defaults;
    size_t n = n_built_in + policy->n_protects;

    if (!protect_is_wanted(policy)) {
        *out = NULL;
        return 0;
    }
    if (n >= SCREEN_NONE)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG, "%zu rules that protect are too many",
                         n);
    struct protect *protect = calloc(1, sizeof *protect);
    if (protect) {
        protect->entries = calloc(n + 1, sizeof *protect->entries);
        protect->others = calloc(n + 1, sizeof *protect->others);
        protect->inner = calloc(n + 1, sizeof *protect->inner);
        protect->git = calloc(protect_n_git_defaults, sizeof *protect->git);
    }
    if (!protect || !protect->entries || !protect->others || !protect->inner || !protect->git) {
        protect_free(protect);
        return fail_no_memory(err);
    }
    memset(protect->buckets, 0xFF, sizeof protect->buckets);
    protect->ignore_case = policy->protect_ignore_case;
    protect->n_built_in = n_built_in;
    protect->n = n;
    for (size_t i = 0; i < n; i++) {
        struct entry *entry = &protect->entries[i];

        entry->is_built_in = i < n_built_in;
        if (entry->is_built_in) {
            entry->rule = protect_defaults[i];
        } else {
            const struct policy_protect *from = &policy->protects[i - n_built_in];

            entry->rule = (struct protect_rule){ from->pattern, from->action, 0, from->origin };
        }
        add_to_screen(protect, (uint16_t)i);
    }
    for (size_t i = 0; i < protect_n_git_defaults; i++)
        protect->git[i].rule = protect_git_defaults[i];
    *out = protect;
    return 0;
}

void protect_free(struct protect *protect)
{
    if (!protect)
        return;
    for (size_t i = 0; protect->entries && i < protect->n; i++)
        glob_free(protect->entries[i].glob);
    for (size_t i = 0; protect->git && i < protect_n_git_defaults; i++)
        glob_free(protect->git[i].glob);
    free(protect->entries);
    free(protect->others);
    free(protect->inner);
    free(protect->git);
    free(protect->exceptions);
    free(protect->blocks);
    free(protect);
}

bool protect_is_wanted(const coop_policy *policy)
{
    bool is_wanted = !policy->no_protect_defaults || policy->n_protects > 0;

    for (size_t i = 0; !is_wanted && i < policy->n_mounts; i++)
        is_wanted = policy->mounts[i].kind == POLICY_BLOCK;
    return is_wanted;
}

int protect_check_pattern(const char *pattern, bool ignore_case, coop_error **err)
{
    struct findings *findings = calloc(1, sizeof *findings);
    int r = 0;

    if (!findings)
        return fail_no_memory(err);
    struct glob *glob =
        glob_new(pattern, strlen(pattern), ignore_case, (struct origin){ 0 }, findings);
    if (!glob && findings->n_errors) { /* where it stands is for the caller to say */
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "%s", findings->items[0].message);
        if (findings->items[0].fix)
            r = fail_hint(err, r, "%s", findings->items[0].fix);
    } else if (!glob) {
        r = fail_no_memory(err);
    }
    glob_free(glob);
    findings_done(findings);
    free(findings);
    return r;
}

size_t protect_n_rules(const struct protect *protect)
{
    return protect->n;
}

const struct protect_rule *protect_rule(const struct protect *protect, size_t i)
{
    return &protect->entries[i].rule;
}

bool protect_ignores_case(const struct protect *protect)
{
    return protect->ignore_case;
}

void protect_ignore_case(struct protect *protect)
{
    protect->ignore_case = true;
    protect->has_any = true; /* as add_to_screen() */
    free(protect->exceptions);
    protect->exceptions = NULL;
    protect->n_exceptions = 0;
    for (size_t i = 0; i < protect->n; i++) {
        glob_free(protect->entries[i].glob);
        protect->entries[i].glob = NULL;
    }
    for (size_t i = 0; i < protect_n_git_defaults; i++) {
        glob_free(protect->git[i].glob);
        protect->git[i].glob = NULL;
    }
}

bool protect_has_defaults(const struct protect *protect)
{
    return protect->n_built_in > 0;
}

bool protect_has_exceptions(const struct protect *protect)
{
    return protect->has_exceptions;
}

/* ---- blocks */

/* Where it stands below the workspace's root; NULL: elsewhere. */
static const char *path_below(const struct policy_mount *mount, const char *view)
{
    size_t n = view[1] ? strlen(view) : 0;

    if (*mount->target != '/')
        return mount->target;
    return strncmp(mount->target, view, n) == 0 && mount->target[n] == '/' ? mount->target + n + 1
                                                                           : NULL;
}

int protect_take_blocks(struct protect *protect, const coop_policy *policy, const char *view,
                        coop_error **err)
{
    free(protect->blocks);
    protect->n_blocks = 0;
    protect->blocks = calloc(policy->n_mounts + 1, sizeof *protect->blocks);
    if (!protect->blocks)
        return fail_no_memory(err);
    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];
        const char *path = mount->kind == POLICY_BLOCK ? path_below(mount, view) : NULL;

        if (path && *path)
            protect->blocks[protect->n_blocks++] =
                (struct protect_rule){ path, COOP_PROTECT_HIDE, 0, mount->origin };
    }
    return 0;
}

size_t protect_n_blocks(const struct protect *protect)
{
    return protect->n_blocks;
}

const struct protect_rule *protect_block(const struct protect *protect, size_t i)
{
    return &protect->blocks[i];
}

/* ---- deciding */

/* The patterns were checked when they came into the policy: what fails here is memory. */
static const struct glob *glob_of(const struct protect *protect, struct entry *entry)
{
    if (!entry->glob && !entry->is_broken) {
        auto_findings struct findings findings = { 0 };

        entry->glob = glob_new(entry->rule.pattern, strlen(entry->rule.pattern),
                               protect->ignore_case, entry->rule.origin, &findings);
        entry->is_broken = !entry->glob;
    }
    return entry->glob;
}

static bool matches(const struct protect *protect, struct entry *entry, const char *path,
                    bool is_directory)
{
    const struct glob *glob = glob_of(protect, entry);

    return glob ? glob_match(glob, path, is_directory) : true;
}

/* One path that rules are asked about. */
struct question {
    const char *path;
    const char *name; /* its last component */
    size_t length;
    bool is_directory;
};

static bool answers(struct protect *protect, struct entry *entry, const struct question *question)
{
    if (!protect->ignore_case && !part_matches(&entry->part, question->name, question->length))
        return false;
    return matches(protect, entry, question->path, question->is_directory);
}

/* The best of the rules that say `action`, better than `best`; the later one of equals. */
static struct entry *best_of(struct protect *protect, const struct question *question,
                             coop_protect action, enum protect_scope scope, struct entry *best)
{
    for (size_t i = scope == PROTECT_OWN ? protect->n_built_in : 0; i < protect->n; i++) {
        struct entry *entry = &protect->entries[i];

        if (entry->rule.action != action || !answers(protect, entry, question))
            continue;
        if (!best || !entry->glob || !best->glob) { /* without memory: whatever protects */
            best = !best || action != COOP_PROTECT_SHOW ? entry : best;
            continue;
        }
        int order = glob_compare(entry->glob, best->glob);
        if (order > 0 || (order == 0 && entry > best))
            best = entry;
    }
    return best;
}

/* What is built in says what may be read after all, nothing about writing. */
static enum protect_scope scope_of_exceptions(coop_protect action, enum protect_scope scope)
{
    return action == COOP_PROTECT_KEEP ? PROTECT_OWN : scope;
}

static const struct protect_rule *decide(struct protect *protect, const char *path,
                                         bool is_directory, coop_protect action,
                                         enum protect_scope scope)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const struct question question = { path, name, strlen(name), is_directory };
    struct entry *best = best_of(protect, &question, action, scope, NULL);

    if (best)
        best = best_of(protect, &question, COOP_PROTECT_SHOW, scope_of_exceptions(action, scope),
                       best);
    return best && best->rule.action == action ? &best->rule : NULL;
}

const struct protect_rule *protect_hides(struct protect *protect, const char *path,
                                         bool is_directory, enum protect_scope scope)
{
    return decide(protect, path, is_directory, COOP_PROTECT_HIDE, scope);
}

const struct protect_rule *protect_keeps(struct protect *protect, const char *path,
                                         bool is_directory)
{
    return decide(protect, path, is_directory, COOP_PROTECT_KEEP, PROTECT_ALL);
}

bool protect_shows(struct protect *protect, const char *path, bool is_directory)
{
    for (size_t i = protect->n_built_in; i < protect->n; i++)
        if (protect->entries[i].rule.action == COOP_PROTECT_SHOW &&
            matches(protect, &protect->entries[i], path, is_directory))
            return true;
    return false;
}

bool protect_looks_at_modes(const struct protect *protect, const char *path, bool is_beside)
{
    if (!protect_has_defaults(protect))
        return false;
    for (const char *slash; !is_beside && (slash = strchr(path, '/')); path = slash + 1)
        is_beside = *path == '.';
    return is_beside;
}

bool protect_excepts(struct protect *protect, const char *path)
{
    for (size_t i = 0; i < protect->n; i++)
        if (protect->entries[i].rule.action == COOP_PROTECT_SHOW &&
            matches(protect, &protect->entries[i], path, false))
            return true;
    return false;
}

/* ---- the weight of exceptions */

/* Without memory: whatever protects. */
static int weigh(const struct entry *a, const struct entry *b)
{
    int order = a->glob && b->glob ? glob_compare(a->glob, b->glob) : !a->glob - !b->glob;

    return order ? order : (a > b) - (a < b);
}

static int by_weight(const void *left, const void *right)
{
    return weigh(*(struct entry *const *)left, *(struct entry *const *)right);
}

size_t protect_n_exceptions(struct protect *protect)
{
    if (protect->exceptions || !protect->has_exceptions)
        return protect->n_exceptions;
    protect->exceptions = calloc(protect->n, sizeof *protect->exceptions);
    for (size_t i = protect->n_built_in; protect->exceptions && i < protect->n; i++) {
        struct entry *entry = &protect->entries[i];

        if (entry->rule.action == COOP_PROTECT_SHOW && glob_of(protect, entry))
            protect->exceptions[protect->n_exceptions++] = entry;
    }
    if (protect->exceptions && protect->n_exceptions > 1)
        qsort(protect->exceptions, protect->n_exceptions, sizeof(struct entry *), by_weight);
    return protect->n_exceptions;
}

const struct protect_rule *protect_exception(struct protect *protect, size_t i)
{
    return &protect->exceptions[i]->rule;
}

size_t protect_n_outweighed(struct protect *protect, size_t i)
{
    struct entry *entry = &protect->entries[i];
    size_t low = 0;
    size_t high = protect_n_exceptions(protect);

    if (high > 0)
        (void)glob_of(protect, entry);
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (weigh(protect->exceptions[middle], entry) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool may_match_below(const struct protect *protect, struct entry *entry,
                            const char *directory)
{
    const struct glob *glob = glob_of(protect, entry);

    return glob ? glob_may_match_below(glob, directory) : true;
}

bool protect_may_apply_below(struct protect *protect, const char *directory,
                             enum protect_scope scope)
{
    if (scope == PROTECT_OWN ? protect->has_deep_own : protect->has_deep)
        return true;
    for (size_t i = scope == PROTECT_OWN ? protect->n_built_in : 0; i < protect->n; i++)
        if (protect->entries[i].rule.action != COOP_PROTECT_SHOW &&
            may_match_below(protect, &protect->entries[i], directory))
            return true;
    return false;
}

const struct protect_rule *protect_keeps_in_git(struct protect *protect, const char *path,
                                                bool is_directory)
{
    for (size_t i = 0; protect->n_built_in > 0 && i < protect_n_git_defaults; i++)
        if (matches(protect, &protect->git[i], path, is_directory))
            return &protect->git[i].rule;
    return NULL;
}

bool protect_may_keep_below_in_git(struct protect *protect, const char *directory)
{
    for (size_t i = 0; protect->n_built_in > 0 && i < protect_n_git_defaults; i++)
        if (may_match_below(protect, &protect->git[i], directory))
            return true;
    return false;
}
