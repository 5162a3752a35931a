/*
 * files.c - configuration that commands can change counts only as the owner has approved it
 *
 * The file of --config decides what is allowed. Where it lies in the workspace or in another place
 * that boxes write, an earlier box may have rewritten it, so every byte of it must have been
 * approved (config/approval.h). That is asked before anything in it is obeyed: a secret may come
 * from a command, which runs on the host.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "config/approval.h"
#include "policy/path/path.h"
#include "run_config/run_config.h"
#include "sys/source.h"

static void add_place(struct source_places *places, const char *path)
{
    struct stat st;

    if (path && stat(path, &st) == 0)
        places->items[places->n++] = (struct source_place){ st.st_dev, st.st_ino };
}

int run_config_places(const struct run_config *identity, const coop_policy *policy,
                      struct source_places *out, coop_error **err)
{
    size_t n_mounts = policy ? policy->n_mounts : 0;

    *out = (struct source_places){ .items = calloc(n_mounts + identity->n_writable + 1,
                                                   sizeof *out->items) };
    if (!out->items)
        return fail_no_memory(err);
    add_place(out, identity->workspace_path);
    for (size_t i = 0; i < identity->n_writable; i++)
        add_place(out, identity->writable[i]);
    for (size_t i = 0; i < n_mounts; i++)
        if (policy->mounts[i].kind == POLICY_BIND &&
            (!policy->mounts[i].read_only || policy->mounts[i].is_replaceable))
            add_place(out, policy->mounts[i].source);
    return 0;
}

static int refuse(const struct config_file_info *file, coop_error **err)
{
    int r;

    if (!*file->digest) {
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM,
                      "the configuration '%s' contains secrets and is where commands can write",
                      file->path);
        return fail_hint(err, r, "move it out of the workspace and writable mounts");
    }
    r = fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM,
                  "the configuration '%s' is where commands can write, and its current content is "
                  "not approved",
                  file->path);
    return fail_hint(
        err, r,
        "read it, then run 'coop allow %s'; or move it out of the workspace and writable mounts",
        file->path);
}

static int check_file(const struct run_config *identity, const struct config_file_info *file,
                      coop_error **err)
{
    auto_free char *store = NULL;
    bool is_given = false;
    int r = *file->digest ? approval_store(NULL, identity->workspace_path, &store, err) : 0;

    if (r == 0 && store)
        r = approval_is_given(store, file->digest, &is_given, err);
    if (r < 0)
        return r;
    return is_given ? 0 : refuse(file, err);
}

/* The way to a file that is named must not be a command's either, or it chooses the file. */
static int check_way(const struct config_file_info *file, const struct source_places *places,
                     coop_error **err)
{
    char text[PATH_MAX];
    auto_close int fd = source_open(file->path, places->items, places->n, text);

    if (fd < 0 && *text) {
        int r = fail_kind(err, COOP_ERROR_BAD_POLICY, ELOOP,
                          "the configuration '%s' leads through the symbolic link '%s', which a "
                          "command may have created",
                          file->path, text);

        return fail_hint(err, r, "name the file that the link leads to");
    }
    int r = fd < 0 ? fd : source_name(fd, text);
    if (r < 0)
        return fail(err, -r, "open the configuration '%s'", file->path);
    return strcmp(text, file->real) == 0
               ? 0
               : fail_kind(err, COOP_ERROR_BAD_POLICY, EBUSY,
                           "the configuration '%s' was replaced while it was read", file->path);
}

int run_config_check_files(const struct run_config *identity, const coop_policy *policy,
                           coop_error **err)
{
    struct source_places places;
    int r = identity->config_file ? run_config_places(identity, policy, &places, err) : 0;

    if (r < 0 || !identity->config_file) /* those in coop's own directories are seen by no box */
        return r;
    for (size_t i = 0; r == 0 && i < config_n_files(identity->config); i++) {
        struct config_file_info file = config_file_info(identity->config, i);

        if (file.layer == CONFIG_PROJECT)
            continue;
        if (source_is_below(file.real, places.items, places.n))
            r = check_file(identity, &file, err);
        if (r == 0 && strcmp(file.real, file.path) != 0 && strncmp(file.path, "/proc/", 6) != 0)
            r = check_way(&file, &places, err);
    }
    free(places.items);
    return r;
}

/* A pattern for this very path. */
static void append_pattern(struct buffer *out, const char *path)
{
    for (; *path; path++) {
        if (strchr("*?[]\\", *path))
            buffer_append_char(out, '\\');
        buffer_append_char(out, *path);
    }
}

int run_config_keep_files(const struct run_config *identity, coop_policy *policy, coop_error **err)
{
    const struct origin origin = { "--config", 0, 0 };
    int r = 0;

    for (size_t i = 0; r == 0 && i < config_n_files(identity->config); i++) {
        struct config_file_info file = config_file_info(identity->config, i);
        auto_buffer struct buffer pattern = { 0 };

        if (file.layer == CONFIG_PROJECT || !identity->config_file || !identity->workspace_path ||
            !path_is_within(file.real, identity->workspace_path))
            continue;
        append_pattern(&pattern, file.real + strlen(identity->workspace_path) + 1);
        r = pattern.failed
                ? fail_no_memory(err)
                : policy_add_protect(policy, pattern.data, COOP_PROTECT_KEEP, origin, err);
    }
    return r;
}
