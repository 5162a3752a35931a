/* worlds: user */
#include "rules.h"

#include <errno.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "command/pattern.h"
#include "test/check.h"

/* ---- the policy of the tests */

static const struct {
    const char *name;
    const char *allowed[5];
    const char *blocked[4];
} extra[] = {
    { "go", { "build", "test", "vet", "mod" }, { "install" } }, /* as the seed has it */
    { "npm", { "install", "test", "run", "build" }, { "install --global" } },
    { "make", { NULL }, { NULL } },
    { "ninja", { "build", "test" }, { NULL } },
    { "docker", { NULL }, { "compose down", "run --privileged" } },
    { "kubectl", { NULL }, { "delete" } },
    { "cargo", { NULL }, { "publish" } },
    { "terraform", { NULL }, { "apply -auto-approve" } },
    { "tool", { NULL }, { "deploy --prod" } },
    { "strict", { "remote add", "push --dry-run", "list", "sync --all --now" }, { NULL } },
    { "cat", { NULL }, { NULL } },
    { "ls", { NULL }, { NULL } },
    { "rm", { NULL }, { "-rf" } },
    { "find", { NULL }, { NULL } },
    { "./local.sh", { NULL }, { NULL } },
};

static void fill(struct command_rules *rules)
{
    CHECK(command_rules_defaults(rules, NULL) == 0);
    for (size_t i = 0; i < COUNT(extra); i++) {
        const struct origin at = { "coop.toml", (unsigned)i + 10, 1 };
        struct command_rule *rule;

        CHECK(command_rules_add(rules, extra[i].name, at, &rule, NULL) == 0);
        for (size_t k = 0; k < COUNT(extra[i].allowed) && extra[i].allowed[k]; k++)
            CHECK(command_rule_allow(rule, extra[i].allowed[k], at, NULL) == 0);
        for (size_t k = 0; k < COUNT(extra[i].blocked) && extra[i].blocked[k]; k++)
            CHECK(command_rule_block(rule, extra[i].blocked[k], at, NULL) == 0);
    }
}

/* Inside are /work and /tmp; commands start in /work/src; home is /work. */
static int is_outside(void *opaque, const char *path, bool may_write)
{
    const char *parts[64] = { "work", "src" };
    size_t n = 2;
    char copy[512];

    (void)opaque;
    (void)may_write;
    CHECK(strlen(path) < sizeof copy);
    memcpy(copy, path, strlen(path) + 1);
    if (copy[0] == '/')
        n = 0;
    else if (copy[0] == '~')
        n = copy[1] == '\0' || copy[1] == '/' ? 1 : 0;
    char *rest = copy + (copy[0] == '~');
    for (char *part = strtok_r(rest, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        if (strcmp(part, "..") == 0)
            n -= n > 0;
        else if (strcmp(part, ".") != 0 && n < COUNT(parts))
            parts[n++] = part;
    }
    return n > 0 && (strcmp(parts[0], "work") == 0 || strcmp(parts[0], "tmp") == 0) ? 0 : 1;
}

static const struct command_context context = { .check_path = is_outside };

/* ---- the table: a command line, and NULL if it is allowed or a part of the reason why not */

struct row {
    const char *text;
    const char *why;
};

static void check_rows(const struct row *rows, size_t n, const struct command_context *how)
{
    auto_command_rules struct command_rules rules = { 0 };
    unsigned n_wrong = 0;

    fill(&rules);
    for (size_t i = 0; i < n; i++) {
        auto_command_decision struct command_decision decision = { 0 };

        CHECK(command_rules_decide_text(&rules, rows[i].text, strlen(rows[i].text), how, &decision,
                                        NULL) == 0);
        bool is_right = decision.is_allowed == !rows[i].why && decision.why &&
                        (!rows[i].why || strstr(decision.why, rows[i].why));
        if (is_right)
            continue;
        n_wrong++;
        printf("# %s\n#   expected: %s\n#   got:      %s%s\n", rows[i].text,
               rows[i].why ? rows[i].why : "allowed", decision.is_allowed ? "allowed: " : "",
               decision.why ? decision.why : "(nothing)");
    }
    CHECK(n_wrong == 0);
}

#define ROWS(name, ...)                                         \
    TEST(name)                                                  \
    {                                                           \
        static const struct row rows[] = { __VA_ARGS__ };       \
        check_rows(rows, sizeof rows / sizeof *rows, &context); \
    }

#define FORCE  "'git push --force' is blocked"
#define HARD   "'git reset --hard' is blocked"
#define CLEAN  "'git clean -fd' is blocked"
#define NOT_IN "is not among the allowed commands"
#define OUT    "leads out of"

/* clang-format off */
ROWS(a_force_push_is_blocked_in_every_spelling,
    { "git push --force", FORCE },
    { "git push -f", FORCE },
    { "git push --force origin main", FORCE },
    { "git push origin main --force", FORCE },
    { "git push origin --force main", FORCE },
    { "git push origin main -f", FORCE },
    { "git push -uf origin main", FORCE },
    { "git push -fu origin main", FORCE },
    { "git push -vf", FORCE },
    { "git push --forc", FORCE },
    { "git push --for", FORCE },
    { "git push --f", FORCE },
    { "git push --force=yes", FORCE },
    { "git push origin +main", FORCE },
    { "git push origin +main:main", FORCE },
    { "git push origin -- +main", FORCE },
    { "git push --mirror", FORCE },
    { "git push --mirro origin", FORCE },
    { "git -C sub push -f", FORCE },
    { "git -C sub push --force", FORCE },
    { "git --git-dir=.git push --force", FORCE },
    { "git --git-dir .git --work-tree . push --force", FORCE },
    { "git --no-pager -C sub -C .. push origin -f", FORCE },
    { "git -c user.name=x push -f", FORCE },
    { "git -p push -f", FORCE },
    { "git send-pack --force origin main", FORCE },
    { "/usr/bin/git push -f", FORCE },
    { "env git push -f", FORCE },
    { "env A=b git push -f", FORCE },
    { "nice -n 5 git push -f", FORCE },
    { "timeout 60 git push --force", FORCE },
    { "nohup git push -f &", FORCE },
    { "command git push -f", FORCE },
    { "exec git push -f", FORCE },
    { "time git push -f", FORCE },
    { "sh -c 'git push -f'", FORCE },
    { "bash -c \"git push --force\"", FORCE },
    { "env timeout 5 sh -c 'git status && git push -f'", FORCE },
    { "echo x | xargs git push -f", FORCE },
    { "git status; git push -f", FORCE },
    { "git status && git push -f", FORCE },
    { "git status || git push -f", FORCE },
    { "git status | git push -f", FORCE },
    { "git status & git push -f", FORCE },
    { "(git push -f)", FORCE },
    { "{ git push -f; }", FORCE },
    { "if git status; then git push -f; fi", FORCE },
    { "while git push -f; do :; done", FORCE },
    { "for i in 1; do git push -f; done", FORCE },
    { "case x in x) git push -f;; esac", FORCE },
    { "f() { git push -f; }; f", FORCE },
    { "! git push -f", FORCE },
    { "git 'push' \"--force\"", FORCE },
    { "git pu\\sh --for''ce", FORCE },
    { "g'i't push -f", FORCE },
    { "git push \\\n --force", FORCE },
    { "git push -o --force", FORCE }, /* here a value, but who can tell for every option */
    { "git push --push-option -- --force", FORCE })

ROWS(a_push_without_force_is_allowed,
    { "git push", NULL },
    { "git push origin main", NULL },
    { "git push -u origin main", NULL },
    { "git push --force-with-lease", NULL },
    { "git push --force-with-lease=main origin", NULL },
    { "git push --force-if-includes --force-with-lease", NULL },
    { "git push --follow-tags", NULL },
    { "git push --tags", NULL },
    { "git push origin main:main", NULL },
    { "git push origin -- main", NULL },
    { "git push origin main -- --force", NULL },
    { "git push -q -- --force", NULL },
    { "git push -of", NULL },
    { "git push -o ci.skip", NULL },
    { "git push --no-force", NULL },
    { "git push --delete origin old", NULL },
    { "git -C sub push origin main", NULL },
    { "git commit -m 'push --force'", NULL },
    { "git commit -m --force", NULL },
    { "git log --grep=--force", NULL },
    { "git stash push", NULL },
    { "git fetch --force", NULL },
    { "git checkout -f main", NULL },
    { "echo git push --force", NULL })

ROWS(resets_and_cleans,
    { "git reset --hard", HARD },
    { "git reset --hard HEAD~1", HARD },
    { "git reset HEAD~1 --hard", HARD },
    { "git reset --har", HARD },
    { "git reset --h", HARD },
    { "git -C sub reset -q --hard", HARD },
    { "git reset", NULL },
    { "git reset --soft HEAD~1", NULL },
    { "git reset HEAD -- --hard", NULL },
    { "git reset -- --hard", NULL },
    { "git clean -fd", CLEAN },
    { "git clean -df", CLEAN },
    { "git clean -f -d", CLEAN },
    { "git clean -d -f", CLEAN },
    { "git clean -fdx", CLEAN },
    { "git clean -xdf", CLEAN },
    { "git clean -ffd", CLEAN },
    { "git clean --force -d", CLEAN },
    { "git clean -d --force", CLEAN },
    { "git clean -d --for", CLEAN },
    { "git clean -q -d -x -f .", CLEAN },
    { "git clean -f", NULL },
    { "git clean -d", NULL },
    { "git clean -n", NULL },
    { "git clean -nd", NULL },
    { "git clean -f .", CLEAN }, /* with paths, directories go without -d */
    { "git clean -f -- -d", CLEAN },
    { "git clean --force sub", CLEAN },
    { "git clean -f \"sub/$x\"", "cannot be told" },
    { "git clean -id", CLEAN }, /* takes its answers from standard input */
    { "git clean --interactive -d", CLEAN },
    { "git clean -d --int", CLEAN },
    { "git clean -n sub", NULL },
    { "git -C sub clean -f", NULL },
    { "git clean -i", NULL },
    { "git clean -f -e d", NULL },
    { "git clean -f -e d sub", CLEAN },
    { "git clean -fed", NULL })

ROWS(what_cannot_be_told_is_refused,
    { "git push $x", "cannot be told" },
    { "git push \"$x\"", "cannot be told" },
    { "git push origin \"$branch\"", "cannot be told" }, /* it may hold "+main" */
    { "git push origin \"refs/$branch\"", NULL },
    { "git push *", "cannot be told" },
    { "git push -- *.c", "cannot be told" },
    { "git push {origin,--force}", "cannot be told" },
    { "git push -$x", "cannot be told" },
    { "git push --$x", "cannot be told" },
    { "git push --push-option=\"$x\"", NULL },
    { "git reset \"$x\"", "cannot be told" },
    { "git reset -- \"$x\"", NULL },
    { "git reset \"HEAD~$n\"", NULL },
    { "git clean \"$x\"", "cannot be told" },
    { "git clean -d \"$x\"", "cannot be told" },
    { "git $x", "not known before it runs" },
    { "git \"$x\" --force", "not known before it runs" },
    { "git -C \"$x\" push", "the directory behind '-C' is not known" },
    { "git --unknown push", "may take the next word" },
    { "git add \"$x\"", NULL },
    { "git add *.c", NULL },
    { "git log $x", NULL },
    { "git commit -m \"$x\"", NULL },
    { "git fetch \"$remote\"", "cannot be told" },
    { "git fetch -- \"$remote\"", NULL },
    { "echo x | xargs git push", "cannot be told" },
    { "echo x | xargs git add", NULL },
    { "echo x | xargs git push origin --", "cannot be told" },
    { "echo x | xargs -I X git add X", NULL },
    { "echo x | xargs -I X git push X", "cannot be told" },
    { "echo x | xargs -I X git X", "not known before it runs" },
    { "$x", "command position" },
    { "$x push", "command position" },
    { "git$x push", "command position" },
    { "$(echo git) push", "command substitution" },
    { "git push $(echo --force)", "command substitution" },
    { "git push `echo --force`", "command substitution" },
    { "eval git push -f", "'eval' runs commands" },
    { "source x.sh", "'source' runs commands" },
    { ". ./x.sh", "'.' runs commands" },
    { "alias git=rm; git x", "'alias' changes how" },
    { "trap 'rm x' EXIT", "'trap' runs commands" },
    { "PATH=/tmp git status", "'PATH' changes what is run" },
    { "GIT_SSH_COMMAND=x git fetch", "'GIT_SSH_COMMAND' changes" },
    { "env LD_PRELOAD=x git status", "'LD_PRELOAD'" },
    { "export GIT_DIR=/x; git status", "'GIT_DIR'" },
    { "git status\r\n", "carriage return" },
    { "git status 'x", "not closed" },
    { "sh -c \"$x\"", "not known before" },
    { "bash -c 'git push $(x)'", "command substitution" },
    { "git() { rm x; }; git status", "takes the place of" },
    { "cat() { git push; }; ls", "takes the place of" })

ROWS(programs_that_are_not_listed,
    { "curl x", NOT_IN },
    { "sudo git status", NOT_IN },
    { "python3 -c 'x'", NOT_IN },
    { "bash", NOT_IN },
    { "bash x.sh", NOT_IN },
    { "sh x.sh", NOT_IN },
    { "echo x | sh", NOT_IN },
    { "busybox sh -c 'git status'", NOT_IN },
    { "git status && curl x", NOT_IN },
    { "git status; (curl x)", NOT_IN },
    { "env curl x", NOT_IN },
    { "env", NOT_IN },
    { "nice", NOT_IN },
    { "xargs", NOT_IN },
    { "nohup echo x", NOT_IN }, /* here a program, not the shell's own */
    { "exec echo x", NOT_IN },
    { "sh -c 'curl x'", NOT_IN },
    { "find . -exec curl {} \\;", NOT_IN },
    { "f() { git status; }; g", NOT_IN },
    { "false && curl() { git status; }; curl x", NOT_IN },
    { "curl() { git status; } | cat; curl x", NOT_IN },
    { "curl() { git status; }; curl x", NULL },
    { "''", NOT_IN },
    { "./git status", "is a file of its own" },
    { "/tmp/git status", "is a file of its own" },
    { "../git status", "is a file of its own" },
    { "./local.sh x", NULL },
    { "local.sh x", NOT_IN },
    { "/usr/bin/git status", NULL },
    { "/bin/git status", NULL },
    { "/usr/bin/../../tmp/git status", "is a file of its own" },
    { "git", NULL },
    { "fest status", NULL },
    { "camp x --y", NULL },
    { "just build", NULL },
    { "echo hi; true; [ -f x ] && test -d y; cd sub && pwd", NULL },
    { "set -euo pipefail; git status", NULL },
    { "A=b; export B=\"$A\"; git status", NULL },
    { "time git status", NULL },
    { "env -i git status", NULL },
    { "timeout 5 git status", NULL },
    { "command -v git", NULL },
    { "exec git status", NULL },
    { "PAGER=cat git log", NULL },
    { "GIT_AUTHOR_NAME=x git commit", NULL },
    { "LC_ALL=C git status", NULL },
    { "GOOS=linux go build", NULL })

ROWS(what_makes_git_run_other_things,
    { "git -c alias.x='!sh' x", "alias.x" },
    { "git -c core.pager=sh log", "core.pager" },
    { "git -c core.sshCommand=sh fetch", "core.sshCommand" },
    { "git -c CORE.SSHCOMMAND=sh fetch", "CORE.SSHCOMMAND" },
    { "git -c remote.origin.push=+main push", "remote.origin.push" },
    { "git -c \"$x\" status", "not known before it runs" },
    { "git -c user.name=x commit", NULL },
    { "git -c x status", "is no key" },
    { "git --config-env=core.pager=X log", "--config-env" },
    { "git --config-env core.pager=X log", "--config-env" },
    { "git --exec-path=/tmp status", "--exec-path" },
    { "git co main", "may be an alias" },
    { "git pushf", "may be an alias" },
    { "git rebase --exec 'rm x' main", "runs commands" },
    { "git rebase -x 'rm x' main", "runs commands" },
    { "git rebase -ix 'rm x' main", "runs commands" },
    { "git bisect run rm x", "runs commands" },
    { "git bisect start", NULL },
    { "git submodule foreach 'rm x'", "runs commands" },
    { "git submodule --quiet foreach 'rm x'", "cannot be told" },
    { "git submodule update --init", NULL },
    { "git grep -O x", "runs commands" },
    { "git grep -Orm x", "runs commands" },
    { "git fetch --upload-pack=rm", "runs commands" },
    { "git clone -c core.pager=x y", "runs commands" },
    { "git clone -u rm x", "runs commands" },
    { "git filter-branch --tree-filter x", "runs commands" },
    { "git config alias.x '!rm'", "alias.x" },
    { "git config core.hooksPath x", "core.hooksPath" },
    { "git config --global core.pager x", "core.pager" },
    { "git config -f x.cfg core.pager x", "core.pager" },
    { "git config user.name x", NULL },
    { "git config --get core.pager", NULL },
    { "git config core.pager", NULL },
    { "git config --list", NULL },
    { "git config --comment get core.pager x", "core.pager" },
    { "git config --global --comm --get core.pager x", "core.pager" },
    { "git config set --comment unset core.pager x", "core.pager" },
    { "git config --comment --file core.pager x", "core.pager" },
    { "git config -zf x.cfg core.pager x", "core.pager" },
    { "git config get core.pager", NULL },
    { "git config -f x.cfg user.name x", NULL },
    { "git config --type bool user.name", NULL },
    { "git config \"$x\" y", "not known before it runs" },
    { "just --command rm x", "runs commands" },
    { "just -c 'rm x'", "runs commands" },
    { "make --eval='x:;rm'", "runs commands" },
    { "make SHELL=/tmp/x", "'SHELL' changes" },
    { "make 'SHELL =/tmp/x'", "'SHELL' changes" },
    { "make SHELL::=/tmp/x", "'SHELL' changes" },
    { "make 'X!=rm x'", "can run commands" },
    { "make 'X:=$(shell rm x)'", "can run commands" },
    { "make X=SHELL '$(X)=/tmp/x'", "can run commands" },
    { "make -- \"$x\"", "sets a variable" },
    { "make \"X=$x\"", "sets a variable" },
    { "make all X=1 CFLAGS='-O2 -g'", NULL },
    { "make -j4 all", NULL },
    { "go test -exec rm", "runs commands" },
    { "go build -toolexec=rm", "runs commands" },
    { "npm run x --script-shell=rm", "runs commands" },
    { "npm exec -- rm x", "runs commands" },
    { "npm x -c 'rm x'", "runs commands" },
    { "npm explore y -- rm x", "runs commands" },
    { "npm it y", "runs commands" })

ROWS(sub_commands,
    { "go build", NULL },
    { "go test ./...", NULL },
    { "go test -race ./...", NULL },
    { "go mod tidy", NULL },
    { "go install", "'go install' is blocked" },
    { "go run x.go", "'go run' is not among the allowed" },
    { "go", "without a sub-command" },
    { "go version", NULL },
    { "go -x build", "cannot be told" },
    { "go $x", "cannot be told" },
    { "npm install", NULL },
    { "npm i left-pad", NULL },
    { "npm --prefix sub install", NULL },
    { "npm install -g x", "'npm install --global' is blocked" },
    { "npm i -g x", "'npm install --global' is blocked" },
    { "npm -g i x", "'npm install --global' is blocked" },
    { "npm i --location=global x", "'npm install --global' is blocked" },
    { "npm i -L global x", "'npm install --global' is blocked" },
    { "npm i x --location global", "'npm install --global' is blocked" },
    { "npm publish", "not among the allowed sub-commands" },
    { "npm run build", NULL },
    { "npm t", NULL },
    { "npm --frobnicate install", "cannot be told" },
    { "make", NULL },
    { "make -C sub all", NULL },
    { "ninja build", NULL },
    { "ninja build test", NULL },
    { "ninja build install", "'ninja install' is not among" },
    { "ninja", "without a sub-command" },
    { "ninja -j 4 build", NULL },
    { "ninja -j4 build", NULL },
    { "ninja -C sub build", NULL },
    { "docker compose up", NULL },
    { "docker compose down", "'docker compose down' is blocked" },
    { "docker compose -f x.yml down", "cannot be told" },
    { "docker compose --file=x.yml down", "is blocked" },
    { "docker --context x compose down", "is blocked" },
    { "docker -H x ps", NULL },
    { "docker run x", NULL },
    { "docker run --privileged x", "is blocked" },
    { "docker run -it --privileged=true x", "is blocked" },
    { "docker container run --privileged x", "'docker run --privileged' is blocked" },
    { "docker container rm x", NULL },
    { "docker run --priv x", NULL }, /* docker takes no abbreviations */
    { "kubectl get pods", NULL },
    { "kubectl -n x get pods", NULL },
    { "kubectl -n x delete pod y", "'kubectl delete' is blocked" },
    { "kubectl --namespace=x delete pod y", "'kubectl delete' is blocked" },
    { "kubectl get delete", NULL },
    { "cargo build", NULL },
    { "cargo +nightly publish", "'cargo publish' is blocked" },
    { "cargo publish", "'cargo publish' is blocked" },
    { "cargo -C sub publish", "'cargo publish' is blocked" },
    { "terraform apply", NULL },
    { "terraform apply -auto-approve", "is blocked" },
    { "terraform apply --auto-approve", "is blocked" },
    { "terraform apply -auto-approve=true", "is blocked" },
    { "terraform -chdir=x apply -auto-approve", "cannot be told" },
    { "tool deploy", NULL },
    { "tool deploy --prod", "is blocked" },
    { "tool deploy x --prod=1", "is blocked" },
    { "tool --verbose deploy --prod", "cannot be told" },
    { "tool --verbose deploy", NULL },
    { "tool --level=3 deploy --prod", "is blocked" },
    { "tool status --prod", NULL },
    { "strict list", NULL },
    { "strict list x", NULL },
    { "strict remote add x", NULL },
    { "strict remote remove x", "not among the allowed" },
    { "strict remote", "not among the allowed" },
    { "strict remote -v add x", "cannot be told" },
    { "strict remote --x=y add z", NULL },
    { "strict push", "not among the allowed" },
    { "strict push --dry-run", NULL },
    { "strict push --dry", "not among the allowed" },
    { "strict push x --dry-run", NULL },
    { "strict sync --all --now", NULL },
    { "strict sync --now --all", NULL },
    { "strict sync --now", "not among the allowed" },
    { "strict push -o --dry-run", "cannot be told" },
    { "strict push --dry-run --no-dry-run", "cannot be told" },
    { "strict push -- --dry-run", "not among the allowed" },
    { "rm x", NULL },
    { "rm -r x", NULL },
    { "rm -rf x", "is blocked" },
    { "rm -fr x", "is blocked" },
    { "rm -r -f x", "is blocked" },
    { "rm -Rf x", "is blocked" },
    { "rm -fR x", "is blocked" },
    { "rm -r --force x", "is blocked" },
    { "rm --recursive -f x", "is blocked" },
    { "rm --rec --for x", "is blocked" },
    { "rm -R x", NULL },
    { "rm x -r -f", "is blocked" },
    { "rm -- -rf", NULL },
    { "find . -name x", NULL },
    { "find . -exec cat {} +", NULL },
    { "find . -exec git push {} \\;", "cannot be told" },
    { "find . -exec sh -c 'rm -rf \"$1\"' _ {} \\;", "is blocked" })

ROWS(paths_that_lead_out,
    { "cat x", NULL },
    { "cat ./x ../x /work/x /tmp/x ~/x", NULL },
    { "cat ../../etc/passwd", OUT },
    { "cat /etc/passwd", OUT },
    { "cat ~root/x", OUT },
    { "cat x/../../../y", OUT },
    { "cat x/../../y", NULL },
    { "cat --file=/etc/passwd", OUT },
    { "cat --file=../x", NULL },
    { "cat -I/etc/x", OUT },
    { "cat -I../../x", OUT },
    { "cat @/etc/passwd", OUT },
    { "cat if=/etc/passwd", OUT },
    { "cat \"/etc/$x\"", OUT },
    { "cat \"sub/$x\"", NULL },
    { "cat \"$x\"", NULL },
    { "cat /etc/*", OUT },
    { "cat https://example.org/../../x", NULL },
    { "cat file:///etc/passwd", OUT },
    { "cat file:///work/x", NULL },
    { "git diff HEAD~1..origin/main", NULL },
    { "git log ..origin/main", NULL },
    { "git log origin/main...HEAD", NULL },
    { "git show HEAD:src/x.c", NULL },
    { "git clone git@host:owner/name.git", NULL },
    { "git clone https://host/owner/name", NULL },
    { "git clone /srv/x", OUT },
    { "git -C ../.. status", OUT },
    { "git -C / status", OUT },
    { "git -C .. status", NULL },
    { "git -C .. add ../x", OUT },
    { "git -C sub add ../../x", NULL },
    { "git -C sub add ../../../x", OUT },
    { "git commit -m '/etc is not a path here'", NULL },
    { "git commit -F /etc/passwd", OUT },
    { "make -C ../../.. all", OUT },
    { "echo x > /etc/passwd", OUT },
    { "echo x > ../../x", OUT },
    { "echo x > ../x", NULL },
    { "echo x >/dev/null 2>&1", NULL },
    { "cat </etc/passwd", OUT },
    { "{ cat x; } >/etc/x", OUT },
    { ">/etc/x", OUT },
    { "cd /etc", OUT },
    { "cd ../..", OUT },
    { "cd sub && cat ../../x", NULL },
    { "cd sub && cat ../../../x", OUT },
    { "cd sub; cat ../../x", OUT },
    { "cd .. && cat ../x", OUT },
    { "cd .. && cat x", NULL },
    { "cd .. && cd .. && cat x", OUT },
    { "cd && cat x", NULL },
    { "cd ~ && cat ../x", OUT },
    { "cd a && cd b && cat ../../../x", NULL },
    { "cd a && git status && cat ../../x", NULL },
    { "for i in 1 2; do cd ..; done", "repeated 'cd'" },
    { "for i in 1 2; do cd /work; done; cat ../x", OUT },
    { "env -C .. cat ../x", OUT },
    { "env -C sub cat ../../x", NULL },
    { "env -C /etc cat x", OUT },
    { "sh -c 'cat /etc/passwd'", OUT },
    { "sh -c 'cd .. && cat ../x'", OUT },
    { "find /etc -name x", OUT })
/* clang-format on */

TEST(strict_paths_refuse_what_may_be_a_path)
{
    static const struct command_context strict = { .check_path = is_outside, .strict_paths = true };
    static const struct row rows[] = {
        { "cat \"$x\"", "may be a path" },
        { "cat *.c", "may be a path" },
        { "cat x >\"$y\"", "is not known before" },
        { "cat x", NULL },
        { "cat ~/x", NULL },
    };

    check_rows(rows, COUNT(rows), &strict);
}

TEST(the_posix_dialect_refuses_what_shells_read_differently)
{
    static const struct command_context posix = { .dialect = SHELL_POSIX };
    static const struct row rows[] = {
        { "[[ a == b ]] && git push -f", "different shells" },
        { "git status &>x", "different shells" },
        { "git status", NULL },
    };

    check_rows(rows, COUNT(rows), &posix);
}

/* ---- argv */

TEST(argv_is_taken_as_it_is)
{
    static const struct {
        const char *argv[6];
        const char *why;
    } rows[] = {
        { { "git", "push", "--force" }, FORCE },
        { { "git", "push", "$x" }, NULL },
        { { "git", "commit", "-m", "a; rm -rf /" }, NULL },
        { { "git", "push", "$(echo --force)" }, NULL },
        { { "echo", "hi" }, NOT_IN }, /* no shell, no built-in command */
        { { "env", "git", "push", "-f" }, FORCE },
        { { "sh", "-c", "git push -f" }, FORCE },
        { { "bash", "-c", "$x" }, "command position" },
        { { "cd", "x" }, NOT_IN },
        { { "command", "git", "status" }, NOT_IN },
        { { "exec", "git", "status" }, NOT_IN },
        { { "" }, NOT_IN },
        { { NULL }, "there is no command" },
    };
    auto_command_rules struct command_rules rules = { 0 };

    fill(&rules);
    for (size_t i = 0; i < COUNT(rows); i++) {
        auto_command_decision struct command_decision decision = { 0 };

        CHECK(command_rules_decide_argv(&rules, rows[i].argv, &context, &decision, NULL) == 0);
        printf("# %s: %s\n", rows[i].argv[0] ? rows[i].argv[0] : "(none)", decision.why);
        CHECK(decision.is_allowed == !rows[i].why);
        CHECK(!rows[i].why || strstr(decision.why, rows[i].why));
    }
}

/* ---- what a decision says */

static void decide(const char *text, struct command_decision *out)
{
    auto_command_rules struct command_rules rules = { 0 };

    fill(&rules);
    CHECK(command_rules_decide_text(&rules, text, strlen(text), &context, out, NULL) == 0);
}

TEST(a_decision_names_the_rule_and_what_would_change_it)
{
    auto_command_decision struct command_decision decision = { 0 };

    decide("go build &&\n  go install", &decision);
    CHECK(!decision.is_allowed && !decision.is_undecided && decision.has_origin);
    CHECK_STR(decision.origin.name, "coop.toml");
    CHECK(decision.origin.line == 10);
    CHECK_STR(decision.command, "go install");
    CHECK_STR(decision.allow, "remove 'install' from 'blocked' of 'go'");
    CHECK(decision.line == 2 && decision.column == 3);
}

TEST(a_built_in_rule_says_so)
{
    auto_command_decision struct command_decision decision = { 0 };

    decide("git push origin main --force", &decision);
    CHECK(decision.has_origin && !decision.origin.name);
    CHECK_STR(decision.command, "git push origin main --force");
}

TEST(a_command_without_a_rule_says_what_to_add)
{
    auto_command_decision struct command_decision decision = { 0 };

    decide("curl 'a b' \"$x\"", &decision);
    CHECK(!decision.has_origin);
    CHECK_STR(decision.command, "curl 'a b' ...");
    CHECK_STR(decision.allow, "[commands.curl]");
    CHECK(strstr(decision.why, "fest, camp, just, git"));
}

TEST(what_cannot_be_decided_is_told_apart)
{
    auto_command_decision struct command_decision decision = { 0 };

    decide("git push\ngit push $(x)", &decision);
    CHECK(!decision.is_allowed && decision.is_undecided);
    CHECK(decision.line == 2 && decision.column == 10 && decision.allow);
}

TEST(an_allowed_command_says_by_which_rule)
{
    auto_command_decision struct command_decision decision = { 0 };

    decide("go build", &decision);
    CHECK(decision.is_allowed && decision.has_origin && decision.origin.line == 10);
    CHECK_STR(decision.why, "'go' is allowed");
    CHECK(!decision.allow);
}

TEST(messages_are_printable)
{
    auto_command_decision struct command_decision decision = { 0 };

    decide("'\xff\xe2\x80\xae' x", &decision);
    CHECK(strstr(decision.why, "\\xff\\xe2\\x80\\xae"));
}

/* ---- rules */

TEST(bad_names_and_patterns_are_refused)
{
    static const char *const names[] = { "", "a b", "-x", "a;b", "$x" };
    static const char *const patterns[] = {
        "", "  ", "push *", "--", "push -- x", "push --force=1", "a\nb", "1 2 3 4 5 6 7 8 9"
    };
    auto_command_rules struct command_rules rules = { 0 };
    const struct origin at = { "x", 1, 1 };
    struct command_rule *rule;

    for (size_t i = 0; i < COUNT(names); i++) {
        auto_error coop_error *err = NULL;
        CHECK(command_rules_add(&rules, names[i], at, &rule, &err) == -EINVAL && err);
    }
    CHECK(command_rules_add(&rules, "git", at, &rule, NULL) == 0);
    for (size_t i = 0; i < COUNT(patterns); i++) {
        auto_error coop_error *err = NULL;
        CHECK(command_rule_block(rule, patterns[i], at, &err) == -EINVAL && err);
        CHECK(command_rule_allow(rule, patterns[i], at, NULL) == -EINVAL);
    }
    CHECK(rules.n == 1 && rule->n_blocked == 0 && !rule->has_allowed);
}

TEST(check_finds_what_is_allowed_and_blocked)
{
    auto_command_rules struct command_rules rules = { 0 };
    static struct findings findings;
    const struct origin at = { "x", 7, 1 };
    struct command_rule *rule;

    fill(&rules);
    command_rules_check(&rules, &findings);
    CHECK(findings.n_errors == 0 && findings.n == 1); /* the seed's own: 'go install' */
    CHECK(findings.items[0].severity == SEVERITY_INFO);
    findings_done(&findings);
    CHECK(command_rules_add(&rules, "go", at, &rule, NULL) == 0);
    CHECK(command_rule_block(rule, "test", at, NULL) == 0);
    CHECK(command_rules_add(&rules, "x", at, &rule, NULL) == 0);
    rule->has_allowed = true;
    findings = (struct findings){ 0 };
    command_rules_check(&rules, &findings);
    CHECK(findings.n_errors == 1 && findings.n == 3);
    findings_done(&findings);
}

TEST(one_flag_has_one_spelling)
{
    static const struct {
        const char *program, *a, *b;
        bool is_same;
    } rows[] = {
        { "git", "push --force", "push -f", true },
        { "git", "push --force", "--force push", true },
        { "git", "clean -fd", "clean -d --force", true },
        { "git", "clean -fd", "clean -f", false },
        { "git", "push --force", "push --force-with-lease", false },
        { "npm", "i -g", "install --global", true },
        { "npm", "t", "run test", true },
        { "docker", "run -v", "container run --volume", true },
        { "docker", "image remove -f", "rmi --force", true },
        { "docker", "image build", "builder b", true },
        { "docker", "image ls", "buildx ls", false },
        { "go", "test -race", "test --race", true },
        { "other", "x -ab", "x -b -a", true },
        { "other", "x -f", "x --force", false },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct command_shape a;
        struct command_shape b;
        auto_buffer struct buffer text = { 0 };

        CHECK(!command_shape_read(rows[i].program, rows[i].a, &a));
        CHECK(!command_shape_read(rows[i].program, rows[i].b, &b));
        bool is_same = command_shape_covers(rows[i].program, &a, &b) &&
                       command_shape_covers(rows[i].program, &b, &a);
        CHECK(is_same == rows[i].is_same);
        command_shape_print(&a, &text);
        CHECK(!command_shape_read(rows[i].program, text.data, &b));
        CHECK(command_shape_covers(rows[i].program, &a, &b) &&
              command_shape_covers(rows[i].program, &b, &a));
    }
}

/* ---- narrowing */

static unsigned long long seed = 12345;

static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 33) % n;
}

static const char *const some_names[] = { "git", "tool", "docker", "ls" };
static const char *const some_patterns[] = {
    "push",
    "push --force",
    "push -f",
    "push --tags",
    "push --tags --force",
    "status",
    "remote",
    "remote add",
    "remote add -f",
    "--force",
    "-v",
    "fetch",
    "fetch -p",
    "clean -fd",
    /* of others than git, which takes words that are not its own for aliases */
    "image",
    "image ls",
    "image rm",
    "image --tags",
    "container rm --force",
    "buildx",
    "buildx ls",
    "build",
    "container",
    "run",
    "rm -f",
};
#define N_OF_GIT 14

static void random_rules(struct command_rules *rules)
{
    const struct origin at = { "random", 1, 1 };

    for (size_t i = 0; i < COUNT(some_names); i++) {
        struct command_rule *rule;

        if (pick(4) == 0)
            continue;
        CHECK(command_rules_add(rules, some_names[i], at, &rule, NULL) == 0);
        unsigned n_patterns = i == 0 ? N_OF_GIT : COUNT(some_patterns);
        for (unsigned n = pick(2) ? pick(5) : 0; n > 0; n--)
            CHECK(command_rule_allow(rule, some_patterns[pick(n_patterns)], at, NULL) == 0);
        for (unsigned n = pick(3); n > 0; n--)
            CHECK(command_rule_block(rule, some_patterns[pick(n_patterns)], at, NULL) == 0);
        rule->manifest = pick(2);
    }
}

static bool allows(const struct command_rules *rules, const char *text)
{
    auto_command_decision struct command_decision decision = { 0 };

    CHECK(command_rules_decide_text(rules, text, strlen(text), NULL, &decision, NULL) == 0);
    return decision.is_allowed;
}

static void random_command(char *text, size_t size)
{
    static const char *const words[] = { "push",   "--force",   "-f",    "--tags", "status",
                                         "remote", "add",       "fetch", "-p",     "-v",
                                         "x",      "--",        "-fd",   "clean",  "\"$x\"",
                                         "--t",    "+main",     "image", "build",  "buildx",
                                         "ls",     "container", "rm",    "rmi",    "run" };
    int n = snprintf(text, size, "%s", some_names[pick(COUNT(some_names))]);

    for (unsigned i = pick(5); i > 0; i--)
        n += snprintf(text + n, size - (size_t)n, " %s", words[pick(COUNT(words))]);
}

TEST(a_narrowed_set_allows_what_both_allow_and_nothing_else)
{
    for (int round = 0; round < 300; round++) {
        auto_command_rules struct command_rules a = { 0 };
        auto_command_rules struct command_rules b = { 0 };
        auto_command_rules struct command_rules c = { 0 };
        auto_command_rules struct command_rules ab = { 0 };
        auto_command_rules struct command_rules bc = { 0 };
        auto_command_rules struct command_rules ab_c = { 0 };
        auto_command_rules struct command_rules a_bc = { 0 };
        auto_free char *counter = NULL;

        random_rules(&a);
        random_rules(&b);
        random_rules(&c);
        CHECK(command_rules_narrow(&a, &b, &ab, NULL) == 0);
        CHECK(command_rules_narrow(&b, &c, &bc, NULL) == 0);
        CHECK(command_rules_narrow(&ab, &c, &ab_c, NULL) == 0);
        CHECK(command_rules_narrow(&a, &bc, &a_bc, NULL) == 0);
        CHECK(command_rules_is_within(&ab, &a, &counter, NULL) == 1);
        CHECK(command_rules_is_within(&ab, &b, &counter, NULL) == 1);
        CHECK(command_rules_is_within(&ab_c, &a_bc, &counter, NULL) == 1);
        CHECK(command_rules_is_within(&a_bc, &ab_c, &counter, NULL) == 1);
        for (int i = 0; i < 40; i++) {
            char text[256];

            random_command(text, sizeof text);
            bool in_both = allows(&a, text) && allows(&b, text);
            if (allows(&ab, text) != in_both)
                printf("# %s\n", text);
            CHECK(allows(&ab, text) == in_both);
            CHECK(allows(&ab_c, text) == allows(&a_bc, text));
        }
    }
}

TEST(a_counter_example_is_one)
{
    unsigned n_within = 0;
    unsigned n_examples = 0;

    for (int round = 0; round < 2000; round++) {
        auto_command_rules struct command_rules a = { 0 };
        auto_command_rules struct command_rules b = { 0 };
        auto_free char *counter = NULL;

        random_rules(&a);
        random_rules(&b);
        int r = command_rules_is_within(&a, &b, &counter, NULL);
        CHECK(r == 0 || r == 1);
        CHECK((r == 0) == (counter != NULL));
        if (r == 1) {
            n_within++;
            for (int i = 0; i < 20; i++) {
                char text[256];

                random_command(text, sizeof text);
                CHECK(!allows(&a, text) || allows(&b, text));
            }
            continue;
        }
        n_examples++;
        if (!allows(&a, counter) || allows(&b, counter))
            printf("# %s\n", counter);
        CHECK(!allows(&b, counter));
        CHECK(allows(&a, counter));
    }
    CHECK(n_within > 20 && n_examples > 1000);
}

TEST(narrowing_keeps_manifest_and_copies)
{
    auto_command_rules struct command_rules rules = { 0 };
    auto_command_rules struct command_rules copy = { 0 };
    auto_command_rules struct command_rules narrowed = { 0 };
    auto_free char *counter = NULL;

    fill(&rules);
    rules.items[0].manifest = true;
    CHECK(command_rules_copy(&rules, &copy, NULL) == 0);
    CHECK(copy.n == rules.n && copy.items[0].manifest);
    copy.items[0].manifest = false;
    CHECK(command_rules_narrow(&rules, &copy, &narrowed, NULL) == 0);
    CHECK(narrowed.n == rules.n && narrowed.items[0].manifest);
    CHECK(command_rules_is_within(&rules, &narrowed, &counter, NULL) == 1);
}
