/*
 * Variables that change what is run, or how: set by the text itself, they would make an allowed
 * command do something else. A list of what is known, so no wall: that is the box.
 */
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "command/shell/private.h"

/* A '*' at the end stands for anything. */

static const char *const dangerous_variables[] = {
    /* the shell and the loader */
    "PATH",
    "IFS",
    "ENV",
    "SHELL",
    "HOME",
    "CDPATH",
    "PWD",
    "OLDPWD",
    "BASH*",
    "SHELLOPTS",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "GLOBIGNORE",
    "EXECIGNORE",
    "FIGNORE",
    "FUNCNEST",
    "HISTFILE",
    "HISTCONTROL",
    "INPUTRC",
    "POSIXLY_CORRECT",
    "FPATH",
    "ZDOTDIR",
    "TEXTDOMAIN*",
    "LD_*",
    "DYLD_*",
    "GLIBC_TUNABLES",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "MALLOC_*",
    "HOSTALIASES",
    "RES_OPTIONS",
    "XDG_*",
    "TERMINFO*",
    "TERMCAP",
    /* programs that others start */
    "PAGER",
    "MANPAGER",
    "LESS",
    "LESSOPEN",
    "LESSCLOSE",
    "LESSKEY*",
    "LESSEDIT",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "BROWSER",
    "SUDO_*",
    "SSH_*",
    "GIT_*",
    "GCM_*",
    "MANOPT",
    "MANROFFOPT",
    "CC",
    "CXX",
    "LD",
    "AR",
    "AS",
    "CPP",
    "FC",
    /* interpreters and tools */
    "PYTHON*",
    "PERL5*",
    "PERLLIB",
    "PERL_*",
    "RUBY*",
    "GEM_*",
    "BUNDLE_*",
    "NODE_*",
    "NPM_*",
    "npm_*",
    "YARN_*",
    "COREPACK_*",
    "DENO_*",
    "BUN_*",
    "GO*",
    "CGO_*",
    "CARGO*",
    "RUST*",
    "JAVA_*",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "MAVEN_*",
    "GRADLE_*",
    "JAVA_TOOL_OPTIONS",
    "LUA_*",
    "PHP*",
    "R_*",
    "MAKE*",
    "GNUMAKEFLAGS",
    "MFLAGS",
    "JUST_*",
    "FEST_*",
    "CAMP_*",
    "DOCKER_*",
    "COMPOSE_*",
    "BUILDKIT_*",
    "KUBE*",
    "HELM_*",
    "TAR_OPTIONS",
    "GREP_OPTIONS",
    "RSYNC_*",
    "CMAKE_*",
    "CTEST_*",
    "NINJA_*",
    "CONFIG_SITE",
    "CONFIG_SHELL",
    "PKG_CONFIG*",
    "GCC_*",
    "COMPILER_PATH",
    "LIBRARY_PATH",
    "AWKPATH",
    "AWKLIBPATH",
    "OPENSSL_*",
    "GNUPGHOME",
    "CURL_HOME",
    "WGETRC",
    "VIMINIT",
    "EXINIT",
    "GDBINIT",
    /* coop's own */
    "COOP_*",
    "OBEY_*",
};

/* Among those, what only sets a mode. */
static const char *const harmless_variables[] = {
    "CGO_ENABLED",
    "GOAMD64",
    "GOARCH",
    "GOARM",
    "GOMAXPROCS",
    "GOOS",
    "GIT_AUTHOR_*",
    "GIT_COMMITTER_*",
    "GIT_MERGE_AUTOEDIT",
    "GIT_OPTIONAL_LOCKS",
    "GIT_TERMINAL_PROMPT",
    "CARGO_INCREMENTAL",
    "CARGO_TERM_COLOR",
    "MAKELEVEL",
    "NODE_ENV",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "RUST_BACKTRACE",
    "RUST_LOG",
};

/* And programs that do nothing, where an interactive one would be started. */
static const struct {
    const char *name;
    const char *value;
} harmless_values[] = {
    { "EDITOR", ":" },
    { "EDITOR", "true" },
    { "GIT_EDITOR", ":" },
    { "GIT_EDITOR", "true" },
    { "GIT_PAGER", "" },
    { "GIT_PAGER", "cat" },
    { "GIT_SEQUENCE_EDITOR", ":" },
    { "GIT_SEQUENCE_EDITOR", "true" },
    { "MANPAGER", "cat" },
    { "PAGER", "" },
    { "PAGER", "cat" },
    { "VISUAL", "true" },
};

static bool matches(const char *pattern, const char *name, size_t n)
{
    size_t length = strlen(pattern);

    if (pattern[length - 1] == '*')
        return n >= length - 1 && memcmp(pattern, name, length - 1) == 0;
    return n == length && memcmp(pattern, name, n) == 0;
}

/* bash evaluates what these are set to as arithmetic, which runs commands in subscripts. */
static const char *const integer_variables[] = { "RANDOM", "SRANDOM", "SECONDS", "LINENO",
                                                 "OPTIND", "OPTERR",  "HISTCMD", "EPOCH*",
                                                 "PPID",   "UID",     "EUID",    "SHLVL" };

static bool is_number(const struct shell_word *value)
{
    return value && value->is_static && *value->text &&
           strspn(value->text, "0123456789") == strlen(value->text);
}

/* In some locales a byte of a character is a backslash or a quote: only those without stay. */
static bool is_plain_locale(const struct shell_word *value)
{
    if (!value || !value->is_static)
        return false;
    const char *charset = strrchr(value->text, '.');
    return *value->text == '\0' || strcmp(value->text, "C") == 0 ||
           strcmp(value->text, "POSIX") == 0 ||
           (charset && (strcasecmp(charset, ".UTF-8") == 0 || strcasecmp(charset, ".utf8") == 0));
}

bool shell_variable_is_dangerous(const char *name, size_t n, const struct shell_word *value)
{
    if (matches("LC_*", name, n) || matches("LANG", name, n) || matches("LANGUAGE", name, n))
        return !is_plain_locale(value);
    for (size_t i = 0; i < COUNT(integer_variables); i++)
        if (matches(integer_variables[i], name, n))
            return !is_number(value);
    for (size_t i = 0; i < COUNT(harmless_variables); i++)
        if (matches(harmless_variables[i], name, n))
            return false;
    for (size_t i = 0; value && value->is_static && i < COUNT(harmless_values); i++)
        if (matches(harmless_values[i].name, name, n) &&
            strcmp(harmless_values[i].value, value->text) == 0)
            return false;
    for (size_t i = 0; i < COUNT(dangerous_variables); i++)
        if (matches(dangerous_variables[i], name, n))
            return true;
    return false;
}
