#!/bin/bash
# What others make or replace while a box runs: hidden as soon as it is seen, unless the box made it
# itself. And several boxes in one workspace at once.
# speed: slow
. "$(dirname "$0")/box.sh"
export HOME="$T/home" XDG_CACHE_HOME="$T/cache" GIT_CONFIG_NOSYSTEM=1
mkdir home
git config --global user.name tester
git config --global user.email tester@example.org
git config --global init.defaultBranch main
private_key() { printf -- '-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n'; }
certificate() { printf -- '-----BEGIN CERTIFICATE-----\nMIIDdz\n-----END CERTIFICATE-----\n'; }

# A box that does line by line what it is told.
open_box() { # WORKSPACE [OPTIONS]
    local workspace=$1
    shift
    rm -f orders answers && mkfifo orders answers
    exec 5<>orders 6<>answers
    "$COOP" run -w "$workspace" "$@" sh -c 'while IFS= read -r line; do (eval "$line") 2>&1; echo "== $?"; done' \
        <orders >answers 2>said 5>&- 6>&- &
    box=$!
}
tell() { # COMMAND: prints what it prints
    local line
    printf '%s\n' "$1" >&5
    while IFS= read -t "$(scaled 30)" -r line <&6; do
        case $line in "== "*) return "${line#== }" ;; esac
        printf '%s\n' "$line"
    done
    echo "no answer"
    return 125
}
close_box() {
    exec 5>&-
    wait $box
    exec 6>&-
}
# Until it cannot be read, and then it stays so.
hides() { # WHAT PATH...
    local what=$1
    shift
    tell "for f in $*; do timeout $(scaled 20) sh -c 'while cat \"\$1\" >/dev/null 2>&1; do :; done' - \$f; done; true" >/dev/null
    is "$what" "$(tell "cat $*" | sed 's/^cat: //')" "$(for f in "$@"; do echo "$f: Permission denied"; done)"
}
seen() { is "$1" "$(tell "cat $2")" "$3"; }

# ---- replaced and made by others

mkdir -p ws/a ws/conf ws/plain && echo one >ws/.env && echo two >ws/a/.env && echo real >ws/conf/real && ln -s ../conf/real ws/a/.env.link
certificate >ws/ca.pem
open_box ws
hides "what is there from the start" .env a/.env conf/real
for i in 1 2 3 4 5; do
    echo "saved $i" >ws/save && mv ws/save ws/.env
    hides "saved by renaming, time $i" .env
done
echo new >ws/a/x && mv ws/a/x ws/a/.env
hides "in a directory too" a/.env
rm ws/.env && echo again >ws/.env
hides "removed and made again" .env
echo new >ws/plain/.env.local && echo new >ws/plain/credentials.json
hides "new ones" plain/.env.local plain/credentials.json
mkdir -p ws/deep/er/and && echo new >ws/deep/er/and/.env
hides "in new directories" deep/er/and/.env
mkdir -p elsewhere/b/c && echo moved >elsewhere/b/c/.env && mv elsewhere ws/came
hides "in a directory that came from elsewhere" came/b/c/.env
mv ws/deep/er ws/moved && echo new >ws/moved/and/.env.late
hides "in one that was moved" moved/and/.env moved/and/.env.late
echo new >ws/conf/x && mv ws/conf/x ws/conf/real
hides "what a link leads to" conf/real
seen "a certificate is shown" ca.pem "$(certificate)"
private_key >>ws/ca.pem
hides "until a key is in it" ca.pem
private_key >ws/plain/late.pem
hides "a key that is written into a new file" plain/late.pem
certificate >ws/plain/public.pem
seen "and nothing else is hidden" plain/public.pem "$(certificate)"
echo shown >ws/plain/.env.example
seen "exceptions are not" plain/.env.example shown
refused "a directory with something hidden in it cannot be moved" tell 'mv deep deep2 && mv moved moved2'
refused "nor can the file" tell 'mv .env x || rm plain/.env.local || ln .env y'
ok "others can" tell 'mkdir p && mv p q && rmdir q'
close_box
is "outside all is as it was written" "$(cat ws/.env ws/a/.env ws/conf/real ws/moved/and/.env)" $'again\nnew\nnew\nnew'
unlike "no mount stays on the host" "$(cat /proc/self/mountinfo)" "$T/ws"

# ---- what the box makes is its own

rm -rf ws && mkdir -p ws/sub && git init -q ws/repo && (cd ws/repo && git commit -q --allow-empty -m one && git checkout -qb side &&
    echo x >.env && git add .env && git commit -qm env && git checkout -q main)
open_box ws --unprotect 'repo/.git/**'
tell 'echo early >.env' # the guard has not begun
for i in 1 2 3; do
    tell "echo $i >sub/.env.$i; echo $i >tmp; mv tmp sub/.env.m$i; echo $i >tmp; ln tmp sub/.env.l$i; rm tmp; ln -s ../sub/plain sub/.env.s$i" >/dev/null
done
tell 'mkdir new && echo new >new/.env && cp -r new new2 && mv new2 new3; echo key >my.key; (cd repo && git checkout -q side); echo plain >sub/plain' >/dev/null
tell 'python3 -c "import os; fd = os.open(\"sub\", os.O_TMPFILE | os.O_RDWR, 0o600); os.write(fd, b\"unnamed\" + bytes([10])); os.link(\"/proc/self/fd/%d\" % fd, \"sub/.env.unnamed\", src_dir_fd=fd)"' >/dev/null
# Something of the host's comes last: when it is hidden, everything before has been decided.
echo theirs >ws/sub/.env.theirs
hides "what is others' is hidden" sub/.env.theirs
seen "what the box makes it can read, made early" .env early
seen "made later" sub/.env.2 2
seen "moved there" sub/.env.m3 3
seen "linked there" sub/.env.l1 1
seen "linked by name only" sub/.env.s2 plain
seen "made without a name" sub/.env.unnamed unnamed
seen "in a directory of its own" new/.env new
seen "in one that it copied and moved" new3/.env new
seen "a key" my.key key
seen "and git's files" repo/.env x
tell 'for i in $(seq 300); do echo $i >sub/.env.many$i; done' >/dev/null
echo theirs >ws/sub/.env.last
hides "others' among many" sub/.env.last
is "many are all its own" "$(tell 'cat sub/.env.many* | wc -l')" 300
echo theirs >ws/x && mv ws/x ws/.env
hides "its own, replaced by others" .env
close_box

# ---- the result

rm -rf ws && mkdir ws && echo one >ws/.env && mkfifo ws/wait && exec 7<>ws/wait
"$COOP" run --json -w ws sh -c 'touch up; read -r x <wait; timeout '"$(scaled 20)"' sh -c "while cat .env >/dev/null 2>&1; do :; done"' </dev/null >json 2>/dev/null &
box=$!
await test -e ws/up
echo two >ws/save && mv ws/save ws/.env
echo >&7
wait $box
is "it says what could be read for a moment" "$(python3 -c '
import json
for d in json.load(open("json"))["denials"]:
    if d["op"] == "read": print(d["target"], "|", d["rule"], "|", d["why"], "|", d["origin"])')" \
    "/work/.env | protect.deny '.env' | it appeared while the command ran, and could be read until it was hidden | built-in default"
exec 7>&-
if unshare -Ur true 2>/dev/null && "$COOP" doctor >/dev/null 2>&1; then
    like "and where nothing can be watched, that nothing is" "$(unshare -Ur bash -c "echo 0 >/proc/sys/user/max_inotify_watches
        '$COOP' run --json -w ws sleep 0.3" </dev/null 2>&1 | grep '"protected"')" "files that others create meanwhile are not watched"
else
    skip_never "and where nothing can be watched, that nothing is" "no user namespaces"
fi

# ---- git's configuration

rm -rf ws && git init -q ws && (cd ws && git commit -q --allow-empty -m one && git remote add origin https://user:tok3n@example.org/x.git)
open_box ws
is "a change passes the gate" "$(tell 'git config user.name inside && git config user.name')" inside
is "and is seen at once, without the credentials" "$(tell 'git config user.name; git config remote.origin.url; grep -c tok3n .git/config')" \
    $'inside\nhttps://REDACTED@example.org/x.git\n0'
for i in 1 2 3; do tell "git config user.email $i@example.org" >/dev/null; done
is "once more" "$(tell 'git config user.email; git config user.name')" $'3@example.org\ninside'
is "outside it has arrived, and is whole" "$(git -C ws config user.email; git -C ws config remote.origin.url)" \
    $'3@example.org\nhttps://user:tok3n@example.org/x.git'
is "mounts do not pile up" "$(tell 'grep -c "/work/.git/config " /proc/self/mountinfo')" 1
git -C ws config user.name outside # by renaming
# The kernel drops a mount with the name that it is on: for a moment all of the new file is there.
ok "a change from outside is seen" tell "timeout $(scaled 20) "'sh -c "until [ \"\$(git config user.name)\" = outside ]; do :; done; while grep -q tok3n .git/config; do :; done"'
is "without the credentials" "$(tell 'git config remote.origin.url; grep -c tok3n .git/config')" $'https://REDACTED@example.org/x.git\n0'
git -C ws config http.extraHeader 'Authorization: Basic c2VjcmV0'
ok "new ones are taken out" tell "timeout $(scaled 20) "'sh -c "until git config http.extraHeader; do :; done; while grep c2VjcmV0 .git/config; do :; done"'
refused "it cannot be written" tell 'echo x >>.git/config'
close_box
rm -rf ws && git init -q ws
open_box ws
is "where there is nothing to take out" "$(tell 'git config user.name inside && git config user.name')" inside
git -C ws remote add origin https://user:tok3n@example.org/x.git
ok "what comes is taken out" tell "timeout $(scaled 20) "'sh -c "until git config remote.origin.url; do :; done; while grep tok3n .git/config; do :; done"'
is "the rest is seen" "$(tell 'git config remote.origin.url; git config user.name')" $'https://REDACTED@example.org/x.git\ninside'
close_box

# ---- other views

rm -rf ws && mkdir -p ws/a && echo one >ws/a/.env
open_box ws --ro "$T/ws:/other" --ro "$T/ws/a:/part"
echo two >ws/save && mv ws/save ws/a/.env
hides "wherever it is seen" a/.env /other/a/.env /part/.env
close_box
rm -rf proj && mkdir -p proj/src && echo one >proj/.env && echo one >proj/src/.env
rm -f orders answers && mkfifo orders answers && exec 5<>orders 6<>answers
"$COOP" run --root proj sh -c 'while IFS= read -r line; do (eval "$line") 2>&1; echo "== $?"; done' <orders >answers 2>said 5>&- 6>&- &
box=$!
hides "a directory as the root" /.env /src/.env
echo two >proj/save && mv proj/save proj/.env && echo two >proj/src/save && mv proj/src/save proj/src/.env
echo new >proj/.env.new && mkdir proj/dir && echo new >proj/dir/.env
hides "what comes there" /.env /src/.env /.env.new /dir/.env
echo newer >proj/save && mv proj/save proj/.env.new
hides "and is replaced" /.env.new
tell 'echo mine >/.env.mine; echo mine >/dir/.env.mine' >/dev/null
echo theirs >proj/.env.theirs
hides "others'" /.env.theirs
seen "its own, at the top" /.env.mine mine
seen "its own, below" /dir/.env.mine mine
close_box

# ---- nothing is left

rm -rf ws && mkdir -p ws/a && echo one >ws/a/.env && echo two >ws/.env
snapshot() { find "$1" -printf '%p %y %i %m %U:%G %n %s %T@ %C@\n' | sort; }
snapshot ws >before
open_box ws
hides "a look and no more" .env a/.env
await 5 bash -c 'ls -l /proc/'$box'/fd 2>/dev/null | grep -q inotify' || note "no watch yet"
close_box
is "watching changes nothing" "$(snapshot ws | diff before -)" ""

# ---- two boxes at once

rm -rf ws && mkdir -p ws/p ws/q ws/p/m && echo "the secret" >ws/p/m/.env
for i in $(seq 150); do mkdir -p ws/p/d$i/e ws/q/d$i/e; done
# One box moves a directory to and fro, and may: for it nothing in there is hidden.
"$COOP" run -q -w ws --unprotect '**/.env' sh -c 'touch up; while [ ! -e stop ]; do mv p/m q/m; mv q/m p/m; done' </dev/null 2>/dev/null &
mover=$!
await test -e ws/up
shown=0 started=0
for i in $(seq 25); do
    out=$("$COOP" run -q -w ws sh -c 'for i in 1 2 3 4 5 6 7 8; do cat p/m/.env q/m/.env; done; echo started' </dev/null 2>/dev/null)
    case $out in *secret*) shown=$((shown + 1)) ;; esac
    case $out in *started*) started=$((started + 1)) ;; esac
done
touch ws/stop
wait $mover
is "what one moves about is hidden from the other" $shown 0
ok "which can start all the same ($started of 25)" test $started -gt 12
rm -f ws/stop ws/up
"$COOP" run -q -w ws sh -c 'touch up; i=0; while [ ! -e stop ]; do i=$((i+1)); echo $i >p/d1/e/f$i; done' </dev/null 2>/dev/null &
mover=$!
await test -e ws/up
started=0
for i in $(seq 10); do "$COOP" run -q -w ws cat p/d2/../../stop </dev/null 2>/dev/null || started=$((started + ($? == 1))); done
if unshare -Ur true 2>/dev/null && ! real_root; then
    is "also where nothing can be watched" "$(unshare -Ur bash -c "echo 0 >/proc/sys/user/max_inotify_watches
        '$COOP' run -q -w ws/q cat d3/e/../../../q/d4/none || echo started" </dev/null 2>/dev/null)" started
fi
touch ws/stop
wait $mover
is "ordinary work of one does not keep the other from starting" $started 10
done_testing
