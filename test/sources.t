#!/bin/bash
# What a policy names on the host may lie where commands write: the workspace, a writable mount. A box
# replaces it by a link, and the next run must not follow that. Links of the user's own are followed.
. "$(dirname "$0")/box.sh"

mkdir -p ws/cache ws/deep/cache outside shared/inner
echo secret >outside/secret && chmod 600 outside/secret
target=$T/outside
said="leads through the symbolic link '[^']*', which a command may have created"
refuses() { # description, options of coop run: a first box plants, this one must not follow
    local what=$1 out r=0
    shift
    out=$("$COOP" run -w ws "$@" -- sh -c 'cat /cache/secret /cache; echo evil >/cache/secret' 2>&1 </dev/null) || r=$?
    is "$what: no box" "$r" 125
    like "$what: a sentence" "$out" "$said"
    unlike "$what: nothing is read" "$out" '^secret$'
    is "$what: nothing is written" "$(cat outside/secret)" secret
}

# ---- every flag that takes a source, in consecutive runs

is "a source in the workspace is shown" "$(run --rw ./ws/cache:/cache sh -c 'echo x >/cache/x; cat /cache/x')" x
is "and at its own place" "$(run --rw ws/cache sh -c "cat '$T/ws/cache/x'")" x
run sh -c 'rm -r cache; ln -s "$0" cache; ln -s "$0/secret" file; ln -s cache link2' "$target"
for source in ws/cache ./ws/cache "$T/ws/cache" "$T/ws/../ws/cache" ws/deep/../cache; do
    refuses "--rw $source" --rw "$source:/cache"
    refuses "--ro $source" --ro "$source:/cache"
done
refuses "-v" -v "./ws/cache:/cache"
refuses "-v ro" -v "$T/ws/cache:/cache:ro"
refuses "--mount" --mount "type=bind,source=ws/cache,target=/cache"
refuses "--mount, read-only" --mount "source=$T/ws/cache,target=/cache,readonly"
refuses "below a link" --rw "ws/cache/secret:/cache"
refuses "a file" --ro "ws/file:/cache"
refuses "a link to a link" --rw "ws/link2:/cache"
refuses "in a workspace that is read-only now" --read-only --ro ws/cache:/cache
refuses "of a part" --restrict deep --rw ws/cache:/cache
refuses "at its own place" --rw ws/cache
refuses "at its own place, absolute" --ro "$T/ws/cache"
refuses "a socket" --socket ws/file
refuses "a socket, absolute" --socket "$T/ws/file"
cd ws || exit
for source in cache ./cache "$PWD/cache" ../ws/cache; do
    status "from inside the workspace: $source" 125 "$COOP" run --rw "$source:/cache" -- cat /cache/secret
    status "from below it: $source" 125 sh -c 'cd deep && "$0" run -w .. --rw "$1:/cache" -- cat /cache/secret' "$COOP" "../$(basename "$source")"
done
cd .. || exit
refuses "a relative one, for a box elsewhere" -w shared --rw ws/cache:/cache
out=$("$COOP" run -w ws/cache -- cat secret 2>&1)
is "a workspace in a workspace" "$?" 125
like "with the same sentence" "$out" "the workspace 'ws/cache' $said"
status "for the other commands too" 2 "$COOP" plan -w ws/cache true
status "and tools" 125 "$COOP" mcp --workspace ws/cache
like "with that sentence" "$("$COOP" mcp --workspace ws/cache </dev/null 2>&1)" "$said"

# ---- a hint that works, and links of the user's own

like "the hint names a way out" "$("$COOP" run -w ws --rw ws/cache:/cache true 2>&1)" "name that place instead"
is "which is one" "$(run --unprotect secret --ro "$target:/cache" cat /cache/secret)" secret
mkdir -p real/home/project/data && ln -s real/home home && echo mine >real/home/project/data/f && ln -s project/data home/data
H=$T/home/project
is "a link on the way to the workspace" "$("$COOP" run -w "$H" --rw "$H/data:/d" -- cat data/f /d/f)" $'mine\nmine'
is "a link of one's own to a source" "$(run --rw "$T/home/data:/d" cat /d/f)" mine
is "that leads into the workspace" "$("$COOP" run -w "$H" --rw "$T/home/data:/d" -- cat /d/f)" mine
"$COOP" run -w "$H" -- sh -c 'mv data old; ln -s "$0" data' "$target"
status "until a command puts one there" 125 "$COOP" run -w "$H" --rw "$T/home/data:/d" -- cat /d/secret
status "under both names" 125 "$COOP" run -w "$T/real/home/project" --rw "$H/data:/d" -- cat /d/secret
ln -s circle circle
like "a circle is said to be one" "$(run --ro "$T/circle:/c" true 2>&1)" "open the mount source '.*circle': .*[Ss]ymbolic link"
unlike "and blames nobody" "$(run --ro "$T/circle:/c" true 2>&1)" "command may have"

# ---- other writable places

ln -s "$target" shared/inner/link
for rest in "" /; do
    status "a source in a writable mount${rest:+ (slash)}" 125 run --rw "$T/shared:/s" --ro "$T/shared/inner/link$rest:/cache" cat /cache/secret
done
status "whatever the order" 125 run --ro "$T/shared/inner/link:/cache" --rw "$T/shared:/s" cat /cache/secret
status "a workspace in a writable mount" 125 "$COOP" run -w "$T/shared/inner/link" --rw "$T/shared:/s" -- cat secret
status "a root in a writable mount" 125 "$COOP" run --root "$T/shared/inner/link" --rw "$T/shared:/s" -- cat /secret
ln -s shared "alias"
status "a writable mount that is named by a link" 125 run --rw "$T/alias:/s" --ro "$T/shared/inner/link:/cache" cat /cache/secret
is "in one that is read-only it is the owner's" "$(run --unprotect secret --ro "$T/shared:/s" --ro "$T/shared/inner/link:/cache" cat /cache/secret)" secret

# ---- targets: a mount point must not lead out of the place that it lies in

mkdir -p ws/point source && echo src >source/f
is "a mount in the workspace" "$(run --ro source:/work/point cat point/f)" src
run sh -c 'rmdir point; ln -s /usr/share point; mkdir way; ln -s / way/up; ln -s .. way/back'
for point in /work/point /work/point/doc /work/way/up/etc /work/way/up/usr/share /work/way/back/deep; do
    status "a target through a link: $point" 125 run --ro "source:$point" true
    status "a file system in memory likewise: $point" 125 run --mount "type=tmpfs,target=$point" true
    is "the host has nothing of it: $point" "$(find /usr/share /etc -maxdepth 1 -name f 2>/dev/null)" ""
done
status "a target in a writable mount" 125 sh -c 'ln -s /etc shared/point; exec "$0" run -w ws --rw "$1/shared:/s" --ro "$1/source:/s/point" -- true' "$COOP" "$T"

# ---- configuration

conf() { printf '[sandbox]\nenabled = true\n%s\n' "$1" >own.toml; chmod 600 own.toml; }
for text in "extra_rw_paths = [\"$T/ws/cache\"]" "extra_ro_paths = [\"$T/ws/cache\"]" \
    "mounts = [{ source = \"$T/ws/cache\", target = \"/cache\" }]" "mounts = [{ source = \"cache\", target = \"/cache\" }]" \
    "sockets = [\"$T/ws/file\"]" "workspace = \"ws/cache\""; do
    conf "$text"
    where=(-w ws)
    [ "${text%% *}" != workspace ] || where=()
    out=$("$COOP" run --config own.toml "${where[@]}" -- sh -c 'cat /cache/secret secret' 2>&1)
    is "in a file: ${text%% *}" "$?" 125
    like "in a file, with the sentence: ${text%% *}" "$out" "$said"
    unlike "in a file, nothing is read: ${text%% *}" "$out" '^secret$'
done
conf "mounts = [{ source = \"$T/ws/cache\", target = \"/cache\" }]"
cat >>own.toml <<END
[[users]]
name = "ann"
trust = "inner"
match = ["x:1"]
END
chmod 600 own.toml
out=$("$COOP" run --config own.toml -w ws --as x:1 -- cat /cache/secret 2>&1)
is "for users" "$?" 125
like "for users, the sentence" "$out" "$said"
calls() {
    printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
        '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    for path in /cache/secret /work/cache/secret; do
        printf '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"%s"}}}\n' "$path"
    done
}
out=$(calls | "$COOP" mcp --config own.toml --workspace ws --as x:1 2>&1)
unlike "tools do not read it" "$out" 'secret\\n|"secret"'
like "and say why" "$out" "may have created"

# ---- files that coop reads itself, and directories that it makes

keys() { # path of the secret's file
    cat >own.toml <<END
[sandbox]
enabled = true
[secrets.token]
file = "$1"
users = ["ann"]
[memory]
directory = "${2:-$T/memory}"
[[users]]
name = "ann"
trust = "inner"
match = ["x:1"]
END
    chmod 600 own.toml
}
ask() { "$COOP" run --config own.toml -w ws --as x:1 "$@" -- sh -c 'test -n "$TOKEN" && echo "given: ${#TOKEN}"; true' 2>&1 </dev/null; }
keys "$T/outside/secret"
is "a secret in a file elsewhere" "$(ask)" "given: 6"
keys "$T/ws/file"
like "a secret behind a link in the workspace" "$(ask)" "symbolic link that a command may have created"
mkdir -p rw && ln -s "$T/outside/secret" rw/token
keys "$T/rw/token"
is "behind one of one's own" "$(ask)" "given: 6"
for flag in "--rw $T/rw:/rw" "-v $T/rw:/rw" "--mount=source=$T/rw,target=/rw"; do
    # shellcheck disable=SC2086 # words
    like "behind one in a writable mount: ${flag%% *}" "$(ask $flag)" "symbolic link that a command may have created"
done
like "a secret in a writable mount" "$(rm rw/token; cp -p outside/secret rw/token; ask --rw "$T/rw:/rw")" "writable mount, where commands can read it"
keys "$T/outside/secret" "$T/ws/cache/made/stores"
like "memory stores behind a link" "$(ask)" "$said"
is "nothing was made there" "$(ls outside/made 2>/dev/null)" ""

# ---- exchanged while runs begin: what a box shows is the directory, or there is no box

mkdir -p swap/cache && echo good >swap/cache/f && echo bad >outside/f
python3 - swap "$target" <<'END' &
import os, sys
os.chdir(sys.argv[1])
while not os.path.exists("stop"):
    os.rename("cache", "old"); os.symlink(sys.argv[2], "cache")
    os.unlink("cache"); os.rename("old", "cache")
END
swapper=$!
for options in "--ro $T/swap/cache:/cache" "--rw swap/cache:/cache" "--ro $T/swap/cache"; do
    seen=$(for _ in $(seq 60); do "$COOP" run -w "$T/swap" $options -- sh -c 'cat /cache/f "$0"' "$T/swap/cache/f" 2>/dev/null </dev/null; done | sort -u)
    unlike "raced, nothing outside is seen: ${options%% *}" "$seen" bad
done
touch swap/stop
wait $swapper
is "the same without the race" "$("$COOP" run -w swap --ro swap/cache:/cache -- cat /cache/f)" good

# ---- without namespaces the rules of Landlock are all there is

here() { unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "$@"; }
if ! here true 2>/dev/null; then
    skip "the tier landlock" "user namespaces are refused, or cannot be taken away"
else
    is "at the tier landlock a source is there" "$(here "$COOP" run -q --mode preferred -w ws --ro "$target:$target" -- cat "$target/secret" 2>/dev/null)" secret
    out=$(here "$COOP" run --mode preferred -w ws --rw "$T/ws/cache" -- cat "$target/secret" 2>&1)
    is "and no link to one" "$?" 125
    like "with the sentence" "$out" "$said"
fi
done_testing
