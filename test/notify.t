#!/bin/bash
# The door: what is protected stays as it is against every way to write or make it, and everything
# else works as if nobody stood there.
# worlds: root user
# builds: none
# needs: attr acl
# speed: slow
. "$(dirname "$0")/box.sh"
# The last: a wildcard in front of other words, which no default has.
programs=(--ro "$BIN/attack:/attack" --ro "$BIN/behalf:/behalf"
    --protect-write '**/.git/modules/**/hooks')

inside() { # WORKSPACE COMMAND...
    local workspace=$1
    shift
    "$COOP" run -w "$workspace" "${programs[@]}" "$@" </dev/null
}

project() { # KIND DIRECTORY: "absent" has nothing protected, "present" has, "bare" has no .git
    local kind=$1 file
    mkdir -p "$2"/{docs,scratch,sub,sub2} && : >"$2/file"
    [ "$kind" != bare ] || return 0
    mkdir -p "$2"/.git/objects "$2"/sub/.git/modules/m/deeper
    echo 'ref: refs/heads/main' >"$2/.git/HEAD"
    printf '# as it was\n' >"$2/.git/config"
    [ "$kind" = present ] || return 0
    mkdir "$2"/.git/hooks "$2"/.vscode "$2"/sub/.git/modules/m/hooks
    for file in .git/hooks/pre-commit .envrc .vscode/tasks.json sub/.git/modules/m/hooks/pre-push; do
        printf '# as it was\n' >"$2/$file"
    done
}

# Everything that could tell that something was touched; what attempts need stands in scratch/.
snapshot() {
    find "$1" -path "$1/scratch" -prune -o -printf '%P %y %i %m %U %G %n %s %T@ %C@ %l\n' | sort
    ! command -v getfattr >/dev/null || getfattr -RPhd -m - "$1" 2>/dev/null | grep -v '^# file'
}

# ---- all ways

for kind in absent present; do
    project $kind $kind
    snapshot $kind >before
    out=$(inside "$T/$kind" /attack $kind 2>/dev/null)
    unlike "$kind: every attempt failed" "$out" BROKEN
    like "$kind: there were attempts" "$out" '[1-9][0-9][0-9] attempts, 0 broken'
    unlike "$kind: each could do what it needed" "$out" '^#'
    is "$kind: seen from outside, nothing has changed" "$(snapshot $kind | diff before -)" ""
done
project bare bare
out=$(inside "$T/bare" /attack bare 2>/dev/null)
unlike "what is prepared elsewhere cannot be brought" "$out" BROKEN
like "and this was tried" "$out" '[2-9][0-9] attempts, 0 broken'
is "seen from outside, no file has come" "$(find bare -type f -o -type l -o -name hooks)" bare/file
for race in string link move fifo; do
    rm -rf absent && project absent absent
    out=$(inside "$T/absent" timeout 60 /attack race-$race 2 2>/dev/null)
    like "race: $race" "$out" "^held $race: [1-9]"
    is "race: $race, seen from outside" \
        "$(find absent -name hooks -o -name .envrc -o -name commondir | grep -v ^absent/scratch)" ""
done

# ---- the same calls, done by the kernel and by init

area() { # DIRECTORY: makes DIRECTORY/area with something of every kind
    local i last=file
    mkdir -p "$1/area" && (
        cd "$1/area" && umask 022
        mkdir dir setgid acl noaccessdir noexec && printf 0123456789 >file
        ln -s file link && ln -s target dangling && ln -s loop loop && ln -s dir dirlink && ln -s /file abslink
        : >'readonly' && chmod 444 readonly && : >noaccess && chmod 000 noaccess
        chmod 2775 setgid && chmod 600 noexec && chmod 000 noaccessdir
        for i in {1..41}; do ln -s "$last" "chain$i" && last=chain$i; done
        ln -s chain40 deep41 # one too many; exactly forty is a matter of luck with the kernel
        if command -v setfacl >/dev/null; then setfacl -d -m "u::rwx,g::r-x,o::---,m::rwx,u:$(id -u):rwx" acl; fi
    )
}
ok "a directory to work in" area one
ok "and one to compare it with" area two
"$COOP" run -w "$T/one" --rw "$T/two:/other" "${programs[@]}" sh -c \
    '/behalf calls /work/area; echo ==; /behalf calls /other/area' </dev/null >calls 2>/dev/null
sed -n '1,/^==/p' calls | sed '$d' >calls.door
sed -n '/^==/,$p' calls | sed 1d >calls.kernel
is "well over a thousand calls, and nobody notices who did them" "$(diff calls.kernel calls.door | head -20)" ""
like "there were so many" "$(wc -l <calls.door)" '^1[0-9]{3}'
unlike "and they could do what they needed" "$(cat calls)" FAILED
like "modes: each process and thread has its own mask" "$(inside "$T/one" /behalf umasks area 2>&1)" 'umasks: 0 wrong'
like "signals: each file is made once" "$(inside "$T/one" /behalf signals area 10000 2>&1)" \
    '10000 files, 0 and 0 wrong, signals came, next descriptor 3'
out=$(inside "$T/one" timeout 60 /behalf fifo area 2>&1)
is "a FIFO: who waits holds up nobody, and loses nothing" "$out" 'open("fifo", O_WRONLY | O_NONBLOCK): ENXIO
fifo: writers ended 0 0, 2 bytes
fifo: 0 readers got nothing
fifo: open for both does not wait
fifo: to read, with O_CREAT: open, flags 0
fifo: flags 0'
out=$(inside "$T/one" timeout 60 /behalf kill area 2>&1)
like "who waits at a FIFO can be killed" "$out" 'kill: signal 9'
like "and interrupted" "$out" 'open\("fifo", O_WRONLY\): EINTR'
like "and goes on where its handler says so" "$out" 'kill: restarted and open'

# ---- how it ends

mkfifo one/area/never
"$COOP" run -w "$T/one" sh -c 'touch up; echo x >area/never; :' </dev/null &
box=$!
await test -e one/up
init=$(pgrep -P $box -x coop-init)
ok "somebody waits at the door" await pgrep -P "$init" -x coop-init
kill -KILL "$(pgrep -P "$init" -x sh)"
wait $box
is "its command killed, the box ends" $? 137
rm one/area/never one/up

mkfifo orders && exec 5<>orders
"$COOP" run -w "$T/one" "${programs[@]}" sh -c \
    'touch up; read -r x; /behalf many /work/area 20000; touch done; read -r x; echo >after && test -e after' <&5 >/dev/null 2>&1 &
box=$!
await test -e one/up
init=$(pgrep -P $box -x coop-init)
real_root && n_before=$(ls "/proc/$init/fd" | wc -l)
echo >&5
ok "20,000 calls" await 120 test -e one/done
if real_root; then
    is "init has as many descriptors as before" "$(ls "/proc/$init/fd" | wc -l)" "$n_before"
else
    skip_never "init has as many descriptors as before" "only root can look"
fi
is "and nobody is left who waits" "$(pgrep -P "$init" -x coop-init | wc -l)" 0
echo >&5
wait $box
is "the box works as before" $? 0
exec 5>&-

# ---- programs

mkdir tools
cat >tools.sh <<'END'
set -e
export HOME=/tmp GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q -b main --template= sub/repo && cd sub/repo
for i in $(seq 50); do mkdir -p d$i && echo $i >d$i/f; done
git add -A && git commit -qm one && echo more >>d1/f && git stash -q && git stash pop -q && git commit -qam two
git checkout -qb side HEAD~1 && echo s >side && git add side && git commit -qm side && git rebase -q main
git worktree add -q ../wt HEAD && (cd ../wt && echo w >w && git checkout -qb w && git add w && git commit -qm w)
git worktree remove ../wt && git gc -q && git repack -adq && git fsck >/dev/null 2>&1 && git mv d2 dd && git commit -qm mv
echo git
cd /work && tar cf /tmp/x.tar sub && mkdir x && tar xf /tmp/x.tar -C x && diff -r sub x/sub && cp -a sub y && diff -r sub y && cp -al sub z
echo copies
for i in 1 2 3 4; do (for j in $(seq 60); do mkdir -p n/$((j % 7))/a/b/$i && echo x >n/$((j % 7))/a/b/$i/$j; done) & done
wait && [ "$(find n -type f | wc -l)" = 240 ]
echo storm
for i in $(seq 100); do printf '#!/bin/sh\nexit 0\n' >run.sh && chmod +x run.sh && ./run.sh; done
echo one >e; for i in $(seq 50); do echo $i >.e.swp && mv .e.swp e && sed -i "s/$i/x/" e; done; [ "$(cat e)" = x ]
echo rewritten
echo stderr >>/dev/stderr; echo fd >>/dev/fd/2
END
ok "git, tar, cp and shells work" sh -c "'$COOP' run -w '$T/tools' --ro '$T/tools.sh:/tools.sh' bash -c 'bash /tools.sh 2>err' </dev/null >told"
is "all of them" "$(cat told)" $'git\ncopies\nstorm\nrewritten'
is "stderr is a file of the workspace, and can be opened again" "$(tail -n 2 tools/err)" $'stderr\nfd'

cat >tools.py <<'END'
import os, shutil, sqlite3, tempfile
for i in range(100):
    with tempfile.NamedTemporaryFile(dir='.') as f: f.write(b'x')
with tempfile.TemporaryFile(dir='.') as f: f.write(b'x')
for name, mode in ('db', 'wal'), ('db2', 'delete'):
    c = sqlite3.connect(name)
    c.execute('pragma journal_mode=' + mode)
    c.execute('create table t(a)')
    for i in range(30):
        c.execute('insert into t values(?)', (i,))
        c.commit()
    assert c.execute('select count(*) from t').fetchone()[0] == 30
    c.close()
shutil.copytree('sub', 'copied')
shutil.move('copied', 'moved')
shutil.rmtree('moved')
END
if [ -x /usr/bin/python3 ] && /usr/bin/python3 -c 'import sqlite3' 2>/dev/null; then
    ok "temporary files, databases and trees in Python" "$COOP" run -w "$T/tools" --ro "$T/tools.py:/tools.py" /usr/bin/python3 /tools.py
else
    skip "temporary files, databases and trees in Python" "no /usr/bin/python3 with sqlite3"
fi
if [ -x /usr/bin/make ] && [ -x /usr/bin/cc ]; then
    mkdir build
    for i in {1..8}; do echo "int f$i(void) { return $i; }" >build/f$i.c; done
    echo 'int f1(void); int main(void) { return f1() - 1; }' >build/m.c
    printf 'O = m.o %s\nall: prog\n\t./prog\nprog: $(O)\n\t$(CC) -o $@ $(O)\n' "$(seq -f 'f%g.o' -s ' ' 8)" >build/Makefile
    ok "make -j4" "$COOP" run -w "$T/build" make -sj4
else
    skip "make -j4" "no make or no compiler"
fi
chmod -R u+rwX "$T"/*/area 2>/dev/null
# ---- what is answered without much looking

mkdir short && : >short/file && mkdir -p short/.git/objects short/sub && : >short/.git/config
is "a link in /tmp leads into the workspace" "$(inside short sh -c 'ln -s /work/file /tmp/l && echo one >/tmp/l && cat file')" one
is "a link to a directory too" "$(inside short sh -c 'ln -s /work/sub /tmp/d && echo two >/tmp/d/new && echo three >>/tmp/d/new && cat sub/new | xargs')" "two three"
refused "and what is protected stays so" inside short sh -c 'ln -s /work /tmp/d && echo x >/tmp/d/.envrc'
is "a file of /tmp is written as it is" "$(inside short sh -c 'echo a >/tmp/x && echo b >>/tmp/x && mkdir /tmp/y && echo c >/tmp/y/../z && cat /tmp/x /tmp/z | xargs')" "a b c"
is "a mount below /tmp is not /tmp" "$("$COOP" run -w short --ro short/sub:/tmp/ro --json sh -c 'echo x >/tmp/ro/none; echo x >/tmp/ro/new' </dev/null | jq -r '.denials[] | [.op, .target] | join(" ")' | xargs)" "create /tmp/ro/none write /tmp/ro/new"
is "two names of one directory" "$(inside short sh -c 'cd sub && echo x >a && mv a b && mv b ./c && mv ./c d && cat d')" x
refused "the second may not be made" inside short sh -c 'cd .git && mkdir hooks.new && mv hooks.new hooks'
refused "nor the first taken" inside short sh -c 'cd .git && mv config config.old'
is "nor is anything of it there" "$(cd short/.git && echo *)" "config hooks.new objects"
is "a socket that is not there, by every way to its name" "$(inside short python3 -c '
import errno, os, socket
os.symlink("nowhere", "dangling")
for path in "/run/no/such", "no/such", "dangling", "file/such", "file":
    s = socket.socket(socket.AF_UNIX)
    try: s.connect(path)
    except OSError as e: print(errno.errorcode[e.errno])')" "$(printf 'ENOENT\nENOENT\nENOENT\nENOTDIR\nECONNREFUSED')"

done_testing
