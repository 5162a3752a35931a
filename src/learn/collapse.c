#include "collapse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/path/path.h"

#define FURTHEST_UP 16

/* Each directory in these is one thing that was installed there. */
static const char *const package_places[] = { "/opt", "/nix/store", "/snap",
                                              "/var/lib/flatpak/app" };

static bool may_show(const struct learn_places *places, const char *path, bool is_written)
{
    return learn_classify(places, path, LEARN_DIRECTORY, is_written) == NEED_OPEN;
}

/* "/opt/x/bin/t" is of "/opt/x"; 0: of nothing. */
static size_t package_length(const char *path)
{
    for (size_t i = 0; i < COUNT(package_places); i++) {
        size_t n = strlen(package_places[i]);

        if (strcmp(path, package_places[i]) != 0 && path_is_within(path, package_places[i])) {
            size_t end = n + 1 + strcspn(path + n + 1, "/");

            if (path[end] == '/')
                return end;
        }
    }
    return 0;
}

/* "/srv/node-20/bin/node" needs what lies beside its bin; 0: it is not in one. */
static size_t prefix_length(const char *path)
{
    const char *name = strrchr(path, '/');

    return name && name - path > 4 && strncmp(name - 4, "/bin", 4) == 0 ? (size_t)(name - 4 - path)
                                                                        : 0;
}

static char *start_of(const struct need *need, const struct learn_places *places)
{
    size_t lengths[] = { package_length(need->what),
                         need->kind == NEED_EXECUTE ? prefix_length(need->what) : 0 };

    for (size_t i = 0; i < COUNT(lengths) && need->kind != NEED_WRITE; i++) {
        char *tree = lengths[i] ? strndup(need->what, lengths[i]) : NULL;

        if (tree && may_show(places, tree, false))
            return tree;
        free(tree);
    }
    return strdup(need->what);
}

static int compare(const void *a, const void *b)
{
    const struct grant *x = a;
    const struct grant *y = b;

    return x->is_written != y->is_written ? x->is_written - y->is_written
                                          : strcmp(x->path, y->path);
}

static void add_example(struct grant *grant, const char *text)
{
    for (size_t i = 0; i < LEARN_EXAMPLES; i++) {
        if (!grant->examples[i])
            grant->examples[i] = text;
        if (strcmp(grant->examples[i], text) == 0)
            return;
    }
}

static void merge(struct grant *into, struct grant *from)
{
    into->n_read += from->n_read;
    into->n_executed += from->n_executed;
    into->n_written += from->n_written;
    into->n_paths += from->n_paths;
    for (size_t i = 0; i < LEARN_EXAMPLES && from->examples[i]; i++)
        add_example(into, from->examples[i]);
    free(take_ptr(from->path));
}

/* One line may stand for another: it shows the same, or more. */
static bool covers(const struct grant *a, const struct grant *b)
{
    return a != b && a->path && b->path && path_is_within(b->path, a->path) &&
           (a->is_written || !b->is_written);
}

static void compact(struct learn_grants *grants)
{
    size_t n = 0;

    for (size_t i = 0; i < grants->n; i++)
        if (grants->items[i].path)
            grants->items[n++] = grants->items[i];
    grants->n = n;
    qsort(grants->items, n, sizeof *grants->items, compare);
}

/* At most LEARN_NEEDS_MAX lines: all pairs. */
static void absorb(struct learn_grants *grants)
{
    for (size_t i = 0; i < grants->n; i++)
        for (size_t j = 0; j < grants->n; j++)
            if (covers(&grants->items[i], &grants->items[j]))
                merge(&grants->items[i], &grants->items[j]);
    compact(grants);
}

/* Of the directory so many levels above it; 0: there is none but "/". */
static size_t above_length(const char *path, unsigned levels)
{
    size_t n = strlen(path);

    for (; levels > 0 && n > 0; levels--)
        while (n > 0 && path[--n] != '/')
            ;
    return n;
}

static bool is_below(const struct grant *grant, const char *path, size_t n)
{
    return strncmp(grant->path, path, n) == 0 && grant->path[n] == '/';
}

static bool is_together(const struct learn_grants *grants, const struct grant *first, size_t length,
                        unsigned levels)
{
    size_t together = 0;

    for (size_t i = 0; length > 0 && i < grants->n; i++)
        together += grants->items[i].is_written == first->is_written &&
                    is_below(&grants->items[i], first->path, length) &&
                    (levels > 1 || above_length(grants->items[i].path, 1) == length);
    return together >= LEARN_TOGETHER;
}

/* The first directory of which there are many lines becomes one, and 1 is returned; 0: there is none.
 */
static int join_one(struct learn_grants *grants, const struct learn_places *places, unsigned levels)
{
    for (size_t i = 0; i < grants->n; i++) {
        struct grant *first = &grants->items[i];
        size_t length = above_length(first->path, levels);

        if (!is_together(grants, first, length, levels))
            continue;
        char *above = strndup(first->path, length);
        if (!above)
            return -ENOMEM;
        if (!may_show(places, above, first->is_written)) {
            free(above);
            continue;
        }
        free(first->path);
        first->path = above; /* which covers the others */
        return 1;
    }
    return 0;
}

/* Each join makes the list shorter. */
static int join(struct learn_grants *grants, const struct learn_places *places, unsigned levels)
{
    int r;

    do {
        absorb(grants);
        r = join_one(grants, places, levels);
    } while (r > 0);
    return r;
}

static void drop_rest(struct learn_grants *grants)
{
    while (grants->n > LEARN_GRANTS_MAX) {
        free(grants->items[--grants->n].path);
        grants->n_dropped++;
    }
}

static int gather(const struct learn_needs *needs, const struct learn_places *places,
                  learn_wanted *wanted, void *context, struct learn_grants *out)
{
    out->items = calloc(needs->n + 1, sizeof *out->items);
    if (!out->items)
        return -ENOMEM;
    for (size_t i = 0; i < needs->n; i++) {
        const struct need *need = &needs->items[i];

        if (!need_is_path(need) || need->verdict != NEED_OPEN || (wanted && !wanted(context, need)))
            continue;
        struct grant *grant = &out->items[out->n];
        grant->path = start_of(need, places);
        if (!grant->path)
            return -ENOMEM;
        out->n++;
        grant->is_written = need->kind == NEED_WRITE;
        grant->n_read = need->kind == NEED_READ ? need->count : 0;
        grant->n_executed = need->kind == NEED_EXECUTE ? need->count : 0;
        grant->n_written = need->kind == NEED_WRITE ? need->count : 0;
        grant->n_paths = 1;
        grant->examples[0] = need->what;
    }
    return 0;
}

int learn_collapse(const struct learn_needs *needs, const struct learn_places *places,
                   learn_wanted *wanted, void *context, struct learn_grants *out)
{
    *out = (struct learn_grants){ 0 };
    int r = gather(needs, places, wanted, context, out);

    if (r == 0)
        compact(out);
    if (r == 0)
        r = join(out, places, 1);
    for (unsigned levels = 2; r == 0 && out->n > LEARN_GRANTS_MAX && levels < FURTHEST_UP; levels++)
        r = join(out, places, levels);
    drop_rest(out);
    if (r < 0)
        learn_grants_done(out);
    return r;
}

void learn_grants_done(struct learn_grants *grants)
{
    for (size_t i = 0; i < grants->n; i++)
        free(grants->items[i].path);
    free(grants->items);
    *grants = (struct learn_grants){ 0 };
}
