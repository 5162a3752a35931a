/*
 * protect_led.c - files elsewhere in the tree that what is kept leads to
 *
 * `.git/hooks/pre-commit` may be a link to a script of the project, and a configuration may include a
 * file of it, take hooks from a directory of it, or name a program in it. Whoever writes that file
 * writes what git executes: it is kept as well. Where nothing is there yet, nobody makes it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "git_config/git_config.h"
#include "git_config/keys.h"
#include "plan/protect_config.h"
#include "protect/scan/scan_private.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define DEPTH_MAX   10   /* of includes: as many as git follows */
#define ENTRIES_MAX 4096 /* of one kept directory */

struct lead {
    struct scan *scan;
    const struct protect_found *from; /* what is kept; copied, for the list may move */
    unsigned depth;
    unsigned n_entries;
};

static int add_absent(struct scan *scan, const char *path, coop_error **err)
{
    struct protect_scan *out = scan->out;
    const char **more = reallocarray(out->absent, out->n_absent + 1, sizeof *more);
    const char *copy = more ? scan_keep_text(scan, path) : NULL;

    if (more)
        out->absent = more;
    if (!copy)
        return fail_no_memory(err);
    out->absent[out->n_absent++] = copy;
    return 0;
}

/* "a/b" and "../c/./d" make "a/c/d". false: it leads out of the tree. */
static bool join(struct scan *scan, const char *directory, const char *text, char out[PATH_MAX])
{
    const char *root = scan_root_path(scan);
    size_t length = strlen(root);
    size_t n = 0;

    out[0] = '\0';
    if (*text == '/') {
        if (length == 0 || strncmp(text, root, length) != 0 || text[length] != '/')
            return false;
        text += length;
        directory = "";
    }
    for (int part = 0; part < 2; part++)
        for (const char *p = part ? text : directory; *p;) {
            size_t size = strcspn(p, "/");

            if (size == 2 && memcmp(p, "..", 2) == 0) {
                if (n == 0)
                    return false;
                while (n > 0 && out[--n] != '/')
                    ;
                out[n] = '\0';
            } else if (size > 0 && !(size == 1 && *p == '.')) {
                if (n + size + 2 > PATH_MAX)
                    return false;
                if (n > 0)
                    out[n++] = '/';
                memcpy(out + n, p, size);
                n += size;
                out[n] = '\0';
            }
            p += size + (p[size] == '/');
        }
    return n > 0;
}

static int lead_config(struct lead *lead, const char *path, coop_error **err);

enum wanted {
    A_FILE,   /* a word of a command: only what is there */
    A_NAME,   /* a link's target, or a directory of hooks */
    A_CONFIG, /* one that is included */
};

static int keep(struct lead *lead, const char *path, const char *target, const struct stat *st,
                coop_error **err)
{
    int r = scan_add_found(lead->scan,
                           &(struct protect_found){ .kind = FOUND_KEEP,
                                                    .is_nested = lead->from->is_nested,
                                                    .path = target,
                                                    .named = lead->from->path,
                                                    .rule = lead->from->rule,
                                                    .st = *st },
                           err);

    return r < 0 || strcmp(path, target) == 0
               ? r
               : scan_hold_way(lead->scan, path, FOUND_KEPT_LINK, err);
}

/* A command line also names files that it only reads. */
static bool is_program(const char *path, const struct stat *st)
{
    static const char *const endings[] = { ".sh", ".py", ".pl", ".rb", ".js", ".mjs", ".lua" };
    size_t n = strlen(path);

    if (!S_ISREG(st->st_mode))
        return false;
    for (size_t i = 0; i < COUNT(endings); i++)
        if (n > strlen(endings[i]) && strcmp(path + n - strlen(endings[i]), endings[i]) == 0)
            return true;
    return st->st_mode & 0111;
}

/* What `text` names, from a directory of the tree. */
static int lead_to(struct lead *lead, const char *directory, const char *text, enum wanted wanted,
                   coop_error **err)
{
    char path[PATH_MAX];
    char target[PATH_MAX];
    struct stat st;
    bool is_inside = false;

    if (!join(lead->scan, directory, text, path))
        return 0;
    bool is_there = faccessat(lead->scan->root_fd, path, F_OK, 0) == 0;
    if (!is_there)
        return wanted == A_FILE ? 0 : add_absent(lead->scan, path, err);
    int r = scan_follow(lead->scan, path, target, &st, &is_inside, err);
    if (r < 0 || !is_inside || (wanted == A_FILE && !is_program(target, &st)) ||
        protect_shows(lead->scan->protect, target, S_ISDIR(st.st_mode)))
        return r;
    r = keep(lead, path, target, &st, err);
    return r < 0 || wanted != A_CONFIG || !S_ISREG(st.st_mode) ? r : lead_config(lead, target, err);
}

/* ---- links in kept directories */

static void directory_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');

    (void)snprintf(out, PATH_MAX, "%.*s", slash ? (int)(slash - path) : 0, path);
}

static int lead_link(struct lead *lead, const char *path, coop_error **err)
{
    char directory[PATH_MAX];
    char text[PATH_MAX];
    ssize_t n = readlinkat(lead->scan->root_fd, path, text, sizeof text - 1);

    if (n <= 0)
        return 0;
    text[n] = '\0';
    directory_of(path, directory);
    return lead_to(lead, directory, text, A_NAME, err);
}

static int lead_entries(struct lead *lead, const char *path, coop_error **err)
{
    const struct kernel_open_how how = {
        .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int fd = (int)raw(NR_OPENAT2, lead->scan->root_fd, path, &how, sizeof how);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    char inner[PATH_MAX + 256];
    int r = 0;

    if (!stream) {
        close_fd(&fd);
        return 0; /* gone, or closed to us */
    }
    while (r == 0 && (entry = readdir(stream)) && lead->n_entries++ < ENTRIES_MAX) {
        struct stat st;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            (entry->d_type != DT_LNK && entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) ||
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        (void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (strlen(inner) >= PATH_MAX)
            continue;
        if (S_ISLNK(st.st_mode))
            r = lead_link(lead, inner, err);
        else if (S_ISDIR(st.st_mode) && lead->depth < DEPTH_MAX) {
            lead->depth++;
            r = lead_entries(lead, inner, err);
            lead->depth--;
        }
    }
    (void)closedir(stream);
    return r;
}

/* ---- what a configuration names */

static bool is_include(const struct git_config_item *item)
{
    return strcmp(item->name, "path") == 0 &&
           (strcmp(item->section, "include") == 0 || strncmp(item->section, "includeif.", 10) == 0);
}

static bool is_hooks_path(const struct git_config_item *item)
{
    return strcmp(item->section, "core") == 0 && strcmp(item->name, "hookspath") == 0;
}

/* "~/x" from the owner's home. */
static const char *expand(const char *text, char space[2 * PATH_MAX])
{
    const char *home = getenv("HOME");

    if (strncmp(text, "~/", 2) != 0 || !home)
        return text;
    (void)snprintf(space, 2 * PATH_MAX, "%s%s", home, text + 1);
    return space;
}

/* The words of a command line that are files of the work tree. */
static int lead_words(struct lead *lead, const char *tree, const char *value, coop_error **err)
{
    static const char between[] = " \t\n\"'`;|&()<>!=$";
    char word[PATH_MAX];
    int r = 0;

    for (const char *p = value; r == 0 && *p;) {
        size_t n = strcspn(p, between);

        if (n > 0 && n < sizeof word) {
            memcpy(word, p, n);
            word[n] = '\0';
            r = lead_to(lead, tree, word, A_FILE, err);
        }
        p += n;
        p += strspn(p, between);
    }
    return r;
}

static int lead_hooks(struct lead *lead, const char *tree, const char *value, coop_error **err)
{
    char above[PATH_MAX];
    size_t n = strlen(value);
    int r = lead_to(lead, tree, value, A_NAME, err);

    if (r < 0 || n < 3 || n >= sizeof above || strcmp(value + n - 2, "/_") != 0)
        return r;
    directory_of(value, above); /* husky: those in "_" execute those above */
    return lead_to(lead, tree, above, A_NAME, err);
}

static int lead_item(struct lead *lead, const char *directory, const char *tree,
                     const struct git_config_item *item, coop_error **err)
{
    char space[2 * PATH_MAX];

    if (item->kind != GIT_CONFIG_ENTRY || !item->value)
        return 0;
    if (is_include(item))
        return lead_to(lead, directory, expand(item->value, space), A_CONFIG, err);
    if (is_hooks_path(item))
        return lead_hooks(lead, tree, expand(item->value, space), err);
    return git_config_harm(item, &(struct git_config_place){ 0 })
               ? lead_words(lead, tree, item->value, err)
               : 0;
}

static int lead_config(struct lead *lead, const char *path, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };
    auto_git_config struct git_config config = { 0 };
    char directory[PATH_MAX];
    char tree[PATH_MAX];
    int r = 0;

    if (lead->depth == DEPTH_MAX || !protect_config_read(lead->scan->root_fd, path, &text) ||
        git_config_parse(text.data ? text.data : "", text.length, &config, NULL) < 0)
        return 0; /* git does not read it either */
    directory_of(path, directory);
    /* Of X/.git/config that is X; others are rare, and their programs are looked for at the top. */
    directory_of(lead->from->path, tree);
    size_t n = strlen(tree);
    if (n >= 5 && strcmp(tree + n - 5, "/.git") == 0)
        tree[n - 5] = '\0';
    else
        tree[0] = '\0';
    lead->depth++;
    for (size_t i = 0; r == 0 && i < config.n; i++)
        r = lead_item(lead, directory, tree, &config.items[i], err);
    lead->depth--;
    return r;
}

int scan_find_led(struct scan *scan, coop_error **err)
{
    size_t n = scan->out->n_found;
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct protect_found from = scan->out->found[i];
        struct lead lead = { .scan = scan, .from = &from };

        if (from.kind == FOUND_KEEP && S_ISDIR(from.st.st_mode))
            r = lead_entries(&lead, from.path, err);
        else if (from.kind == FOUND_GIT_CONFIG)
            r = lead_config(&lead, from.path, err);
    }
    return r;
}
