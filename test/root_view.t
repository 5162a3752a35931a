#!/bin/bash
# A directory of the host as the box's root: paths, the top level, git, nothing left behind.
# builds: asan
# speed: slow
. "$(dirname "$0")/box.sh"
command -v git >/dev/null || { skip_never "the root view" "needs git"; done_testing; }

mkdir -p p/src p/docs/deep p/node_modules/x cache/npm
echo 'app' >p/src/app.ts
echo 'read me' >p/README.md
echo 'a' >p/docs/a
echo 'deep' >p/docs/deep/d
echo 'pkg' >cache/npm/pkg
ln -s README.md p/link
ln -s src p/dirlink
ln -s /etc/shadow p/shadow
ln -s ../../../../etc/passwd p/up
mkfifo p/pipe
root() { "$COOP" run --root "$T/p" "$@" </dev/null; }
in_root() { root sh -c "$1"; }
# names, kinds, modes, inodes, sizes, times of contents and of names
snapshot() { find p -printf '%p %y %m %i %s %T@ %C@ %l\n' | sort; }

# ---- paths mean the same

is "/src/app.ts is the project's src/app.ts" "$(root cat /src/app.ts)" app
is "/README.md likewise" "$(root cat /README.md)" "read me"
is "the box starts in /, which is home as well" "$(root sh -c 'pwd; echo $HOME $PWD')" $'/\n/ /'
is "the host's programs stand beside it" "$(root sh -c 'test -x /usr/bin/env && test -d /etc && test -d /tmp && echo yes')" yes
is "and there is no /work" "$(root sh -c 'ls -d /work 2>&1 | grep -c "No such"')" 1
is "a file has the inode that it has on the host" "$(root stat -c %i /README.md /src/app.ts)" "$(stat -c %i p/README.md p/src/app.ts)"
is "the whole of the top level is there" "$(root sh -c 'ls -A / | grep -vxE "bin|sbin|lib|lib32|lib64|libx32|usr|etc|dev|proc|tmp|run|var|nix"')" "$(ls -A p)"
is "kinds of files too" "$(root stat -c '%n %F' /pipe /link /dirlink /src)" \
    $'/pipe fifo\n/link symbolic link\n/dirlink symbolic link\n/src directory'
is "a start directory is one of the box" "$(root --chdir src pwd)" /src
before=$(snapshot)
root true
is "nothing in the project changes because it is shown" "$(snapshot)" "$before"

# ---- the top level

in_root 'echo new >/new.txt'
is "a new file at the top is the project's" "$(cat p/new.txt)" new
is "and nothing else came" "$(ls -A p)" "$(printf '%s\n' README.md dirlink docs link new.txt node_modules pipe shadow src up)"
is "it can be read, written and listed at once" "$(in_root 'echo x >>/new.txt; cat /new.txt; ls /new.txt; cat <new.txt')" $'new\nx\n/new.txt\nnew\nx'
is "made with each call" "$(in_root 'mkdir d && echo 1 >d/f && mkfifo fifo && ln -s d/f sl && ln README.md hard && cat sl && stat -c %h hard && test -p fifo && echo fifo')" $'1\n2\nfifo'
is "and is so on the host" "$(cat p/d/f; readlink p/sl; stat -c '%F' p/fifo; stat -c %h p/README.md)" $'1\nd/f\nfifo\n2'
is "renamed: file, directory, link" "$(in_root 'mv new.txt other.txt && mv d e && mv sl sm && cat other.txt e/f && readlink sm && ls -d d sl new.txt 2>&1 | grep -c "No such"')" $'new\nx\n1\nd/f\n3'
is "on the host too" "$(ls -dA p/other.txt p/e p/sm p/d p/sl p/new.txt 2>/dev/null)" $'p/e\np/other.txt\np/sm'
is "a directory in which somebody is can be renamed" "$(in_root 'cd e && mv /e /d && echo y >g && cat /d/g')" y
is "removed: file, link, directory, fifo" "$(in_root 'rm other.txt sm fifo hard && rm -r d && ls -d other.txt sm fifo hard d 2>&1 | grep -c "No such"')" 5
is "on the host too, and nothing else" "$(ls -A p)" $'README.md\ndirlink\ndocs\nlink\nnode_modules\npipe\nshadow\nsrc\nup'
is "from one entry to another: files, directories, links" "$(in_root 'mv README.md src/ && mv src/README.md docs/r && mv docs/r README.md &&
    mv docs/deep src/ && mv src/deep . && mv deep docs/ && ln README.md src/hard && stat -c %h src/hard && rm src/hard &&
    mv link src/ && mv src/link . && readlink link; cat docs/deep/d README.md')" $'2\nREADME.md\ndeep\nread me'
is "by rename itself, not by copying" "$(i=$(stat -c %i p/README.md); in_root 'mv README.md src/ && mv src/README.md .'; [ "$(stat -c %i p/README.md)" = "$i" ] && echo same)" same
is "exchanged" "$(in_root 'mkdir x1 x2 && touch x1/1 x2/2 && mv --exchange -T x1 x2 2>/dev/null || python3 -c "
import ctypes
ctypes.CDLL(None).renameat2(-100, b\"/x1\", -100, b\"/x2\", 2)"; ls x1 x2; rm -r x1 x2')" $'x1:\n2\n\nx2:\n1'
refused "a directory that is not empty is not removed" root rmdir /docs
is "and the error is the usual one" "$(in_root 'rmdir /docs 2>&1; mkdir /docs 2>&1; rm /nothing 2>&1; mv /nothing /x 2>&1' | grep -oE '(Directory not empty|File exists|No such file or directory)')" \
    $'Directory not empty\nFile exists\nNo such file or directory\nNo such file or directory'
is "modes and the mask are the caller's" "$(in_root 'umask 027; echo >m1; mkdir m2; umask 0; echo >m3; stat -c %a m1 m2 m3; rm -r m1 m2 m3')" $'640\n750\n666'
is "what is made unwritable can be written by who made it" "$(in_root 'python3 -c "
import os
fd = os.open(\"/ro\", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
os.write(fd, b\"x\")
os.close(fd)"; stat -c %a /ro; cat /ro; rm -f /ro')" $'444\nx'
is "O_EXCL, O_TRUNC, O_APPEND and temporary files" "$(in_root 'python3 - <<END
import os, tempfile
os.close(os.open("/t", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
try: os.open("/t", os.O_CREAT | os.O_EXCL | os.O_WRONLY); print("made twice")
except FileExistsError: print("exists")
open("/t", "w").write("one"); open("/t", "a").write("two"); print(open("/t").read())
open("/t", "w").close(); print(os.path.getsize("/t")); os.remove("/t")
f = tempfile.TemporaryFile(dir="/"); f.write(b"u"); f.flush()
fd = os.open("/", os.O_TMPFILE | os.O_RDWR, 0o600); os.write(fd, b"named")
os.link(f"/proc/self/fd/{fd}", "named", dst_dir_fd=os.open("/", os.O_RDONLY), follow_symlinks=True); print(open("/named").read())
os.rename("/named", "/src/named"); print(open("/src/named").read()); os.remove("/src/named")
END')" $'exists\nonetwo\n0\nnamed\nnamed'
is "an editor that saves by rename" "$(in_root 'for i in 1 2 3 4 5; do echo "version $i" >.README.md.swp && mv .README.md.swp README.md; done; cat README.md; sed -i s/version/is/ README.md; cat README.md; grep -c " /README.md " /proc/self/mountinfo')" $'version 5\nis 5\n1'
if [ "$(printf '%s\n' 6.5 "$(uname -r)" | sort -V | head -n 1)" = 6.5 ]; then
    # Landlock may refuse to open the old one in the moment that it goes.
    is "a reader meanwhile sees the old or the new, never nothing" "$(in_root 'echo is 5 >README.md; (for i in $(seq 300); do echo "is 5" >.tmp; mv .tmp README.md; done; touch /tmp/done) &
        until [ -e /tmp/done ]; do read -r line <README.md && echo "$line"; done 2>/tmp/refused | sort -u; grep -vc "Permission denied" /tmp/refused')" $'is 5\n0'
else
    skip_never "a reader meanwhile sees the old or the new, never nothing" "needs Linux 6.5"
fi
is "is seen on the host, and leaves nothing" "$(cat p/README.md; ls -A p)" $'is 5\nREADME.md\ndirlink\ndocs\nlink\nnode_modules\npipe\nshadow\nsrc\nup'
is "many names, many times" "$(in_root 'for i in $(seq 200); do echo $i >f$i; done; for i in $(seq 200); do mv f$i g$i; done; cat g* | sort -n | tail -n 1; rm g*; ls / | grep -c "^[fg][0-9]"')" $'200\n0'
is "the box's own names stay" "$(in_root 'mv /usr /u; rm -rf /etc /bin; mkdir /tmp; rmdir /proc; ln -sfn x /lib; echo x >/usr; ls -d /usr /etc /bin /proc' 2>/dev/null)" $'/bin\n/etc\n/proc\n/usr'
is "odd names: newline, space, no UTF-8, a leading dash" "$(in_root 'n=$(printf "a\nb \377c"); echo odd >"/$n" && mv "/$n" "/-$n" && cat "/-$n" && mkdir "/$n" && echo in >"/$n/f" && cat "/$n/f"')" $'odd\nin'
is "on the host likewise" "$(cat "p/-"$'a\nb \xffc' "p/"$'a\nb \xffc/f')" $'odd\nin'
is "and shown by the next box" "$(in_root 'cat /-a* /a*/f; rm -r /-a* /a*')" $'odd\nin'
long=$(printf 'n%.0s' {1..255})
is "a name of 255 bytes, and one more" "$(in_root "echo l >/$long; cat /$long; rm /$long; echo l >/${long}x" 2>&1 | sed 's/.*: //')" $'l\nFile name too long'

# ---- the skeleton is nobody's to write

is "nothing is written to the root itself by any way" "$(in_root 'python3 - <<END
import os, socket
def attempt(what, f):
    try: f(); print(what, "went through")
    except OSError: pass
attempt("chmod", lambda: os.chmod("/", 0o777))
attempt("xattr", lambda: os.setxattr("/", "user.x", b"y"))
attempt("etc", lambda: open("/etc/passwd", "a"))
attempt("var", lambda: os.mkdir("/var/x"))
attempt("proc cwd", lambda: open("/proc/self/cwd/etc/new", "w"))
attempt("link into etc", lambda: os.link("/README.md", "/etc/r"))
attempt("unlink", lambda: os.unlink("/etc/passwd"))
END')" ""
is "a socket is made in the project, as any file" "$(in_root 'python3 -c "import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"/sock\"); s.listen(); socket.socket(socket.AF_UNIX).connect(\"/sock\")" && ls -F / | grep sock && rm /sock; ls /sock 2>&1 | wc -l')" $'sock=\n1'
is "a command has no capabilities there" "$(in_root 'grep -E "^Cap(Eff|Prm|Bnd|Amb)" /proc/self/status | cut -f 2 | sort -u; umount /src || mount -t tmpfs x /src || echo refused' 2>/dev/null)" $'0000000000000000\nrefused'

# ---- no way out

is "/../etc/passwd is the box's own" "$(in_root 'cat /../etc/passwd' | head -n 1 | cut -d : -f 1)" root
isnt "not the host's" "$(in_root 'cat /../etc/passwd')" "$(cat /etc/passwd)"
is "a link of the project leads where it does in the box" "$(in_root 'cat /shadow 2>&1 | grep -c "No such"; cat /up | head -n 1 | cut -d : -f 1; cat /dirlink/app.ts')" $'1\nroot\napp'
refused "nothing is written through a link to the outside" in_root 'echo x >/shadow'
mkdir outside && echo secret >outside/s && ln -s "$T/outside" p/out
is "a link to another directory of the host leads nowhere" "$(in_root 'cat /out/s /../../../..'"$T"'/outside/s 2>&1 | grep -c "No such"')" 2
refused "nor can anything be made there" in_root 'echo x >/out/t'
is "the project's parent is not seen" "$(in_root 'ls /src/../..  | grep -c outside; ls /proc/1/root/ /proc/1/cwd/ /proc/1/fd/6/ /proc/1/fd/7/ 2>&1 | grep -cE "No such file or directory|Operation not permitted"')" $'0\n4'
is "the project as a whole has no path" "$(in_root 'ls /proc | grep -c app; find / -xdev -name app.ts 2>/dev/null')" 0
rm p/out

# ---- the host changes things while a box runs

start_root() { # runs $script in a box; `see COMMAND OUTPUT` waits there until the command says so
    rm -f in out
    mkfifo in
    exec 6<>in
    "$COOP" run --root "$T/p" bash -c '
        see() { local end=$((SECONDS + 10)); until [ "$(eval "$1" 2>&1)" = "$2" ]; do [ $SECONDS -lt $end ] || { eval "$1"; return 1; }; done; echo "seen: $2"; }
        '"$script" <in >out 2>&1 6>&- &
    box=$!
}
script='echo up; read -r x; see "cat /fresh" hi; see "cat README.md" replaced; see "cat newdir/f" in; see "ls -d docs" "ls: cannot access '"'docs'"': No such file or directory"
    see "cat papers/a" a; see "readlink link" other; see "cat src" "now a file"; see "ls -d gone 2>&1 | grep -c such" 1; echo mine >fresh; echo done'
echo g >p/gone
start_root
await grep -q up out
echo hi >p/fresh; echo replaced >p/.tmp && mv p/.tmp p/README.md; mkdir p/newdir && echo in >p/newdir/f; mv p/docs p/papers
ln -sfn other p/link; mv p/src "$T/src.old"; echo "now a file" >p/src; rm p/gone
echo go >&6
wait $box
is "the box runs on" "$?" 0
is "new, replaced, renamed, removed: all of it is seen" "$(cat out)" "$(printf '%s\n' up 'seen: hi' 'seen: replaced' 'seen: in' "seen: ls: cannot access 'docs': No such file or directory" 'seen: a' 'seen: other' 'seen: now a file' 'seen: 1' 'done')"
is "and what the box writes there reaches the host" "$(cat p/fresh)" mine
rm p/src p/fresh; mv src.old p/src; mv p/papers p/docs; rm -r p/newdir; ln -sfn README.md p/link
script='echo up; read -r x; see "ls / | grep -c ^many" 3000; read -r x; see "ls / | grep -c ^many" 0; echo done'
start_root
await grep -q up out
for i in $(seq 3000); do : >"p/many$i"; done
echo go >&6
await grep -q 'seen: 3000' out
rm p/many*
echo go >&6
wait $box
is "three thousand at once" "$(cat out)" $'up\nseen: 3000\nseen: 0\ndone'
exec 6>&-

# ---- what the project has under names of the box

names=$("$COOP" run -w ws sh -c 'ls -A /' </dev/null | grep -vx work; echo nix)
for name in $names; do
    mkdir "p/$name"
    status "a project's own /$name is not hidden: the root is refused" 125 root true
    rmdir "p/$name"
done
mkdir -p p/lib p/tmp && echo mine >p/lib/tool && ln -s nowhere p/bin
sentence="the directory '$T/p' cannot be the root, because the box has its own: bin, lib, tmp"
like "with a sentence that lists the names" "$(root true 2>&1)" "coop run: $sentence"
like "and says what to do instead" "$(root true 2>&1)" "show it as the workspace instead: --workspace"
is "which works" "$("$COOP" run -w "$T/p" cat lib/tool </dev/null)" mine
like "coop plan says the same" "$("$COOP" plan --root p true 2>&1)" "because the box has its own: bin, lib, tmp"
like "coop why too" "$("$COOP" why --root p read /lib/tool 2>&1)" "because the box has its own: bin, lib, tmp"
not_ok "and does not answer" "$COOP" why --root p read /src/app.ts
printf '[sandbox]\nenabled = true\nroot = "%s"\n' "$T/p" >root.toml
ok "a configuration beside the project is approved first" "$COOP" allow root.toml
status "a configuration's root too" 125 "$COOP" run --config root.toml true
like "coop check finds it" "$("$COOP" check --config root.toml 2>&1)" "because the box has its own: bin, lib, tmp"
not_ok "as an error" "$COOP" check --config root.toml
like "the tools of coop mcp say so" "$(printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_dir","arguments":{"path":"/"}}}' | "$COOP" mcp --config root.toml 2>&1)" "because the box has its own: bin, lib, tmp"
status "only what is shown counts: --restrict" 0 root --restrict src true
rm -r p/lib p/tmp p/bin
is "names that merely begin so are the project's" "$(mkdir p/library p/bin2; in_root 'ls -d /library /bin2'; rmdir p/library p/bin2)" $'/bin2\n/library'
in_root 'mkdir /lib /var /nix/x; echo x >/lib/x; echo x >/tmp/x; echo x >/run/x; ln -sfn src /etc' 2>/dev/null
is "what a command makes under such names is not the project's" "$(cd p && ls -dA lib var nix tmp run etc 2>/dev/null)" ""

# ---- read-only

echo keep >p/README.md
before=$(snapshot)
is "a read-only root can be read" "$("$COOP" run --root p:ro cat /README.md /src/app.ts)" $'keep\napp'
"$COOP" run --root p:ro sh -c 'echo x >/new; echo x >README.md; echo x >src/n; mkdir d; rm README.md; mv README.md r; mv src s; ln -s a b; touch -d 2001-01-01 README.md; chmod 777 src; truncate -s 0 src/app.ts' >/dev/null 2>&1 </dev/null
is "and is not changed in any way" "$(snapshot)" "$before"
is "the errors say why" "$("$COOP" run --root p:ro sh -c 'mkdir d; rm README.md; echo x >src/n' 2>&1 </dev/null | grep -c 'Read-only file system')" 3

# ---- mounts over the root

is "a mount is shown over the root" "$(root --mount source="$T/cache",target=/cache,readonly cat /cache/npm/pkg)" pkg
refused "read-only, as it says" root --mount source="$T/cache",target=/cache,readonly touch /cache/x
is "and nothing is made in the project" "$(ls -A p)" "$(printf '%s\n' README.md dirlink docs link node_modules pipe shadow src up)"
mkdir out1 && is "another is written to" "$(root --rw "$T/out1:/output" sh -c 'echo o >/output/f; cat /output/f'; cat out1/f)" $'o\no'
is "the longest target wins" "$(root --ro "$T/cache:/docs/deep" --ro "$T/out1:/docs" sh -c 'ls /docs' 2>&1 | sed 's/.*: //' | head -n 1)" "No such file or directory"
is "one in an entry of the project" "$(root --ro "$T/cache:/docs/deep" sh -c 'ls /docs /docs/deep')" $'/docs:\na\ndeep\n\n/docs/deep:\nnpm'
is "over an entry it hides it" "$(root --ro "$T/cache:/docs" ls /docs; ls p/docs)" $'npm\na\ndeep'
is "a blocked entry stays blocked" "$(root --block docs sh -c 'ls /docs; mv /docs /x; rm -r /docs; mkdir /docs; ls /docs' 2>/dev/null; ls p/docs)" $'a\ndeep'
cat >coop.toml <<END
[sandbox]
root = "$T/p"
readonly = true
mounts = [
  { source = "$T/out1", target = "/cache" },
  { source = "$T/cache", target = "/cache/", readonly = true },
]
END
ok "this one is approved, too" "$COOP" allow coop.toml
is "the configuration says the same; the later of two mounts wins" "$("$COOP" run --config coop.toml sh -c 'cat /src/app.ts /cache/npm/pkg; touch /x /cache/x; pwd' 2>/dev/null </dev/null)" $'app\npkg\n/'
not_ok "root and workspace exclude each other" "$COOP" run --root p -w ws true
like "with a reason" "$("$COOP" run --root p -w ws true 2>&1)" "root 'p' and the workspace 'ws' exclude each other"
like "root and same-path too" "$("$COOP" run --root p --same-path true 2>&1)" "not at its own path too"
status "a root that is not there" 125 "$COOP" run --root nowhere true
status "a root that is a file" 125 "$COOP" run --root p/README.md true
status "the whole host" 125 "$COOP" run --root / true

# ---- protected names

git -C p init -q && git -C p config user.name u && git -C p config user.email u@example.org
mkdir -p p/config p/.vscode && echo 'SECRET=1' | tee p/.env p/config/.env >/dev/null && echo 'export A=1' >p/.envrc && echo '{}' >p/.vscode/settings.json
before=$(snapshot)
refused "a secret at the top cannot be read" root cat /.env
refused "nor deeper" root cat /config/.env
for attempt in 'mv .env x && cat x' 'ln .env x && cat x' 'rm .env' 'echo x >.env' 'mv config c && cat c/.env' 'mv config/.env x && cat x' 'ln config/.env x && cat x' \
    'mv config docs/ && cat docs/config/.env' 'cp .env x' 'cat /proc/self/cwd/.env' 'mv src .env' 'mv --exchange .env src' 'ln -s .env x && cat x' 'cat config/../.env'; do
    out=$(in_root "$attempt" 2>&1)
    unlike "no way to read it: $attempt" "$out" SECRET
    rm -rf p/x
    [ ! -d p/c ] || mv p/c p/config
    [ ! -d p/docs/config ] || mv p/docs/config p/config
done
is "it is what it was" "$(cat p/.env p/config/.env)" $'SECRET=1\nSECRET=1'
for attempt in 'mkdir .git/hooks; echo x >.git/hooks/pre-commit' 'mv .git g' 'mv .git g; mkdir -p .git/hooks && echo >.git/hooks/pre-commit' 'echo x >.envrc' 'rm .envrc' 'mv src/app.ts .envrc' \
    'ln src/app.ts .bashrc' 'echo x >.bashrc' 'mkdir .idea' 'mkdir x && mv x .idea' 'ln -s src .idea' 'echo x >.vscode/tasks.json' 'mv .vscode v' 'rm -r .vscode' \
    'mkdir -p x/hooks && mv -T x .git' 'cd /proc/self/cwd && echo >.bashrc' 'cd /src && echo >../.bashrc'; do
    refused "no way to write it: $attempt" in_root "$attempt"
    rm -rf p/x
done
is "none of it is there" "$(cd p && ls -d .bashrc .idea g v x .git/hooks/pre-commit .git/x 2>/dev/null; cat .envrc)" 'export A=1'
rm -rf p/x
script='echo up; read -r x; see "cat .env 2>&1 | grep -c Permission" 1; read -r x; cat .env; cat .env; echo x >.envrc; see "ls -d moved" moved; cat moved/.env; see "cat .envrc" "export A=2"; chmod 777 .envrc; echo finished'
start_root
await grep -q up out
echo go >&6
await grep -q 'seen: 1' out
for i in 1 2 3; do echo "SECRET=$i" >p/.new && mv p/.new p/.env; done; echo 'export A=2' >p/.new && mv p/.new p/.envrc; mv p/config p/moved
echo go >&6
wait $box
exec 6>&-
mv p/moved p/config
unlike "a secret that the host replaces, or moves along with its directory, stays hidden" "$(cat out)" SECRET
is "and what may not be written stays so" "$(cat p/.envrc; stat -c %a p/.envrc; grep -c finished out)" $'export A=2\n644\n1'

# ---- git at the root

rm -rf p/node_modules p/pipe p/shadow p/up
g() { root -e GIT_AUTHOR_DATE=2020-01-01T00:00:00Z -e GIT_COMMITTER_DATE=2020-01-01T00:00:00Z "$@"; }
g git add -A
is "git add -A takes the project and nothing else" "$(git -C p ls-files | tr '\n' ' ')" ".envrc .vscode/settings.json README.md dirlink docs/a docs/deep/d link src/app.ts "
g git commit -qm one
is "git status is clean, /usr is no news" "$(g git status --porcelain)" ""
is "the repository's top is /" "$(g git rev-parse --show-toplevel)" /
g sh -c 'git checkout -qb other && echo other >README.md && git rm -qr docs && mkdir lib2 && echo l >lib2/l && ln -sfn src link && git add -A && git commit -qm two'
is "commit, remove, add" "$(git -C p show --stat --format= --name-status | tr '\t\n' '  ')" "M README.md D docs/a D docs/deep/d A lib2/l M link " 
g git checkout -q master 2>/dev/null || g git checkout -q main
is "checkout brings the other state back, at the top too" "$(cat p/README.md p/docs/deep/d; readlink p/link; test -e p/lib2 || echo gone)" $'keep\ndeep\nREADME.md\ngone'
is "stash" "$(g sh -c 'echo changed >README.md; echo n >untracked; git stash -qu; cat README.md; ls untracked 2>&1 | grep -c such; git stash pop -q; cat README.md untracked; git checkout -q README.md; rm untracked; git status --porcelain')" $'keep\n1\nchanged\nn'
is "git mv between entries" "$(g sh -c 'git mv README.md docs/ && git mv docs/README.md . && git mv docs src/docs && git mv src/docs docs && git status --porcelain')" ""
is "merge, rebase" "$(g sh -c 'git merge -q other -m m && git log --oneline | wc -l && cat README.md && git reset -q --hard HEAD~1 && git rebase -q other && git status --porcelain')" $'2\nother'
is "seen from the host it is clean" "$(git -C p status --porcelain)" "$(printf '?? %s\n' .env config/)"
is "git config goes through its gate" "$(g sh -c 'git config user.name somebody; git config core.hooksPath /tmp 2>/dev/null; git config user.name; git config core.hooksPath')" somebody

# ---- no room in memory

mkdir p/config2 && echo 'SECRET=9' >p/config2/.env
cat >p/fill.py <<'END'
import os
n = 0
try:
    while True:
        os.close(os.open(f"/tmp/{n}", os.O_CREAT | os.O_WRONLY))
        n += 1
except OSError: pass
def attempt(f):
    try: f(); return "done"
    except OSError as e: return os.strerror(e.errno)
print(attempt(lambda: os.mkdir("/new")), os.path.exists("/new"))
print(attempt(lambda: open("/new", "w")), os.path.exists("/new"))
print(attempt(lambda: os.symlink("x", "/new")), os.path.lexists("/new"))
moved = attempt(lambda: os.rename("/config2", "/c2"))
print("moved" if moved == "done" else "stayed")
for i in range(n): os.unlink(f"/tmp/{i}")
print(attempt(lambda: os.open("/c2", os.O_CREAT | os.O_EXCL)))
for d in "config2", "c2":
    try: print(open(f"/{d}/.env").read())
    except OSError: pass
END
out=$(root --tmp-size 64k --timeout 120s python3 /fill.py 2>&1)
is "a name for which there is no room is not made" "$(head -n 4 <<<"$out")" "$(printf 'No space left on device %s\n' False False False)"$'\n'stayed
unlike "and nothing is uncovered" "$out" SECRET
rm -rf p/config2 p/c2 p/fill.py

# ---- a storm: what both sides do at once, both sides see in the end

mkdir -p storm/keep
cat >storm/keep/storm.py <<'END'
import os, random, sys
top, seed, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
r = random.Random(seed)
names = [f"s{i}" for i in range(12)]
def at(): return os.path.join(top, r.choice(names))
def below(): return os.path.join(top, "keep", r.choice(names))
def remove(path):
    if os.path.isdir(path) and not os.path.islink(path): os.rmdir(path)
    else: os.unlink(path)
acts = [
    lambda: os.close(os.open(at(), os.O_CREAT | os.O_WRONLY | os.O_NONBLOCK)),
    lambda: os.close(os.open(at(), os.O_CREAT | os.O_EXCL | os.O_WRONLY)),
    lambda: os.mkdir(at()), lambda: os.symlink(r.choice(names), at()), lambda: os.link(at(), at()),
    lambda: os.mkfifo(at()), lambda: os.rename(at(), at()), lambda: os.rename(at(), below()),
    lambda: os.rename(below(), at()), lambda: remove(at()), lambda: remove(at()),
]
for i in range(n):
    try: r.choice(acts)()
    except OSError: pass
END
cat >storm/keep/look.sh <<'END'
cd "$1" && for i in s[0-9]*; do if [ -L "$i" ]; then echo "$i -> $(readlink "$i")"; elif [ -e "$i" ]; then stat -c '%n %F %i' "$i"; fi; done
END
"$COOP" run --root storm sh -c 'python3 /keep/storm.py / 1 1500 & python3 /keep/storm.py / 2 1500 & wait
    until [ -e /keep/enough ]; do sh /keep/look.sh / >/keep/.inside; mv /keep/.inside /keep/inside; done' </dev/null &
box=$!
python3 storm/keep/storm.py storm 3 3000 & python3 storm/keep/storm.py storm 4 3000 & wait $!
agrees() { [ -e storm/keep/inside ] && [ "$(cat storm/keep/inside)" = "$(sh storm/keep/look.sh storm)" ]; }
ok "both sides agree" await 30 agrees
touch storm/keep/enough
wait $box

# ---- without protection, many entries, a terminal, nothing left behind

is "--no-protect shows all, and the top level works" "$(root --no-protect sh -c 'cat .env; echo x >.bashrc; mv .bashrc b; mv b src/b; cat src/b; rm src/b')" $'SECRET=3\nx'
mkdir many && (cd many && seq -f 'file%04g' 1000 | xargs touch && mkdir sub)
is "a thousand entries" "$("$COOP" run --root many sh -c 'ls / | grep -c ^file; echo x >file0500; mv file0001 sub/; rm file0002; ls / | grep -c ^file' </dev/null; ls many | wc -l)" $'1000\n998\n999'
is "a terminal" "$(root --tty sh -c 'echo x >/tt; cat /tt; rm /tt' | tr -d '\r')" x
before=$(snapshot)
for i in 1 2 3 4 5; do
    "$COOP" run --root p sh -c 'while :; do cat /src/app.ts; done' >/dev/null 2>&1 </dev/null &
    box=$!
    await pgrep -P $box -x coop-init >/dev/null
    kill -9 $box
    wait $box 2>/dev/null
done
is "killed at once, nothing has changed" "$(snapshot)" "$before"
unlike "and no mount is left on the host" "$(cat /proc/self/mountinfo)" "$T"
# ---- what git has recorded, and is not there

said="git has recorded files under names that the box has itself, and would take them for removed"
git init -q rec && git -C rec config user.email a@example.org && git -C rec config user.name a
echo 1 >rec/a && git -C rec add a && git -C rec commit -qm one && git -C rec checkout -qb other
mkdir -p rec/tmp && echo t >rec/tmp/t && git -C rec add -A && git -C rec commit -qm two && git -C rec checkout -q -
ok "a branch without them" "$COOP" run --root rec git status
"$COOP" run --root rec git checkout -q other >/dev/null 2>&1 </dev/null
is "one with them, checked out inside" "$(git -C rec ls-files tmp)" tmp/t
out=$("$COOP" run --root rec sh -c 'git add -A && git commit -qm gone' 2>&1 </dev/null)
is "the next box is refused" "$?" 125
like "with the names" "$out" "$said: tmp"
is "nothing was recorded as removed" "$(git -C rec log -1 --format=%s)" two
for version in 2 3 4; do
    git -C rec update-index --index-version $version
    like "coop plan, index version $version" "$("$COOP" plan --root rec true 2>&1)" "$said: tmp"
done
like "coop why" "$("$COOP" why --root rec read /a 2>&1)" "$said"
ok "as a workspace it is shown" "$COOP" run -w rec git status
git -C rec worktree add -q ../linked other 2>/dev/null || git -C rec worktree add -q --detach ../linked other
rm -r linked/tmp
like "a linked worktree" "$("$COOP" run --root linked true 2>&1)" "$said"
git -C rec checkout -qf "$(git -C rec rev-list --max-parents=0 HEAD)" && rm -rf rec/tmp
ok "another branch is shown" "$COOP" run --root rec git status
git init -q split && mkdir split/tmp && echo 1 >split/tmp/t && echo 2 >split/a && git -C split add -A && git -C split update-index --split-index
echo 3 >split/b && git -C split add b && rm -r split/tmp
isnt "a split index" "$(find split/.git -name 'sharedindex.*')" ""
like "the rest of it counts" "$("$COOP" run --root split true 2>&1)" "$said: tmp"
if git init -q --object-format=sha256 rec256 2>/dev/null; then
    mkdir rec256/run && echo 1 >rec256/run/r && git -C rec256 add -A && rm -r rec256/run
    like "with longer hashes" "$("$COOP" run --root rec256 true 2>&1)" "$said: run"
fi
# ---- names that only the boxes of other hosts have

mkdir -p other shared/w
for name in lib32 libx32 nix; do
    for options in "" "--no-protect"; do
        # shellcheck disable=SC2086 # words
        "$COOP" run -q --root other $options sh -c 'mkdir x; mkdir "/$1"; mv x "$1"; ln -s /tmp "$1"; echo x >"$1"; rm -rf x' sh $name >/dev/null 2>&1 </dev/null
        is "nobody makes /$name: $options" "$(ls -A other)" ""
    done
done
ok "so that the next box starts" "$COOP" run --root other sh -c 'mkdir -p src/nix src/lib32 && echo x >src/nix/x'
is "below the top they are free" "$(cat other/src/nix/x)" x
for target in /nix/w /var/w /run/w; do
    is "a mount at $target can be written" "$("$COOP" run --root other --rw "$T/shared/w:$target" sh -c 'echo y >"$1/f" && cat "$1/f" && mkdir "$1/d" && rmdir "$1/d"' sh $target </dev/null)" y
done
done_testing
