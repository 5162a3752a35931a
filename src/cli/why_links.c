#include "why_links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/path/path.h"
#include "policy/protect.h"
#include "policy/view/place.h"
#include "protect/scan/scan.h"

#define MAX_LINKS 40 /* as many as the kernel follows */

/* Where the host has what the box shows there; NULL: nowhere, or without memory. */
static char *host_path(const struct decide_subject *subject, const struct view_index *index,
                       const char *path)
{
    struct view_place place = view_find(index, path);

    if (place.what == VIEW_IS_BIND && place.mount->source)
        return path_join(place.mount->source, place.below);
    if (place.what == VIEW_IS_WORKSPACE && subject->workspace)
        return path_join(subject->workspace, place.below);
    return NULL;
}

/* `link` stands at path[0..n); what is behind it stays. */
static int lead_on(const char *path, size_t n, const char *link, char **out, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };

    if (*link != '/')
        while (n > 1 && path[n - 1] != '/')
            n--;
    const char *rest = strchr(path + n, '/');
    if (*link != '/')
        buffer_append(&text, path, n);
    buffer_append_string(&text, link);
    if (rest)
        buffer_append_string(&text, rest);
    return text.failed ? fail_no_memory(err) : path_resolve_in_box("the link", text.data, out, err);
}

/* The first link on the way: 1 and where the path leads then, or 0. */
static int follow_one(const struct decide_subject *subject, const struct view_index *index,
                      const char *path, char **out, struct buffer *note, coop_error **err)
{
    char link[PATH_MAX];

    for (size_t n = 1; path[n - 1]; n++) {
        struct stat st;

        if (path[n] != '/' && path[n] != '\0')
            continue;
        auto_free char *prefix = strndup(path, n);
        auto_free char *host = prefix ? host_path(subject, index, prefix) : NULL;
        if (!host || lstat(host, &st) < 0)
            continue;
        if (S_ISREG(st.st_mode) && path[n] == '/') {
            note->length = 0;
            buffer_printf(note, "'%s' is a file on the host, so nothing can be below it%s", prefix,
                          n > 5 && strcmp(prefix + n - 5, "/.git") == 0
                              ? ": git's directory is elsewhere, ask about that"
                              : "");
            return 0;
        }
        ssize_t length = S_ISLNK(st.st_mode) ? readlink(host, link, sizeof link - 1) : -1;
        if (length < 0)
            continue;
        link[length] = '\0';
        int r = lead_on(path, n, link, out, err);
        return r < 0 ? r : 1;
    }
    return 0;
}

/* Who the box is for root, depends on who owns the workspace. */
static void note_mode(const char *host, enum decide_act act, struct buffer *note)
{
    int rights = act == DECIDE_READ ? R_OK : act == DECIDE_WRITE ? W_OK : X_OK;

    if (geteuid() != 0 && access(host, F_OK) == 0 && access(host, rights) < 0 && errno == EACCES) {
        note->length = 0;
        buffer_append_string(note, "the file's own mode or owner refuses it, on the host as well");
    }
}

static int decide_again(const struct decide_subject *subject, enum decide_act act, const char *path,
                        struct decide_answer *answer, coop_error **err)
{
    struct decide_paths *paths = NULL;
    struct decide_answer other = { 0 };
    int r = decide_paths_new(subject, &paths, err);

    if (r == 0)
        r = decide_box_path(paths, act, path, &other, err);
    decide_paths_free(paths);
    if (r < 0) {
        decide_answer_done(&other);
        return r;
    }
    decide_answer_done(answer);
    *answer = other;
    return 0;
}

/* Which name of the file in the workspace a rule is about; NULL: of this one there is none. */
static int find_named(const struct decide_subject *subject, const char *view, const char *below,
                      enum decide_act act, char **out, coop_error **err)
{
    const struct protect_scan_options options = { 0 };
    struct protect *protect = NULL;
    struct protect_scan scan = { 0 };
    auto_close int fd = open(subject->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    int r = protect_new(subject->policy, &protect, err);
    if (r == 0 && protect)
        r = protect_take_blocks(protect, subject->policy, view, err);
    if (r == 0 && protect)
        r = protect_scan(fd, protect, &options, &scan, err);
    for (size_t i = 0; r == 0 && i < scan.n_found && !*out; i++) {
        const struct protect_found *found = &scan.found[i];

        if (strcmp(found->path, below) != 0 || strcmp(found->named, below) == 0 ||
            (found->kind != FOUND_HIDE && act != DECIDE_WRITE))
            continue;
        *out = path_join(view, found->named);
        if (!*out)
            r = fail_no_memory(err);
    }
    protect_scan_done(&scan);
    protect_free(protect);
    return r;
}

/* A file with several names is what the strictest of them says: the box hides or keeps all. */
static int follow_names(const struct decide_subject *subject, const struct view_index *index,
                        const char *path, enum decide_act act, struct decide_answer *answer,
                        struct buffer *note, coop_error **err)
{
    struct view_place place = view_find(index, path);
    auto_free char *host = host_path(subject, index, path);
    auto_free char *named = NULL;
    struct stat st;

    if (place.what != VIEW_IS_WORKSPACE || !host || lstat(host, &st) < 0 || !S_ISREG(st.st_mode) ||
        st.st_nlink < 2)
        return 0;
    int r = find_named(subject, view_of_workspace(subject->policy, subject->workspace), place.below,
                       act, &named, err);
    if (r < 0 || !named)
        return r;
    note->length = 0;
    buffer_printf(note, "it is another name for '%s', and this answer is for that name", named);
    return decide_again(subject, act, named, answer, err);
}

int why_links(const struct decide_subject *subject, const struct decide_question *question,
              struct decide_answer *answer, struct buffer *note, coop_error **err)
{
    enum decide_act act = question->act;
    int r = 1;

    if ((act != DECIDE_READ && act != DECIDE_WRITE && act != DECIDE_EXEC) || !answer->is_allowed ||
        !answer->place)
        return 0;
    auto_view_index struct view_index *index =
        view_index_new(subject->policy, view_of_workspace(subject->policy, subject->workspace));
    auto_free char *path = strdup(answer->place);
    if (!index || !path)
        return fail_no_memory(err);
    unsigned n = 0;
    for (; r > 0 && n <= MAX_LINKS; n++) {
        char *further = NULL;

        r = follow_one(subject, index, path, &further, note, err);
        if (r > 0) {
            free(path);
            path = further;
        }
    }
    if (r < 0)
        return r;
    if (n > 1) {
        buffer_printf(note, "a link leads to '%s' in the box; this answer is for that path", path);
        r = decide_again(subject, act, path, answer, err);
    }
    if (r == 0 && answer->is_allowed)
        r = follow_names(subject, index, path, act, answer, note, err);
    auto_free char *host = host_path(subject, index, path);
    if (r == 0 && answer->is_allowed && host)
        note_mode(host, act, note);
    return r == 0 && note->failed ? fail_no_memory(err) : r;
}
