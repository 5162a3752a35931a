/*
 * mcp_install.c - coop mcp install: how MCP clients start the server
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/copy.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/mcp.h"

#define FILE_MAX (32 * 1024 * 1024)

struct client {
    const char *name;
    const char *title;
    const char *file; /* below the home directory */
    const char *key;  /* of the object that holds the servers; NULL: the file is TOML */
    bool has_type;    /* an entry says "type": "stdio" */
};

static const struct client clients[] = {
    { "claude-code", "Claude Code", ".claude.json", "mcpServers", true },
    { "claude-desktop", "Claude Desktop", ".config/Claude/claude_desktop_config.json", "mcpServers",
      false },
    { "codex", "Codex", ".codex/config.toml", NULL, false },
    { "cursor", "Cursor", ".cursor/mcp.json", "mcpServers", false },
    { "gemini", "Gemini CLI", ".gemini/settings.json", "mcpServers", false },
    { "vscode", "Visual Studio Code", ".config/Code/User/mcp.json", "servers", true },
    { "windsurf", "Windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers", false },
    { "zed", "Zed", ".config/zed/settings.json", "context_servers", false },
};

/* ---- the block */

struct launch {
    char program[PATH_MAX]; /* this one, wherever a client's PATH leads */
    const struct mcp_words *words;
};

static int find_program(struct launch *launch, coop_error **err)
{
    ssize_t n = readlink("/proc/self/exe", launch->program, sizeof launch->program - 1);

    if (n < 0)
        return fail(err, errno, "find this program");
    launch->program[n] = '\0';
    return 0;
}

static void write_arguments(struct json_writer *json, const struct launch *launch)
{
    static const char group[] = "--group=";

    json_write_array_begin(json);
    json_write_text(json, "mcp");
    for (size_t i = 0; i < launch->words->n; i++) {
        const char *word = launch->words->words[i];
        auto_buffer struct buffer named = { 0 };

        /* The server has one word for what are two options. */
        if (strcmp(word, group) == 0) {
            word = "--group";
        } else if (strncmp(word, group, strlen(group)) == 0) {
            buffer_printf(&named, "--group-name=%s", word + strlen(group));
            word = named.data ? named.data : word;
        }
        json_write_text(json, word);
    }
    for (char *const *directory = launch->words->directories; *directory; directory++) {
        auto_free char *real = realpath(*directory, NULL);

        json_write_text(json, real ? real : *directory);
    }
    json_write_array_end(json);
}

static void write_entry(struct json_writer *json, const struct client *client,
                        const struct launch *launch)
{
    json_write_object_begin(json);
    if (client->has_type) {
        json_write_key(json, "type");
        json_write_text(json, "stdio");
    }
    json_write_key(json, "command");
    json_write_text(json, launch->program);
    json_write_key(json, "args");
    write_arguments(json, launch);
    json_write_object_end(json);
}

/* The file's object with our entry in it; `old` NULL: nothing was there. */
static void write_json(struct buffer *out, const struct client *client, const struct launch *launch,
                       const struct json_value *old)
{
    struct json_writer json;
    const struct json_value *servers = json_get(old, client->key);

    json_write_init(&json, out, true);
    json_write_object_begin(&json);
    for (const struct json_value *item = old ? old->first : NULL; item; item = item->next)
        if (item != servers) {
            json_write_key(&json, item->name);
            json_copy(&json, item);
        }
    json_write_key(&json, client->key);
    json_write_object_begin(&json);
    for (const struct json_value *item = servers ? servers->first : NULL; item; item = item->next)
        if (strcmp(item->name, "coop") != 0) {
            json_write_key(&json, item->name);
            json_copy(&json, item);
        }
    json_write_key(&json, "coop");
    write_entry(&json, client, launch);
    json_write_object_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
}

/* A JSON text of what a path can hold is a TOML one too. */
static void write_toml(struct buffer *out, const struct launch *launch)
{
    struct json_writer json;

    buffer_append_string(out, "[mcp_servers.coop]\ncommand = ");
    json_write_init(&json, out, false);
    json_write_text(&json, launch->program);
    buffer_append_string(out, "\nargs = ");
    json_write_init(&json, out, false);
    write_arguments(&json, launch);
    buffer_append_char(out, '\n');
}

static void write_block(struct buffer *out, const struct client *client,
                        const struct launch *launch)
{
    if (client->key)
        write_json(out, client, launch, NULL);
    else
        write_toml(out, launch);
}

static int print_block(const struct client *client, const char *path, const struct launch *launch,
                       coop_error **err)
{
    auto_buffer struct buffer block = { 0 };

    write_block(&block, client, launch);
    if (block.failed)
        return fail_no_memory(err);
    printf("%s (--client %s), in %s:\n\n%s\n", client->title, client->name, path, block.data);
    return 0;
}

/* ---- the file */

/* -ENOENT: there is none. */
static int read_file(const char *path, struct buffer *out, mode_t *mode, coop_error **err)
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    ssize_t n;

    if (fd < 0)
        return fail(err, errno, "open '%s'", path);
    if (fstat(fd, &st) < 0)
        return fail(err, errno, "look at '%s'", path);
    if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "'%s' is not a configuration file",
                         path);
    *mode = st.st_mode & 0777;
    do {
        if (!buffer_reserve(out, (size_t)st.st_size + 4096))
            return fail_no_memory(err);
        n = read(fd, out->data + out->length, (size_t)st.st_size + 4096);
        if (n < 0 && errno != EINTR)
            return fail(err, errno, "read '%s'", path);
        out->length += n > 0 ? (size_t)n : 0;
    } while (n != 0 && out->length <= FILE_MAX);
    return 0;
}

static int write_all(int fd, const struct buffer *text)
{
    for (size_t at = 0; at < text->length;) {
        ssize_t n = write(fd, text->data + at, text->length - at);

        if (n < 0 && errno != EINTR)
            return -errno;
        at += n > 0 ? (size_t)n : 0;
    }
    return fsync(fd) < 0 ? -errno : 0;
}

/* At once or not at all; a link stays one. */
static int replace_file(const char *path, const struct buffer *text, mode_t mode, coop_error **err)
{
    auto_free char *real = realpath(path, NULL);
    auto_free char *fresh = NULL;

    if (asprintf(&fresh, "%s.XXXXXX", real ? real : path) < 0) {
        fresh = NULL;
        return fail_no_memory(err);
    }
    auto_close int fd = mkostemp(fresh, O_CLOEXEC);
    if (fd < 0)
        return fail(err, errno, "write beside '%s'", path);
    int r = fchmod(fd, mode) < 0 ? -errno : write_all(fd, text);
    if (r == 0 && rename(fresh, real ? real : path) < 0)
        r = -errno;
    if (r < 0)
        (void)unlink(fresh);
    return r < 0 ? fail(err, -r, "write '%s'", path) : 0;
}

static int refuse_json(const char *path, const coop_error *why, coop_error **err)
{
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "'%s' was not changed: %s", path,
                      why ? coop_error_message(why) : "its list of servers is not an object");
    return fail_hint(err, r, "run 'coop mcp install' without --write and add the block by hand");
}

static int merge_toml(const struct launch *launch, const char *path, const struct buffer *old,
                      struct buffer *out, coop_error **err)
{
    auto_buffer struct buffer block = { 0 };

    write_toml(&block, launch);
    buffer_append(out, old->data ? old->data : "", old->length);
    if (block.failed || out->failed)
        return fail_no_memory(err);
    if (out->length && strstr(out->data, block.data))
        return 0;
    if (out->length && strstr(out->data, "[mcp_servers.coop]")) {
        int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EEXIST,
                          "'%s' was not changed: it has another [mcp_servers.coop]", path);
        return fail_hint(err, r, "change it by hand, or remove it first");
    }
    if (out->length)
        buffer_append_string(out, out->data[out->length - 1] == '\n' ? "\n" : "\n\n");
    buffer_append(out, block.data, block.length);
    return 0;
}

/* What the file becomes. */
static int merge(const struct client *client, const struct launch *launch, const char *path,
                 const struct buffer *old, struct buffer *out, coop_error **err)
{
    auto_json_document struct json_document document = { 0 };
    auto_error coop_error *why = NULL;

    if (!client->key)
        return merge_toml(launch, path, old, out, err);
    bool is_blank = true;
    for (size_t i = 0; i < old->length; i++)
        is_blank &= strchr(" \t\r\n", old->data[i]) != NULL;
    if (!is_blank && json_read(old->data, old->length, &document, &why) < 0)
        return refuse_json(path, why, err);
    const struct json_value *servers = json_get(document.root, client->key);
    if ((document.root && document.root->kind != JSON_OBJECT) ||
        (servers && servers->kind != JSON_OBJECT))
        return refuse_json(path, NULL, err);
    write_json(out, client, launch, document.root);
    return 0;
}

static int make_parents(const char *path, coop_error **err)
{
    auto_free char *copy = strdup(path);

    if (!copy)
        return fail_no_memory(err);
    for (char *slash = copy; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        if (mkdir(copy, 0700) < 0 && errno != EEXIST)
            return fail(err, errno, "make the directory '%s'", copy);
        *slash = '/';
    }
    return 0;
}

static int write_block_to(const struct client *client, const char *path,
                          const struct launch *launch, coop_error **err)
{
    auto_buffer struct buffer old = { 0 };
    auto_buffer struct buffer text = { 0 };
    auto_error coop_error *why = NULL;
    mode_t mode = 0600;
    int r = read_file(path, &old, &mode, &why);

    if (r == -ENOENT)
        r = make_parents(path, err);
    else if (r < 0 && err)
        *err = take_ptr(why);
    if (r == 0)
        r = merge(client, launch, path, &old, &text, err);
    if (r == 0 && text.failed)
        r = fail_no_memory(err);
    if (r < 0)
        return r;
    if (old.data && text.data && text.length == old.length &&
        memcmp(text.data, old.data, old.length) == 0) {
        printf("%s: %s already has it\n", client->title, path);
        return 0;
    }
    r = replace_file(path, &text, mode, err);
    if (r == 0)
        printf("%s: added to %s\n", client->title, path);
    return r;
}

/* ---- which clients */

/* Its file, or the directory of it, is there. */
static bool is_here(const char *path)
{
    auto_free char *directory = strdup(path);

    if (!directory || access(path, F_OK) == 0)
        return true;
    *strrchr(directory, '/') = '\0';
    const char *home = getenv("HOME");
    return home && strcmp(directory, home) != 0 && access(directory, F_OK) == 0;
}

static int for_client(const struct client *client, const struct launch *launch, size_t *n_done,
                      coop_error **err)
{
    const char *home = getenv("HOME");
    auto_free char *path = NULL;

    if (asprintf(&path, "%s/%s", home, client->file) < 0) {
        path = NULL;
        return fail_no_memory(err);
    }
    if (launch->words->write && !launch->words->client && !is_here(path))
        return 0;
    ++*n_done;
    return launch->words->write ? write_block_to(client, path, launch, err)
                                : print_block(client, path, launch, err);
}

/* A file that cannot be changed keeps nobody from the others; the last mistake is returned. */
static int for_clients(const struct launch *launch, size_t *n_done, coop_error **err)
{
    const char *chosen = launch->words->client;
    int r = 0;

    for (size_t i = 0; i < COUNT(clients); i++) {
        if (chosen && strcmp(chosen, clients[i].name) != 0)
            continue;
        auto_error coop_error *why = NULL;
        int one = for_client(&clients[i], launch, n_done, &why);

        if (one == 0)
            continue;
        if (r < 0) { /* of the one before */
            command_complain("mcp", *err);
            coop_error_free(take_ptr(*err));
        }
        r = one;
        *err = take_ptr(why);
    }
    return r;
}

static int unknown_client(const char *name, coop_error **err)
{
    const char *names[COUNT(clients) + 1] = { NULL };
    auto_buffer struct buffer list = { 0 };

    for (size_t i = 0; i < COUNT(clients); i++) {
        names[i] = clients[i].name;
        buffer_printf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = suggest(name, names);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "unknown client '%s'", name);
    return near ? fail_hint(err, r, "did you mean %s?", near)
                : fail_hint(err, r, "known are %s", list.data ? list.data : "");
}

int mcp_install(const struct mcp_words *words, coop_error **err)
{
    struct launch launch = { .words = words };
    const char *home = getenv("HOME");
    size_t n_done = 0;
    int r = find_program(&launch, err);

    if (!home || home[0] != '/')
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT, "HOME is not set");
    if (r == 0)
        r = for_clients(&launch, &n_done, err);
    if (r < 0)
        return r;
    if (n_done == 0 && words->client)
        return unknown_client(words->client, err);
    if (n_done == 0)
        printf("no client was found; --client NAME creates the file\n");
    return 0;
}
