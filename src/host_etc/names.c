/*
 * names.c - the tables of the rule: generated names, refused names, made-up names
 *
 * A '*' stands for any text within one name; a row that ends with '/' is a directory and everything below it.
 */
#include <fnmatch.h>
#include <string.h>

#include "base/cleanup.h"
#include "host_etc/rule.h"
#include "policy/secret_places.h"

struct row {
    const char *pattern;
    const char *why;
};

/* Scripts of packages make these, so no package's list has them. */
static const struct row generated[] = {
    { "alternatives/*", "links to the chosen program, by update-alternatives" },
    { "ca-certificates.conf", "which certificates are trusted, by ca-certificates" },
    { "crypto-policies/back-ends/*", "ciphers that libraries allow, by crypto-policies" },
    { "crypto-policies/config", "likewise" },
    { "default/locale", "the language, by locales" },
    { "dictionaries-common/*", "words and spelling, by dictionaries-common" },
    { "dpkg/origins/default", "the distribution's name for dpkg-vendor" },
    { "fonts/conf.d/*", "links to chosen settings, by fontconfig" },
    { "fpc*.cfg", "the Free Pascal compiler's settings, by fpcmkcfg" },
    { "inputrc", "line editing, copied by readline-common" },
    { "java*/security/cacerts", "certificates for Java" },
    { "ld.so.cache", "where libraries are, by ldconfig" },
    { "locale.conf", "the language, by systemd" },
    { "localtime", "the time zone, a link into /usr" },
    { "lsb-release", "the distribution's name" },
    { "mailcap", "which program shows which type, by update-mime" },
    { "os-release", "the distribution's name" },
    { "pam.d/common-*", "by pam-auth-update" },
    { "php/*/*/conf.d/*", "links to the modules that are on, by phpenmod" },
    { "pki/ca-trust/extracted/", "certificates, by update-ca-trust" },
    { "pki/java/*", "certificates for Java" },
    { "pki/tls/cert.pem", "a link to the certificates" },
    { "pki/tls/certs/*", "certificates" },
    { "profile", "for login shells, copied by base-files" },
    { "python3/debian_config", "by python3" },
    { "sgml/*", "catalogues of document types, by update-catalog" },
    { "shells", "login shells, by update-shells" },
    { "ssl/cert.pem", "a link to the certificates" },
    { "ssl/certs/", "certificates, by update-ca-certificates" },
    { "static", "NixOS: a link into the store, where all of /etc is" },
    { "texmf/", "TeX's settings, by tex-common" },
    { "timezone", "the time zone's name" },
    { "xml/*", "catalogues of document types, by update-xmlcatalog" },
    { "apt/keyrings/*", "keys that packages are signed with" },
    { "apt/sources.list", "where packages come from; not with a password or user in it" },
    { "apt/sources.list.d/*.list", "likewise" },
    { "apt/sources.list.d/*.sources", "likewise" },
    { "apt/trusted.gpg", "keys that packages are signed with" },
    { "apt/trusted.gpg.d/*", "likewise" },
};

/* Where no package database can be read. */
static const struct row common[] = {
    { "bash.bashrc", "" },
    { "bashrc", "" },
    { "debian_version", "" },
    { "ethertypes", "" },
    { "fedora-release", "" },
    { "fonts/fonts.conf", "" },
    { "fonts/conf.avail/*", "" },
    { "gai.conf", "" },
    { "java*/*.conf", "" },
    { "java*/*.properties", "" },
    { "java*/*.cfg", "" },
    { "java*/security/*.policy", "" },
    { "java*/security/*.security", "" },
    { "java*/security/*.properties", "" },
    { "ld.so.conf", "" },
    { "locale.alias", "" },
    { "magic", "" },
    { "man.conf", "" },
    { "man_db.conf", "" },
    { "manpath.config", "" },
    { "maven/*.conf", "" },
    { "maven/logging/*", "" },
    { "mime.types", "" },
    { "nanorc", "" },
    { "pki/tls/openssl.cnf", "" },
    { "protocols", "" },
    { "redhat-release", "" },
    { "rpc", "" },
    { "services", "" },
    { "ssl/openssl.cnf", "" },
    { "system-release", "" },
    { "terminfo/", "" },
    { "vimrc", "" },
    { "vim/vimrc", "" },
    { "xattr.conf", "" },
};

/* Whatever ships them. policy/secret_places.h has more. */
static const struct row refused[] = {
    { ".pwd.lock", "a lock of the host's" },
    { "NetworkManager/", "networks and their passwords" },
    { "apt/auth.conf", "passwords of package sources" },
    { "apt/auth.conf.d/", "likewise" },
    { "bluetooth/", "keys of devices" },
    { "coop/", "coop's own configuration" },
    { "credstore*/", "credentials of services" },
    { "crypttab", "which disks are encrypted" },
    { "cups/", "printers and their passwords" },
    { "environment", "variables of this host, keys among them" },
    { "exports", "what this host shares" },
    { "fstab", "disks and shares of this host" },
    { "group-", "the host's users" },
    { "hosts.equiv", "hosts that are trusted" },
    { "ipsec.d/", "keys of networks" },
    { "iscsi/", "disks and their passwords" },
    { "libvirt/", "machines and their passwords" },
    { "netplan/", "networks and their passwords" },
    { "network/", "likewise" },
    { "passwd-", "the host's users" },
    { "ppp/", "networks and their passwords" },
    { "samba/", "shares and their passwords" },
    { "ssh/ssh_host_*", "keys of this host" },
    { "subgid", "the host's users" },
    { "subgid-", "likewise" },
    { "subuid", "likewise" },
    { "subuid-", "likewise" },
    { "sudo.conf", "who may become root" },
    { "sudoers", "likewise" },
    { "sudoers.d/", "likewise" },
};

/* Also what the plan writes by itself: plan/view/skeleton.c. */
static const char *const made_up[] = {
    "group", "hostname", "hosts", "machine-id", "mtab", "nsswitch.conf", "passwd", "resolv.conf",
};

static bool matches(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);

    if (pattern[n - 1] != '/')
        return fnmatch(pattern, name, FNM_PATHNAME) == 0;
    if (strncmp(pattern, name, n) == 0 || (strncmp(pattern, name, n - 1) == 0 && !name[n - 1]))
        return true;
    return strchr(pattern, '*') && fnmatch(pattern, name, FNM_PATHNAME | FNM_LEADING_DIR) == 0;
}

static const struct row *find(const struct row *rows, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (matches(rows[i].pattern, name))
            return &rows[i];
    return NULL;
}

/* Known places of secrets, with everything below them. */
static bool is_secret_place(const char *name)
{
    for (size_t i = 0; i < secret_n_places; i++)
        if (strncmp(secret_places[i].path, "/etc/", 5) == 0 &&
            fnmatch(secret_places[i].path + 5, name, FNM_PATHNAME | FNM_LEADING_DIR) == 0)
            return true;
    return false;
}

enum etc_verdict etc_rule_name(const char *name, bool has_database, const char **why)
{
    const struct row *row = find(refused, COUNT(refused), name);

    *why = NULL;
    if (row || is_secret_place(name)) {
        *why = row ? row->why : "a known place of secrets";
        return ETC_REFUSED;
    }
    for (size_t i = 0; i < COUNT(made_up); i++)
        if (strcmp(made_up[i], name) == 0)
            return ETC_MADE_UP;
    row = find(generated, COUNT(generated), name);
    if (!row && !has_database)
        row = find(common, COUNT(common), name);
    if (!row)
        return ETC_LOCAL;
    *why = *row->why ? row->why : "programs expect it";
    return ETC_ADMITTED;
}
