/*
 * audit.c - coop audit: what was run, by whom, and what was refused
 */
#include "audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/finding.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "config/config.h"

/* ---- options */

#define SET_FLAG(field)                                                        \
    static int set_##field(void *context, const char *value, coop_error **err) \
    {                                                                          \
        (void)value;                                                           \
        (void)err;                                                             \
        ((struct audit_arguments *)context)->field = true;                     \
        return 0;                                                              \
    }
SET_FLAG(follow)
SET_FLAG(denied)
SET_FLAG(json)

#define SET_TEXT(field)                                                        \
    static int set_##field(void *context, const char *value, coop_error **err) \
    {                                                                          \
        (void)err;                                                             \
        ((struct audit_arguments *)context)->field = value;                    \
        return 0;                                                              \
    }
SET_TEXT(user)
SET_TEXT(session)
SET_TEXT(directory)
SET_TEXT(config_file)

/* "2024-02-29" or "2024-02-29T12:00:00", of UTC with a Z behind it, else of here. */
static bool read_date(const char *text, int64_t *out_ms)
{
    struct tm tm = { .tm_isdst = -1, .tm_mday = 1 };
    const char *rest = strptime(text, "%Y-%m-%d", &tm);

    if (rest && (*rest == 'T' || *rest == ' '))
        rest = strptime(rest + 1, "%H:%M:%S", &tm);
    if (!rest || (*rest && strcmp(rest, "Z") != 0))
        return false;
    *out_ms = (int64_t)(*rest ? timegm(&tm) : mktime(&tm)) * 1000;
    return true;
}

static int set_since(void *context, const char *value, coop_error **err)
{
    struct audit_arguments *arguments = context;
    int64_t from = 0;
    uint64_t ago = 0;

    if (!strchr(value, '-') || !read_date(value, &from)) {
        int r = quantity_duration_ms(value, &ago, err);

        if (r < 0)
            return fail_hint(err, r, "for example 1h, 2d, or 2024-02-29");
        from = (int64_t)time(NULL) * 1000 - (int64_t)ago;
    }
    arguments->has_since = true;
    chain_time(from < 0 ? 0 : from, arguments->since);
    return 0;
}

static int set_head(void *context, const char *value, coop_error **err)
{
    struct verify_anchor *anchor = &((struct audit_arguments *)context)->anchor;
    char *rest = NULL;

    errno = 0;
    anchor->seq = strtoull(value, &rest, 10);
    if (errno || !rest || *rest != ':' || anchor->seq == 0 ||
        strspn(rest + 1, "0123456789abcdef") != SHA256_HEX_SIZE - 1 || rest[SHA256_HEX_SIZE])
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "bad head '%s': expected NUMBER:HASH, as 'coop audit verify' prints it",
                         value);
    memcpy(anchor->hash, rest + 1, SHA256_HEX_SIZE);
    return 0;
}

/* clang-format off */
static const struct command_option options[] = {
    { "follow", 'f', NULL, "wait for new records and print them as they arrive", set_follow },
    { "since", 0, "TIME", "only records newer than this, for example 1h, 2d or 2024-02-29", set_since },
    { "user", 0, "NAME", "only records of this user, identity or system user", set_user },
    { "denied", 0, NULL, "only records with denials", set_denied },
    { "session", 0, "ID", "only records of this session", set_session },
    { "json", 0, NULL, "print the records themselves, one JSON object per line", set_json },
    { "head", 0, "NUMBER:HASH", "with verify: require this record, unchanged", set_head },
    { "directory", 0, "DIR", "directory of the log (default: from the configuration)", set_directory },
    { "config", 0, "FILE", "read this file instead of the system's and the user's", set_config_file },
    { "help", 'h', NULL, "show this help" },
    { 0 },
};
/* clang-format on */

/* ---- the log */

static int find_settings(const struct audit_arguments *arguments, struct audit_settings *out,
                         coop_error **err)
{
    const struct config_request request = { .file = arguments->config_file };
    auto_config struct config *config = config_new();
    auto_findings struct findings findings = { 0 };

    if (!config)
        return fail_no_memory(err);
    int r = config_load(config, &request, &findings);
    if (r < 0 && !arguments->directory) {
        cli_complain(&findings, false);
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the configuration has errors; --directory DIR names a log");
    }
    r = audit_settings_read(r < 0 ? NULL : config, out, err);
    if (r < 0 || !arguments->directory)
        return r;
    free(out->directory);
    out->directory = strdup(arguments->directory);
    return out->directory ? 0 : fail_no_memory(err);
}

static int need_directory(const struct audit_settings *settings, coop_error **err)
{
    if (settings->directory)
        return 0;
    return settings->mode == AUDIT_OFF
               ? fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                           "nothing is recorded: the configuration says audit = \"off\"")
               : fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                           "cannot find the audit log: $HOME is not set");
}

enum what { WHAT_QUERY, WHAT_VERIFY, WHAT_STATS };

static int act(enum what what, const struct audit_arguments *arguments, coop_error **err)
{
    struct audit_settings settings = { 0 };
    auto_close int dir_fd = -1;
    int r = find_settings(arguments, &settings, err);

    if (r == 0)
        r = need_directory(&settings, err);
    if (r == 0 && settings.directory) {
        dir_fd = open(settings.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0 && errno == ENOENT && !arguments->directory && what != WHAT_VERIFY &&
            !arguments->follow)
            fprintf(stderr, "coop audit: nothing has been recorded yet\n");
        else if (dir_fd < 0)
            r = fail(err, errno, "open '%s'", settings.directory);
    }
    if (r == 0 && what == WHAT_VERIFY)
        r = audit_verify(arguments, &settings, err);
    else if (r == 0 && dir_fd >= 0)
        r = what == WHAT_STATS ? audit_stats(arguments, dir_fd, err)
                               : audit_query(arguments, dir_fd, err);
    audit_settings_done(&settings);
    return r;
}

/* ---- the command */

static int parse(int argc, char **argv, struct audit_arguments *arguments, enum what *what,
                 coop_error **err)
{
    int at = command_parse(&command_audit, argc, argv, arguments, err);

    if (at >= 0 && at < argc) {
        *what = strcmp(argv[at], "verify") == 0  ? WHAT_VERIFY
                : strcmp(argv[at], "stats") == 0 ? WHAT_STATS
                                                 : WHAT_QUERY;
        if (*what == WHAT_QUERY)
            return fail_hint(
                err,
                fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "unexpected word '%s'", argv[at]),
                "the subcommands are verify and stats");
        int further = command_parse(&command_audit, argc - at, argv + at, arguments, err);
        at = further < 0 ? further : at + further;
    }
    if (at >= 0 && at < argc)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "unexpected word '%s'", argv[at]);
    if (at >= 0 && arguments->follow && *what != WHAT_QUERY)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "--follow is for records only");
    if (at >= 0 && arguments->anchor.seq && *what != WHAT_VERIFY)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "--head is for verify only");
    return at;
}

static int audit_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    struct audit_arguments arguments = { 0 };
    enum what what = WHAT_QUERY;
    int r = parse(argc, argv, &arguments, &what, &err);

    if (r == -ECANCELED && !err)
        return 0;
    if (r < 0) {
        command_complain("audit", err);
        return 2;
    }
    r = act(what, &arguments, &err);
    if (r < 0)
        command_complain("audit", err);
    return r < 0 ? 2 : r;
}

const struct command command_audit = {
    .name = "audit",
    .arguments = "[options] | verify [options] | stats [options]",
    .summary = "show what was run, by whom, and what was denied; verify the log",
    .options = options,
    .run = audit_main,
};
