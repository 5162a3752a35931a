/*
 * mcp.c - coop mcp: starts the server, or tells clients how to
 *
 * The server is a program of its own. What it is started with is checked and explained here.
 */
#include "mcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/libexec.h"
#include "base/log_sink.h"
#include "cli/command.h"
#include "plan/sources.h"
#include "policy/trust.h"

static int add_word(void *context, const char *name, const char *value, coop_error **err)
{
    struct mcp_words *words = context;
    char *word = NULL;

    if (words->n == MCP_WORDS_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG, "there are too many options");
    if (asprintf(&word, "--%s%s%s", name, value ? "=" : "", value ? value : "") < 0)
        return fail_no_memory(err);
    words->words[words->n++] = word;
    return 0;
}

static int set_as(void *context, const char *value, coop_error **err)
{
    int r = trust_identity_check(value, err);

    return r < 0 ? r : add_word(context, "as", value, err);
}

static int set_group(void *context, const char *value, coop_error **err)
{
    return add_word(context, "group", value ? value : "", err);
}

/* The place where the server is started may be another one. */
static int add_path(void *context, const char *name, const char *value, coop_error **err)
{
    auto_free char *path = NULL;
    int r = sources_find("the path", value, SOURCES_BASE(value), &path, err);

    return r < 0 ? fail_as(err, r, COOP_ERROR_SYSTEM) : add_word(context, name, path, err);
}

static int set_workspace(void *context, const char *value, coop_error **err)
{
    return add_path(context, "workspace", value, err);
}

static int set_config(void *context, const char *value, coop_error **err)
{
    return add_path(context, "config", value, err);
}

static int set_token_file(void *context, const char *value, coop_error **err)
{
    return add_path(context, "token-file", value, err);
}

static int set_read_only(void *context, const char *value, coop_error **err)
{
    return add_word(context, "read-only", value, err);
}

static int set_whole_home(void *context, const char *value, coop_error **err)
{
    return add_word(context, "yes-whole-home", value, err);
}

static int set_filesystem_names(void *context, const char *value, coop_error **err)
{
    return add_word(context, "filesystem-names", value, err);
}

static int set_http(void *context, const char *value, coop_error **err)
{
    return add_word(context, "http", value, err);
}

static int set_port(void *context, const char *value, coop_error **err)
{
    char *end = NULL;

    errno = 0;
    unsigned long port = strtoul(value, &end, 10);
    if (errno || end == value || *end || *value == '-' || port < 1 || port > 65535)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "bad port '%s': expected a number from 1 to 65535", value);
    return add_word(context, "port", value, err);
}

static int set_quiet(void *context, const char *value, coop_error **err)
{
    return add_word(context, "quiet", value, err);
}

static int set_log_format(void *context, const char *value, coop_error **err)
{
    struct log_sink unused;
    int r = log_sink_format(&unused, value, err);

    return r < 0 ? r : add_word(context, "log-format", value, err);
}

static int set_write(void *context, const char *value, coop_error **err)
{
    (void)value;
    (void)err;
    ((struct mcp_words *)context)->write = true;
    return 0;
}

static int set_client(void *context, const char *value, coop_error **err)
{
    (void)err;
    ((struct mcp_words *)context)->client = value;
    return 0;
}

/* clang-format off */
static const struct command_option options[] = {
    { "as", 0, "IDENTITY", "act for this identity, for example signal:+15555550101 (default: nobody in particular, in a box)", set_as },
    { "group", 0, NULL, "with --as: the request came from a group", set_group },
    { "group-name", 0, "NAME", "the same, for the group with this name", set_group },
    { "workspace", 'w', "DIR", "work in this directory (default: the current directory)", set_workspace },
    { "policy", 0, "FILE", "the same as --config", set_config },
    { "config", 0, "FILE", "read this file instead of the system's and the user's", set_config },
    { "read-only", 0, NULL, "prevent all changes to the workspace", set_read_only },
    { "yes-whole-home", 0, NULL, "accept a workspace that is or contains a whole home directory", set_whole_home },
    { "filesystem-names", 0, NULL, "offer the tools of the reference filesystem server, DIRs at their own paths", set_filesystem_names },
    { "http", 0, NULL, "serve Streamable HTTP on 127.0.0.1 instead of standard input and output", set_http },
    { "port", 0, "PORT", "with --http: listen on this port (default: any free port, which is printed)", set_port },
    { "token-file", 0, "FILE", "with --http: read the bearer token from this file, mode 0600 (default: a new one, which is printed)", set_token_file },
    { "quiet", 'q', NULL, "do not print a greeting on standard error", set_quiet },
    { "log-format", 0, "text|json", "format of the log on standard error; COOP_LOG sets the level", set_log_format },
    { "write", 0, NULL, "with install: add the block to the clients' files instead of printing it", set_write },
    { "client", 0, "NAME", "with install: only this client, for example claude-code or cursor", set_client },
    { "help", 'h', NULL, "show this help" },
    { 0 },
};
/* clang-format on */

static int start(struct mcp_words *words, coop_error **err)
{
    auto_free char *path = NULL;
    size_t n = 0;
    int r = libexec_find("coop-mcp", &path);

    if (r < 0)
        return fail_kind(err, COOP_ERROR_NOT_AVAILABLE, -r,
                         "the server is 'coop-mcp', which is not installed");
    while (words->directories[n])
        n++;
    auto_free char **argv = calloc(words->n + n + 3, sizeof *argv);
    if (!argv)
        return fail_no_memory(err);
    argv[0] = path;
    memcpy(argv + 1, words->words, words->n * sizeof *argv);
    argv[words->n + 1] = (char *)"--";
    memcpy(argv + words->n + 2, words->directories, n * sizeof *argv);
    (void)execv(path, argv);
    return fail(err, errno, "start '%s'", path);
}

static bool has_word(const struct mcp_words *words, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < words->n; i++)
        if (strncmp(words->words[i] + 2, name, n) == 0 && strchr("=", words->words[i][2 + n]))
            return true;
    return false;
}

/* What says nothing without another one. */
static int check_words(const struct mcp_words *words, bool is_install, coop_error **err)
{
    static const struct {
        const char *word, *needs, *problem;
    } rules[] = {
        { "port", "http", "--port needs --http" },
        { "token-file", "http", "--token-file needs --http" },
        { "group", "as", "--group and --group-name need --as" },
    };

    for (size_t i = 0; i < COUNT(rules); i++)
        if (has_word(words, rules[i].word) && !has_word(words, rules[i].needs))
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "%s", rules[i].problem);
    if (is_install && has_word(words, "http"))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "'coop mcp install' configures clients to use standard input and output, "
                         "so it cannot be combined with --http");
    return 0;
}

static int parse(int argc, char **argv, struct mcp_words *words, bool *is_install, coop_error **err)
{
    int at = command_parse(&command_mcp, argc, argv, words, err);

    if (at < 0)
        return at;
    *is_install = at < argc && strcmp(argv[at], "install") == 0;
    if (*is_install) {
        int further = command_parse(&command_mcp, argc - at, argv + at, words, err);

        if (further < 0)
            return further;
        at += further;
    } else if (words->write || words->client) {
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "--write and --client need 'coop mcp install'");
    }
    words->directories = argv + at;
    return check_words(words, *is_install, err);
}

static int mcp_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    struct mcp_words words = { .n = 0 };
    bool is_install = false;
    int r = parse(argc, argv, &words, &is_install, &err);

    if (r >= 0)
        r = is_install ? mcp_install(&words, &err) : start(&words, &err);
    for (size_t i = 0; i < words.n; i++)
        free(words.words[i]);
    if (r >= 0 || (r == -ECANCELED && !err))
        return 0;
    command_complain("mcp", err);
    return coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY ? 2 : 125;
}

const struct command command_mcp = {
    .name = "mcp",
    .arguments = "[options] [DIR...] | install [options] [DIR...]",
    .summary = "serve an agent's tools over the Model Context Protocol",
    .options = options,
    .run = mcp_main,
};
