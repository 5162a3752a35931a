#include "defaults.h"

#include <string.h>

#include "policy/network_mode.h"
#include "policy/path/path.h"
#include "policy/policy.h"

#define HOST_DIRECTORY(path)                  \
    {                                         \
        path, VIEW_HOST, .is_directory = true \
    }
#define HOST_FILE(name)                   \
    {                                     \
        .path = name, .origin = VIEW_HOST \
    }
#define MADE(name)                        \
    {                                     \
        .path = name, .origin = VIEW_FILE \
    }
#define DEVICE(path, major, minor)                                            \
    {                                                                         \
        path, VIEW_DEVICE, .is_writable = true, .device = {(major), (minor) } \
    }

/*
 * Of /proc, most of what is usually hidden is closed already: nobody in a box is root of the host, so
 * kcore, kmsg, timer_list, latency_stats and sysrq-trigger are refused by their modes, and the whole
 * is read-only. What is hidden here is open to everybody: it names the user's keys and describes the
 * machine.
 *
 * /var/tmp and /dev/shm are links into the private directories: a mount costs ten times what a link
 * does.
 */
const struct view_default view_defaults[] = {
    { .path = "/var", .origin = VIEW_DIRECTORY },
    { "/var/tmp", VIEW_SYMLINK, .is_writable = true, .text = "../tmp" },

    HOST_DIRECTORY("/usr"),
    HOST_DIRECTORY("/bin"),
    HOST_DIRECTORY("/sbin"),
    HOST_DIRECTORY("/lib"),
    HOST_DIRECTORY("/lib64"),
    HOST_DIRECTORY("/lib32"),
    HOST_DIRECTORY("/libx32"),
    HOST_DIRECTORY("/nix/store"),

    { .path = "/etc", .origin = VIEW_DIRECTORY },
    { .path = "/etc/ssl", .origin = VIEW_DIRECTORY },
    MADE("/etc/passwd"),
    MADE("/etc/group"),
    MADE("/etc/nsswitch.conf"),
    MADE("/etc/hosts"),
    { "/etc/mtab", VIEW_SYMLINK, .text = "/proc/self/mounts" },
    HOST_FILE("/etc/ld.so.cache"),
    HOST_DIRECTORY("/etc/alternatives"),
    HOST_DIRECTORY("/etc/ssl/certs"),
    HOST_FILE("/etc/ssl/openssl.cnf"),
    HOST_DIRECTORY("/etc/pki"),
    HOST_FILE("/etc/localtime"),
    HOST_FILE("/etc/os-release"),
    HOST_DIRECTORY("/etc/fonts"),
    HOST_DIRECTORY("/etc/java"),
    HOST_DIRECTORY("/etc/java-8-openjdk"),
    HOST_DIRECTORY("/etc/java-11-openjdk"),
    HOST_DIRECTORY("/etc/java-17-openjdk"),
    HOST_DIRECTORY("/etc/java-21-openjdk"),
    HOST_DIRECTORY("/etc/java-25-openjdk"),
    { "/etc/resolv.conf", VIEW_HOST, .with_network = true },
    { "/etc/resolv.conf", VIEW_FILE, .with_gate = true },

    { .path = "/dev", .origin = VIEW_DIRECTORY },
    DEVICE("/dev/null", 1, 3),
    DEVICE("/dev/zero", 1, 5),
    DEVICE("/dev/full", 1, 7),
    DEVICE("/dev/random", 1, 8),
    DEVICE("/dev/urandom", 1, 9),
    DEVICE("/dev/tty", 5, 0),
    { "/dev/fd", VIEW_SYMLINK, .text = "/proc/self/fd" },
    { "/dev/stdin", VIEW_SYMLINK, .text = "/proc/self/fd/0" },
    { "/dev/stdout", VIEW_SYMLINK, .is_writable = true, .text = "/proc/self/fd/1" },
    { "/dev/stderr", VIEW_SYMLINK, .is_writable = true, .text = "/proc/self/fd/2" },
    { "/dev/ptmx", VIEW_SYMLINK, .is_writable = true, .text = "pts/ptmx" },
    { "/dev/shm", VIEW_SYMLINK, .is_writable = true, .text = "/run/shm" },

    { .path = "/proc", .origin = VIEW_PROCESSES },
    { .path = "/proc/keys", .origin = VIEW_HIDDEN },
    { .path = "/proc/acpi", .origin = VIEW_HIDDEN },
    { .path = "/proc/asound", .origin = VIEW_HIDDEN },
    { .path = "/proc/scsi", .origin = VIEW_HIDDEN },
    { "/dev/pts", VIEW_TERMINALS, .is_writable = true },
    { "/tmp", VIEW_POOL, .is_writable = true, .mode = 01777, .text = "../t" },
    { "/run", VIEW_POOL, .is_writable = true, .mode = 0755, .text = "../u" },
    { 0 },
};

const struct view_default *view_rows(const coop_policy *policy)
{
    return policy->view ? policy->view : view_defaults;
}

bool view_default_is_shown(const struct view_default *row, coop_network network)
{
    return (!row->with_network || !network_modes[network].has_namespace) &&
           (!row->with_gate || network_modes[network].has_rules);
}

const struct view_default *view_default_at(const struct view_default *rows, const char *path,
                                           coop_network network)
{
    const struct view_default *best = NULL;

    for (const struct view_default *row = rows; row->path; row++) {
        bool is_here = row->origin == VIEW_DIRECTORY ? strcmp(path, row->path) == 0
                                                     : path_is_within(path, row->path);

        if (is_here && view_default_is_shown(row, network) &&
            (!best || strlen(row->path) > strlen(best->path)))
            best = row;
    }
    return best;
}

bool view_default_holds(const struct view_default *rows, const char *path)
{
    for (const struct view_default *row = rows; row->path; row++)
        if (path_is_within(row->path, path) &&
            (row->origin == VIEW_DIRECTORY || strcmp(row->path, path) != 0))
            return true;
    return false;
}

bool view_default_takes(const struct view_default *rows, const char *path)
{
    size_t n = 1 + strcspn(path + 1, "/");

    for (const struct view_default *row = rows; row->path; row++)
        if (strncmp(row->path, path, n) == 0 && (row->path[n] == '/' || !row->path[n]))
            return true;
    return false;
}
