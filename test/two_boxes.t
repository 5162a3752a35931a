#!/bin/bash
# Two boxes at once, or a box and file tools: what none of them may make alone, they do not make
# together. One makes names in `t`, the other makes `t` to a directory where these are protected.
# builds: none
# speed: slow
. "$(dirname "$0")/box.sh"
options=(--ro "$BIN/two:/two" --protect-write '**/kept/config' --protect-write '**/kept/hooks')
seconds=2

two() { # WORKSPACE DIRECTORY ROLE NAME [SECONDS]; the directory is in the workspace
    "$COOP" run -q -w "$1" "${options[@]}" --chdir "/work/$2" /two "${@:3}" </dev/null
}

watch() { # DIRECTORY NAME: until `over` is in it
    (cd "$1" && exec "$BIN/two" watch "$2") >watched &
    watcher=$!
}

# What all have printed: into `raced`, and by the host into `watched`.
judge() { # WHAT DIRECTORY
    : >"$2/over"
    wait "$watcher"
    unlike "$1: nothing protected came into being" "$(cat raced)" BROKEN
    is "$1: the host has never seen it" "$(sed 's/:.*//' watched)" "held watch"
    rm -rf raced watched "$2"
}

has_files() { # PATTERN COUNT
    [ "$(compgen -G "$1" | wc -l)" = "$2" ]
}

race() { # WHAT DIRECTORY NAME PARTICIPANT...; a participant is "WORKSPACE DIRECTORY ROLE"
    local what=$1 directory=$2 name=$3 pids=() one words
    shift 3
    watch "$directory" "$name"
    for one; do
        read -ra words <<<"$one"
        two "${words[@]}" "$name" $seconds "ready-${#pids[@]}" >>raced 2>>errors &
        pids+=($!)
    done
    await has_files "$directory/ready-*" ${#pids[@]} && : >"$directory/go"
    wait "${pids[@]}"
    like "$what: names were made" "$(cat raced)" 'make: [1-9]'
    like "$what: directories were moved" "$(cat raced)" 'move: [1-9]'
    judge "$what" "$directory"
}

for name in kept .git; do
    mkdir both
    race "two boxes, $name" both $name "both . make" "both . move"
done
mkdir both
race "three boxes, two make" both kept "both . make" "both . make" "both . move"
mkdir both
race "three boxes, two move" both kept "both . make" "both . move" "both . move"
mkdir both
race "one exchanges" both kept "both . make" "both . move" "both . swap"
mkdir -p outer/inner
race "one workspace in the other" outer/inner kept "outer/inner . make" "outer inner move"
mkdir -p outer/inner
race "the other way round" outer/inner kept "outer inner make" "outer/inner . move"
rm -rf outer
mkdir real
race "one directory by two paths" real kept "real . make" "$T/./real/../real . move"
if real_root; then
    mkdir real mounted && mount --bind real mounted
    race "one directory, mounted twice" real kept "mounted . make" "real . move"
    umount mounted
    mkdir real && chown nobody: real
    race "another owner's directory" real kept "real . make" "real . move"
else
    skip_never "one directory, mounted twice" "needs root"
fi

# ---- file tools and a box: parallel calls of one server

call() { # ID NAME ARGUMENTS
    printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$@"
}
# A command in a box and, while it runs, the calls of standard input ("NAME ARGUMENTS"), all at once
# and over again.
serve() { # COMMAND
    local lines line i n name arguments answer
    mapfile -t lines
    mkfifo to from
    "$COOP" mcp -q -w both <to >from 2>errors &
    local server=$!
    exec 7>to 8<from
    rm to from
    echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}' >&7
    read -ru 8 answer
    call 1 bash "{\"command\":\"touch up; $1; touch ended\"}" >&7
    await test -e both/up
    for ((n = 2; n < 100000; n++)); do
        [ ! -e both/ended ] || break
        for i in "${!lines[@]}"; do
            read -r name arguments <<<"${lines[i]}"
            call $((n * 10 + i)) "$name" "$arguments" >&7
        done
        for line in "${lines[@]}"; do
            read -ru 8 answer && printf '%s\n' "$answer" >>raced
        done
    done
    exec 7>&-
    cat <&8 >>raced
    exec 8<&-
    wait $server
}

mkdir both && cp "$BIN/two" both/two
watch both .git
serve "./two move .git 4" <<'CALLS'
write_file {"path":"t/config","content":"[core]\n\tfsmonitor = x\n"}
make_dir {"path":"t/hooks"}
write_file {"path":"seed","content":"[core]\n\tfsmonitor = x\n"}
move {"source":"seed","destination":"t/config","overwrite":true}
symlink {"path":"t/hooks","target":"/work/seed"}
CALLS
like "tools make, a box moves: the box did" "$(cat raced)" 'move: [1-9]'
like "tools make, a box moves: the tools did" "$(cat raced)" 'Made /work/t/config|/work/t/hooks is made'
judge "tools make, a box moves" both
mkdir both && cp "$BIN/two" both/two
watch both .git
serve "./two make .git 4" <<'CALLS'
make_dir {"path":"t"}
move {"source":"t","destination":".git"}
remove {"path":".git"}
remove {"path":"t","recursive":true}
CALLS
like "a box makes, tools move: the box did" "$(cat raced)" 'make: [1-9]'
like "a box makes, tools move: the tools did" "$(cat raced)" 'Moved /work/t to /work/.git'
judge "a box makes, tools move" both

# ---- a directory that one box may write, moved by another

# The first makes `config` in its own directory, when the others have done what they can.
moved() { # WHAT OTHER..., the first box's arguments in first
    local what=$1
    shift
    mkdir -p outer/t elsewhere && mkfifo outer/t/wait && chmod -R a+rwX outer elsewhere
    exec 5<>outer/t/wait
    "$COOP" run -q "${first[@]}" "${options[@]}" sh -c 'touch up; read -r x <wait; echo poison >config' </dev/null 5>&- >errors 2>&1 &
    local box=$!
    await test -e outer/t/up
    "$@" >moved 2>&1 5>&-
    echo >&5
    exec 5>&-
    wait $box
    is "$what" "$(find outer -name config)" outer/t/config
    rm -rf outer elsewhere
}
outer() { "$COOP" run -q -w outer "${options[@]}" "$@" </dev/null; }
by_tool() {
    call 1 move "{\"source\":\"$1\",\"destination\":\"$2\"}" | {
        echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}'
        cat
    } | "$COOP" mcp -q -w outer
}
first=(-w outer/t)
moved "a workspace is not moved to where something in it would be protected" outer mv t kept
moved "nor to .git" outer mv t .git
moved "nor is one exchanged" outer sh -c 'mkdir kept; mv --exchange t kept || mv -T t kept'
moved "nor by a tool" by_tool t .git
first=(-w elsewhere --rw outer/t --chdir "$T/outer/t")
moved "nor a directory that is mounted for writing" outer mv t kept
first=(-w outer --rw outer/t:/alias --chdir /alias)
moved "nor by another box, if it is mounted from the workspace" outer mv t kept
first=(-w outer/t --no-protect)
moved "nor that of a box without rules" outer mv t kept
mkdir -p outer/t
ok "without a box in it, it can be moved" outer mv t kept
rm -rf outer

# ---- the lock

mkdir both other
: >other/file
two both . hold kept >held 2>&1 &
holder=$!
await test -e both/held
is "a box that locks all it can reach holds up nobody" \
    "$(two other . move kept 0.5 2>&1 | sed 's/: [1-9].*/ some/')" "held move some"
: >both/over
wait $holder
like "and it did lock something" "$(cat held)" 'hold: [1-9]'

# Who waits in vain refuses. The lock is held by somebody who is not a box and never lets go; in a user
# namespace, which has a lock of its own, so that nobody else waits.
cat >vain <<'END'
mkfifo taken other/started other/wait
exec 6<>other/wait
"$COOP" run -w other sh -c 'echo >started; read -r x <wait; : >/tmp/mine && echo elsewhere; : >new; ls' >printed 2>&1 6>&- &
box=$!
read -r _ <other/started
(exec 9</proc/self/ns/user && flock -x 9 && echo taken >taken && exec sleep 1000 >/dev/null 6>&-) &
read -r _ <taken
echo >&6
wait $box
cat printed
"$COOP" run -q -w other true 6>&-
echo "status $?"
kill -9 $!
wait $! 2>/dev/null
"$COOP" run -q -w other touch later 6>&- && echo released
END
chmod -R a+rwX other
inside=(unshare -Ur)
! in_user_namespace || inside=()
if "${inside[@]}" true 2>/dev/null; then
    out=$(COOP="$COOP" "${inside[@]}" bash vain 2>&1)
    like "without the lock nothing is made" "$out" 'new: Device or resource busy'
    unlike "and it is not there" "$out" '^new$'
    like "what is not in the workspace is" "$out" '^elsewhere$'
    like "and the reason is told" "$out" 'refused: create new: another box or program holds it'
    like "nor does a box start" "$out" '^status 125$'
    like "the death of its holder releases it" "$out" '^released$'
else
    skip_never "without the lock" "no user namespaces"
fi
done_testing
