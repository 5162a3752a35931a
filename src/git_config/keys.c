/*
 * keys.c - what is harmless, and why other things are not
 *
 * Each row was asked: can this value, chosen by an attacker, make a later git on the host run a
 * program, follow a path out of the repository, weaken a check, or send something elsewhere? Rows of
 * the first table say no, for values of their form. All else is refused; the second table is only
 * there to say why in better words.
 */
#include "keys.h"

#include <string.h>

#include "base/cleanup.h"
#include "git_config/values.h"

#define SUB true /* section "name".key */
#define TOP false

static const struct harmless {
    const char *base;
    bool has_sub;
    const char *name; /* "*": any */
    enum git_value form;
    const char *words;
} harmless[] = {
    /* Who commits: text that git only writes into commits. Not user.signingkey. */
    { "user", TOP, "name", GIT_VALUE_TEXT },
    { "user", TOP, "email", GIT_VALUE_TEXT },
    { "user", TOP, "useconfigonly", GIT_VALUE_BOOL },
    { "author", TOP, "name", GIT_VALUE_TEXT },
    { "author", TOP, "email", GIT_VALUE_TEXT },
    { "committer", TOP, "name", GIT_VALUE_TEXT },
    { "committer", TOP, "email", GIT_VALUE_TEXT },

    /* Remotes: not uploadpack, receivepack, vcs and proxy, which name programs; not push and mirror,
     * which change what a push does; not promisor and partialclonefilter, which make any command
     * fetch. */
    { "remote", SUB, "url", GIT_VALUE_URL },
    { "remote", SUB, "pushurl", GIT_VALUE_URL },
    { "remote", SUB, "fetch", GIT_VALUE_REFSPEC },
    { "remote", SUB, "tagopt", GIT_VALUE_WORD, "--tags --no-tags" },
    { "remote", SUB, "prune", GIT_VALUE_BOOL },
    { "remote", SUB, "prunetags", GIT_VALUE_BOOL },
    { "remote", SUB, "skipdefaultupdate", GIT_VALUE_BOOL },
    { "remote", SUB, "skipfetchall", GIT_VALUE_BOOL },
    { "remote", SUB, "followremotehead", GIT_VALUE_WORD, "create always warn never" },

    /* Branches: `remote` may also be a URL to git, here only a name. Not pushremote, and not
     * mergeoptions, which can name a strategy, that is a program. */
    { "branch", SUB, "remote", GIT_VALUE_REMOTE },
    { "branch", SUB, "merge", GIT_VALUE_REF },
    { "branch", SUB, "rebase", GIT_VALUE_WORD_OR_BOOL, "merges interactive preserve" },
    { "branch", SUB, "description", GIT_VALUE_LONG_TEXT },
    { "branch", TOP, "autosetupmerge", GIT_VALUE_WORD_OR_BOOL, "always inherit simple" },
    { "branch", TOP, "autosetuprebase", GIT_VALUE_WORD, "never local remote always" },

    /* Submodules: `update` may be "!command" to git. Clones from local paths are for git to allow
     * (protocol.file.allow). Not recurse, which lets a push push them too. */
    { "submodule", SUB, "url", GIT_VALUE_CLONE_URL },
    { "submodule", SUB, "active", GIT_VALUE_BOOL },
    { "submodule", SUB, "branch", GIT_VALUE_REF },
    { "submodule", SUB, "update", GIT_VALUE_WORD, "checkout rebase merge none" },
    { "submodule", SUB, "ignore", GIT_VALUE_WORD, "all dirty untracked none" },
    { "submodule", SUB, "shallow", GIT_VALUE_BOOL },
    { "submodule", SUB, "fetchrecursesubmodules", GIT_VALUE_WORD_OR_BOOL, "on-demand" },
    { "submodule", TOP, "active", GIT_VALUE_TEXT },
    { "submodule", TOP, "fetchjobs", GIT_VALUE_NUMBER },

    /* What init, clone and sparse-checkout write, and how files are compared and stored. Not
     * protectHFS and protectNTFS, not sharedRepository, and nothing that names a file or program. */
    { "core", TOP, "repositoryformatversion", GIT_VALUE_WORD, "0 1" },
    { "core", TOP, "filemode", GIT_VALUE_BOOL },
    { "core", TOP, "bare", GIT_VALUE_BOOL },
    { "core", TOP, "logallrefupdates", GIT_VALUE_WORD_OR_BOOL, "always" },
    { "core", TOP, "ignorecase", GIT_VALUE_BOOL },
    { "core", TOP, "precomposeunicode", GIT_VALUE_BOOL },
    { "core", TOP, "symlinks", GIT_VALUE_BOOL },
    { "core", TOP, "sparsecheckout", GIT_VALUE_BOOL },
    { "core", TOP, "sparsecheckoutcone", GIT_VALUE_BOOL },
    { "core", TOP, "autocrlf", GIT_VALUE_WORD_OR_BOOL, "input" },
    { "core", TOP, "safecrlf", GIT_VALUE_WORD_OR_BOOL, "warn" },
    { "core", TOP, "eol", GIT_VALUE_WORD, "lf crlf native" },
    { "core", TOP, "quotepath", GIT_VALUE_BOOL },
    { "core", TOP, "trustctime", GIT_VALUE_BOOL },
    { "core", TOP, "checkstat", GIT_VALUE_WORD, "default minimal" },
    { "core", TOP, "untrackedcache", GIT_VALUE_WORD_OR_BOOL, "keep" },
    { "core", TOP, "preloadindex", GIT_VALUE_BOOL },
    { "core", TOP, "commitgraph", GIT_VALUE_BOOL },
    { "core", TOP, "multipackindex", GIT_VALUE_BOOL },
    { "core", TOP, "splitindex", GIT_VALUE_BOOL },
    { "core", TOP, "abbrev", GIT_VALUE_WORD_OR_NUMBER, "auto no" },
    { "core", TOP, "compression", GIT_VALUE_NUMBER },
    { "core", TOP, "bigfilethreshold", GIT_VALUE_NUMBER },
    { "core", TOP, "worktree", GIT_VALUE_WORKTREE }, /* of a submodule only */

    /* worktreeConfig makes git read config.worktree, which is protected like this file. Not
     * partialClone. */
    { "extensions", TOP, "worktreeconfig", GIT_VALUE_BOOL },
    { "extensions", TOP, "relativeworktrees", GIT_VALUE_BOOL },
    { "extensions", TOP, "objectformat", GIT_VALUE_WORD, "sha1 sha256" },
    { "extensions", TOP, "refstorage", GIT_VALUE_WORD, "files reftable" },

    /* How commands that one calls oneself behave. push.default not as "matching", which pushes more
     * than one asked for; not commit.gpgsign and its like, which switch signing off. */
    { "init", TOP, "defaultbranch", GIT_VALUE_REF },
    { "pull", TOP, "rebase", GIT_VALUE_WORD_OR_BOOL, "merges interactive preserve" },
    { "pull", TOP, "ff", GIT_VALUE_WORD_OR_BOOL, "only" },
    { "push", TOP, "default", GIT_VALUE_WORD, "nothing current upstream simple" },
    { "push", TOP, "autosetupremote", GIT_VALUE_BOOL },
    { "fetch", TOP, "prune", GIT_VALUE_BOOL },
    { "fetch", TOP, "prunetags", GIT_VALUE_BOOL },
    { "fetch", TOP, "parallel", GIT_VALUE_NUMBER },
    { "fetch", TOP, "writecommitgraph", GIT_VALUE_BOOL },
    { "merge", TOP, "conflictstyle", GIT_VALUE_WORD, "merge diff3 zdiff3" },
    { "merge", TOP, "ff", GIT_VALUE_WORD_OR_BOOL, "only" },
    { "merge", TOP, "renames", GIT_VALUE_WORD_OR_BOOL, "copies copy" },
    { "merge", TOP, "renamelimit", GIT_VALUE_NUMBER },
    { "merge", TOP, "autostash", GIT_VALUE_BOOL },
    { "rebase", TOP, "autostash", GIT_VALUE_BOOL },
    { "rebase", TOP, "autosquash", GIT_VALUE_BOOL },
    { "rebase", TOP, "updaterefs", GIT_VALUE_BOOL },
    { "rebase", TOP, "missingcommitscheck", GIT_VALUE_WORD, "warn error ignore" },
    { "rerere", TOP, "enabled", GIT_VALUE_BOOL },
    { "rerere", TOP, "autoupdate", GIT_VALUE_BOOL },
    { "commit", TOP, "verbose", GIT_VALUE_WORD_OR_BOOL, "2" },
    { "commit", TOP, "cleanup", GIT_VALUE_WORD, "strip whitespace verbatim scissors default" },
    { "diff", TOP, "algorithm", GIT_VALUE_WORD, "default myers minimal patience histogram" },
    { "diff", TOP, "renames", GIT_VALUE_WORD_OR_BOOL, "copies copy" },
    { "diff", TOP, "renamelimit", GIT_VALUE_NUMBER },
    { "diff", TOP, "context", GIT_VALUE_NUMBER },
    { "diff", TOP, "noprefix", GIT_VALUE_BOOL },
    { "diff", TOP, "mnemonicprefix", GIT_VALUE_BOOL },
    { "diff", TOP, "submodule", GIT_VALUE_WORD, "short log diff" },
    { "diff", TOP, "colormoved", GIT_VALUE_WORD_OR_BOOL,
      "default plain blocks zebra dimmed-zebra dimmed_zebra" },
    { "status", TOP, "showuntrackedfiles", GIT_VALUE_WORD_OR_BOOL, "normal all" },
    { "status", TOP, "submodulesummary", GIT_VALUE_WORD_OR_NUMBER, "true false" },
    { "status", TOP, "branch", GIT_VALUE_BOOL },
    { "status", TOP, "short", GIT_VALUE_BOOL },
    { "status", TOP, "aheadbehind", GIT_VALUE_BOOL },
    { "stash", TOP, "showincludeuntracked", GIT_VALUE_BOOL },
    { "worktree", TOP, "guessremote", GIT_VALUE_BOOL },
    { "worktree", TOP, "userelativepaths", GIT_VALUE_BOOL },
    { "blame", TOP, "ignorerevsfile", GIT_VALUE_PATH_INSIDE },
    { "color", TOP, "*", GIT_VALUE_TEXT },
    { "color", SUB, "*", GIT_VALUE_TEXT },
    { "advice", TOP, "*", GIT_VALUE_BOOL },

    /* Upkeep. Not gc.recentObjectsHook; not the times after which things are lost. */
    { "gc", TOP, "auto", GIT_VALUE_NUMBER },
    { "gc", TOP, "autodetach", GIT_VALUE_BOOL },
    { "gc", TOP, "writecommitgraph", GIT_VALUE_BOOL },
    { "maintenance", TOP, "auto", GIT_VALUE_BOOL },
    { "maintenance", TOP, "strategy", GIT_VALUE_WORD, "none incremental geometric gc" },
    { "feature", TOP, "manyfiles", GIT_VALUE_BOOL },
    { "feature", TOP, "experimental", GIT_VALUE_BOOL },
    { "index", TOP, "version", GIT_VALUE_NUMBER },
    { "index", TOP, "threads", GIT_VALUE_WORD_OR_NUMBER, "true false" },
    { "index", TOP, "sparse", GIT_VALUE_BOOL },
    { "index", TOP, "skiphash", GIT_VALUE_BOOL },
    { "lfs", TOP, "repositoryformatversion", GIT_VALUE_WORD, "0" }, /* git-lfs notes it unasked */
};

#define RUNS    "git would run what it names"
#define READS   "git would read its rules from the file it names"
#define OTHERS  "git would talk to others than the owner meant, or show them credentials"
#define UNKNOWN "it is not among the keys that are known to be harmless"

static const struct harm {
    const char *base; /* "*": any */
    const char *name; /* "*": any */
    const char *why;
} harms[] = {
    { "core", "hookspath", "git would run the hooks in the directory it names" },
    { "core", "fsmonitor", RUNS },
    { "core", "sshcommand", RUNS },
    { "core", "gitproxy", RUNS },
    { "core", "pager", RUNS },
    { "core", "editor", RUNS },
    { "core", "askpass", RUNS },
    { "core", "alternaterefscommand", RUNS },
    { "core", "attributesfile", READS },
    { "core", "excludesfile", READS },
    { "core", "worktree", "git would write files in the directory it names" },
    { "core", "protecthfs", "git would check names less" },
    { "core", "protectntfs", "git would check names less" },
    { "core", "sharedrepository", "it opens the repository to other users" },
    { "remote", "uploadpack", RUNS },
    { "remote", "receivepack", RUNS },
    { "remote", "vcs", RUNS },
    { "remote", "push", "it changes what a push sends, and what it deletes there" },
    { "remote", "mirror", "it changes what a push sends, and what it deletes there" },
    { "remote", "promisor", "any command of git would fetch from there" },
    { "remote", "partialclonefilter", "any command of git would fetch from there" },
    { "remote", "pushdefault", OTHERS },
    { "branch", "pushremote", OTHERS },
    { "branch", "mergeoptions", RUNS },
    { "extensions", "partialclone", "any command of git would fetch from there" },
    { "include", "*", "git would read the file it names as configuration" },
    { "includeif", "*", "git would read the file it names as configuration" },
    { "alias", "*", "an alias is a command that somebody else wrote" },
    { "filter", "*", RUNS },
    { "credential", "*", OTHERS },
    { "url", "*", OTHERS },
    { "http", "*", OTHERS },
    { "https", "*", OTHERS },
    { "protocol", "*", "it opens transports that git keeps closed" },
    { "sendemail", "*", OTHERS },
    { "imap", "*", OTHERS },
    { "gpg", "*", RUNS },
    { "pager", "*", RUNS },
    { "difftool", "*", RUNS },
    { "mergetool", "*", RUNS },
    { "guitool", "*", RUNS },
    { "browser", "*", RUNS },
    { "web", "*", RUNS },
    { "man", "*", RUNS },
    { "trailer", "*", RUNS },
    { "hook", "*", RUNS },
    { "interactive", "difffilter", RUNS },
    { "sequence", "editor", RUNS },
    { "uploadpack", "*", "it changes what this repository serves, and can name a program" },
    { "receive", "*", "it changes what this repository accepts, and can name a program" },
    { "safe", "*", "it decides whose repositories git trusts" },
    { "*", "gpgsign", "it decides whether commits are signed" },
    { "*", "command", RUNS },
    { "*", "cmd", RUNS },
    { "*", "driver", RUNS },
    { "*", "textconv", RUNS },
    { "*", "external", RUNS },
    { "*", "program", RUNS },
    { "*", "editor", RUNS },
    { "*", "path", RUNS },
    { "*", "url", OTHERS },
};

static bool is_named(const char *pattern, const char *text, size_t n)
{
    return strcmp(pattern, "*") == 0 || (strlen(pattern) == n && memcmp(pattern, text, n) == 0);
}

static const char *why_harmful(const struct git_config_item *entry, size_t n_base)
{
    for (size_t i = 0; i < COUNT(harms); i++)
        if (is_named(harms[i].base, entry->section, n_base) &&
            is_named(harms[i].name, entry->name, strlen(entry->name)))
            return harms[i].why;
    return UNKNOWN;
}

/* A name that could be a URL or a path would stand in for it: `git fetch URL` looks for a remote of
 * that name first. */
static const char *bad_subsection(const char *base, size_t n_base, const char *sub)
{
    if (is_named("remote", base, n_base))
        return git_value_harm(GIT_VALUE_NAME, NULL, sub, NULL) ? "its remote has no plain name"
                                                               : NULL;
    if (is_named("submodule", base, n_base))
        return git_value_harm(GIT_VALUE_PATH_INSIDE, NULL, sub, NULL)
                   ? "its submodule has a name that leads elsewhere"
                   : NULL;
    return git_value_harm(GIT_VALUE_TEXT, NULL, sub, NULL) ? "its sub-section has no plain name"
                                                           : NULL;
}

const char *git_config_harm(const struct git_config_item *entry,
                            const struct git_config_place *place)
{
    size_t n_base = git_config_base_length(entry->section);
    bool has_sub = entry->section[n_base] == '.';

    for (size_t i = 0; i < COUNT(harmless); i++) {
        const struct harmless *row = &harmless[i];

        if (row->has_sub != has_sub || !is_named(row->base, entry->section, n_base) ||
            !is_named(row->name, entry->name, strlen(entry->name)))
            continue;
        const char *bad =
            has_sub ? bad_subsection(entry->section, n_base, git_config_subsection(entry->section))
                    : NULL;
        return bad ? bad : git_value_harm(row->form, row->words, entry->value, place);
    }
    return why_harmful(entry, n_base);
}
