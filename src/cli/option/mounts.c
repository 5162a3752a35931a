/*
 * mounts.c - options: what of the host is seen
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/suggest.h"
#include "cli/option/option.h"
#include "policy/policy.h"
#include "policy/restriction.h"

int option_set_whole_home(void *context, const char *value, coop_error **err)
{
    (void)value;
    return coop_policy_set_whole_home(POLICY(context), true, err);
}

int option_set_restrict(void *context, const char *value, coop_error **err)
{
    return option_note_value(context, coop_policy_set_restrict(POLICY(context), value, err),
                             SETTING_SANDBOX_RESTRICT, "--restrict", err);
}

static bool is_of_flag(const coop_policy *policy, enum setting what)
{
    return policy->notes[what].name && policy->notes[what].line == 0;
}

int option_settle_mounts(struct policy_arguments *arguments, coop_error **err)
{
    const coop_policy *policy = arguments->policy;
    const struct policy_restriction by = {
        is_of_flag(policy, SETTING_SANDBOX_READONLY) ? POLICY_RANK_FLAG : 0,
        is_of_flag(policy, SETTING_SANDBOX_RESTRICT) ? POLICY_RANK_FLAG : 0,
        arguments->identity.workspace_path,
    };

    return policy_restrict_mounts(arguments->policy, &by, err);
}

/* P[:T]: a colon separates, so a path with one in it needs --mount. */
static int add_shared(void *context, const char *value, bool read_only, coop_error **err)
{
    auto_free char *source = strdup(value);
    auto_free char *absolute = NULL;

    if (!source)
        return fail_no_memory(err);
    char *target = strchr(source, ':');
    if (target)
        *target++ = '\0';
    if (!target && *source != '/') { /* shown at its own place, which must be absolute */
        absolute = realpath(source, NULL);
        if (!absolute)
            return fail_as(err, fail(err, errno, "open the mount source '%s'", source),
                           COOP_ERROR_BAD_POLICY);
        policy_make_way(POLICY(context), absolute);
        /* Named as it was given: the plan follows no link that a command may have made. */
        return coop_policy_add_bind(POLICY(context), source, absolute, read_only, err);
    }
    policy_make_way(POLICY(context), target ? target : source);
    return coop_policy_add_bind(POLICY(context), source, target, read_only, err);
}

int option_add_ro(void *context, const char *value, coop_error **err)
{
    return option_note(context, add_shared(context, value, true, err), "--ro", err);
}

int option_add_rw(void *context, const char *value, coop_error **err)
{
    return option_note(context, add_shared(context, value, false, err), "--rw", err);
}

/* Docker's SRC:DST[:ro|rw] */
int option_add_volume(void *context, const char *value, coop_error **err)
{
    auto_free char *source = strdup(value);
    bool read_only = false;

    if (!source)
        return fail_no_memory(err);
    char *target = strchr(source, ':');
    if (!target || target == source || target[1] == '\0')
        return option_bad(err, "volume", value, "SRC:DST[:ro]");
    *target++ = '\0';
    char *mode = strchr(target, ':');
    if (mode) {
        *mode++ = '\0';
        if (strcmp(mode, "ro") != 0 && strcmp(mode, "rw") != 0)
            return option_bad(err, "volume", value, "SRC:DST[:ro]");
        read_only = strcmp(mode, "ro") == 0;
    }
    if (*source != '/' && *source != '.' && *source != '~')
        return option_bad(err, "volume source", source,
                          "a path that begins with '/' or '.' (coop has no named volumes)");
    policy_make_way(POLICY(context), target);
    return option_note(context,
                       coop_policy_add_bind(POLICY(context), source, target, read_only, err),
                       "--volume", err);
}

enum mount_key { MOUNT_TYPE, MOUNT_SOURCE, MOUNT_TARGET, MOUNT_READ_ONLY, MOUNT_SIZE, MOUNT_KEYS };

struct mount_words {
    const char *type, *source, *target;
    bool read_only;
    uint64_t size;
    bool is_given[MOUNT_KEYS];
};

/* Every spelling; of each key the first is the one to suggest. */
static const struct {
    const char *name;
    enum mount_key key;
} mount_keys[] = {
    { "type", MOUNT_TYPE },          { "source", MOUNT_SOURCE }, { "src", MOUNT_SOURCE },
    { "target", MOUNT_TARGET },      { "dst", MOUNT_TARGET },    { "destination", MOUNT_TARGET },
    { "readonly", MOUNT_READ_ONLY }, { "ro", MOUNT_READ_ONLY },  { "size", MOUNT_SIZE },
    { "tmpfs-size", MOUNT_SIZE },
};

static int find_mount_key(const char *word, coop_error **err)
{
    static const char *const keys[] = { "type", "source", "target", "readonly", "size", NULL };

    for (size_t i = 0; i < COUNT(mount_keys); i++)
        if (strcmp(word, mount_keys[i].name) == 0)
            return (int)mount_keys[i].key;
    const char *near = suggest(word, keys);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "unknown mount key '%s'", word);
    return near ? fail_hint(err, r, "did you mean %s?", near) : r;
}

static int read_mount_word(struct mount_words *words, char *word, coop_error **err)
{
    char *value = strchr(word, '=');

    if (value)
        *value++ = '\0';
    if (!value && strcmp(word, "readonly") != 0 && strcmp(word, "ro") != 0)
        return option_bad(err, "mount word", word, "key=value, or readonly");
    int key = find_mount_key(word, err);
    if (key < 0)
        return key;
    if (words->is_given[key])
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the mount key '%s' is given twice",
                         word);
    words->is_given[key] = true;
    switch ((enum mount_key)key) {
    case MOUNT_TYPE:
        words->type = value;
        break;
    case MOUNT_SOURCE:
        words->source = value;
        break;
    case MOUNT_TARGET:
        words->target = value;
        break;
    case MOUNT_READ_ONLY:
        words->read_only = !value || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
        break;
    case MOUNT_SIZE:
        return quantity_size(value, &words->size, err);
    case MOUNT_KEYS:
        break;
    }
    return 0;
}

int option_add_mount(void *context, const char *value, coop_error **err)
{
    auto_free char *copy = strdup(value);
    struct mount_words words = { .type = "bind" };
    char *rest = NULL;

    if (!copy)
        return fail_no_memory(err);
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int r = read_mount_word(&words, word, err);

        if (r < 0)
            return r;
    }
    if (!words.target)
        return option_bad(err, "mount", value, "a target=PATH in it");
    policy_make_way(POLICY(context), words.target);
    if (strcmp(words.type, "tmpfs") == 0) {
        if (words.source)
            return option_bad(err, "mount", value, "no source with type=tmpfs");
        return option_note(
            context,
            coop_policy_add_tmpfs(POLICY(context), words.target, words.size, words.read_only, err),
            "--mount", err);
    }
    if (strcmp(words.type, "bind") != 0)
        return option_bad(err, "mount type", words.type, "bind or tmpfs");
    if (!words.source)
        return option_bad(err, "mount", value, "a source=PATH in it");
    return option_note(
        context,
        coop_policy_add_bind(POLICY(context), words.source, words.target, words.read_only, err),
        "--mount", err);
}

int option_add_block(void *context, const char *value, coop_error **err)
{
    return option_note(context, coop_policy_add_block(POLICY(context), value, err), "--block", err);
}
