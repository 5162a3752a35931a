// The patterns below would end the other kind of comment.
//
// protect_defaults.c - what is protected when nobody says otherwise
//
// Hidden: names under which projects keep secrets. Kept: what makes a program of the owner's execute
// something later, on the host, without asking: git's hooks and configuration, start-up files of
// shells (a workspace may be a home directory), folders of editors and agents, and coop's own files.
//
// Left out on purpose, because they are files of the project that an agent is asked to edit, and the
// owner reads them before running them: .husky and .githooks (unless core.hooksPath names them), .pre-commit-config.yaml, .gitmodules,
// .github, Makefile, package.json, .npmrc, .devcontainer (the editor asks first).
#include <string.h>

#include "base/cleanup.h"
#include "policy/protect.h"
#include "policy/secret_content.h"

#define HIDE(text, conditions)                                       \
    {                                                                \
        (text), COOP_PROTECT_HIDE, (conditions) | PROTECT_FILES_ONLY \
    }
#define KEEP(text)                     \
    {                                  \
        (text), COOP_PROTECT_KEEP, 0u, \
    }
#define SHOW(text)                     \
    {                                  \
        (text), COOP_PROTECT_SHOW, 0u, \
    }
#define COMMONDIR(text)                                  \
    {                                                    \
        (text), COOP_PROTECT_KEEP, PROTECT_GIT_COMMONDIR \
    }
#define CONFIG(text)                                  \
    {                                                 \
        (text), COOP_PROTECT_KEEP, PROTECT_GIT_CONFIG \
    }

/* clang-format off */
const struct protect_rule protect_defaults[] = {
    HIDE(".env", 0),
    HIDE(".env.*", 0),
    HIDE("**/.env", 0),
    HIDE("**/.env.*", 0),
    HIDE("**/credentials.json", 0),
    HIDE("**/*secret*", PROTECT_NOT_SOURCE),
    HIDE("**/*password*", PROTECT_NOT_SOURCE),
    HIDE("**/*.pem", PROTECT_PRIVATE_KEY),
    HIDE("**/*.key", PROTECT_NOT_PUBLIC),
    HIDE("**/*.env", 0), HIDE("**/*.env~", 0), HIDE("**/*.env.swp", 0),
    /* private keys, under the names that ssh-keygen and others give them */
    HIDE("**/id_rsa*", PROTECT_CREDENTIAL), HIDE("**/id_dsa*", PROTECT_CREDENTIAL),
    HIDE("**/id_ecdsa*", PROTECT_CREDENTIAL), HIDE("**/id_ed25519*", PROTECT_CREDENTIAL),
    HIDE("**/*.ppk", PROTECT_CREDENTIAL), HIDE("**/*.p8", PROTECT_PRIVATE_KEY),
    HIDE("**/*.asc", PROTECT_CREDENTIAL), HIDE("**/*.ovpn", PROTECT_CREDENTIAL),
    HIDE("**/*.p12", 0), HIDE("**/*.pfx", 0), HIDE("**/*.jks", 0), HIDE("**/*.keystore", 0),
    HIDE("**/*.kdbx", 0),
    /* what programs write down */
    HIDE("**/*.tfstate", 0), HIDE("**/*.tfstate.backup", 0), HIDE("**/.netrc", 0), HIDE("**/_netrc", 0),
    HIDE("**/.pgpass", 0), HIDE("**/.git-credentials", 0), HIDE("**/.dockercfg", 0),
    HIDE("**/.vault-token", 0), HIDE("**/.npmrc", PROTECT_CREDENTIAL),
    HIDE("**/.yarnrc.yml", PROTECT_CREDENTIAL), HIDE("**/.pypirc", PROTECT_NOT_SOURCE),
    HIDE("**/kubeconfig*", PROTECT_CREDENTIAL | PROTECT_NOT_SOURCE),
    HIDE("**/*.kubeconfig", PROTECT_CREDENTIAL),
    HIDE("**/service-account*", PROTECT_CREDENTIAL | PROTECT_NOT_SOURCE),
    HIDE("**/service_account*", PROTECT_CREDENTIAL | PROTECT_NOT_SOURCE),
    HIDE("**/*credentials", PROTECT_CREDENTIAL | PROTECT_NOT_SOURCE),
    /* what editors leave of them */
    HIDE("**/*.pem~", PROTECT_CREDENTIAL), HIDE("**/*.key~", PROTECT_CREDENTIAL),
    HIDE("**/*.pem.swp", PROTECT_CREDENTIAL), HIDE("**/*.key.swp", PROTECT_CREDENTIAL),
    HIDE("**/credentials.json~", 0), HIDE("**/.credentials.json.swp", 0),
    HIDE("**/.id_rsa.swp", 0), HIDE("**/.id_ed25519.swp", 0), HIDE("**/.id_ecdsa.swp", 0),
    SHOW("**/debug.keystore"),
    SHOW("**/example.env"), SHOW("**/*.example.env"), SHOW("**/sample.env"), SHOW("**/*.sample.env"),
    SHOW("**/template.env"), SHOW("**/*.template.env"),
    SHOW("**/.env.example"), SHOW("**/.env.*.example"),
    SHOW("**/.env.sample"), SHOW("**/.env.*.sample"),
    SHOW("**/.env.template"), SHOW("**/.env.*.template"),
    SHOW("**/*.pub"), SHOW("**/*secret*.pub"), SHOW("**/*password*.pub"),

    /* git; for other git directories than this one: protect_git_defaults */
    KEEP(".git/hooks"),
    CONFIG(".git/config"),
    CONFIG(".git/config.worktree"),
    KEEP(".git/commondir"),
    CONFIG(".git/worktrees/*/config.worktree"),
    KEEP(".git/modules/**/hooks"),
    CONFIG(".git/modules/**/config"),
    CONFIG(".git/modules/**/config.worktree"),

    /* shells, and what a login runs */
    KEEP(".bashrc"), KEEP(".bash_profile"), KEEP(".bash_login"), KEEP(".bash_logout"),
    KEEP(".bash_aliases"), KEEP(".profile"), KEEP(".zshrc"), KEEP(".zshenv"), KEEP(".zprofile"),
    KEEP(".zlogin"), KEEP(".zlogout"), KEEP(".kshrc"), KEEP(".mkshrc"), KEEP(".cshrc"),
    KEEP(".tcshrc"), KEEP(".login"), KEEP(".logout"), KEEP(".inputrc"), KEEP(".xprofile"),
    KEEP(".xinitrc"), KEEP(".xsession"), KEEP(".xsessionrc"), KEEP(".pam_environment"),
    KEEP(".config/fish"), KEEP(".config/environment.d"), KEEP(".config/autostart"),
    KEEP(".config/systemd"),
    /* a home directory's other ways to run something */
    KEEP(".ssh"), KEEP(".gitconfig"), KEEP(".config/git"),

    /* editors, agents, and what runs at the entry into a directory */
    KEEP(".vscode"), KEEP(".idea"), KEEP(".envrc"), KEEP(".mcp.json"), KEEP(".claude"),
    KEEP(".cursor"), KEEP(".codex"), KEEP(".gemini"),

    /* coop's own */
    KEEP("coop.toml"), KEEP("Coopfile"), KEEP(".campaign/sandbox.yaml"), KEEP(".config/coop"),
    KEEP(".cache/coop"), KEEP(".local/state/coop"),
};

const struct protect_rule protect_git_defaults[] = {
    KEEP("hooks"),
    CONFIG("config"),
    CONFIG("config.worktree"),
    KEEP("commondir"),
    CONFIG("worktrees/*/config.worktree"),
    KEEP("modules/**/hooks"),
    CONFIG("modules/**/config"),
    CONFIG("modules/**/config.worktree"),
};

/* Nobody makes these in a git directory, but what is there may go: remotes as git knew them once. */
const struct protect_rule protect_git_names[] = {
    KEEP("remotes/*"),
    KEEP("branches/*"),
};

/* Nobody makes these, wherever, whether there is a repository or not: what makes git execute something,
 * makes a git directory of one, or leads git out of one. */
const struct protect_rule protect_git_anywhere[] = {
    KEEP("**/.git/hooks/*"), /* but for PROTECT_GIT_SAMPLES */
    CONFIG("**/.git/config"),
    KEEP("**/.git/modules/**/hooks"),
    CONFIG("**/.git/modules/**/config"),
    KEEP("**/.git/remotes/*"),
    KEEP("**/.git/branches/*"),
    COMMONDIR("**/worktrees/*/commondir"),
    KEEP("**/commondir"),
    KEEP("**/objects/info/alternates"),
    CONFIG("**/config.worktree"),
};
/* clang-format on */

const struct protect_rule protect_private =
    HIDE("a private file with a key or a token in it", PROTECT_CREDENTIAL | PROTECT_NOT_SOURCE);

const size_t protect_n_defaults = COUNT(protect_defaults);
const size_t protect_n_git_defaults = COUNT(protect_git_defaults);
const size_t protect_n_git_names = COUNT(protect_git_names);
const size_t protect_n_git_anywhere = COUNT(protect_git_anywhere);

/*
 * Known by name and nothing else: a directory could be made to look like a virtual environment by
 * putting a file into it, and a box may put files into directories. The packages of an environment
 * of any name are in its site-packages.
 */
static const char *const dependencies[] = {
    "node_modules", "bower_components", "site-packages", "dist-packages", ".venv",
    "venv",         "vendor",           ".tox",          ".nox",
};

bool protect_is_dependencies(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(dependencies); i++)
        if (strlen(dependencies[i]) == length && memcmp(dependencies[i], name, length) == 0)
            return true;
    return false;
}

/*
 * Names that merely contain the word: source, markup, styles, pictures, and what compilers make of
 * source. Not in the list: anything that settings are written in (yaml, json, toml, ini, xml, txt).
 */
/* clang-format off */
static const char *const source_extensions[] = {
    /* languages */
    "asm", "bash", "c", "c++", "cc", "cjs", "clj", "cljs", "coffee", "cpp", "cr", "cs", "cts", "cu",
    "cxx", "d", "dart", "elm", "erl", "ex", "exs", "f90", "fish", "fs", "fsx", "go", "gradle",
    "groovy", "h", "h++", "hh", "hpp", "hrl", "hs", "hxx", "java", "jl", "js", "jsx", "kt", "kts",
    "lean", "lisp", "lua", "m", "mjs", "ml", "mli", "mm", "mts", "nim", "nix", "pas", "php", "pl",
    "pm", "proto", "ps1", "py", "pyi", "pyx", "r", "rake", "rb", "rkt", "rs", "s", "scala", "scm",
    "sh", "sol", "sql", "svelte", "swift", "t", "tcl", "tf", "thrift", "ts", "tsx", "v", "vala",
    "vb", "vhd", "vue", "wat", "zig", "zsh", "graphql", "gql", "feature", "rego",
    /* markup, styles, templates */
    "adoc", "astro", "bib", "css", "ejs", "erb", "haml", "hbs", "htm", "html", "j2", "jinja",
    "less", "liquid", "md", "mdx", "mustache", "org", "po", "pot", "pug", "rst", "sass", "scss",
    "slim", "styl", "tex", "tmpl", "twig",
    /* pictures, fonts, patches */
    "bmp", "diff", "eot", "gif", "ico", "jpeg", "jpg", "otf", "patch", "png", "svg", "ttf", "webp",
    "woff", "woff2",
    /* built */
    "a", "beam", "class", "dll", "dylib", "exe", "gch", "gcda", "gcno", "hi", "lib", "lo", "map",
    "o", "obj", "pch", "pdb", "pyc", "pyd", "pyo", "rlib", "rmeta", "snap", "so", "wasm",
};
/* clang-format on */

static bool is_source_extension(const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT(source_extensions); i++)
        if ((text[0] | 0x20) == source_extensions[i][0] && strlen(source_extensions[i]) == length &&
            strncasecmp(source_extensions[i], text, length) == 0)
            return true;
    return false;
}

/* libsecret.so.1.2 too: version numbers behind a `so` do not count. */
static bool is_source(const char *name, size_t length)
{
    while (length > 0) {
        const char *dot = memrchr(name, '.', length);

        if (!dot || dot == name)
            return false;
        size_t n = (size_t)(name + length - dot - 1);
        if (n == 0 || strspn(dot + 1, "0123456789") < n)
            return is_source_extension(dot + 1, n);
        const char *so = memmem(name, length, ".so.", 4);
        if (!so)
            return false;
        length = (size_t)(dot - name);
    }
    return false;
}

bool protect_name_applies(unsigned conditions, const char *name, size_t length)
{
    return !(conditions & PROTECT_NOT_SOURCE) || !is_source(name, length);
}

bool protect_needs_content(unsigned conditions)
{
    return conditions &
           (PROTECT_NOT_SOURCE | PROTECT_PRIVATE_KEY | PROTECT_NOT_PUBLIC | PROTECT_CREDENTIAL);
}

static bool has(const char *bytes, size_t n, const char *text)
{
    return memmem(bytes, n, text, strlen(text)) != NULL;
}

static bool begins(const char *bytes, size_t n, const char *text, size_t length)
{
    return n >= length && memcmp(bytes, text, length) == 0;
}

/* A script or an executable file, which may lack an extension. */
static bool is_program(const char *bytes, size_t n)
{
    return begins(bytes, n, "#!", 2) || begins(bytes, n, "\177ELF", 4);
}

/* What is not text may be a key in another form. */
static bool has_private_key(const char *bytes, size_t n)
{
    return has(bytes, n, "PRIVATE KEY") || memchr(bytes, '\0', n) || begins(bytes, n, "\x30", 1);
}

/* Public keys and certificates; presentations have the same extension, and are zip archives. */
static bool is_public(const char *bytes, size_t n)
{
    if (begins(bytes, n, "PK\3\4", 4))
        return true;
    return (has(bytes, n, "PUBLIC KEY") || has(bytes, n, "-----BEGIN CERTIFICATE")) &&
           !has_private_key(bytes, n);
}

bool protect_content_applies(unsigned conditions, const char *bytes, size_t n, bool is_whole)
{
    if (conditions & PROTECT_NOT_SOURCE && is_program(bytes, n))
        return false;
    if (conditions & PROTECT_PRIVATE_KEY && is_whole && !has_private_key(bytes, n))
        return false;
    if (conditions & PROTECT_NOT_PUBLIC && is_whole && is_public(bytes, n))
        return false;
    if (conditions & PROTECT_CREDENTIAL && is_whole && !secret_content(bytes, n))
        return false;
    return true;
}
