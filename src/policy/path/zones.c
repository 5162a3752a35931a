#include "zones.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/path/mount_table.h"
#include "policy/path/path.h"

/* Number of the zone that becomes the root; n_zones if none can. */
static size_t choose_root(const struct zones *zones)
{
    size_t root = zones->n_zones;

    for (size_t i = zones->n_zones; i-- > 0;) {
        if (zones->zones[i].writable)
            root = i;
    }
    for (size_t i = 0; i < zones->n_zones; i++) {
        if (zones->zones[i].name && strcmp(zones->zones[i].name, "workspace") == 0)
            return i;
    }
    return zones->n_zones == 1 ? 0 : root;
}

static bool is_name(const char *name)
{
    return name && *name && !strpbrk(name, "/\n") && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

/* Takes "/base/x" as "/x"; other absolute paths lie elsewhere. */
static const char *strip_base(const char *path, const char *base)
{
    if (*path != '/')
        return path;
    if (!path_is_within(path, base))
        return NULL;
    return path + (base[1] ? strlen(base) : 0);
}

/* "/x" for what is x below the base. Fails with -EACCES for what is not below it. */
static int resolve_zone(const struct zone *zone, const char *base, char **out, coop_error **err)
{
    int r = path_check("zone path", zone->path, err);

    if (r < 0)
        return r;
    const char *path = strip_base(zone->path, base);
    if (!path)
        return -EACCES;
    auto_free char *rooted = path_join("/", path);
    if (!rooted)
        return fail_no_memory(err);
    return path_resolve("zone path", rooted, out, err);
}

/* The zone's host path, NULL and a finding if it has none. */
static char *source_of(const struct zone *zone, const char *base, struct findings *findings)
{
    auto_free char *normal = NULL;
    auto_error coop_error *err = NULL;
    int r = resolve_zone(zone, base, &normal, &err);

    if (r == -EACCES)
        findings_add(findings, SEVERITY_ERROR, zone->origin,
                     "write a path inside basePath, relative to it",
                     "the zone '%s' has the path '%s', which is not inside basePath '%s'",
                     zone->name, zone->path, base);
    else if (r < 0 && r != -ENOMEM)
        findings_add(findings, SEVERITY_ERROR, zone->origin, NULL, "zone '%s': %s", zone->name,
                     coop_error_message(err));
    char *source = r < 0 ? NULL : path_join(base, normal + 1);
    if (r == -ENOMEM || (r == 0 && !source))
        findings->failed = true;
    return source;
}

static void convert_zone(const struct zone *zone, const char *base, struct mount_entry *out,
                         struct findings *findings)
{
    *out = (struct mount_entry){ .readonly = !zone->writable, .origin = zone->origin };
    if (!is_name(zone->name)) {
        findings_add(findings, SEVERITY_ERROR, zone->origin, "write one name, without '/'",
                     "the zone '%s' cannot become a directory of that name",
                     zone->name ? zone->name : "");
        return;
    }
    out->source = source_of(zone, base, findings);
    out->target = path_join("/", zone->name);
    if (!out->target)
        findings->failed = true;
}

static struct mount_table *make_table(struct mount_entry *entries, size_t n, size_t root,
                                      struct findings *findings)
{
    struct mount_entry first = entries[root];

    memmove(&entries[root], &entries[root + 1], (n - root - 1) * sizeof *entries);
    struct mount_table *table = mount_table_new(&(struct mount_config){ .root = first.source,
                                                                        .readonly = first.readonly,
                                                                        .mounts = entries,
                                                                        .n_mounts = n - 1,
                                                                        .origin = first.origin },
                                                findings);
    entries[n - 1] = first; /* to be freed with the others */
    return table;
}

static struct mount_table *convert(const struct zones *zones, const char *base, size_t root,
                                   struct findings *findings)
{
    struct mount_entry *entries = calloc(zones->n_zones, sizeof *entries);
    struct mount_table *table = NULL;
    size_t n_errors = findings->n_errors;

    if (!entries) {
        findings->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < zones->n_zones; i++)
        convert_zone(&zones->zones[i], base, &entries[i], findings);
    if (findings->n_errors == n_errors && !findings->failed)
        table = make_table(entries, zones->n_zones, root, findings);
    for (size_t i = 0; i < zones->n_zones; i++) {
        free((char *)entries[i].source);
        free((char *)entries[i].target);
    }
    free(entries);
    return table;
}

struct mount_table *zones_convert(const struct zones *zones, struct findings *findings)
{
    auto_error coop_error *err = NULL;
    auto_free char *base = NULL;
    size_t root = choose_root(zones);
    int r = path_normalise("basePath", zones->base_path, &base, &err);

    if (r == -ENOMEM) {
        findings->failed = true;
        return NULL;
    }
    if (r < 0) {
        findings_add(findings, SEVERITY_ERROR, zones->origin, NULL, "%s", coop_error_message(err));
        return NULL;
    }
    if (root == zones->n_zones) {
        findings_add(findings, SEVERITY_ERROR, zones->origin,
                     "call one of them 'workspace', or make it writable",
                     "there is no zone that can become the root");
        return NULL;
    }
    return convert(zones, base, root, findings);
}
