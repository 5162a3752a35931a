/*
 * manifest_ask.c - asking a program for its manifest, and remembering what it said
 *
 * The program is not believed to be harmless: it runs without network, without the workspace, and
 * for a short time. Nor is the workspace: what it says must not depend on files that an agent wrote,
 * and a program that an agent could write is not asked at all.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/directories.h"
#include "base/error.h"
#include "base/sha256.h"
#include "command/manifest.h"
#include "config/home.h"
#include "coop/run.h"
#include "plan/enforce.h"
#include "policy/path/path.h"
#include "policy/view/place.h"
#include "supervise/command_admit.h"

#define ASK_TIMEOUT_MS 5000
#define EMPTY          "empty" /* the workspace of those who are asked */

const struct origin manifest_origin = { "the manifest of the program", 0, 0 };

/* ---- where answers are kept */

/* Somebody's box may have had it as its workspace. */
static int check_empty(const char *path, coop_error **err)
{
    DIR *directory = opendir(path);
    size_t n = 0;

    if (!directory)
        return fail(err, errno, "open the directory '%s'", path);
    while (readdir(directory))
        n++;
    (void)closedir(directory);
    return n <= 2 ? 0
                  : fail_kind(err, COOP_ERROR_BAD_POLICY, ENOTEMPTY,
                              "the directory '%s', in which manifests are requested, is not empty",
                              path);
}

/* *out is the caller's to free. */
static int open_store(const struct plan *plan, char **out, coop_error **err)
{
    auto_free char *home = NULL;
    auto_free char *path = NULL;
    struct stat st;
    int r = home_directory(NULL, "XDG_CACHE_HOME", ".cache", &home, err);

    if (r < 0)
        return r;
    if (!home)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                         "cannot find a directory to cache manifests: $HOME is not set");
    if (asprintf(&path, "%s/coop/manifests/" EMPTY, home) < 0)
        return fail_no_memory(err);
    r = directories_make(path, err);
    if (r == 0)
        r = check_empty(path, err);
    if (r < 0)
        return r;
    *strrchr(path, '/') = '\0';
    auto_free char *real = realpath(path, NULL);
    if (!real || stat(real, &st) < 0)
        return fail(err, errno, "look at the directory '%s' for manifests", path);
    if (st.st_uid != geteuid() || st.st_mode & 077)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM,
                         "others can access the directory '%s' for manifests", real);
    auto_free char *workspace = realpath(plan->workspace, NULL);
    if (workspace && path_is_within(real, workspace)) {
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM,
                      "manifests would be cached in '%s', which is in the workspace", real);
        return fail_hint(err, r, "set XDG_CACHE_HOME to a directory outside");
    }
    *out = take_ptr(real);
    return 0;
}

/* 1: there is one, in *out, the caller's to free. 0: not yet. */
static int recall(const char *file, char **out, size_t *out_n)
{
    auto_close int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
        st.st_size > (off_t)MANIFEST_SIZE_MAX)
        return 0;
    auto_free char *text = malloc((size_t)st.st_size + 1);
    if (!text || read(fd, text, (size_t)st.st_size) != st.st_size)
        return 0;
    *out_n = (size_t)st.st_size;
    *out = take_ptr(text);
    return 1;
}

/* Whole or not at all. Where it cannot be kept, the program is asked again next time. */
static void remember(const char *file, const char *text, size_t n)
{
    auto_free char *draft = NULL;

    if (asprintf(&draft, "%s.%ld", file, (long)getpid()) < 0)
        return;
    auto_close int fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    if (write(fd, text, n) != (ssize_t)n || rename(draft, file) < 0)
        (void)unlink(draft);
}

/* ---- the question */

static int copy_mounts(const coop_policy *from, coop_policy *to, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->n_mounts; i++)
        if (from->mounts[i].kind == POLICY_BIND && from->mounts[i].read_only)
            r = coop_policy_add_bind(to, from->mounts[i].source, from->mounts[i].target, true, err);
    return r;
}

static int make_policy(const struct plan *plan, const char *store, coop_policy **out,
                       coop_error **err)
{
    auto_free char *empty = path_join(store, EMPTY);
    coop_mode mode =
        plan->policy->mode == COOP_MODE_REQUIRED ? COOP_MODE_REQUIRED : COOP_MODE_PREFERRED;
    coop_policy *policy = NULL;
    int r = empty ? coop_policy_new(&policy, err) : fail_no_memory(err);

    if (r < 0)
        return r;
    r = coop_policy_set_workspace(policy, empty, err);
    if (r == 0)
        r = coop_policy_add_protect(policy, "**", COOP_PROTECT_KEEP, err);
    if (r == 0)
        r = coop_policy_set_directory(policy, "/tmp", err);
    if (r == 0)
        r = coop_policy_set_env(policy, "HOME", "/tmp", err);
    if (r == 0)
        r = coop_policy_set_network(policy, COOP_NETWORK_OFF, err);
    if (r == 0)
        r = coop_policy_set_mode(policy, mode, err);
    if (r == 0)
        r = copy_mounts(plan->policy, policy, err);
    if (r < 0) {
        coop_policy_free(policy);
        return r;
    }
    *out = policy;
    return 0;
}

/* `program` as the box sees it. *out is the caller's to free. */
static int ask(const struct plan *plan, const char *store, const char *program, coop_result **out,
               coop_error **err)
{
    char *const argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t) "__manifest", NULL };
    const coop_run_options options = {
        .size = sizeof options,
        .timeout_ms = ASK_TIMEOUT_MS,
        .grace_ms = 1,
        .capture_max = MANIFEST_SIZE_MAX,
    };
    coop_policy *policy = NULL;
    coop_sandbox *sandbox = NULL;
    int r = make_policy(plan, store, &policy, err);

    if (r == 0)
        r = coop_sandbox_new(policy, &sandbox, err);
    coop_policy_free(policy);
    if (r == 0)
        r = coop_run(sandbox, argv, &options, out, err);
    coop_sandbox_free(sandbox);
    return r;
}

static int check_end(const coop_result *result, coop_error **err)
{
    if (coop_result_timed_out(result))
        return fail_kind(err, COOP_ERROR_DENIED, ETIMEDOUT, "it did not answer within %d seconds",
                         ASK_TIMEOUT_MS / 1000);
    if (coop_result_status(result) != 0)
        return fail_kind(err, COOP_ERROR_DENIED, EPROTO, "it exited with status %d",
                         coop_result_status(result));
    if (coop_result_output_dropped(result, COOP_STREAM_STDOUT) > 0)
        return fail_kind(err, COOP_ERROR_DENIED, EFBIG, "its answer is longer than %zu bytes",
                         MANIFEST_SIZE_MAX);
    return 0;
}

/* ---- one program */

static int digest_of(const char *path, char out[SHA256_HEX_SIZE], coop_error **err)
{
    unsigned char bytes[SHA256_BYTES];
    unsigned char piece[65536];
    struct sha256 hash;
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : 0;

    sha256_init(&hash);
    while (fd >= 0 && (n = read(fd, piece, sizeof piece)) > 0)
        sha256_update(&hash, piece, (size_t)n);
    if (n < 0)
        return fail(err, errno, "read '%s'", path);
    sha256_final(&hash, bytes);
    sha256_hex(bytes, out);
    return 0;
}

static int ask_and_remember(const struct plan *plan, const char *store, const char *file,
                            const char *program, struct command_rule *rule, coop_error **err)
{
    coop_result *result = NULL;
    size_t n = 0;
    int r = ask(plan, store, program, &result, err);

    if (r == 0)
        r = check_end(result, err);
    if (r == 0) {
        const char *text = coop_result_output(result, COOP_STREAM_STDOUT, &n);

        r = manifest_read(text, n, rule, manifest_origin, err);
        if (r == 0)
            remember(file, text, n);
    }
    coop_result_free(result);
    return r;
}

/* `host` is the file on the host that the box sees as `program`. */
static int ask_program(const struct plan *plan, const char *program, const char *host,
                       struct command_rule *rule, coop_error **err)
{
    char digest[SHA256_HEX_SIZE];
    auto_free char *store = NULL;
    auto_free char *file = NULL;
    auto_free char *text = NULL;
    size_t n = 0;
    int r = open_store(plan, &store, err);

    if (r == 0)
        r = digest_of(host, digest, err);
    if (r == 0 && asprintf(&file, "%s/%s.json", store, digest) < 0)
        r = fail_no_memory(err);
    if (r < 0)
        return r;
    if (recall(file, &text, &n))
        return manifest_read(text, n, rule, manifest_origin, err);
    return ask_and_remember(plan, store, file, program, rule, err);
}

/* ---- where the box would find it */

#define SEARCH_MAX 16

struct search {
    const struct plan *plan;
    struct view_index *index;
    struct command_rule *rule;
    char *asked[SEARCH_MAX]; /* files of the host: directories may be links to others */
    size_t n_asked;
    coop_error **err;
};

static int found_in_workspace(const struct search *search, const char *path)
{
    int r = fail_kind(search->err, COOP_ERROR_DENIED, EACCES,
                      "commands can write '%s', so its manifest cannot be trusted", path);

    return fail_hint(search->err, r,
                     "keep the program outside the workspace, in a read-only mount");
}

static int look_at(struct search *search, const char *path)
{
    struct view_place place = view_find(search->index, path);
    auto_free char *host = NULL;
    auto_free char *real = NULL;
    bool is_ours = place.what == VIEW_IS_WORKSPACE;

    if (is_ours)
        host = path_join(search->plan->workspace, place.below);
    else if (place.what == VIEW_IS_BIND)
        host = path_join(place.mount->source, place.below);
    else if (place.what == VIEW_IS_TOOLS || search->plan->tier == COOP_TIER_NONE)
        host = strdup(path);
    else
        return 0;
    if (!host)
        return fail_no_memory(search->err);
    real = realpath(host, NULL);
    if (!real || access(real, X_OK) < 0)
        return 0;
    if (is_ours || plan_is_writable(search->plan, real))
        return found_in_workspace(search, path);
    for (size_t i = 0; i < search->n_asked; i++)
        if (strcmp(search->asked[i], real) == 0)
            return 0;
    if (search->n_asked == SEARCH_MAX)
        return fail_kind(search->err, COOP_ERROR_DENIED, E2BIG, "there are too many of that name");
    const char *asked = search->asked[search->n_asked++] = take_ptr(real);
    return ask_program(search->plan, path, asked, search->rule, search->err);
}

static const char *path_variable(const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_environment; i++)
        if (strncmp(plan->environment[i], "PATH=", 5) == 0)
            return plan->environment[i] + 5;
    return "";
}

static int look_everywhere(struct search *search, const char *directories)
{
    int r = 0;

    for (const char *p = directories; *p && r == 0; p += strspn(p, ":")) {
        size_t n = strcspn(p, ":");
        auto_free char *path = NULL;

        if (asprintf(&path, "%.*s/%s", (int)n, p, search->rule->name) < 0)
            return fail_no_memory(search->err);
        if (*path == '/')
            r = look_at(search, path);
        p += n;
    }
    return r;
}

int manifest_ask(const struct plan *plan, struct command_rule *rule, coop_error **err)
{
    auto_view_index struct view_index *index = view_index_new(plan->policy, plan->workspace_view);
    struct search search = { .plan = plan, .index = index, .rule = rule, .err = err };
    int r;

    if (!index)
        return fail_no_memory(err);
    if (strchr(rule->name, '/')) {
        r = look_at(&search, rule->name);
    } else {
        r = look_everywhere(&search, path_variable(plan));
        if (r == 0) /* a rule holds in all of these */
            r = look_everywhere(&search,
                                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    }
    for (size_t i = 0; i < search.n_asked; i++)
        free(search.asked[i]);
    if (r == 0 && search.n_asked == 0)
        return fail_kind(err, COOP_ERROR_EXEC, ENOENT,
                         "execute '%s': no such command, so its manifest cannot be requested",
                         rule->name);
    if (r == 0)
        return 0;
    r = fail_within(err, r, "ask '%s' for its manifest", rule->name);
    return err && coop_error_get_kind(*err) == COOP_ERROR_BAD_POLICY
               ? fail_as(err, r, COOP_ERROR_DENIED)
               : r;
}
