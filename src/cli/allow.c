/*
 * allow.c - coop allow: the owner lets a project's file ask for more, or another one count
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/config/config.h"
#include "cli/run/audit.h"
#include "config/approval.h"
#include "config/config.h"
#include "config/file.h"

struct arguments {
    bool is_list;
    bool is_revoke;
};

/* ---- which file */

/* A project's file, or the workspace it belongs to: what lies above "/coop.toml". */
static const char *const names[] = { "/.campaign/sandbox.yaml", "/coop.toml", "/Coopfile" };

static const char *name_of(const char *path)
{
    size_t n = strlen(path);

    for (size_t i = 0; i < COUNT(names); i++) {
        size_t n_name = strlen(names[i]);

        if (n > n_name && strcmp(path + n - n_name, names[i]) == 0)
            return path + n - n_name;
        if (n == n_name && strcmp(path, names[i]) == 0)
            return path;
    }
    return NULL;
}

/* False: it is another file, which somebody will name with --config. */
static bool split(const char *path, char workspace[PATH_MAX])
{
    const char *name = name_of(path);

    if (name)
        (void)snprintf(workspace, PATH_MAX, "%.*s", name == path ? 1 : (int)(name - path), path);
    return name != NULL;
}

/* ---- coop allow FILE */

/* What this file asks for beyond the owner's, as information; mistakes, wherever they are. */
static void print_asked(const struct findings *findings, const char *path)
{
    struct findings asked = { .failed = findings->failed, .n_dropped = findings->n_dropped };

    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *finding = &findings->items[i];
        bool is_here = finding->origin.name && strcmp(finding->origin.name, path) == 0;

        if (is_here || finding->severity != SEVERITY_INFO)
            asked.items[asked.n++] = *finding;
    }
    config_print_findings(&asked); /* it borrows all of them */
}

static int give(const struct config_file_info *file, const char *store, const char *path,
                coop_error **err)
{
    if (!*file->digest) {
        int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "'%s' has secrets", path);

        return fail_hint(err, r, "move it out of the workspace: there it needs no approval");
    }
    int r = approval_give(store, file->digest, path, err);
    if (r == 0)
        allow_audit(path, file->digest);
    if (r == 0)
        printf("approved %s\nuntil it changes; revoke with: coop allow --revoke %s\n", path, path);
    return r;
}

/* `workspace` NULL: not as a project's file, but as that of --config. */
static int approve(const char *path, const char *workspace, coop_error **err)
{
    const struct config_request request = { .file = workspace ? NULL : path,
                                            .workspace = workspace,
                                            .ask_only = true };
    const enum config_layer layer = workspace ? CONFIG_PROJECT : CONFIG_USER;
    auto_config struct config *config = config_new();
    auto_findings struct findings findings = { 0 };
    auto_free char *store = NULL;
    int r = approval_store(NULL, workspace, &store, err);

    if (r < 0)
        return r;
    if (!config)
        return fail_no_memory(err);
    r = config_load(config, &request, &findings);
    print_asked(&findings, path);
    if (r < 0)
        return r;
    for (size_t i = 0; i < config_n_files(config); i++) {
        struct config_file_info info = config_file_info(config, i);

        if (info.layer == layer && strcmp(info.path, path) == 0)
            return give(&info, store, path, err);
    }
    return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT, "'%s' is not a project file", path);
}

static int take_back(const char *path, coop_error **err)
{
    auto_free char *store = NULL;
    size_t n = 0;
    int r = approval_store(NULL, NULL, &store, err);

    if (r == 0)
        r = approval_revoke(store, path, &n, err);
    if (r < 0)
        return r;
    if (n == 0)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT, "'%s' was not approved", path);
    allow_audit(path, NULL);
    printf("revoked %zu approval%s of %s\n", n, n == 1 ? "" : "s", path);
    return 0;
}

/* ---- coop allow --list */

static const char *state_of(const struct approval *approval)
{
    auto_buffer struct buffer text = { 0 };
    auto_error coop_error *err = NULL;
    char digest[SHA256_HEX_SIZE];
    int r = config_read_file(approval->path, &text, &err);

    if (r == -ENOENT)
        return "gone";
    if (r < 0)
        return "unreadable";
    approval_digest(approval->path, text.data ? text.data : "", text.length, digest);
    return strcmp(digest, approval->digest) == 0 ? "valid" : "changed";
}

static int list_one(void *context, const struct approval *approval)
{
    struct buffer *out = context;
    time_t given = (time_t)approval->given;
    struct tm local;
    char date[32] = "?";

    if (localtime_r(&given, &local))
        (void)strftime(date, sizeof date, "%Y-%m-%d %H:%M", &local);
    buffer_printf(out, "%-10s  %s  %.12s  ", state_of(approval), date, approval->digest);
    printable_append(out, approval->path, strlen(approval->path));
    buffer_append_char(out, '\n');
    return 0;
}

static int list(coop_error **err)
{
    auto_buffer struct buffer out = { 0 };
    auto_free char *store = NULL;
    int r = approval_store(NULL, NULL, &store, err);

    if (r == 0)
        r = approval_list(store, list_one, &out, err);
    return r < 0 ? r : config_print(&out, err);
}

/* ---- the command */

/* The file that is meant where none is named: the one that the current directory has. */
static int find_file(char path[PATH_MAX], coop_error **err)
{
    char directory[PATH_MAX];
    size_t n = 0;

    if (!realpath(".", directory))
        return fail(err, errno, "find the current directory");
    for (size_t i = 0; i < COUNT(names); i++) {
        char candidate[PATH_MAX + 32];

        char found[PATH_MAX]; /* a realpath() that fails may write there all the same */

        (void)snprintf(candidate, sizeof candidate, "%s%s", directory, names[i]);
        if (!realpath(candidate, found))
            continue;
        memcpy(path, found, strlen(found) + 1);
        n++;
    }
    if (n == 1)
        return 0;
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                      n ? "there are several project files here" : "there is no project file here");
    return fail_hint(err, r, "name the file: coop allow FILE");
}

/* A file that is gone can still be revoked, by its path. */
static int find_named(const char *name, bool is_revoke, char path[PATH_MAX], coop_error **err)
{
    if (realpath(name, path))
        return 0;
    if (is_revoke && *name == '/' && strlen(name) < PATH_MAX) {
        (void)snprintf(path, PATH_MAX, "%s", name);
        return 0;
    }
    return fail(err, errno, "find '%s'", name);
}

static int act(const struct arguments *arguments, const char *name, coop_error **err)
{
    char path[PATH_MAX] = "";
    char workspace[PATH_MAX] = "";
    int r;

    if (arguments->is_list)
        return list(err);
    r = name ? find_named(name, arguments->is_revoke, path, err) : find_file(path, err);
    if (r == 0 && arguments->is_revoke)
        return take_back(path, err);
    if (r < 0)
        return r;
    return approve(path, split(path, workspace) ? workspace : NULL, err);
}

static int set_list(void *context, const char *value, coop_error **err)
{
    (void)value;
    (void)err;
    ((struct arguments *)context)->is_list = true;
    return 0;
}

static int set_revoke(void *context, const char *value, coop_error **err)
{
    (void)value;
    (void)err;
    ((struct arguments *)context)->is_revoke = true;
    return 0;
}

static int allow_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    struct arguments arguments = { 0 };
    int n = command_parse(&command_allow, argc, argv, &arguments, &err);

    if (n == -ECANCELED)
        return 0;
    if (n >= 0 && (argc - n > !arguments.is_list || (arguments.is_list && arguments.is_revoke)))
        n = fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL,
                      arguments.is_list ? "--list takes no other arguments" : "takes one file");
    if (n < 0) {
        command_complain("allow", err);
        return 2;
    }
    int r = act(&arguments, n < argc ? argv[n] : NULL, &err);
    if (err)
        command_complain("allow", err);
    return r < 0;
}

static const struct command_option options[] = {
    { "list", 0, NULL, "list approved files and whether each approval is still valid", set_list },
    { "revoke", 0, NULL, "revoke the approval of the file", set_revoke },
    { "help", 'h', NULL, "show this help", NULL },
    { 0 },
};

const struct command command_allow = {
    .name = "allow",
    .arguments = "[--list | [--revoke] [FILE]]",
    .summary = "approve a configuration file that commands could have changed",
    .options = options,
    .run = allow_main,
};
