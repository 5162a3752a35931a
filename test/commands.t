#!/bin/bash
# Which commands may run: decided before (check), and held by the kernel (enforce).
# needs: busybox
. "$(dirname "$0")/box.sh"
export XDG_STATE_HOME=$T/state

export XDG_CACHE_HOME=$T/cache XDG_CONFIG_HOME=$T/config
git() { command git -c safe.directory='*' "$@"; }
git init -q ws
printf 'all:\n\t@echo made; git status --short\n' >ws/Makefile

: >"$T/none.toml"
config() { cat >"$T/coop.toml"; }
with() { run --config "$T/coop.toml" "$@"; }
# The command is refused with 126, and nothing has run.
denied() { # WHAT PATTERN COMMAND...
    local what=$1 pattern=$2 out r=0
    shift 2
    out=$("$@" 2>&1) || r=$?
    is "$what: 126" "$r" 126
    like "$what: says why" "$out" "$pattern"
}

# ---- off: nothing is asked

config <<'END'
END
ok "without rules everything may run" with ls
config <<'END'
[commands.go]
END
ok "a rule alone changes nothing: the strength is off" with ls

# ---- check

config <<'END'
[commands]
strength = "check"
[commands.make]
[commands.go]
allowed = ["build", "test"]
blocked = ["build -o"]
END
ok "what is built in may run" with git status
ok "what is listed may run" with make
ok "its children are not looked at" with make
denied "what is not listed" "'ls' may not run: 'ls' is not among the allowed commands .*git, make" with ls
denied "the hint says what to write" 'hint: .*\[commands\.ls\]' with ls
denied "by a path too" "not among the allowed" with /bin/ls
while IFS='|' read -r words; do
    # shellcheck disable=SC2086
    denied "git $words" "git .*is blocked \(rule: built-in default\)" with git $words
done <<'END'
push --force
push -f
push origin main --force
push -fu origin main
push --forc
-C sub push -f
-c user.name=x push --force
push origin +main
reset --hard
reset --hard HEAD
reset HEAD --hard
clean -fd
clean -f -d
clean -d --force
clean -f sub
clean -id
END
while IFS='|' read -r words; do
    # shellcheck disable=SC2086
    out=$(with git $words 2>&1)
    unlike "git $words is asked of git" "$out" "may not run"
done <<'END'
push --force-with-lease
push origin main
reset --soft HEAD
clean -n
log -f
END
cat >>coop.toml <<'END'
[commands.docker]
blocked = ["run", "image"]
[commands.npm]
allowed = ["install", "run"]
END
denied "docker run by its other name" "'docker run' is blocked \(rule: .*/coop.toml:8:" with docker --context x container run y
denied "of a group of docker also what has a short name" "'docker image' is blocked" with docker pull x
denied "and what is kept in another group" "'docker buildx build' is blocked" with docker build .
unlike "an alias of what is allowed is allowed" "$("$COOP" plan --config "$T/coop.toml" -w ws npm t 2>&1)" "may not run"
denied "others are not" "'npm uninstall' is not among the allowed" with npm rm x
denied "not among the allowed sub-commands" "'go install' is not among the allowed sub-commands \(rule: .*/coop.toml:4:1\)" with go install x
denied "an allowed one with a blocked flag" "'go build -o' is blocked \(rule: .*/coop.toml:6:12\)" with go build -o x
status "an allowed one is not refused" "$(command -v go >/dev/null && echo 1 || echo 127)" with go test ./nowhere
denied "a path that leads out" "leads out of what the policy shows" with git diff --no-index Makefile ../../etc/shadow
denied "an absolute path" "leads out" with git diff --no-index Makefile /root/x
denied "a home that is not there" "leads out" with git diff --no-index Makefile '~nobody/x'
ok "a path inside" with git diff --no-index Makefile Makefile
ok "one in a mount" with --ro "$SRC/doc:/doc" git diff --no-index /doc/architecture.md /doc/architecture.md
denied "one that is blocked" "leads out" with --block sub git diff --no-index sub/a Makefile

is "shell text is taken apart" "$(with -c 'git status --short; make >/dev/null && echo end' 2>&1 | tail -n 1)" end
denied "each command of it is asked" "'git reset --hard' may not run" with -c 'git status; git reset --hard'
denied "also behind a pipe" "'ls' may not run" with -c 'git status | ls'
denied "also in sh -c" "'ls' may not run" with sh -c 'git status; ls'
denied "also in bash -c" "'ls' may not run" with bash -c 'git status; ls'
denied "also behind env and timeout" "'ls' may not run" with env A=1 timeout 5 ls
denied "command substitution" 'command substitution .* is not known before it runs' with -c 'git add $(cat list)'
denied "eval" "eval" with -c 'eval "git status"'
denied "an expansion as the command" "not known|cannot be told|expansion" with -c '$X status'
denied "a shell without text" "sh" with sh script.sh
printf '#!/bin/sh\necho not git\n' >tool && install -D -m 755 tool ws/tools/git
unlike "a program of the workspace is not taken for git" "$(with git --version)" "not git"
like "without rules it is first in PATH" "$(run --config "$T/none.toml" git --version)" "not git"
rm -r ws/tools
touch ws/here
with -c 'make; rm here; ls' 2>/dev/null
is "nothing of a refused text has run" "$(ls ws/here)" ws/here
rm ws/here

out=$(with --json git push -f 2>/dev/null)
is "--json: the document has the kind" "$(printf '%s' "$out" | tr -d ' \n' | grep -o '"kind":"denied"')" '"kind":"denied"'
is "--json: and the status" "$(printf '%s' "$out" | tr -d ' \n' | grep -o '"status":126')" '"status":126'
is "coop plan refuses too" "$("$COOP" plan --config "$T/coop.toml" -w ws git push -f 2>&1 | grep -c 'may not run')" 1

# ---- files of a project

config <<'END'
[commands]
strength = "check"
END
cat >ws/coop.toml <<'END'
[commands.git]
blocked = ["push"]
END
denied "a project blocks more" "'git push' is blocked \(rule: .*/ws/coop.toml:2:12\)" with git push
denied "and what is built in stays" "rule: built-in default" with git reset --hard
cat >ws/coop.toml <<'END'
[commands.ls]
END
status "a project allows no more" 125 with git status
rm ws/coop.toml
cat >>coop.toml <<'END'
[commands.git]
blocked = ["stash"]
END
denied "the owner's list replaces the one built in" "'git stash' is blocked" with git stash
unlike "so this is git's to refuse" "$(with git reset --hard 2>&1)" "may not run"
cat >coop.toml <<'END'
[commands]
strength = "check"
defaults = false
END
denied "without the defaults nothing is left" "'git' is not among the allowed commands \(none\)" with git status
mkdir ws/.campaign
cat >ws/.campaign/sandbox.yaml <<'END'
commands:
  go:
    description: "Go toolchain"
    subcommand_restrictions:
      allowed: [build, test]
      blocked:
        - install
END
cat >coop.toml <<'END'
[commands]
strength = "check"
[commands.go]
END
denied "a campaign's own file narrows" "'go install' is (blocked|not among)" with go install x
rm -r ws/.campaign

# ---- enforce

mkdir opt
cp "$BIN/execs" opt/execs
chmod 755 opt opt/execs
config <<'END'
[commands]
strength = "enforce"
[commands.make]
[commands.python3]
[commands."/opt/t/execs"]
END
tried() { with -q --ro "$T/opt:/opt/t" /opt/t/execs "$@" 2>&1; }
is "git works" "$(with git status --short)" "?? Makefile"
is "make works, with the shell it needs" "$(with make)" "made
?? Makefile"
is "git makes commits" "$(with -c 'git add -A && git -c user.name=a -c user.email=a@b commit -qm x && git log --format=%s')" x
if command -v python3 >/dev/null; then
    is "python works, with its modules" "$(with python3 -c 'import json, ctypes, sqlite3, ssl; print(1)')" 1
else
    skip "python works" "no python3"
fi
printf 'x:\n\t@ls; echo $$?; /bin/ls; echo $$?; command -v sed cat; true\n' >ws/Makefile
is "what is not allowed is not there" "$(with make -s 2>/dev/null | tr '\n' ' ')" "127 127 "
denied "what is asked for is still decided first" "'git push --force' is blocked" with git push -f
is "the directories of programs hold these alone" \
    "$(with python3 -c 'import os; print(*sorted({os.path.basename(os.path.realpath(f"{d}/{f}")).rstrip("0123456789.") for d in ("/bin", "/usr/bin", "/sbin", "/usr/local/bin") for f in os.listdir(d)}))')" \
    "$(basename "$(readlink -f /bin/sh)") git make python"
is "the result names the wall" "$(with --json git status | tr -d ' \n' | grep -o '"commands":"[a-z+]*"')" '"commands":"noexecmounts+landlock"'

# One way each; itself it may execute.
while read -r expected how path; do
    is "$how $path" "$(tried "$how" $path)" "$expected"
done <<'END'
RAN exec /opt/t/execs
RAN exec /proc/self/exe
RAN fd /opt/t/execs
EACCES empty /opt/t/execs
EACCES copy /work/copy
EACCES copy /tmp/copy
EACCES copy /var/tmp/copy
EACCES copy /run/copy
EACCES copy /dev/shm/copy
EACCES exec /work/copy
EACCES empty /work/copy
EACCES fd /work/copy
EACCES tmpfile /work
EACCES tmpfile /tmp
EACCES tmpfile /dev/shm
ENOSYS memfd
ENOSYS memfd-noexec
ENOENT exec /usr/bin/ls
ENOENT exec /bin/busybox
MAPPED map /opt/t/execs
EPERM map /work/copy
EACCES later /work/copy
EPERM map /etc/passwd
END
# Which of them depends on whether the kernel remembers that process 1 was looked for.
like "exec /proc/1/exe" "$(tried exec /proc/1/exe)" '^E(NOENT|PERM)$'
is "with the strength check these would have worked" \
    "$(for how in 'memfd' 'copy /work/copy' 'tmpfile /tmp'; do run --config "$T/none.toml" --ro "$T/opt:/opt/t" /opt/t/execs $how; done | tr '\n' ' ')" "RAN RAN RAN "
rm -f ws/copy

# A program that the box shows somewhere else: copied on the host, so that it is no hard link.
loader=$(ldd "$(type -P git)" | grep -o '/[^ ]*ld-[^ ]*' | head -n 1) # is no rule: it came along
cp "$(readlink -f "$(command -v ls)")" ws/ls
mkdir -p shown && cp ws/ls shown/ls
tool_of_lib=$(find /usr/lib/gcc /usr/libexec /usr/lib/openssh /usr/lib/apt /usr/lib/systemd -type f -perm -1 2>/dev/null |
    while read -r f; do head -c 4 "$f" | grep -q ELF && echo "$f" && break; done)
recipe() { # COMMAND: what it prints in the end, run by make
    printf 'x:\n\t@%s; echo "$$?"\n' "$1" >ws/Makefile
    with --ro "$T/shown:/shown" make -s 2>&1
}
like "ld.so runs what is allowed" "$(recipe "$loader $(readlink -f "$(type -P git)") --version")" "git version"
like "without rules it runs anything" "$(run --config "$T/none.toml" "$loader" /work/ls /work)" Makefile
for program in /work/ls /shown/ls $tool_of_lib; do
    like "ld.so $program" "$(recipe "$loader $program .")" 'failed to map segment'
    like "$program itself" "$(recipe "$program .")" '(Permission denied|cannot execute)'
    like "$program through ld.so --preload" "$(recipe "$loader --preload $program $(readlink -f "$(type -P git)") --version")" 'cannot be preloaded|failed to map'
done
printf '#!/bin/sh\necho RAN\n' >ws/script && chmod +x ws/script
printf 'x:\n\t@./script; echo $$?\n' >ws/Makefile
is "a script of the workspace" "$(with make -s 2>/dev/null)" 126
printf '#!/bin/sh\necho RAN\n' >ws/.git/hooks/pre-commit && chmod +x ws/.git/hooks/pre-commit
unlike "nor a hook, though it is mounted apart" "$(with -c 'git -c user.name=a -c user.email=a@b commit --allow-empty -m x' 2>&1)" RAN
is "LD_PRELOAD loads nothing of the workspace" \
    "$(cp "$(ldd "$(type -P git)" | grep -o '/[^ ]*libz[^ ]*' | head -n 1)" ws/lib.so; with -e LD_PRELOAD=/work/lib.so git --version 2>&1 | grep -c 'failed to map segment\|cannot be preloaded\|reserved')" 1

# What a command needs besides: named, and then there.
config <<'END'
[commands]
strength = "enforce"
[commands.make]
needs = ["ls", "/usr/share/doc"]
END
printf 'x:\n\t@ls -d /work; /bin/sed --version\n' >ws/Makefile
like "needs brings a program" "$(with make -s 2>&1 | tr '\n' ' ')" '^/work .*sed: not found'

# Writable mounts hold no programs, read-only ones only those that are named.
config <<'END'
[commands]
strength = "enforce"
[commands."/opt/t/execs"]
END
is "a program of a writable mount is none" "$(with --rw "$T/opt:/opt/t" /opt/t/execs exec /opt/t/execs 2>&1 | grep -c 'not executable')" 1
mkdir ws/inner && cp opt/execs ws/inner/execs
is "nor one of a read-only mount that can be written elsewhere" \
    "$(with --ro "$T/ws/inner:/opt/t" /opt/t/execs exec /opt/t/execs 2>&1 | grep -c 'which commands can write')" 1
rm -r ws/inner
cp opt/execs opt/other
is "another one of the same mount" "$(tried exec /opt/t/other)" EACCES

# The workspace as the root.
mkdir -p project/src && cp opt/execs project/src/execs
config <<'END'
[commands]
strength = "enforce"
[commands.make]
END
printf 'x:\n\t@/src/execs ran; echo $$?; ./src/execs ran; echo $$?; ls; echo $$?; cp 2>&1; git --version\n' >project/Makefile
like "in a root too" "$("$COOP" run --config coop.toml --root project make -s 2>/dev/null </dev/null | tr '\n' ' ')" '^126 126 127 .*git version'

# One file that is many programs.
if [ -x /usr/bin/busybox ] || [ -x /bin/busybox ]; then
    config <<'END'
[commands]
strength = "enforce"
[commands.busybox]
[commands.true]
END
    ok "busybox, if it is named" with busybox true
    denied "its parts are commands like others" "'ls' may not run" with busybox ls
else
    skip "busybox" "there is none"
fi

# ---- manifest

mkdir bin
cat >bin/tool <<'END'
#!/bin/sh
case $1 in
__manifest)
    echo asked >>/work/asked 2>/dev/null
    echo '{"tool": "x", "commands": [{"name": "deploy", "agent": false}, {"name": "user add", "agent": false},
           {"name": "status", "agent": true, "since": 2}]}' ;;
*) echo "ran $*" ;;
esac
END
chmod 755 bin bin/tool
config <<'END'
[commands]
strength = "check"
[commands."/opt/t/tool"]
manifest = true
END
tool() { with --ro "$T/bin:/opt/t" /opt/t/tool "$@"; }
is "a sub-command for agents" "$(tool status)" "ran status"
is "one that it does not speak of" "$(tool other)" "ran other"
denied "one that is not for agents" "tool deploy' is blocked \(rule: the manifest of the program\)" tool deploy --now
denied "of two words" "tool user add' is blocked" tool user add me
is "the other one of these" "$(tool user list)" "ran user list"
digest=$(sha256sum bin/tool | cut -d' ' -f1)
is "it is remembered by the digest of the file" "$(ls cache/coop/manifests)" "$digest.json
empty"
is "where nobody else can look" "$(stat -c %a cache/coop/manifests cache/coop/manifests/"$digest.json" | tr '\n' ' ')" "700 600 "
is "in its box nothing could be written" "$(find ws/asked cache/coop/manifests/empty -name asked 2>/dev/null)" ""
sed -i 's/"agent": true, "since": 2/"agent": false/' cache/coop/manifests/"$digest.json"
denied "and not asked again" "tool status' is blocked" tool status
echo '# another file' >>bin/tool
touch cache/coop/manifests/empty/planted
like "a program is not asked where somebody left a file" "$(tool status 2>&1)" "in which manifests are requested, is not empty"
rm cache/coop/manifests/empty/planted
is "until it changes" "$(tool status)" "ran status"
answers() { # SHELL TEXT
    printf '#!/bin/sh\n[ "$1" = __manifest ] || exec echo ran\n%s\n' "$1" >bin/tool
    tool status 2>&1
    echo "$?"
}
while IFS='|' read -r text pattern; do
    like "it answers: $text" "$(answers "$text" | tr '\n' ' ')" "ask '/opt/t/tool' for its manifest: $pattern.* 126 \$"
done <<'END'
exit 3|it exited with status 3
echo '{"commands": [}'|line 1, column 15
echo '{"commands": 1}'|it has no 'commands'
echo '{"commands": [{"name": "x"}]}'|the sub-command 'x' does not say
echo '{"commands": {"x": "no"}}'|the sub-command 'x' does not say
echo '{"commands": [{"name": "", "agent": false}]}'|the sub-command '' 
yes|it did not answer within 5 seconds
END
is "an answer that makes no sense is not remembered" "$(find cache/coop/manifests -name '*.json' | wc -l)" 2
like "a map will do" "$(answers "echo '{\"commands\": {\"status\": false}}'" | tr '\n' ' ')" "status' is blocked .* 126 "
like "it has no network" "$(answers 'n=$(grep -c : /proc/net/dev); [ "$n" = 1 ] && echo "{\"commands\": {\"status\": false}}"' | tr '\n' ' ')" "126 \$"
config <<'END'
[commands]
strength = "check"
[commands."/work/tool"]
manifest = true
END
cp bin/tool ws/tool
mkdir ws/bin && cp bin/tool ws/bin
denied "a program of the workspace is not believed" "commands can write" with /work/tool status
config <<'END'
[commands]
strength = "check"
[commands."/opt/t/tool"]
manifest = true
END
denied "nor through a read-only mount of it" "commands can write" with --ro "$T/ws/bin:/opt/t" /opt/t/tool status
config <<'END'
[commands]
strength = "check"
[commands.no-such-tool]
manifest = true
END
status "one that is not there" 127 with no-such-tool x
ok "who is not used is not asked" with git status
like "the store is not kept in the workspace" "$(config <<'END'
[commands]
strength = "check"
[commands."/opt/t/tool"]
manifest = true
END
XDG_CACHE_HOME=$T/ws/cache tool status 2>&1)" "which is in the workspace"

# ---- who

config <<'END'
[sandbox]
enabled = true
[commands]
strength = "check"
[[users]]
name = "owner"
trust = "owner"
match = ["terminal:default"]
[[users]]
name = "friend"
trust = "inner"
match = ["signal:+1"]
END
ok "the owner may run everything" with --as terminal:default ls
denied "others what is allowed" "'ls' may not run" with --as signal:+1 ls

done_testing
