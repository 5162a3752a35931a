#include "classify.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "policy/path/path.h"

#define TOO_LONG 1024 /* for a line that somebody reads */

/* Of a component, in any case. A directory of such a name is one as a whole. */
static const char *const secret_names[] = {
    ".env",      ".env.*",       "*.pem",        "*.key",           "*.p12",
    "*.pfx",     "*.jks",        "*.kdbx",       "*.keytab",        "krb5cc*",
    "id_rsa*",   "id_dsa*",      "id_ecdsa*",    "id_ed25519*",     ".netrc",
    "_netrc",    ".pgpass",      ".my.cnf",      ".npmrc",          ".pypirc",
    ".ssh",      ".gnupg",       ".aws",         ".azure",          ".kube",
    ".docker",   ".dockercfg",   ".oci",         ".vault*",         "*keyring*",
    ".mozilla",  ".thunderbird", ".*_history",   "shadow",          "shadow-",
    "gshadow",   "gshadow-",     "sudoers",      "sudoers.d",       "*.ovpn",
    "wireguard", "ssh_host_*",   ".terraform.d", "*.tfstate*",      ".claude*",
    ".codex",    ".gemini",      "hosts.yml",    ".password-store", "*token",
    "*.token",   "*token*.json", "*_token*",     "*tokens*",
};
/* The same, unless it is a program's source that merely has the word in its name. */
static const char *const secret_words[] = { "*credential*", "*secret*", "*password*", "*passwd*" };
static const char *const source_endings[] = {
    "*.c",  "*.h",  "*.cc",   "*.cpp",  "*.go", "*.rs",  "*.py", "*.pyc",  "*.js",
    "*.ts", "*.rb", "*.java", "*.html", "*.md", "*.css", "*.so", "*.so.*", "*.a",
};

/* Whole places. */
static const char *const secret_places[] = {
    "/etc/ssl/private",
    "/etc/ssh",
    "/etc/krb5.keytab",
    "/etc/letsencrypt",
    "/etc/pki/tls/private",
    "/etc/NetworkManager",
    "/etc/wpa_supplicant",
    "/etc/openvpn",
    "/etc/ppp",
    "/etc/security",
    "/etc/kubernetes",
    "/etc/docker",
    "/var/mail",
    "/var/spool",
    "/var/backups",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/lib/sss",
    "/var/lib/private",
    "/var/log",
};

static const char *const system_places[] = {
    "/proc", "/sys", "/dev", "/run", "/var/run", "/boot", "/lost+found", "/efi",
};

/* A directory that is directly in one of these holds the things of many. */
static const char *const shared_places[] = { "/home",  "/var", "/usr",  "/mnt",
                                             "/media", "/nix", "/Users" };

static bool is_one_of(const char *path, const char *const list[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(path, list[i]) == 0)
            return true;
    return false;
}

static bool is_in_one_of(const char *path, const char *const list[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (path_is_within(path, list[i]))
            return true;
    return false;
}

static bool is_like(const char *name, const char *const patterns[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fnmatch(patterns[i], name, FNM_CASEFOLD) == 0)
            return true;
    return false;
}

static bool is_secret_name(const char *name)
{
    return is_like(name, secret_names, COUNT(secret_names)) ||
           (is_like(name, secret_words, COUNT(secret_words)) &&
            !is_like(name, source_endings, COUNT(source_endings)));
}

bool learn_is_secret(const char *path)
{
    auto_free char *copy = strdup(path);
    char *rest = copy;

    if (!copy || is_in_one_of(path, secret_places, COUNT(secret_places)))
        return true;
    for (char *name = strsep(&rest, "/"); name; name = strsep(&rest, "/"))
        if (*name && is_secret_name(name))
            return true;
    return false;
}

bool learn_is_spellable(const char *text)
{
    auto_buffer struct buffer shown = { 0 };
    size_t n = strlen(text);

    if (n > TOO_LONG || utf8_valid_prefix(text, n) != n)
        return false;
    printable_append(&shown, text, n); /* changes what a reader could be deceived by */
    return !shown.failed && shown.length == n && memcmp(shown.data ? shown.data : "", text, n) == 0;
}

static bool is_parent_shared(const char *path)
{
    auto_free char *parent = strdup(path);
    char *slash = parent ? strrchr(parent, '/') : NULL;

    if (!slash)
        return true;
    slash[slash == parent] = '\0';
    return is_one_of(parent, shared_places, COUNT(shared_places));
}

/* It would show much that nobody asked for. */
static bool is_wide(const struct learn_places *places, const char *path)
{
    if (path_depth(path) <= 1 || is_parent_shared(path))
        return true;
    return (places->home && path_is_within(places->home, path)) ||
           (places->workspace && path_is_within(places->workspace, path));
}

static bool holds_own(const struct learn_places *places, const char *path, bool is_directory)
{
    for (size_t i = 0; i < places->n_own; i++)
        if (path_is_within(path, places->own[i]) ||
            (is_directory && path_is_within(places->own[i], path)))
            return true;
    return false;
}

/* The first name below the home directory; NULL: it does not lie there, or the name has no dot. */
static const char *dotfile(const struct learn_places *places, const char *path)
{
    if (!places->home || !path_is_within(path, places->home))
        return NULL;
    const char *below = path + strlen(places->home);
    return below[0] == '/' && below[1] == '.' ? below + 1 : NULL;
}

static bool is_cache(const char *below)
{
    return strncmp(below, ".cache/", 7) == 0;
}

enum need_verdict learn_classify(const struct learn_places *places, const char *path,
                                 enum learn_file file, bool is_written)
{
    const char *below = dotfile(places, path);

    if (!learn_is_spellable(path))
        return NEED_UNSPELLABLE;
    if (is_in_one_of(path, system_places, COUNT(system_places)) || file == LEARN_DEVICE)
        return NEED_SYSTEM;
    if (file == LEARN_SOCKET)
        return NEED_SOCKET;
    if (file == LEARN_DIRECTORY && is_wide(places, path))
        return NEED_TOO_WIDE;
    if (holds_own(places, path, file == LEARN_DIRECTORY))
        return NEED_COOP;
    if (learn_is_secret(path) && (!places->consent.secrets || is_written))
        return NEED_SECRET;
    if (below && is_written && !is_cache(below))
        return NEED_DOTFILE_WRITE;
    if (below && !places->consent.dotfiles)
        return NEED_DOTFILE;
    return is_written && !places->consent.writes ? NEED_WRITES : NEED_OPEN;
}
