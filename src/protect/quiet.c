#include "quiet.h"

#include <stddef.h>
#include <string.h>

#include "policy/path/path.h"

const char *const quiet_paths[] = {
    "/etc/bash.bashrc",
    "/etc/default/locale",
    "/etc/environment",
    "/etc/fish",
    "/etc/gai.conf",
    "/etc/gdb",
    "/etc/gitconfig",
    "/etc/gnutls",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/ldap",
    "/etc/locale.alias",
    "/etc/login.defs",
    "/etc/magic",
    "/etc/mailcap",
    "/etc/manpath.config",
    "/etc/mime.types",
    "/etc/mtab",
    "/etc/networks",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/protocols",
    "/etc/python2.7",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/selinux",
    "/etc/services",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/ct_log_list.cnf",
    "/etc/ssl/openssl.cnf",
    "/etc/sysconfig",
    "/etc/terminfo",
    "/etc/timezone",
    "/etc/vim",
    "/etc/vimrc",
    "/etc/wgetrc",
    "/etc/xattr.conf",
    "/etc/zsh",
    "/etc/zshenv",
    "/proc",
    "/run/nscd",
    "/run/systemd/userdb",
    "/run/user",
    "/selinux",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/fs/selinux",
    "/sys/kernel/mm",
    "/var/cache/fontconfig",
    "/var/lib/sss",
    "/var/run/nscd",
    "/var/run/setrans",
    NULL,
};

bool quiet_is(const char *path)
{
    for (const char *const *quiet = quiet_paths; *quiet; quiet++)
        if (path_is_within(path, *quiet))
            return true;
    return strncmp(path, "/etc/python3.", 13) == 0 ||
           strncmp(path, "/tmp/hsperfdata_", 16) == 0; /* of the JVM */
}
