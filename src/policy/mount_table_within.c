#include "mount_table_private.h"

#include <string.h>

#include "base/cleanup.h"

/* The host path of a place, read without joining its parts. */
struct host_path {
    const char *source;
    size_t n_source;
    const char *below;
};

static struct host_path host_path(const struct mount_entry *entry, const char *path)
{
    size_t n = strlen(entry->source);

    return (struct host_path){ entry->source, n > 1 ? n : 0, mount_entry_below(entry, path) };
}

static char host_byte(const struct host_path *host, size_t i)
{
    if (i < host->n_source)
        return host->source[i];
    if (!*host->below)
        return '\0';
    return i == host->n_source ? '/' : host->below[i - host->n_source - 1];
}

static bool is_same_host(const struct mount_entry *a, const struct mount_entry *b, const char *path)
{
    struct host_path left = host_path(a, path);
    struct host_path right = host_path(b, path);

    for (size_t i = 0;; i++) {
        char byte = host_byte(&left, i);

        if (byte != host_byte(&right, i))
            return false;
        if (!byte)
            return true;
    }
}

static enum mount_excess_kind compare_at(const struct mount_table *child,
                                         const struct mount_table *parent, const char *path)
{
    const struct mount_entry *ours = mount_table_find(child, path);
    const struct mount_entry *theirs = mount_table_find(parent, path);

    if (!ours)
        return MOUNT_EXCESS_NONE;
    if (!theirs)
        return MOUNT_EXCESS_READ;
    if (!is_same_host(ours, theirs, path))
        return MOUNT_EXCESS_SOURCE;
    if (theirs->readonly && !ours->readonly)
        return MOUNT_EXCESS_WRITE;
    if (strcmp(ours->target, theirs->target) != 0)
        return MOUNT_EXCESS_LINK;
    return MOUNT_EXCESS_NONE;
}

static void consider(const struct mount_table *child, const struct mount_table *parent,
                     const char *path, struct mount_excess *worst)
{
    enum mount_excess_kind kind = compare_at(child, parent, path);

    if (kind == MOUNT_EXCESS_NONE)
        return;
    if (worst->kind != MOUNT_EXCESS_NONE) {
        bool was_link = worst->kind == MOUNT_EXCESS_LINK;
        bool is_link = kind == MOUNT_EXCESS_LINK;

        if (was_link == is_link ? strcmp(path, worst->path) >= 0 : is_link)
            return;
    }
    *worst = (struct mount_excess){ kind, path };
}

/*
 * Both tables say the same of all paths between one target and the next, so it is enough to look at
 * each target and each limit, of the one and the other.
 */
bool mount_table_is_within(const struct mount_table *child, const struct mount_table *parent,
                           struct mount_excess *out)
{
    const struct mount_table *const tables[] = { child, parent };
    struct mount_excess worst = { MOUNT_EXCESS_NONE, NULL };

    for (size_t i = 0; i < COUNT(tables); i++) {
        consider(child, parent, tables[i]->scope, &worst);
        for (size_t j = 0; j < tables[i]->n_entries; j++)
            consider(child, parent, tables[i]->entries[j].target, &worst);
    }
    if (out)
        *out = worst;
    return worst.kind == MOUNT_EXCESS_NONE;
}
