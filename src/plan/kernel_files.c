#include "kernel_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/error.h"

/* Numbers, because not every libc or kernel header has all of them. */
static const struct {
    uint32_t type;
    const char *name;
} kernel_types[] = {
    { 0x00009fa0, "proc" },      { 0x62656572, "sysfs" },      { 0x00001cd1, "devpts" },
    { 0x0027e0eb, "cgroup" },    { 0x63677270, "cgroup2" },    { 0x64626720, "debugfs" },
    { 0x74726163, "tracefs" },   { 0x73636673, "securityfs" }, { 0xcafe4a11, "bpf" },
    { 0x62656570, "configfs" },  { 0xde5e81e4, "efivarfs" },   { 0x6165676c, "pstore" },
    { 0xf97cff8c, "selinuxfs" }, { 0x43415d53, "smackfs" },    { 0x42494e4d, "binfmt_misc" },
    { 0x6e736673, "nsfs" },      { 0x50494446, "pidfs" },      { 0x6c6f6f70, "binder" },
    { 0x07655821, "resctrl" },   { 0x65735543, "fusectl" },    { 0x19800202, "mqueue" },
    { 0xabba1974, "xenfs" },
};

/*
 * devtmpfs says that it is a tmpfs; /dev may be one indeed, and so is the directory in which cgroups
 * of version 1 are mounted. So these are known by being the same file system as what stands there.
 */
static const char *const kernel_places[] = { "/dev", "/sys/fs/cgroup" };

/* The host's root has all of them below it. */
static const char *place_of(const struct stat *st)
{
    struct stat root;
    struct stat place;

    if (!S_ISDIR(st->st_mode) || stat("/", &root) < 0) /* a device node opens nothing: nodev */
        return NULL;
    if (st->st_dev == root.st_dev && st->st_ino == root.st_ino)
        return "/proc, /sys and /dev are in it";
    for (size_t i = 0; i < COUNT(kernel_places); i++)
        if (stat(kernel_places[i], &place) == 0 && place.st_dev == st->st_dev &&
            (place.st_dev != root.st_dev || place.st_ino == st->st_ino))
            return kernel_places[i];
    return NULL;
}

int kernel_files_refuse(int fd, const char *what, const char *path, coop_error **err)
{
    const char *name = NULL;
    struct statfs fs;
    struct stat st;

    if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
        return fail(err, errno, "look at %s '%s'", what, path);
    for (size_t i = 0; !name && i < COUNT(kernel_types); i++)
        if ((uint32_t)fs.f_type == kernel_types[i].type)
            name = kernel_types[i].name;
    if (!name)
        name = place_of(&st);
    if (!name)
        return 0;
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "%s '%s' belongs to the host's kernel (%s): it would let the command act on "
                      "the host",
                      what, path, name);
    return fail_hint(err, r,
                     "the box has a /proc and a /dev of its own; name a directory of files");
}
