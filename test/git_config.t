#!/bin/bash
# git's configuration file: read as the real git reads it; what git itself writes passes the gate.
# speed: slow
. "$(dirname "$0")/tap.sh"
GITCONFIG=$BIN/gitconfig
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=$T GIT_TERMINAL_PROMPT=0
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t

# ---- the reader against git

# White space inside an unquoted value is kept by newer versions of git, and made spaces by older ones.
plain() { tr '\t\r' '  '; }
# The first file that the two read differently; nothing if there is none.
first_difference() { # FILE...
    local file
    for file; do
        if git config --file "$file" --list -z >theirs 2>/dev/null; then
            "$GITCONFIG" list "$file" >ours 2>/dev/null && cmp -s <(plain <ours) <(plain <theirs) && continue
        else
            "$GITCONFIG" list "$file" >/dev/null 2>&1 || continue
        fi
        echo "$file"
        return
    done
}
mkdir corpus random
for file in "$SRC"/test/corpus/git_config/*; do
    tr '\0' '\n' <"$file" >"corpus/${file##*/}" # the reader takes no NUL
done
is "the corpus is read as git reads it" "$(first_difference corpus/*)" ""
(cd random && "$GITCONFIG" random "${GIT_CONFIG_SEED:-1}" 400)
different=$(first_difference random/r*)
is "so are 400 random files" "$different" ""
[ -z "$different" ] || note "$(od -c "$different")"
accepted=$(for file in random/r*; do "$GITCONFIG" list "$file" 2>/dev/null | tr -d '\n' | tr '\0' '\n'; done | wc -l)
ok "and not all of them were refused" test "$accepted" -gt 100
lines=$(for file in corpus/open-quote corpus/open-header corpus/bad-escape; do
    theirs=$(git config --file "$file" --list 2>&1 | sed -n 's/.*bad config line \([0-9]*\).*/\1/p')
    ours=$("$GITCONFIG" list "$file" 2>&1 | sed -n 's/^line \([0-9]*\):.*/\1/p')
    [ -n "$ours" ] && [ "$theirs" = "$ours" ] || echo "$file: git says $theirs, coop says $ours"
done)
is "mistakes are on the line that git names" "$lines" ""
printf '[a]\nk = v\0w\n' >nul
not_ok "a NUL is refused" "$GITCONFIG" list nul

# ---- what git writes passes

git init -q -b main up && git -C up commit -q --allow-empty -m 1 && git -C up branch side
git init -q -b main lib && git -C lib commit -q --allow-empty -m 1
git -C up -c protocol.file.allow=always submodule --quiet add "$T/lib" sub && git -C up commit -q -m 2
git clone -q up ws
passes() { # DESCRIPTION COMMAND...: in ws; afterwards the configuration is what the gate would write
    local what=$1
    shift
    cp ws/.git/config old
    ok "$what: runs" git -C ws "$@"
    isnt "$what: writes the configuration" "$(cat old)" "$(cat ws/.git/config)"
    ok "$what: passes" eval '"$GITCONFIG" gate old ws/.git/config >out && cmp out ws/.git/config'
}
refused() { # DESCRIPTION REASON COMMAND...
    local what=$1 why=$2
    shift 2
    cp ws/.git/config old
    ok "$what: runs" git -C ws "$@"
    like "$what: is refused" "$("$GITCONFIG" gate old ws/.git/config 2>&1)" "$why"
    cp old ws/.git/config
}
passes "config user.name" config user.name "A B"
passes "config --unset" config --unset user.name
passes "remote add" remote add fork https://example.org/fork.git
passes "branch --track" branch --track topic origin/side
passes "branch -m" branch -m topic topic2
passes "branch -d" branch -d topic2
passes "submodule init" submodule --quiet init
passes "submodule deinit" submodule --quiet deinit -f sub
passes "sparse-checkout" sparse-checkout set --cone dir
passes "push -u" push -q -u origin main:new
refused "core.hooksPath" "'core.hookspath' may not be set .* hooks" config core.hooksPath /tmp/x
refused "an alias" "'alias.x' may not be set" config alias.x '!sh'
refused "a remote with a helper" "'remote.x.url' may not be set .* helper" remote add x 'ext::sh -c x'
refused "a remote that is a path" "'remote.x.url' may not be set .* hooks" remote add x ./evil.git
refused "remote set-url" "'remote.origin.url' may not be set .* that remote already exists" remote set-url origin https://example.org/
refused "remote remove" "'remote.origin.url' may not be removed" remote remove origin
refused "remote rename" "'remote.upstream.url' may not be set|'remote.origin.url' may not be" remote rename origin upstream
refused "a promisor" "'remote.fork.promisor' may not be set" config remote.fork.promisor true

: >empty
git -C ws -c protocol.file.allow=always submodule --quiet update --init
ok "a submodule's first configuration passes" "$GITCONFIG" gate empty ws/.git/modules/sub/config 3
not_ok "but not as that of the repository" "$GITCONFIG" gate empty ws/.git/modules/sub/config
cp ws/.git/modules/sub/config old
git -C ws/sub config core.worktree "$T"
not_ok "its work tree stays" "$GITCONFIG" gate old ws/.git/modules/sub/config 3

# ---- credentials

cat >>ws/.git/config <<'END'
# used to be https://me:canary1@example.org/
[remote "private"]
	url = "https://me:canary2@example.org/p.git" ; with a token: canary3
[url "https://canary4@example.org/"]
	insteadOf = "x:"
[http "https://example.org/"]
	extraHeader = AUTHORIZATION: basic canary5
[sendemail]
	smtpPass = "canary6 # not a comment"
END
cp ws/.git/config real
ok "credentials are redacted" eval '"$GITCONFIG" redact real >view'
unlike "none is left" "$(cat view)" canary
is "git reads the same keys" "$(git config --file view --list --name-only | sed 's/REDACTED/canary4/')" \
    "$(git config --file real --list --name-only)"
is "and the same harmless values" "$(git config --file view --list | grep -v REDACTED)" \
    "$(git config --file real --list | grep -v canary)"
cp view ws/.git/config
git -C ws config user.email a@b
git -C ws config --unset branch.main.merge
ok "a change made to the redacted file passes" eval '"$GITCONFIG" gate real ws/.git/config >out'
cp real ws/.git/config
git -C ws config user.email a@b
git -C ws config --unset branch.main.merge
ok "and comes out with the credentials in it" cmp out ws/.git/config
sed 's/REDACTED@example.org.p/REDACTED@evil.example\/p/' view >moved
not_ok "a credential cannot be given to another host" "$GITCONFIG" gate real moved
status "nothing to redact is said" 3 "$GITCONFIG" redact lib/.git/config
done_testing
