#!/bin/bash
# A workspace that can only be read, or of which only a part is shown: every way to write, every way
# out, links put in the way, git, what is protected, and the same as configuration.
. "$(dirname "$0")/box.sh"

mkdir -p ws/src/deep ws/secrets ws/docs ws/src/.vscode
echo a >ws/src/a && echo s >ws/secrets/s && echo d >ws/docs/d && echo token >ws/src/.env && echo deep >ws/src/deep/d
snapshot() { find "${1:-ws}" -printf '%p %y %m %i %s %T@ %C@ %l\n' | sort; }
part() { run --restrict src "$@"; }
kept() { run --read-only "$@"; }

# ---- a part

is "paths keep their meaning" "$(part cat /work/src/a src/a /work/src/deep/d)" $'a\na\ndeep'
is "the box starts where it always did" "$(part sh -c 'pwd; echo $HOME')" $'/work\n/work'
is "the rest of the workspace is not there" "$(part ls -A /work)" src
is "a slash at the beginning changes nothing" "$(run --restrict /src ls -A /work)" src
is "/ is all of it" "$(run --restrict / ls -A /work | xargs)" "docs secrets src"
is "a part of a part" "$(run --restrict src/deep sh -c 'ls -A /work /work/src; cat src/deep/d')" $'/work:\nsrc\n\n/work/src:\ndeep\ndeep'
is "what is written there is written" "$(part sh -c 'echo new >src/new; mkdir src/m; mv src/new src/m/; cat src/m/new'; cat ws/src/m/new)" $'new\nnew'
rm -r ws/src/m
before=$(snapshot)
for path in /work/secrets/s secrets/s src/../secrets/s /work/src/../secrets/s /proc/self/cwd/secrets/s /proc/1/root/work/secrets/s; do
    refused "not there: $path" part cat "$path"
done
for act in 'echo x >/work/x' 'mkdir /work/secrets' 'mv /work/src /work/s' 'rmdir /work/src' 'ln -s src /work/l' 'touch /work'; do
    refused "around it nothing can be changed: $act" part sh -c "$act"
done
is "and nothing was" "$(snapshot)" "$before"
is "with --same-path likewise" "$(run --same-path --restrict src sh -c 'pwd; ls -A .; cat src/a')" "$T/ws"$'\n'"src"$'\na'
is "a mount beside it stays" "$(part --ro "$T/ws/docs:/docs" --ro "$T/ws/docs:/work/docs" cat /docs/d docs/d)" $'d\nd'
status "a mount cannot take its place" 125 part --ro "$T/ws/docs:/work/src" true
is "blocks hold, also of what is not there" "$(part --block secrets --block src/deep sh -c 'ls src/deep; ls -A' 2>/dev/null)" src
status "what is not there is refused" 125 run --restrict nothing true
status "a file is refused" 125 run --restrict src/a true
status "'..' is refused" 125 run --restrict src/../secrets true
like "with a sentence" "$(run --restrict nothing true 2>&1)" "restricted to 'nothing', which does not exist in it"
like "coop plan shows it" "$("$COOP" plan -w ws --restrict src --read-only true)" "bind read-only '.*/ws/src' at '/work/src'"

# ---- links in its way

ln -s secrets ws/link && ln -s ../secrets ws/src/inner && ln -s / ws/root
for link in link src/inner root link/s root/etc; do
    like "no link is followed: $link" "$(run --restrict "$link" ls 2>&1)" "restricted to '$link', which is or leads through a symbolic link"
done
refused "a link in the part leads to nothing" part cat src/inner/s
rm ws/link ws/root ws/src/inner
# One who may write in the workspace exchanges the directory for a link all the time: what a box shows
# is the directory, or there is no box.
mkdir swap swap/src swap/secrets && echo good >swap/src/f && echo bad >swap/secrets/f
python3 - swap <<'END' &
import os, sys
os.chdir(sys.argv[1])
while not os.path.exists("stop"):
    os.rename("src", "old"); os.symlink("secrets", "src")
    os.unlink("src"); os.rename("old", "src")
END
swapper=$!
seen=$(for _ in $(seq 150); do "$COOP" run -w "$T/swap" --restrict src -- cat src/f 2>/dev/null </dev/null; done | sort -u)
touch swap/stop
wait $swapper
is "a directory that becomes a link and back is never another one" "${seen:-good}" good
is "and it was seen at times" "$("$COOP" run -w "$T/swap" --restrict src -- cat src/f </dev/null)" good

# ---- what is protected

is "secrets in the part are hidden" "$(part cat src/.env 2>&1 | grep -c 'Permission denied')" 1
refused "what may not be written, by the workspace's own names" part --protect-write src/deep sh -c 'echo x >src/deep/d'
refused "nor made" part --protect-write src/later mkdir src/later
ok "beside it there is nothing to say against" part --protect-write src/later sh -c 'mkdir src/other && rmdir src/other'
like "what is hidden cannot be the part" "$(run --restrict secrets --protect secrets true 2>&1)" "restricted to 'secrets', which is hidden \(--protect: secrets\)"
like "nor lie in it" "$(run --restrict src/deep --protect src true 2>&1)" "which is hidden"
like "what is kept can be, to be read" "$(run --restrict src/deep --protect-write src true 2>&1)" "which cannot be written.*"
is "so" "$(run --read-only --restrict src/deep --protect-write src cat src/deep/d)" deep
is "names of the rest are in no list" "$(git -C ws init -q 2>/dev/null; touch ws/secrets/.env; part sh -c 'cat /run/coop-git-exclude 2>/dev/null' | grep -c secrets)" 0
rm -rf ws/.git ws/secrets/.env

# ---- read-only

before=$(snapshot)
is "everything can be read" "$(kept cat src/a docs/d)" $'a\nd'
for act in 'echo x >new' 'echo x >>src/a' ': >src/a' 'rm src/a' 'mv src s' 'mkdir d' 'rmdir docs' 'ln src/a hard' 'ln -s x soft' \
    'chmod 600 src/a' 'touch src/a' 'touch -d 2001-01-01 docs' 'cp src/a b' 'truncate -s 0 src/a' 'mkfifo p' 'mv src/a /tmp/a' \
    'cd /tmp && ln -s /work w && echo x >w/src/a' 'echo x >/proc/self/cwd/src/a' 'echo x >/proc/1/root/work/src/a' \
    'exec 3<src/a; echo x >/proc/self/fd/3' 'sed -i s/a/b/ src/a'; do
    refused "not written: $act" kept sh -c "$act"
done
refused "not by renaming something over it" kept python3 -c 'import os; open("/tmp/f", "w").close(); os.rename("/tmp/f", "/work/src/a")'
refused "not by exchanging" kept python3 -c 'import ctypes, os; c = ctypes.CDLL(None, use_errno=True); os._exit(0 if c.renameat2(-100, b"/work/src", -100, b"/work/docs", 2) == 0 else 1)'
refused "not by mapping a file shared" kept python3 -c 'import mmap, os; m = mmap.mmap(os.open("/work/src/a", os.O_RDWR), 0); m[0:1] = b"x"'
refused "not by a descriptor that is opened again" kept python3 -c 'import os; fd = os.open("/work/src/a", os.O_RDONLY); os.open(f"/proc/self/fd/{fd}", os.O_WRONLY)'
refused "not an attribute" kept python3 -c 'import os; os.setxattr("/work/src/a", "user.x", b"1")'
refused "not by an unnamed file" kept python3 -c 'import os; os.open("/work", os.O_TMPFILE | os.O_RDWR)'
refused "not by mounting it anew" kept mount -o remount,rw /work
refused "not by somebody who is root inside" run --read-only --uid 0 sh -c 'mount -o remount,rw,bind /work; echo x >/work/new'
is "nothing has changed" "$(snapshot)" "$before"
ok "what is private can be written" kept sh -c 'echo x >/tmp/f && echo x >/dev/shm/f'
is "mounts are as they were given" "$(mkdir -p rw; kept --rw "$T/rw:/rw" --rw "$T/rw:/work/docs" sh -c 'echo x >/rw/f; echo y >docs/g'; ls rw)" $'f\ng'
refused "both together: not written" run --read-only --restrict src sh -c 'echo x >src/x'
refused "both together: not there" run --read-only --restrict src cat secrets/s

# ---- git in a workspace that can only be read

if command -v git >/dev/null; then
    export GIT_CONFIG_NOSYSTEM=1
    g() { git -C repo -c user.name=n -c user.email=e@example.org "$@"; }
    git init -q repo && echo 1 >repo/f && g add f && g commit -qm one && echo 2 >repo/f
    before=$(snapshot repo)
    in_repo() { "$COOP" run -w "$T/repo" --read-only -- git -c safe.directory='*' "$@" </dev/null; }
    is "git status" "$(in_repo status --short)" " M f"
    is "git log, diff, show, blame, grep" "$(in_repo log --format=%s; in_repo diff --numstat; in_repo show HEAD:f; in_repo grep -h 2)" $'one\n1\t1\tf\n1\n2'
    for act in 'add f' 'commit -am two' 'stash' 'branch b' 'checkout -b b' 'config user.name x' 'gc' 'tag t' 'update-ref refs/heads/x HEAD'; do
        # shellcheck disable=SC2086
        refused "git $act" in_repo $act
    done
    is "the repository is as it was" "$(snapshot repo)" "$before"
    g worktree add -q ../linked 2>/dev/null
    before=$(snapshot repo)
    linked() { "$COOP" run -w "$T/linked" --read-only -- "$@" </dev/null; }
    is "a linked worktree: the directory outside comes along" "$(linked git -c safe.directory='*' log --format=%s)" one
    refused "and cannot be written either" linked git -c safe.directory='*' branch c
    refused "by nobody" linked sh -c "echo x >$T/repo/.git/x"
    is "it is as it was" "$(snapshot repo)" "$before"
    mkdir repo/sub
    refused "git finds no repository around a part" "$COOP" run -w "$T/repo" --restrict sub -- git -C sub status
else
    skip_never "git in a read-only workspace" "needs git"
fi

# ---- a root

mkdir -p p/src p/docs && echo app >p/src/app && echo x >p/docs/x
in_part() { "$COOP" run --root "$T/p" --restrict /src "$@" </dev/null; }
is "of a root: /src is /src" "$(in_part cat /src/app)" app
refused "and /docs is not there" in_part ls /docs
is "the part can be written" "$(in_part sh -c 'echo y >/src/y; cat /src/y'; rm p/src/y)" y
refused "the rest cannot be made" in_part mkdir /docs
refused "with --read-only nothing" in_part --read-only sh -c 'echo z >/src/z'
is "a root can be made read-only too" "$("$COOP" run --root "$T/p" --read-only -- sh -c 'echo z >/src/z || cat /src/app' 2>/dev/null)" app
mkdir p/lib
like "a part that the box has itself is refused" "$("$COOP" run --root p --restrict lib true 2>&1)" "the box has its own there"
rmdir p/lib

# ---- as configuration

mkdir conf
printf '[sandbox]\nreadonly = true\nrestrict = "/src"\n' >conf/owner.toml
is "the keys of [sandbox]" "$(run --config conf/owner.toml sh -c 'ls -A /work; echo x >src/x || echo no' 2>/dev/null)" $'src\nno'
is "the command line stands above" "$(run --config conf/owner.toml --restrict / ls -A | xargs)" "docs secrets src"
printf '[sandbox]\nrestrict = "../x"\n' >conf/bad.toml
like "mistakes have a place" "$(run --config conf/bad.toml true 2>&1)" "bad.toml:2:12: .*'\.\.'"
printf '[sandbox]\nrestrict = "src/deep"\nreadonly = true\n' >ws/coop.toml
is "a project's file may narrow" "$(HOME=$T/conf run sh -c 'ls -A; echo x >src/deep/x || echo no' 2>/dev/null)" $'src\nno'
is "also within the owner's" "$(run --config conf/owner.toml ls -A src)" deep
printf '[sandbox]\nrestrict = "docs"\n' >ws/coop.toml
like "and not beside it" "$(run --config conf/owner.toml true 2>&1)" "sandbox.restrict asks for 'docs', but the owner's configuration says '/src'"
printf '[sandbox]\nreadonly = false\n' >ws/coop.toml
like "nor write" "$(run --config conf/owner.toml true 2>&1)" "sandbox.readonly asks for false"
rm ws/coop.toml
printf '[sandbox]\n' >conf/parent.toml
ok "coop check --narrower: a part is narrower than all" "$COOP" check --narrower conf/parent.toml conf/owner.toml
like "and all is not" "$("$COOP" check --narrower conf/owner.toml conf/parent.toml 2>&1)" "(workspace: the workspace can be written, in the parent only read|restrict: )"
printf '[sandbox]\nrestrict = "src/a"\n' >conf/child.toml && printf '[sandbox]\nrestrict = "srca"\n' >conf/other.toml
printf '[sandbox]\nrestrict = "src"\n' >conf/parent.toml
ok "a part of a part is narrower" "$COOP" check --narrower conf/parent.toml conf/child.toml
like "a longer name is another" "$("$COOP" check --narrower conf/parent.toml conf/other.toml 2>&1)" "restrict: the child has '/srca', the parent '/src'"
cat >conf/expect.toml <<'END'
[sandbox]
restrict = "src"
readonly = true
[[expect]]
allow = "read src/a"
[[expect]]
deny = "write src/a"
[[expect]]
deny = "read secrets/s"
[[expect]]
allow = "read ."
[[expect]]
deny = "write ."
END
ok "expectations are decided so" env -C ws "$COOP" check --config "$T/conf/expect.toml"
# A sanitizer wants more memory than a process in a box has where no cgroup holds the limit.
grep -qa __asan_init "$COOP" || ok "and are so in a real box" env -C ws "$COOP" check --live --config "$T/conf/expect.toml"

# ---- mounts that were named before: a restriction narrows them too, unless they are named again

mkdir -p cache store && chmod 777 cache store
try='for p in /cache /store /work/src /work; do ls $p >/dev/null 2>&1 || { echo "$p none"; continue; }; touch $p/t 2>/dev/null && echo "$p rw" || echo "$p ro"; rm -f $p/t; done 2>/dev/null'
does() { "$COOP" run -q -w ws "$@" -- sh -c "$try" 2>/dev/null </dev/null | xargs; }
cat >conf/mounts.toml <<END
[sandbox]
enabled = true
mounts = [
    { source = "$T/cache", target = "/cache" },
    { source = "$T/store", target = "/store" },
]
[memory]
directory = "$T/memory"
[[users]]
name = "rita"
trust = "inner"
match = ["x:rita"]
sandbox = { readonly = true }
[[users]]
name = "remi"
trust = "inner"
match = ["x:remi"]
sandbox = { readonly = true, mounts = [{ source = "$T/cache", target = "/cache" }] }
[[users]]
name = "ruth"
trust = "inner"
match = ["x:ruth"]
sandbox = { restrict = "src" }
[[users]]
name = "walt"
trust = "inner"
match = ["x:walt"]
[[cron]]
name = "nightly"
user = "walt"
schedule = "0 3 * * *"
command = ["true"]
sandbox = { readonly = true }
[[cron]]
name = "kept"
user = "remi"
schedule = "0 3 * * *"
command = ["true"]
sandbox = { readonly = true }
END
chmod 600 conf/mounts.toml
C=(--config conf/mounts.toml)
is "a file's mounts" "$(does "${C[@]}")" "/cache rw /store rw /work/src rw /work rw"
is "--read-only" "$(does "${C[@]}" --read-only)" "/cache ro /store ro /work/src ro /work ro"
is "--read-only, one named again" "$(does "${C[@]}" --read-only --rw "$T/cache:/cache")" "/cache rw /store ro /work/src ro /work ro"
is "whatever the order" "$(does "${C[@]}" --rw "$T/cache:/cache" --read-only)" "/cache rw /store ro /work/src ro /work ro"
is "--restrict" "$(does "${C[@]}" --restrict src)" "/cache none /store none /work/src rw /work ro"
is "--restrict, one named again" "$(does "${C[@]}" --restrict src --ro "$T/cache:/cache")" "/cache ro /store none /work/src rw /work ro"
is "both" "$(does "${C[@]}" --restrict src --read-only)" "/cache none /store none /work/src ro /work ro"
is "a user" "$(does "${C[@]}" --as x:walt)" "/cache rw /store rw /work/src rw /work rw"
is "a user who may only read" "$(does "${C[@]}" --as x:rita)" "/cache ro /store ro /work/src ro /work ro"
is "a user's own mount is as it is named" "$(does "${C[@]}" --as x:remi)" "/cache rw /store none /work/src ro /work ro"
is "a user who sees a part" "$(does "${C[@]}" --as x:ruth)" "/cache none /store none /work/src rw /work ro"
is "a cron entry" "$(does "${C[@]}" --cron nightly)" "/cache ro /store ro /work/src ro /work ro"
is "a cron entry above a user's own mount" "$(does "${C[@]}" --cron kept)" "/cache ro /store none /work/src ro /work ro"
printf '[sandbox]\nreadonly = true\n' >ws/coop.toml
is "a project's file" "$(does "${C[@]}")" "/cache ro /store ro /work/src ro /work ro"
rm ws/coop.toml
is "memory can be written by those who may write" "$("$COOP" run -q -w ws "${C[@]}" --as x:walt -- sh -c 'for s in /memory/*; do touch $s/t && rm $s/t && echo rw; done' | sort -u)" rw
is "and not by those who may only read" "$("$COOP" run -q -w ws "${C[@]}" --as x:rita -- sh -c 'for s in /memory/*; do touch $s/t 2>/dev/null || echo ro; done' 2>/dev/null | sort -u)" ro
is "--read-only says the same of memory" "$("$COOP" run -q -w ws "${C[@]}" --as x:walt --read-only -- sh -c 'for s in /memory/*; do touch $s/t 2>/dev/null || echo ro; done' 2>/dev/null | sort -u)" ro
is "a part leaves memory" "$("$COOP" run -q -w ws "${C[@]}" --as x:ruth -- ls /memory | wc -l)" "$("$COOP" run -q -w ws "${C[@]}" --as x:walt -- ls /memory | wc -l)"
like "coop why says it" "$("$COOP" why -w ws "${C[@]}" --read-only write /cache/x)" "^denied: write /cache/x"
like "coop plan shows it" "$("$COOP" plan -w ws "${C[@]}" --read-only true)" "bind read-only '$T/cache' at '/cache'"
tool() { # who, path: what write_file says
    printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
        '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"write_file\",\"arguments\":{\"path\":\"$2\",\"content\":\"x\"}}}" |
        "$COOP" mcp --config conf/mounts.toml --workspace ws --as "x:$1" 2>/dev/null | jq -r 'select(.id == 2).result.isError' | sed 's/null/false/'
}
is "tools: who may write" "$(tool walt /cache/f)" false
is "tools: who may only read" "$(tool rita /cache/f)" true
is "tools: what is named again" "$(tool remi /cache/f)" false
is "tools: who sees a part" "$(tool ruth /cache/f)" true
done_testing
