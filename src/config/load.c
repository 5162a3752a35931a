/*
 * load.c - finds the files, reads each once, and puts what they say on top of each other
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
#include "config/approval.h"
#include "config/conceal.h"
#include "config/config.h"
#include "config/file.h"
#include "config/home.h"
#include "config/layers.h"
#include "config/toml/toml.h"
#include "config/yaml/yaml.h"
#include "sys/source.h"

#define SYSTEM_FILE  "/etc/coop/coop.toml"
#define USER_FILE    "coop/coop.toml"
#define OVERFLOW_UID 65534 /* whom this user namespace does not know */

struct load {
    struct config *config;
    const struct config_request *request;
    struct findings *findings;
};

static void no_memory(const struct load *load)
{
    load->findings->failed = true;
}

/* What could not be read, as a finding about the whole of it, which need not name it again. */
static void complain(const struct load *load, const char *name, const coop_error *err)
{
    auto_free char *prefix = NULL;
    const char *message = coop_error_message(err);

    if (coop_error_errno(err) == ENOMEM || asprintf(&prefix, "read '%s': ", name) < 0) {
        prefix = NULL;
        no_memory(load);
        return;
    }
    bool is_repeated = strncmp(message, prefix, strlen(prefix)) == 0;
    findings_add(load->findings, SEVERITY_ERROR, (struct origin){ name, 0, 0 },
                 coop_error_hint(err), "%s%s", is_repeated ? "cannot be read: " : "",
                 message + (is_repeated ? strlen(prefix) : 0));
}

/* Takes the path; findings borrow it for as long as the config lives. */
static const char *keep_path(const struct load *load, char *path)
{
    struct config *config = load->config;

    if (!path)
        no_memory(load);
    else if (config->n_paths < LAYERS_MAX)
        return config->paths[config->n_paths++] = path;
    free(path);
    return NULL;
}

/* ---- who can write and read it */

static void check_writers(const struct load *load, const char *path, const struct stat *stat)
{
    const struct origin origin = { path, 0, 0 };

    if (stat->st_mode & S_IWOTH || (stat->st_mode & S_IWGRP && stat->st_gid != getegid()))
        findings_add(load->findings, SEVERITY_WARNING, origin, "chmod go-w it",
                     "others can write this file, and with it decide what is allowed");
    if (stat->st_uid != geteuid() && stat->st_uid != 0 && stat->st_uid != OVERFLOW_UID)
        findings_add(load->findings, SEVERITY_WARNING, origin, NULL,
                     "this file belongs to somebody else, the user %u, who decides what is allowed",
                     (unsigned)stat->st_uid);
}

static void check_readers(const struct load *load, const struct document *document,
                          const struct stat *stat)
{
    const struct node *secrets = node_get(&document->root, "secrets");

    if (!secrets)
        return;
    struct origin origin = node_origin(document, secrets->place);
    if (stat->st_mode & 077)
        findings_add(
            load->findings, SEVERITY_ERROR, origin, "chmod 600 it",
            "secrets are refused in a file that others can read or write (its mode is %04o)",
            (unsigned)stat->st_mode & 07777);
    if (stat->st_uid != geteuid())
        findings_add(load->findings, SEVERITY_ERROR, origin, NULL,
                     "secrets are refused in a file of somebody else (it belongs to the user %u)",
                     (unsigned)stat->st_uid);
}

/* ---- one file */

static int parse(const struct load *load, const char *path, const struct buffer *text,
                 struct document **out)
{
    size_t first = load->findings->n;
    bool is_yaml = yaml_is_name(path);
    const char *bytes = text->data ? text->data : "";
    int r = is_yaml ? yaml_read(path, bytes, text->length, out, load->findings)
                    : toml_parse(path, bytes, text->length, out, load->findings);

    if (r == -ENOMEM)
        no_memory(load);
    if (r < 0)
        conceal_secrets(bytes, text->length, is_yaml, load->findings, first);
    return r;
}

/* The file is open, and is the one to be read. NULL: it has no layer. */
static struct layer *read_layer(const struct load *load, enum config_layer kind,
                                struct config_file *file)
{
    __attribute__((cleanup(buffer_wipe))) struct buffer text = { 0 };
    auto_error coop_error *err = NULL;
    struct document *document = NULL;

    if (config_file_read(file, &text, &err) < 0) {
        complain(load, file->path, err);
        return NULL;
    }
    if (parse(load, file->path, &text, &document) < 0)
        return NULL;
    if (kind != CONFIG_PROJECT)
        check_readers(load, document, &file->stat);
    if (config_add_document(load->config, kind, document, load->findings) < 0)
        return NULL;
    struct layer *layer = load->config->layers[load->config->n_layers - 1];
    char real[PATH_MAX];
    if (source_name(file->fd, real) < 0 || !(layer->real = strdup(real))) {
        no_memory(load);
        return NULL;
    }
    /* A digest of what holds secrets would let somebody try values against it. */
    if (kind == CONFIG_PROJECT || !node_get(&document->root, "secrets"))
        approval_digest(kind == CONFIG_PROJECT ? file->path : real, text.data ? text.data : "",
                        text.length, layer->digest);
    return layer;
}

/* Takes the path. */
static void read_owner_file(const struct load *load, enum config_layer kind, char *owned_path,
                            bool must_exist)
{
    auto_config_file struct config_file file = { .fd = -1 };
    auto_error coop_error *err = NULL;
    const char *path = keep_path(load, owned_path);

    if (!path)
        return;
    /* Most often there is none, and every start asks: it need not cost an error object. */
    if (!must_exist && faccessat(AT_FDCWD, path, F_OK, 0) < 0) {
        if (errno == ENOENT)
            return;
        /* A service started with somebody else's HOME: nothing there is meant for it. */
        if (errno == EACCES && kind == CONFIG_USER) {
            findings_add(load->findings, SEVERITY_WARNING, (struct origin){ path, 0, 0 },
                         "set HOME or XDG_CONFIG_HOME to a directory of this user",
                         "cannot be looked for: a directory on the way is closed to this user");
            return;
        }
    }
    int r = config_file_open(path, &file, &err);
    if (r == -ENOENT && !must_exist)
        return;
    if (r < 0) {
        complain(load, path, err);
        return;
    }
    check_writers(load, path, &file.stat);
    (void)read_layer(load, kind, &file);
}

static void read_owner_files(const struct load *load)
{
    const struct config_request *request = load->request;
    auto_error coop_error *err = NULL;
    auto_free char *home = NULL;
    char *path = NULL;

    if (request->file) {
        read_owner_file(load, CONFIG_USER, strdup(request->file), true);
        return;
    }
    read_owner_file(load, CONFIG_SYSTEM,
                    strdup(request->system_file ? request->system_file : SYSTEM_FILE), false);
    if (home_directory(request->config_home, "XDG_CONFIG_HOME", ".config", &home, &err) < 0) {
        no_memory(load);
        return;
    }
    if (!home)
        return;
    if (asprintf(&path, "%s/%s", home, USER_FILE) < 0)
        path = NULL;
    read_owner_file(load, CONFIG_USER, path, false);
}

/* ---- the project's files */

enum found { FOUND_NOTHING, FOUND_FILE, FOUND_LINK, FOUND_FAILED };

static enum found failed(void)
{
    return errno == ENOENT || errno == ENOTDIR ? FOUND_NOTHING : FOUND_FAILED;
}

/*
 * A file of the project must lie in the workspace: a link to somewhere else would have coop read,
 * and quote in its complaints, what the agent cannot read itself. *out_stat is what lies there.
 */
static enum found look(int workspace_fd, const char *name, struct stat *out_stat)
{
    auto_close int dir_fd = -1;
    const char *slash = strchr(name, '/');
    char first[NAME_MAX + 1];

    if (slash) {
        (void)snprintf(first, sizeof first, "%.*s", (int)(slash - name), name);
        dir_fd = openat(workspace_fd, first, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (dir_fd < 0 || fstat(dir_fd, out_stat) < 0)
            return failed();
        if (S_ISLNK(out_stat->st_mode))
            return FOUND_LINK;
        name = slash + 1;
    }
    if (fstatat(slash ? dir_fd : workspace_fd, name, out_stat, AT_SYMLINK_NOFOLLOW) < 0)
        return failed();
    return S_ISLNK(out_stat->st_mode) ? FOUND_LINK : FOUND_FILE;
}

static void read_project_file(const struct load *load, const char *workspace, const char *name,
                              const struct stat *seen)
{
    auto_config_file struct config_file file = { .fd = -1 };
    auto_error coop_error *err = NULL;
    char *owned_path = NULL;

    if (asprintf(&owned_path, "%s/%s", workspace[1] ? workspace : "", name) < 0)
        owned_path = NULL;
    const char *path = keep_path(load, owned_path);
    if (!path)
        return;
    if (!seen)
        (void)fail_kind(&err, COOP_ERROR_BAD_POLICY, ELOOP,
                        "a symbolic link leads to this file; a project's file must lie in the "
                        "workspace itself");
    else if (config_file_open(path, &file, &err) == 0 &&
             (file.stat.st_dev != seen->st_dev || file.stat.st_ino != seen->st_ino))
        (void)fail_kind(&err, COOP_ERROR_BAD_POLICY, EBUSY,
                        "another file was put in its place while it was opened");
    if (err)
        complain(load, path, err);
    else
        (void)read_layer(load, CONFIG_PROJECT, &file);
}

static const char *const project_files[] = { ".campaign/sandbox.yaml", "coop.toml", "Coopfile" };

static void complain_both(const struct load *load, const char *workspace)
{
    char *path = NULL;

    if (asprintf(&path, "%s/%s", workspace[1] ? workspace : "", project_files[2]) < 0)
        path = NULL;
    const char *kept = keep_path(load, path);
    if (kept)
        findings_add(load->findings, SEVERITY_ERROR, (struct origin){ kept, 0, 0 },
                     "keep one of them", "there is a coop.toml beside this file");
}

/* Where the whole workspace is closed to us, that is to be said, and not which file was sought. */
static void complain_unseen(const struct load *load, int workspace_fd, const char *name, int errnum)
{
    const char *path = keep_path(load, strdup(load->request->workspace));
    struct origin origin = { path, 0, 0 };

    if (errnum == EACCES && faccessat(workspace_fd, ".", X_OK, 0) < 0)
        findings_add(load->findings, SEVERITY_ERROR, origin, NULL, "enter the workspace: %s",
                     strerror(errnum));
    else
        findings_add(load->findings, SEVERITY_ERROR, origin, NULL,
                     "look for the project's configuration '%s': %s", name, strerror(errnum));
}

static void read_project_files(const struct load *load, int workspace_fd, char *workspace)
{
    struct stat stats[COUNT(project_files)];
    enum found found[COUNT(project_files)];

    for (size_t i = 0; i < COUNT(project_files); i++)
        if ((found[i] = look(workspace_fd, project_files[i], &stats[i])) == FOUND_FAILED) {
            complain_unseen(load, workspace_fd, project_files[i], errno);
            return;
        }
    for (size_t i = 0; i < COUNT(project_files); i++) {
        if (found[i] == FOUND_NOTHING)
            continue;
        if (!*workspace && !realpath(load->request->workspace, workspace)) {
            findings_add(load->findings, SEVERITY_ERROR, (struct origin){ project_files[i], 0, 0 },
                         NULL, "find the path of the workspace: %s", strerror(errno));
            return;
        }
        if (i == 2 && found[1] != FOUND_NOTHING)
            complain_both(load, workspace);
        else
            read_project_file(load, workspace, project_files[i],
                              found[i] == FOUND_FILE ? &stats[i] : NULL);
    }
}

/* ---- what it asks for */

static bool is_approved(const struct load *load, const struct layer *layer, const char *workspace)
{
    auto_error coop_error *err = NULL;
    auto_free char *store = NULL;
    bool is_given = false;

    if (approval_store(load->request->state_home, workspace, &store, &err) < 0 ||
        approval_is_given(store, layer->digest, &is_given, &err) < 0)
        complain(load, layer->document->name, err);
    return is_given;
}

static void move_findings(struct findings *from, struct findings *to)
{
    for (size_t i = 0; i < from->n; i++)
        findings_add(to, from->items[i].severity, from->items[i].origin, from->items[i].fix, "%s",
                     from->items[i].message);
    to->failed |= from->failed;
}

static void narrow(const struct load *load, struct layer *layer, const char *workspace)
{
    struct config owner = layers_of_owner(load->config);
    auto_findings struct findings asked = { 0 };
    enum severity severity = load->request->ask_only ? SEVERITY_INFO : SEVERITY_ERROR;

    project_refuse(layer, load->findings);
    project_narrow(&owner, layer, workspace, severity, &asked);
    if (asked.n == 0 && !asked.failed)
        return;
    if (!load->request->ask_only && is_approved(load, layer, workspace))
        layer->is_approved = true;
    else
        move_findings(&asked, load->findings);
}

static void load_project(const struct load *load)
{
    char workspace[PATH_MAX] = "";
    auto_close int fd = open(load->request->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0) {
        int errnum = errno;
        const char *name = keep_path(load, strdup(load->request->workspace));

        if (name)
            findings_add(load->findings, SEVERITY_ERROR, (struct origin){ name, 0, 0 }, NULL,
                         "open the workspace: %s", strerror(errnum));
        return;
    }
    read_project_files(load, fd, workspace);
    if (load->findings->n_errors > 0 || load->findings->failed)
        return;
    for (size_t i = 0; i < load->config->n_layers; i++)
        if (load->config->layers[i]->kind == CONFIG_PROJECT)
            narrow(load, load->config->layers[i], workspace);
}

int config_load(struct config *config, const struct config_request *request,
                struct findings *findings)
{
    const struct load load = { config, request, findings };

    read_owner_files(&load);
    if (request->workspace && !request->ignore_project)
        load_project(&load);
    if (findings->failed)
        return -ENOMEM;
    return findings->n_errors > 0 ? -EINVAL : 0;
}
