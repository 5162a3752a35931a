#include "command_program.h"

#include <string.h>

#include "base/cleanup.h"

/* What makes git run a program, or a command that stands in its arguments. */
static const char *const git_runs[] = {
    "rebase --exec",
    "rebase -x",
    "bisect run",
    "submodule foreach",
    "filter-branch",
    "difftool",
    "mergetool",
    "grep --open-files-in-pager",
    "grep -O",
    "fetch --upload-pack",
    "pull --upload-pack",
    "clone --upload-pack",
    "clone -u",
    "clone --config",
    "clone -c",
    "clone --template",
    "init --template",
    "ls-remote --upload-pack",
    "ls-remote --exec",
    "fetch-pack --upload-pack",
    "fetch-pack --exec",
    "push --receive-pack",
    "push --exec",
    "send-pack --receive-pack",
    "send-pack --exec",
    "archive --exec",
    "daemon",
    "instaweb",
    "send-email",
    "shell",
    "web--browse",
    "for-each-repo",
    "hook run",
    "credential",
    "credential-cache",
    "credential-store",
    "svn",
    "p4",
    "cvsserver",
    "cvsimport",
    "cvsexportcommit",
    "gui",
    "citool",
    "remote-ext",
    "remote-fd",
    "upload-pack",
    "receive-pack",
    "http-backend",
    "imap-send",
    "merge-index",
    "maintenance start",
    "config --edit",
    "config -e",
    "config edit",
    NULL,
};

/* Everything else that git is asked for may be an alias of the repository's, or a program git-NAME. */
static const char *const git_commands[] = {
    "add",
    "am",
    "annotate",
    "apply",
    "archimport",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bugreport",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "checkout-index",
    "cherry",
    "cherry-pick",
    "citool",
    "clean",
    "clone",
    "column",
    "commit",
    "commit-graph",
    "commit-tree",
    "config",
    "count-objects",
    "credential",
    "credential-cache",
    "credential-store",
    "cvsexportcommit",
    "cvsimport",
    "cvsserver",
    "daemon",
    "describe",
    "diagnose",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fast-export",
    "fast-import",
    "fetch",
    "fetch-pack",
    "filter-branch",
    "fmt-merge-msg",
    "for-each-ref",
    "for-each-repo",
    "format-patch",
    "fsck",
    "gc",
    "get-tar-commit-id",
    "grep",
    "gui",
    "hash-object",
    "help",
    "hook",
    "http-backend",
    "http-fetch",
    "http-push",
    "imap-send",
    "index-pack",
    "init",
    "init-db",
    "instaweb",
    "interpret-trailers",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "mailinfo",
    "mailsplit",
    "maintenance",
    "merge",
    "merge-base",
    "merge-file",
    "merge-index",
    "merge-one-file",
    "merge-tree",
    "mergetool",
    "mktag",
    "mktree",
    "multi-pack-index",
    "mv",
    "name-rev",
    "notes",
    "p4",
    "pack-objects",
    "pack-redundant",
    "pack-refs",
    "patch-id",
    "prune",
    "prune-packed",
    "pull",
    "push",
    "quiltimport",
    "range-diff",
    "read-tree",
    "rebase",
    "receive-pack",
    "reflog",
    "remote",
    "remote-ext",
    "remote-fd",
    "repack",
    "replace",
    "request-pull",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "send-email",
    "send-pack",
    "shell",
    "shortlog",
    "show",
    "show-branch",
    "show-index",
    "show-ref",
    "sparse-checkout",
    "stage",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "svn",
    "switch",
    "symbolic-ref",
    "tag",
    "unpack-file",
    "unpack-objects",
    "update-index",
    "update-ref",
    "update-server-info",
    "upload-archive",
    "upload-pack",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "version",
    "web--browse",
    "whatchanged",
    "worktree",
    "write-tree",
    NULL,
};

static const char *const go_runs[] = { "-exec", "-toolexec", "-vettool", NULL };
/* The last two do several things at once, for which there are names of their own. */
static const char *const npm_runs[] = { "--script-shell",  "exec", "explore", "install-test",
                                        "install-ci-test", NULL };
static const char *const cargo_runs[] = { "--config", NULL };
static const char *const just_runs[] = { "--command", "-c", "--shell", "--chooser", NULL };
static const char *const make_runs[] = { "--eval", "-E", NULL };

static const struct command_program programs[] = {
    {
        .name = "git",
        .valued = "-C -c --git-dir --work-tree --namespace --super-prefix --config-env "
                  "--attr-source",
        .flags = "-p --paginate -P --no-pager --no-replace-objects --bare --literal-pathspecs "
                 "--glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks "
                 "--no-lazy-fetch --no-advice --version -v --help -h --html-path --man-path "
                 "--info-path",
        .text = "-m --message --grep --author --committer -S -G --format --pretty --since --until "
                "--after --before --trailer --date",
        .directory = "-C",
        .runs_others = git_runs,
        .commands = git_commands,
    },
    {
        .name = "go",
        .valued = "",
        .flags = "",
        .text = "-run -ldflags -tags -gcflags",
        .runs_others = go_runs,
        .has_long_single_dash = true,
        .takes_whole_options = true,
    },
    {
        .name = "npm",
        .valued = "--prefix -C --registry --cache --loglevel --workspace -w --omit --include --tag "
                  "--userconfig --globalconfig",
        .flags = "-s --silent -q --quiet -d --verbose -g --global -y --yes --no-audit --no-fund "
                 "--force -f --offline --prefer-offline --json --if-present -v --version -h --help "
                 "-ws --workspaces",
        .text = "-m --message",
        .directory = "-C",
        .runs_others = npm_runs,
        .abbreviates_commands = true,
    },
    {
        .name = "cargo",
        .valued = "-C -Z --color --config",
        .flags = "-v --verbose -vv -q --quiet --frozen --locked --offline --list -V --version -h "
                 "--help",
        .text = "",
        .directory = "-C",
        .runs_others = cargo_runs,
        .takes_whole_options = true,
        .skips_plus = true,
    },
    {
        .name = "docker",
        .valued = "--config -c --context -H --host -l --log-level --tlscacert --tlscert --tlskey",
        .flags = "-D --debug --tls --tlsverify -v --version --help",
        .text = "",
        .takes_whole_options = true,
    },
    {
        .name = "podman",
        .valued = "--cdi-spec-dir --cgroup-manager --config --conmon -c --connection --context "
                  "--events-backend --hooks-dir -H --host --identity --imagestore --log-level "
                  "--module --network-config-dir --out --pull-option --registries-conf --root "
                  "--runroot --runtime --runtime-flag --ssh --storage-driver --storage-opt "
                  "--tls-ca --tls-cert --tls-key --tmpdir --url --volumepath",
        .flags = "-D --debug --noout -r --remote --syslog --trace --transient-store -v --version "
                 "-h --help",
        .text = "",
        .takes_whole_options = true,
    },
    {
        .name = "nerdctl",
        .valued =
            "-a --address -H --host --cgroup-manager --cni-netconfpath --cni-path --data-root "
            "--hosts-dir -n --namespace --snapshotter --storage-driver",
        .flags = "--debug --debug-full --experimental --insecure-registry -v --version -h --help",
        .text = "",
        .takes_whole_options = true,
    },
    {
        .name = "kubectl",
        .valued = "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as "
                  "--as-group --as-uid --cache-dir --certificate-authority --client-certificate "
                  "--client-key --request-timeout --tls-server-name --password --username "
                  "--profile --profile-output --log-flush-frequency --v -v --vmodule",
        .flags = "--insecure-skip-tls-verify --match-server-version --warnings-as-errors "
                 "--disable-compression --help -h",
        .text = "",
        .takes_whole_options = true,
    },
    {
        .name = "make",
        .valued = "-C --directory -f --file --makefile -I --include-dir -o --old-file -W --what-if",
        .flags = "-B --always-make -e -i --ignore-errors -j --jobs -k --keep-going -n --dry-run "
                 "--just-print -q -r -R -s --silent --quiet -S -t -w --no-print-directory "
                 "--print-directory --output-sync -O -h --help -v --version --trace",
        .text = "",
        .directory = "-C",
        .runs_others = make_runs,
        .takes_many = true,
    },
    {
        .name = "just",
        .valued = "-f --justfile -d --working-directory --color --dotenv-filename --dotenv-path "
                  "--list-heading --list-prefix --dump-format --shell-arg",
        .flags = "-n --dry-run -q --quiet -v --verbose --yes --unstable --highlight "
                 "--no-highlight --no-dotenv --no-deps --clear-shell-args -l --list --summary "
                 "--dump --evaluate --variables -u --unsorted -V --version -h --help",
        .text = "",
        .runs_others = just_runs,
        .takes_many = true,
    },
    { .name = "ninja",
      .valued = "-C -f -j -k -l -d -w -t",
      .flags = "-n -v --verbose --quiet --version -h --help",
      .text = "",
      .directory = "-C",
      .takes_many = true },
};

const char *command_program_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

const struct command_program *command_program_find(const char *name)
{
    for (size_t i = 0; i < COUNT(programs); i++)
        if (strcmp(programs[i].name, name) == 0)
            return &programs[i];
    return NULL;
}

static const struct command_spelling spellings[] = {
    { "git", "push", 'f', "force" },
    { "git", "push", 'd', "delete" },
    { "git", "push", 'n', "dry-run" },
    { "git", "push", 'u', "set-upstream" },
    { "git", "push", 'q', "quiet" },
    { "git", "push", 'v', "verbose" },
    { "git", "clean", 'f', "force" },
    { "git", "clean", 'n', "dry-run" },
    { "git", "clean", 'i', "interactive" },
    { "git", "clean", 'q', "quiet" },
    { "git", "fetch", 'f', "force" },
    { "git", "fetch", 'p', "prune" },
    { "git", "fetch", 't', "tags" },
    { "git", "pull", 'f', "force" },
    { "git", "pull", 'r', "rebase" },
    { "git", "checkout", 'f', "force" },
    { "git", "switch", 'f', "force" },
    { "git", "switch", 'f', "discard-changes" },
    { "git", "branch", 'f', "force" },
    { "git", "branch", 'd', "delete" },
    { "git", "branch", 'm', "move" },
    { "git", "tag", 'f', "force" },
    { "git", "tag", 'd', "delete" },
    { "git", "rm", 'f', "force" },
    { "git", "mv", 'f', "force" },
    { "git", "add", 'f', "force" },
    { "git", "add", 'A', "all" },
    { "git", "commit", 'a', "all" },
    { "git", "commit", 'n', "no-verify" },
    { "git", "commit", 's', "signoff" },
    { "git", "commit", 'm', "message" },
    { "git", "rebase", 'i', "interactive" },
    { "git", "rebase", 'x', "exec" },
    { "git", "clone", 'u', "upload-pack" },
    { "git", "clone", 'c', "config" },
    { "git", "grep", 'O', "open-files-in-pager" },
    { "git", "config", 'e', "edit" },
    { "npm", NULL, 'g', "global" },
    { "npm", NULL, 'f', "force" },
    { "docker", "rm", 'f', "force" },
    { "docker", "run", 'v', "volume" },
    { "docker", "create", 'v', "volume" },
    { "podman", "rm", 'f', "force" },
    { "podman", "run", 'v', "volume" },
    { "podman", "create", 'v', "volume" },
    { "nerdctl", "rm", 'f', "force" },
    { "nerdctl", "run", 'v', "volume" },
    { "nerdctl", "create", 'v', "volume" },
    { "kubectl", "delete", 'f', "filename" },
    { "kubectl", "apply", 'f', "filename" },
    { "just", NULL, 'c', "command" },
    { "make", NULL, 'E', "eval" },
    { "rm", NULL, 'r', "recursive" },
    { "rm", NULL, 'f', "force" },
};

const struct command_spelling *command_program_spelling(const char *program, const char *command,
                                                        char letter, const char *name, size_t n)
{
    for (size_t i = 0; i < COUNT(spellings); i++) {
        const struct command_spelling *row = &spellings[i];

        if (strcmp(row->program, program) != 0 ||
            (row->command && (!command || strcmp(row->command, command) != 0)))
            continue;
        if (letter ? row->letter == letter
                   : strlen(row->name) == n && memcmp(row->name, name, n) == 0)
            return row;
    }
    return NULL;
}

static const struct {
    const char *program;
    const char *command;
    const char *letters;
} valued_letters[] = {
    { "git", "push", "o" },   { "git", "clean", "e" },      { "git", "commit", "mFCct" },
    { "git", "tag", "muF" },  { "git", "clone", "bouj" },   { "git", "rebase", "xsX" },
    { "git", "log", "nSGL" }, { "git", "fetch", "jo" },     { "git", "merge", "msXF" },
    { "git", "reset", "" },   { "git", "checkout", "bBU" }, { "git", "status", "" },
    { "git", "add", "" },     { "git", "rm", "" },          { "git", "branch", "u" },
    { "git", "stash", "m" },  { "git", "restore", "s" },    { "git", "switch", "cC" },
};

const char *command_program_valued_letters(const char *program, const char *command)
{
    for (size_t i = 0; command && i < COUNT(valued_letters); i++)
        if (strcmp(valued_letters[i].program, program) == 0 &&
            strcmp(valued_letters[i].command, command) == 0)
            return valued_letters[i].letters;
    return NULL;
}

bool command_program_has_plus(const char *program, const char *command, const char *flag)
{
    static const char refspecs[] = "push fetch pull";

    return strcmp(program, "git") == 0 && command &&
           command_program_lists(refspecs, command, strlen(command)) && strcmp(flag, "force") == 0;
}

/* `git clean -f .` removes directories too: -d is about what happens without paths. */
bool command_program_has_operand(const char *program, const char *command, const char *flag)
{
    return strcmp(program, "git") == 0 && command && strcmp(command, "clean") == 0 &&
           strcmp(flag, "d") == 0;
}

/* A third spelling of a flag; of letters, it may be any in a word of them. */
static const struct {
    const char *program;
    const char *command; /* NULL: any */
    const char *flag;
    const char *begins;
    char letter;
} implications[] = {
    { "npm", NULL, "global", "--loc", 0 }, /* --location=global */
    { "npm", NULL, "global", NULL, 'L' },
    { "rm", NULL, "recursive", NULL, 'R' },
    { "git", "push", "force", "--mi", 0 }, /* a mirror overwrites what is on the other side */
    { "git", "clean", "force", "--i", 0 }, /* --interactive asks whatever is on standard input */
    { "git", "clean", "force", NULL, 'i' },
    { "git", "branch", "force", NULL, 'D' },
    { "git", "branch", "force", NULL, 'M' },
    { "git", "branch", "force", NULL, 'C' },
    { "git", "branch", "delete", NULL, 'D' },
    { "git", "branch", "move", NULL, 'M' },
    { "git", "switch", "force", "--dis", 0 }, /* --discard-changes */
    { "git", "switch", "discard-changes", "--fo", 0 },
};

/* A refspec that begins with '+' overwrites what is on the other side. */
bool command_program_implies(const char *program, const char *command, const char *flag,
                             const char *word)
{
    if (word[0] == '+')
        return command_program_has_plus(program, command, flag);
    for (size_t i = 0; i < COUNT(implications); i++) {
        if (strcmp(implications[i].program, program) != 0 ||
            (implications[i].command &&
             (!command || strcmp(implications[i].command, command) != 0)) ||
            strcmp(implications[i].flag, flag) != 0 || word[0] != '-')
            continue;
        if (implications[i].begins
                ? strncmp(word, implications[i].begins, strlen(implications[i].begins)) == 0
                : word[1] != '-' && strchr(word, implications[i].letter))
            return true;
    }
    return false;
}

bool command_program_lists(const char *list, const char *word, size_t n)
{
    while (*list) {
        size_t length = strcspn(list, " ");

        if (length == n && memcmp(list, word, n) == 0)
            return true;
        list += length;
        list += strspn(list, " ");
    }
    return false;
}
