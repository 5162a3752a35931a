#include "env_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"

const struct env_inherited env_inherited[] = {
    { "HOME", ENV_FROM_COOP },       /* the workspace */
    { "PATH", ENV_FROM_COOP },       /* what the view has */
    { "PWD", ENV_FROM_COOP },        /* where the command starts */
    { "SHELL", ENV_FROM_COOP },      /* the caller's may not exist inside */
    { "USER", ENV_FROM_COOP },       /* as the box's passwd names them */
    { "LOGNAME", ENV_FROM_COOP },    /* the same */
    { "TMPDIR", ENV_FROM_COOP },     /* only places that exist inside */
    { "LANG", ENV_FROM_CALLER },     /* language ... */
    { "LANGUAGE", ENV_FROM_CALLER }, /* ... */
    { "LC_*", ENV_FROM_CALLER },     /* ... */
    { "TZ", ENV_FROM_CALLER },       /* clock */
    { "TERM", ENV_FROM_CALLER },     /* terminal ... */
    { "COLORTERM", ENV_FROM_CALLER }, { "NO_COLOR", ENV_FROM_CALLER }, { NULL, 0 },
};

const struct env_row env_reserved[] = {
    { "COOP_*", "coop itself sets these, so that a program can believe them" },
    { "OBEY_*", "the campaign daemon sets these, so that a program can believe them" },
    { NULL, NULL },
};

#define CLOUD  "it belongs to the credentials of a cloud provider"
#define SERVER "it usually holds the password of a service"
#define AGENT  "it leads to an agent that signs with the caller's keys"
#define LOADER "it makes the loader run other code in every program"
#define LIBC   "it makes the C library load or read other files, or resolve names elsewhere"
#define SHELL  "it makes every shell run something before its own work"

const struct env_row env_filtered[] = {
    { "AWS_*", CLOUD },
    { "AZURE_*", CLOUD },
    { "GCP_*", CLOUD },
    { "GOOGLE_*", CLOUD },
    { "DATABASE_URL", SERVER },
    { "REDIS_URL", SERVER },
    { "SSH_AUTH_SOCK", AGENT },
    { "GPG_AGENT_INFO", AGENT },
    { "LD_*", LOADER },
    { "DYLD_*", LOADER },
    /* What glibc drops for set-user-ID programs: the box is such a border too. */
    { "GCONV_PATH", LIBC },
    { "GETCONF_DIR", LIBC },
    { "GLIBC_TUNABLES", LIBC },
    { "HOSTALIASES", LIBC },
    { "LOCALDOMAIN", LIBC },
    { "LOCPATH", LIBC },
    { "MALLOC_*", LIBC },
    { "NIS_PATH", LIBC },
    { "NLSPATH", LIBC },
    { "RESOLV_HOST_CONF", LIBC },
    { "RES_OPTIONS", LIBC },
    { "TZDIR", LIBC },
    { "BASH_ENV", SHELL },
    { "ENV", SHELL },
    { "BASH_FUNC_*", "it defines a shell function that may stand for any command" },
    { "SHELLOPTS", "it changes how every bash reads its scripts" },
    { "BASHOPTS", "it changes how every bash reads its scripts" },
    { "PS4", "bash expands it, commands included, when it traces" },
    { "PROMPT_COMMAND", SHELL },
    { NULL, NULL },
};

static bool fits(const char *pattern, const char *name, size_t n)
{
    size_t length = strlen(pattern);

    if (length > 0 && pattern[length - 1] == '*')
        return n >= length - 1 && memcmp(pattern, name, length - 1) == 0;
    return n == length && memcmp(pattern, name, n) == 0;
}

static const char *bad_name(const char *name, size_t n)
{
    if (n == 0)
        return "is empty";
    if (n > ENV_NAME_MAX)
        return "is longer than 255 bytes";
    if (memchr(name, '=', n))
        return "has a '=' in it";
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7F)
            return name[i] ? "has a control character in it" : "has a NUL in it";
    return NULL;
}

/*
 * What a shell would take for a name, and '.' and '-', which some programs (Elasticsearch, Spring)
 * read settings by. Everything else is a slip of the pen: no shell would show it.
 */
static const char *no_name(const char *name, size_t n)
{
    if (name[0] >= '0' && name[0] <= '9')
        return "begins with a digit";
    for (size_t i = 0; i < n; i++)
        if (!(name[i] >= 'A' && name[i] <= 'Z') && !(name[i] >= 'a' && name[i] <= 'z') &&
            !(name[i] >= '0' && name[i] <= '9') && name[i] != '_' && name[i] != '.' &&
            name[i] != '-')
            return "has something else in it than letters, digits, '_', '.' and '-'";
    return NULL;
}

static struct env_verdict may_set(const char *name, size_t n, const char *second_prefix)
{
    const char *bad = bad_name(name, n);
    size_t n_second = second_prefix ? strlen(second_prefix) : 0;

    if (bad)
        return (struct env_verdict){ ENV_BAD_NAME, NULL, bad };
    for (const struct env_row *row = env_reserved; row->pattern; row++)
        if (fits(row->pattern, name, n))
            return (struct env_verdict){ ENV_RESERVED, row->pattern, row->why };
    if (n_second > 0 && n >= n_second && memcmp(name, second_prefix, n_second) == 0)
        return (struct env_verdict){ ENV_RESERVED, second_prefix,
                                     "coop itself sets names with the second prefix" };
    return (struct env_verdict){ ENV_ALLOWED, NULL, NULL };
}

/* Last: of a name that has a rule of its own, that is the better answer. */
static struct env_verdict allow_name(const char *name, size_t n)
{
    const char *bad = no_name(name, n);

    return (struct env_verdict){ bad ? ENV_BAD_NAME : ENV_ALLOWED, NULL, bad };
}

struct env_verdict env_may_set(const char *name, size_t n, const char *second_prefix)
{
    struct env_verdict verdict = may_set(name, n, second_prefix);

    return verdict.answer == ENV_ALLOWED ? allow_name(name, n) : verdict;
}

struct env_verdict env_may_pass(const char *name, size_t n, const char *second_prefix)
{
    struct env_verdict verdict = may_set(name, n, second_prefix);

    if (verdict.answer != ENV_ALLOWED)
        return verdict;
    for (const struct env_row *row = env_filtered; row->pattern; row++)
        if (fits(row->pattern, name, n))
            return (struct env_verdict){ ENV_FILTERED, row->pattern, row->why };
    return allow_name(name, n);
}

/* ---- as errors */

static int fail_verdict(struct env_verdict verdict, const char *name, size_t n, const char *done,
                        coop_error **err)
{
    auto_buffer struct buffer shown = { 0 };
    int r;

    printable_append(&shown, name, n < 64 ? n : 64);
    if (shown.failed)
        return fail_no_memory(err);
    const char *text = shown.data ? shown.data : "";
    switch (verdict.answer) {
    case ENV_BAD_NAME:
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the variable name '%s' %s", text,
                      verdict.why);
        return fail_hint(err, r, "write a name such as 'EDITOR'");
    case ENV_RESERVED:
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "the variable '%s' cannot be %s because its beginning is reserved: %s", text,
                      done, verdict.why);
        return fail_hint(err, r, "choose another name");
    case ENV_FILTERED:
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "the variable '%s' is never %s (rule '%s'): %s", text, done, verdict.pattern,
                      verdict.why);
        return fail_hint(err, r,
                         "a credential for the box belongs into [secrets]; anything else can be "
                         "set to a value of its own");
    case ENV_ALLOWED:
        break;
    }
    return 0;
}

int env_check_pass(const char *name, size_t n, const char *second_prefix, coop_error **err)
{
    return fail_verdict(env_may_pass(name, n, second_prefix), name, n, "passed on", err);
}

int env_check_set(const char *name, size_t n_name, const char *value, size_t n_value,
                  const char *second_prefix, coop_error **err)
{
    int r = fail_verdict(env_may_set(name, n_name, second_prefix), name, n_name, "set", err);

    if (r == 0 && n_value > 0 && memchr(value, '\0', n_value))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the value of the variable '%.*s' has a NUL in it, which no environment "
                         "can hold",
                         n_name < 64 ? (int)n_name : 64, name);
    return r;
}

/* A name that both can be the beginning of. */
static bool overlaps(const char *pattern, const char *prefix, size_t n)
{
    size_t length = strlen(pattern);
    bool is_open = length > 0 && pattern[length - 1] == '*';
    size_t fixed = length - is_open;

    if (fixed >= n)
        return memcmp(pattern, prefix, n) == 0;
    return is_open && memcmp(pattern, prefix, fixed) == 0;
}

static const char *bad_prefix(const char *prefix, size_t n)
{
    if (n < 2 || n > 32)
        return "is not between 2 and 32 characters long";
    if (prefix[0] < 'A' || prefix[0] > 'Z')
        return "does not begin with a capital letter";
    for (size_t i = 0; i < n; i++)
        if (!(prefix[i] >= 'A' && prefix[i] <= 'Z') && !(prefix[i] >= '0' && prefix[i] <= '9') &&
            prefix[i] != '_')
            return "has something else than capitals, digits and '_' in it";
    if (prefix[n - 1] != '_')
        return "does not end with '_'";
    if (overlaps(ENV_PREFIX "*", prefix, n))
        return "is coop's own";
    for (const struct env_inherited *row = env_inherited; row->pattern; row++)
        if (overlaps(row->pattern, prefix, n))
            return "would reserve names that every program needs";
    for (const struct env_row *row = env_filtered; row->pattern; row++)
        if (overlaps(row->pattern, prefix, n))
            return "is the beginning of names that never reach a box";
    return NULL;
}

int env_check_second_prefix(const char *prefix, size_t n, coop_error **err)
{
    const char *bad = bad_prefix(prefix, n);
    auto_buffer struct buffer shown = { 0 };

    if (!bad)
        return 0;
    printable_append(&shown, prefix, n < 64 ? n : 64);
    if (shown.failed)
        return fail_no_memory(err);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the second prefix '%s' %s",
                      shown.data ? shown.data : "", bad);
    return fail_hint(err, r, "write a prefix such as 'OBEY_'");
}

bool env_is_inherited(const char *name, enum env_source *out_source)
{
    for (const struct env_inherited *row = env_inherited; row->pattern; row++)
        if (fits(row->pattern, name, strlen(name))) {
            *out_source = row->source;
            return true;
        }
    return false;
}

/* ---- injected */

static const struct {
    const char *name;
    size_t offset; /* in struct env_facts */
} fact_rows[] = {
    { "SESSION", offsetof(struct env_facts, session) },
    { "WORKSPACE", offsetof(struct env_facts, workspace) },
    { "CREATED", offsetof(struct env_facts, created) },
    { "CAMPAIGN", offsetof(struct env_facts, campaign) },
    { "PROVIDER", offsetof(struct env_facts, provider) },
    { "SOCKET", offsetof(struct env_facts, socket) },
    { "MEMORY", offsetof(struct env_facts, memory) },
};

static const char *fact(const struct env_facts *facts, size_t i)
{
    const char *value;

    memcpy(&value, (const char *)facts + fact_rows[i].offset, sizeof value);
    return value;
}

static char *put_fact(char **list, char *at, const char *prefix, size_t i, const char *value)
{
    *list = at;
    at = stpcpy(at, prefix);
    at = stpcpy(at, fact_rows[i].name);
    *at++ = '=';
    return stpcpy(at, value) + 1;
}

int env_inject(const struct env_facts *facts, const char *second_prefix, char ***out,
               coop_error **err)
{
    const char *const prefixes[] = { ENV_PREFIX, second_prefix };
    size_t n_prefixes = second_prefix ? 2 : 1;
    size_t n_bytes = 0;
    size_t n = 0;

    for (size_t p = 0; p < n_prefixes; p++)
        for (size_t i = 0; i < COUNT(fact_rows); i++)
            if (fact(facts, i))
                n_bytes += strlen(prefixes[p]) + strlen(fact_rows[i].name) + 1 +
                           strlen(fact(facts, i)) + 1;
    char **list = malloc((COUNT(fact_rows) * 2 + 1) * sizeof *list + n_bytes);
    if (!list)
        return fail_no_memory(err);
    char *at = (char *)(list + COUNT(fact_rows) * 2 + 1);
    for (size_t i = 0; i < COUNT(fact_rows); i++)
        for (size_t p = 0; p < n_prefixes && fact(facts, i); p++)
            at = put_fact(&list[n++], at, prefixes[p], i, fact(facts, i));
    list[n] = NULL;
    *out = list;
    return 0;
}
