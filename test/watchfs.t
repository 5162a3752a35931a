#!/bin/bash
# Hidden directories of the root are watched with --explain where there is FUSE: what was looked for is told,
# nothing is found, and nobody can be made to wait for ever.
# fuse: both
# speed: slow
. "$(dirname "$0")/box.sh"
chmod 755 "$T"

# As root, a directory of the host's root that others may read; a user has to take what is there.
if ! [ -r /dev/fuse ] || ! [ -w /dev/fuse ]; then
    run --json --explain true >document 2>/dev/null
    like "without a usable /dev/fuse they are not watched, and why" \
        "$(jq -r '.records.watched[] | select(.name == "hidden") | "\(.watched) \(.note)"' document)" \
        "^false only with --explain=all: /dev/fuse is missing or not usable"
    is "and nothing of the root is made for it" "$(run --explain ls / 2>/dev/null)" "$(run ls / 2>/dev/null)"
    done_testing
elif ! real_root; then
    skip_never "hidden directories are watched" "only root can make one to hide"
    done_testing
fi
hidden=/coop-test.$$ theirs=/coop-test.$$.theirs
mkdir -m 755 $hidden $hidden/sub && echo secret >$hidden/file && cp /bin/true $hidden/program
trap 'rm -rf "$T" "$T.cache" "$hidden" "$theirs"' EXIT

told() { # HOW [OPTIONS]: its records, a line each
    local how=${1//@/$hidden}
    shift
    within 60 "$COOP" run -w "$T/ws" --json --explain "$@" -- sh -c "$how" </dev/null 2>/dev/null >document
    jq -r '.denials[] | [.op, .target, .errno, (.allow // "-"), .count] | map(tostring) | join("|")' document |
        sed "s#$hidden#@#g"
}
watched() { jq -r '.records.watched[] | select(.name == "hidden") | "\(.watched) \(.note)"' document; }

cat >ws/py <<END
import ctypes, os, sys
call = ctypes.CDLL(None, use_errno=True).syscall
openat = 257 if os.uname().machine == "x86_64" else 56
hidden = "$hidden"
exec(sys.argv[1])
END

# ---- what was looked for, by whichever way

while IFS='|' read -r how expected; do
    is "told: $how" "$(told "$how")" "$expected"
done <<'END'
cat @/file|read|@/file|2|--ro @/file|1
exec cat @/file|read|@/file|2|--ro @/file|1
exec stat @/file|read|@/file|2|--ro @/file|1
test -e @/sub|read|@/sub|2|--ro @/sub|1
ls @|read|@|2|--ro @|1
cd @|read|@|2|--ro @|1
cd @/sub|read|@/sub|2|--ro @/sub|1
cd /usr && cat ..@/file|read|@/file|2|--ro @/file|1
ln -sf @/file link && cat link|read|@/file|2|--ro @/file|1
ln -sfn @ dir && cat dir/file|read|@/file|2|--ro @/file|1
python3 py 'os.stat("file", dir_fd=os.open(hidden, os.O_PATH))'|read|@/file|2|--ro @/file|1
python3 py 'os.statvfs(hidden + "/sub")'|read|@/sub|2|--ro @/sub|1
python3 py 'call(openat, -100, b"@/file", 0)'|read|@/file|2|--ro @/file|1
mkdir @/new|create|@/new|30|--rw @|1
python3 py 'os.unlink(hidden + "/file")'|delete|@/file|30|--rw @|1
@/program|exec|@/program|2|--ro @/program|1
for i in 1 2 3 4 5; do cat @/file; done|read|@/file|2|--ro @/file|5
END
like "the result says so" "$(watched)" "^true below directories of the root that the box does not have"

# ---- what is not there on the host either, and what only looks at the root

for how in 'cat @/missing' 'cat @/missing/file' 'ls -la /' 'stat @' 'find / -maxdepth 1' 'echo x >@/missing/file' 'git status' \
    'python3 -c 1' 'bash -lc :'; do
    is "not told: $how" "$(told "$how")" ""
done
is "nothing is ever found there" "$(run --explain sh -c "cat $hidden/file || ls $hidden || cat <$hidden/file" 2>/dev/null)" ""
is "without --explain there is nothing at all" "$(run sh -c "test -e $hidden || echo none" 2>&1)" none
is "an allowed part of it is seen" "$(run --explain --ro $hidden/file cat $hidden/file 2>&1)" secret

# ---- a flood

told "python3 py 'for i in range(20000):
    try: os.stat(hidden + \"/file\")
    except OSError: pass'" >/dev/null
is "20,000 looks are one record" "$(jq -c '[.denials[].count]' document)" "[20000]"

# ---- hostile

is "init's second thread cannot be stopped or killed" \
    "$(told "for t in 1 3 4 5 6 7 8; do kill -STOP \$t; kill -KILL \$t; done; cat @/file" 2>/dev/null)" \
    'read|@/file|2|--ro @/file|1'
cat >ws/descriptors.py <<'END'
import os
got = []
own = os.getpid()
for pid in range(1, 30):
    for place in ["/proc/%d/fd" % pid] + ["/proc/%d/task/%d/fd" % (pid, tid) for tid in range(1, 30)]:
        if pid == own:
            continue
        for fd in range(0, 14):
            for flags in (os.O_RDONLY, os.O_RDWR):
                try:
                    os.close(os.open("%s/%d" % (place, fd), flags | os.O_NONBLOCK))
                    got.append("%s/%d" % (place, fd))
                except OSError:
                    pass
print(got)
END
is "nor do its descriptors open" "$(within 60 "$COOP" run -w ws --explain python3 descriptors.py </dev/null 2>/dev/null)" "[]"
is "the device is not in the box" "$(run --explain sh -c 'ls -l /proc/self/fd | grep -c fuse' 2>/dev/null)" 0

looping() { # a box in which many look into a trap at once; sets box, init
    "$COOP" run -w ws --explain "$@" sh -c "for i in 1 2 3 4 5 6 7 8; do while :; do cat $hidden/file; done & done; touch up; wait" \
        </dev/null >/dev/null 2>&1 &
    box=$!
    await test -e ws/up
    init=$(pgrep -P $box -x coop-init)
    rm -f ws/up
}
gone() { ! [ -e "/proc/$1" ] || [ "$(awk '/^State/ { print $2 }' "/proc/$1/status" 2>/dev/null)" = Z ]; }
looping --timeout 1s
ok "a timeout ends those who sleep in a trap" await 20 gone "$init"
wait $box
looping
kill -9 $box
ok "so does the end of the supervisor" await 20 gone "$init"
wait $box 2>/dev/null
looping
kill -STOP "$init"
is "a stopped init makes nobody outside wait, not even root" \
    "$(within 10 ls "/proc/$init/root$hidden" 2>/dev/null || echo "refused")" refused
kill -9 $box
ok "and a stopped one goes as well" await 20 gone "$init"
wait $box 2>/dev/null

# Whoever administers the host can cut it off; the box goes on.
is "and can be cut off from outside, after which nothing is watched and nobody waits" \
    "$(timeout -k 5 "$(scaled 60)" "$COOP" run -w ws --explain sh -c "touch up; while ! test -e cut; do sleep 0.1; done; cat $hidden/file 2>&1 | grep -ciE 'connected|abort'" </dev/null 2>/dev/null &
        running=$!
        await test -e ws/up
        init=$(pgrep -P "$(pgrep -P $running)" -x coop-init)
        device=$(awk -v at="$hidden" '$5 == at { sub(".*:", "", $3); print $3 }' "/proc/$init/mountinfo")
        mkdir fusectl && mount -t fusectl none fusectl && echo 1 >"fusectl/$device/abort"
        umount fusectl
        touch ws/cut
        wait $running)" 1
rm -f ws/up ws/cut

# ---- a file system of the host that never answers, as a server of the network that is gone

mkdir $hidden/dead
cat >dead.py <<'END'
import ctypes, os, sys
fd = os.open("/dev/fuse", os.O_RDWR)
options = b"fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % fd
if ctypes.CDLL(None).mount(b"dead", os.fsencode(sys.argv[1]), b"fuse", 0, options) == 0:
    open("is-dead", "w").close()
sys.stdin.read()
END
mkfifo dead.in
python3 dead.py $hidden/dead <dead.in &
dead=$!
exec 6>dead.in
await test -e is-dead
is "a path in it is not looked for" "$(told 'cat @/dead/file; cat @/file')" 'read|@/file|2|--ro @/file|1'
exec 6>&-
wait $dead
umount -l $hidden/dead

# ---- an ordinary user, where the device is everybody's as on most hosts

if user=$(id -u nobody 2>/dev/null) && command -v setpriv >/dev/null; then
    mkdir -m 755 $theirs # who knows whether they can reach ours
    mkdir -m 777 $theirs/ws
    mknod -m 666 $theirs/node c 10 229
    cp "$COOP" $theirs/coop
    # shellcheck disable=SC2016 # the inner shell's
    is "an ordinary user has it too" \
        "$(unshare -m sh -c 'mount --bind "$2/node" /dev/fuse && exec setpriv --reuid "$1" --regid "$1" --clear-groups -- env HOME=/nonexistent XDG_STATE_HOME="$2/ws" "$2/coop" run -w "$2/ws" --json --explain cat "$3/file"' \
            sh "$user" "$theirs" "$hidden" 2>/dev/null </dev/null | jq -r '.denials[].target')" "$hidden/file"
    # The second command of a tool has a box made from a template.
    cp "$(dirname "$COOP")/coop-mcp" $theirs/
    {
        printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
            '{"jsonrpc":"2.0","method":"notifications/initialized"}'
        for i in 1 2 3; do
            printf '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bash","arguments":{"command":"cat %s/file; ls -d /proc/self/status"}}}\n' $i "$hidden"
        done
    } >questions
    # shellcheck disable=SC2016
    is "and so have their tools" \
        "$(unshare -m sh -c 'mount --bind "$2/node" /dev/fuse && exec setpriv --reuid "$1" --regid "$1" --clear-groups -- env HOME=/nonexistent XDG_STATE_HOME="$2/ws" "$2/coop" mcp -w "$2/ws"' \
            sh "$user" "$theirs" <questions 2>/dev/null |
            jq -r 'select(.id > 0) | [(tostring | contains("read '"$hidden"'/file")), (tostring | contains("/proc/self/status"))] | join(" ")' | sort | uniq -c | xargs)" \
        "3 true true"
fi
done_testing
