#!/bin/bash
# Mounts: attributes, propagation, sources and targets of every sort, odd hosts.
# builds: clang asan asan-root
# fuse: both
. "$(dirname "$0")/box.sh"

# A mount namespace to play host in: as root a plain one, else one with a user namespace around it.
host_namespace() {
    if is_root; then unshare -m --propagation "${PROPAGATION:-private}" -- "$@"; else unshare -Urm --propagation "${PROPAGATION:-private}" -- "$@"; fi
}
export COOP T BIN

# ---- attributes of every mount

mkdir plain && : >plain/file
options=(--ro plain:/ro --rw plain:/rw --mount "type=tmpfs,target=/scratch,size=1m"
    --mount "type=tmpfs,target=/quiet,readonly" -v "$T/plain:/v:ro" --block /work/secret)
mkdir ws/secret
run "${options[@]}" cat /proc/self/mountinfo >mountinfo
is "there are mounts to look at" "$(($(wc -l <mountinfo) > 15))" 1
while read -r _ _ _ _ point flags rest; do
    case $point in
    /dev/null | /dev/zero | /dev/full | /dev/random | /dev/urandom | /dev/tty) want= ;;
    /dev/pts) want=nosuid ;;
    *) want="nosuid nodev" ;;
    esac
    for flag in $want; do like "$point is $flag" ",$flags," ",$flag,"; done
    unlike "$point has no peer on the host" "${rest%% - *}" 'shared:|master:|propagate_from:'
    case $point in
    /work | /rw | /scratch | /tmp | /run | /dev/*) like "$point is writable" "$flags" '^rw' ;;
    *) like "$point is read-only" "$flags" '^ro' ;;
    esac
done <mountinfo
is "the old root is gone" "$(awk '$5 == "/"' mountinfo | wc -l)" 1

# ---- two at one place

printf '[[sandbox.mounts]]\nsource = "%s"\ntarget = "/x"\nreadonly = true\n' /usr/share/doc /usr/share >twice.toml
is "of two mounts of a file the later one counts" "$("$COOP" run --config twice.toml -w ws ls -d /x/doc </dev/null)" /x/doc
like "which coop check tells" "$("$COOP" check --config twice.toml -w ws)" "^twice.toml:1:1: warning: the mount at '/x' is replaced by a later one"
is "a flag's counts more than either" "$("$COOP" run --config twice.toml --ro plain://x/. -w ws sh -c 'ls -d /x/doc || echo other' 2>/dev/null </dev/null)" other
status "two flags are a mistake" 125 run --ro /usr:/x --ro /etc:/x true

# ---- devices: what is bound is looked at, whatever its name says

for node in null zero full random urandom tty; do
    # shellcheck disable=SC2016
    err=$(host_namespace sh -c 'mount --bind "$T/plain/file" "/dev/$1" && exec "$COOP" run -w "$T/ws" true' - $node 2>&1 </dev/null)
    like "a file in the place of /dev/$node is refused" "$err" "bind '/dev/$node': it is not the character device of that name"
done
# shellcheck disable=SC2016
err=$(host_namespace sh -c 'mount --bind /dev/zero /dev/urandom && exec "$COOP" run -w "$T/ws" true' 2>&1 </dev/null)
like "another device too" "$err" "bind '/dev/urandom': it is not the character device of that name"

# ---- options

is "--ro shows a directory" "$(run --ro plain:/data ls /data)" file
refused "--ro is read-only" run --ro plain:/data touch /data/file
is "--ro without a target: at its own place" "$(run --ro "$T/plain" ls "$T/plain")" file
ok "--rw is writable" run --rw plain:/data sh -c 'echo written >/data/file'
is "and writes through" "$(cat plain/file)" written
is "--ro shows a single file" "$(run --ro plain/file:/etc/one cat /etc/one)" written
is "-v, Docker's way" "$(run -v "$T/plain:/data" sh -c 'echo v >/data/file; cat /data/file')" v
refused "-v with :ro is read-only" run -v "$T/plain:/data:ro" touch /data/file
is "--mount, Docker's other way" "$(run --mount "type=bind,source=$T/plain,target=/data,readonly" cat /data/file)" v
refused "--mount with readonly is read-only" run --mount "type=bind,source=$T/plain,target=/data,readonly" touch /data/file
refused "a tmpfs keeps to its size" run --mount type=tmpfs,target=/s,size=1m dd if=/dev/zero of=/s/f bs=1k count=2000
ok "a tmpfs holds what fits" run --mount type=tmpfs,target=/s,size=1m dd if=/dev/zero of=/s/f bs=1k count=900
refused "a read-only tmpfs is read-only" run --mount type=tmpfs,target=/s,readonly touch /s/f
is "the inner of two targets wins, in any order" \
    "$(mkdir -p ws/inner; run --ro plain:/work/inner ls inner; run --mount type=tmpfs,target=/work/inner sh -c 'ls inner; touch inner/gone')" file
is "nothing of a covered directory changed" "$(ls ws/inner)" ""
echo s >ws/secret/s && echo t >ws/token
is "--block hides directories and files" \
    "$(run --block secret --block /work/token sh -c 'ls secret; cat token; cat secret/s; echo x >token; echo x >secret/new; mv secret s2; rm -rf token; echo end' 2>/dev/null)" end
is "and they are as they were" "$(cat ws/secret/s ws/token; ls ws)" $'s\nt\ninner\nsecret\ntoken'
mkdir -p ws/links ws/secret && echo data >ws/linked && ln ws/linked ws/links/one && ln ws/linked ws/two && echo inside >ws/secret/l && ln ws/secret/l ws/three && ln ws/secret/l ws/links/l
for block in linked /work/linked links/one; do
    is "--block hides other names of the file too ($block)" "$(run --block "$block" sh -c 'cat linked links/one two; echo x >two; rm -f two; echo end' 2>/dev/null)" end
done
for how in --block --protect; do
    is "$how of a directory, other names of the files in it" "$(run $how secret sh -c 'cat three; cat two' 2>/dev/null)" data
done
is "also if another one is in a second such directory" "$(run --block secret --block links sh -c 'cat three two; echo end' 2>/dev/null)" end
is "outside they are as they were" "$(cat ws/linked ws/links/one ws/two ws/three | uniq -c | xargs)" "3 data 1 inside"
rm -r ws/linked ws/links ws/two ws/three ws/secret/l
ok "blocking what does not exist is no error" run --block nowhere true
is "and makes nothing" "$(ls ws)" $'inner\nsecret\ntoken'
status "a target that would have to be made on the host is refused" 125 run --ro plain:/work/made true
is "and is not made" "$(ls ws)" $'inner\nsecret\ntoken'

# ---- links and odd names

ln -s plain link && ln -s plain/file linkfile && ln -s nowhere dangling && ln -s /etc ws/etclink
is "a linked source is what it leads to" "$(run --ro "$T/link:/data" ls /data)" file
is "a linked file likewise" "$(run --ro "$T/linkfile:/data" cat /data)" v
is "a linked workspace likewise" "$(ln -s ws wslink; "$COOP" run -w "$T/wslink" pwd </dev/null; "$COOP" run -w "$T/wslink" --same-path pwd </dev/null)" "/work"$'\n'"$T/ws"
status "a dangling source is refused" 125 run --ro dangling:/data true
status "a target through a link is refused" 125 run --ro plain:/work/etclink true
rm ws/etclink
odd=$T/$'sp ace\t\xff\xfe é'
mkdir "$odd" && echo odd >"$odd/f"
is "spaces and bytes that are no UTF-8: workspace" "$("$COOP" run -w "$odd" cat f </dev/null)" odd
is "the same with --same-path" "$("$COOP" run -w "$odd" --same-path pwd </dev/null)" "$odd"
is "the same as source and target" "$(run --ro "$odd:/$(basename "$odd")" ls "/$(basename "$odd")")" f
ok "the result is still JSON" jq -e '.status == 0' <<<"$("$COOP" run -w "$odd" --json --same-path pwd </dev/null)"
deep=$T/$(printf 'd%.0s' {1..200})/$(printf 'e%.0s' {1..200})/$(printf 'f%.0s' {1..200})/$(printf 'g%.0s' {1..200})
mkdir -p "$deep" && echo deep >"$deep/f"
is "a path of 800 bytes" "$("$COOP" run -w "$deep" --same-path cat f </dev/null)" deep

# ---- mounts below a bound directory

mkdir -p tree/sub tree/bind
cat >submounts <<'END'
mount -t tmpfs -o suid,dev tmpfs tree/sub && echo below >tree/sub/f && mkdir tree/sub/deeper &&
mount -t tmpfs tmpfs tree/sub/deeper && echo deep >tree/sub/deeper/f || exit 9
"$COOP" run -w ws "$1" tree:/tree sh -c 'cat /tree/sub/f /tree/sub/deeper/f
    for p in /tree/sub /tree/sub/deeper; do touch $p/new 2>/dev/null && echo written $p; done
    grep " /tree" /proc/self/mountinfo | cut -d " " -f 6 | sort -u' </dev/null | sed s/,idmapped//
END
is "--ro is read-only, nosuid and nodev down to the last submount" "$(host_namespace sh submounts --ro)" $'below\ndeep\nro,nosuid,nodev,relatime'
is "--rw is writable there, nosuid and nodev" "$(host_namespace sh submounts --rw)" \
    $'below\ndeep\nwritten /tree/sub\nwritten /tree/sub/deeper\nrw,nosuid,nodev,relatime'
is "a workspace with submounts likewise" "$(host_namespace sh -c 'mount -t tmpfs -o suid,dev tmpfs tree/sub && "$COOP" run -w tree sh -c "touch sub/f && grep /work/ /proc/self/mountinfo | cut -d \" \" -f 6" </dev/null' | sed s/,idmapped//)" rw,nosuid,nodev,relatime
is "a submount of /usr is read-only too" "$(host_namespace sh -c 'mount -t tmpfs tmpfs /usr/local/share && echo x >/usr/local/share/f &&
    "$COOP" run -w ws sh -c "cat /usr/local/share/f; touch /usr/local/share/g || echo refused" </dev/null' 2>/dev/null)" $'x\nrefused'

# ---- what the host mounts later stays outside

mkdir -p ws/later && rm -f ws/go ws/ready
cat >later <<'END'
mount --make-rshared / && "$COOP" run -w ws sh -c 'touch ready; until [ -e go ]; do sleep 0.01; done; ls later; grep -c later /proc/self/mountinfo' </dev/null >seen &
box=$!
until [ -e ws/ready ]; do kill -0 $box || exit 8; done
mount -t tmpfs tmpfs ws/later && touch ws/later/shown && touch ws/go && wait $box
ls ws/later
END
is "a mount made on the host while the box runs shows on the host" "$(PROPAGATION=unchanged host_namespace bash later)" shown
is "and not in the box" "$(cat seen)" 0

unlike "no mount of a box follows a host that shares all of its own" \
    "$(host_namespace sh -c 'mount --make-rshared / && "$COOP" run -w ws cat /proc/self/mountinfo' </dev/null)" 'shared:|master:|propagate_from:'
# A box, and tools, whose boxes have one /tmp: afterwards the host has the mounts that it had.
cat >questions <<'END'
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bash","arguments":{"command":"echo in-the-box >/tmp/x; cat /tmp/x"}}}
END
cat >shares <<'END'
mount --make-rshared / || exit 8
{ cut -d " " -f 3- /proc/self/mountinfo; ls -id / /sys /proc; } >before
"$COOP" run -w ws true </dev/null
"$COOP" run -w ws --explain true </dev/null
"$COOP" doctor >/dev/null 2>&1
"$COOP" mcp -w ws <questions 2>/dev/null | grep -q in-the-box && echo in-the-box
{ cut -d " " -f 3- /proc/self/mountinfo; ls -id / /sys /proc; } >after
diff before after
END
is "nothing is mounted on a host that shares all of its own" "$(host_namespace sh shares)" in-the-box

# ---- a source that is swapped while the box is being made

if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    for what in --ro --rw -w; do
        rm -rf good evil old
        mkdir good evil && echo good >good/f && echo evil >evil/f
        case $what in -w) arguments=(-w good cat f) ;; *) arguments=(-w ws "$what" good:/data cat /data/f) ;; esac
        # Every clone waits a while; the source is opened before the first. A guest is slow.
        delay=${COOP_KERNEL_CONFIG:+3000000}
        strace -f -qq -o /dev/null -e trace=clone,clone3 -e inject=clone,clone3:delay_enter=${delay:-1000000} \
            "$COOP" run "${arguments[@]}" </dev/null >swapped 2>message &
        tracer=$!
        opened() { find "/proc/$(pgrep -nx coop -P $tracer)/fd" -lname "$T/good" | grep -q .; }
        if await opened; then
            mv good old && mv evil good
            wait $tracer
            unlike "$what: the other directory is never shown" "$(cat swapped)" evil
            like "$what: the first one, or a refusal" "$(cat swapped message)" '^good|was replaced while the box was being (set up|made)'
        else
            wait $tracer
            tap_result 1 "$what: the source is held open while the box is being made"
        fi
    done
else
    skip "a source swapped during set-up" "strace cannot trace here"
fi

# ---- odd hosts

cat >thousand <<'END'
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("many", exist_ok=True)
for i in range(1000):
    os.makedirs(f"many/{i}", exist_ok=True)
    if libc.mount(b"many", f"many/{i}".encode(), None, 4096, None): sys.exit(os.strerror(ctypes.get_errno()))
inside = subprocess.run([os.environ["COOP"], "run", "-w", "ws", "cat", "/proc/self/mountinfo"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
print("box", inside.returncode, inside.stderr, len(inside.stdout.splitlines()) < 60, "many" in inside.stdout)
END
is "a host with 1000 mounts" "$(host_namespace python3 thousand)" "box 0  True False"
rm -rf many

# A root of another shape: /bin and /lib are directories, /lib64 is there or not.
cat >other_root <<'END'
mkdir -p root && mount -t tmpfs tmpfs root && cd root && mkdir usr bin lib sbin proc dev sys tmp etc w old && chmod 1777 tmp &&
for d in usr proc dev sys; do mount --rbind /$d $d || exit 9; done
mount --rbind /usr/bin bin && mount --rbind /usr/lib lib && mount --rbind /usr/sbin sbin || exit 9
[ "$1" = with ] && { mkdir lib64 && mount --rbind /lib64 lib64 || exit 9; }
cp "$COOP" w/coop && cp "$BIN/syscalls" w/ && [ -e /etc/ld.so.cache ] && cp /etc/ld.so.cache etc/
mkdir w/ws && cp "$BIN/syscalls" w/ws/ && pivot_root . old && cd /w/ws || exit 9
END
if ldd "$COOP" >/dev/null 2>&1; then
    skip_never "unmerged /usr, no /lib64" "this build of coop is dynamic and cannot run in such a root"
else
    { cat other_root; echo 'exec /w/coop run -q sh -c "stat -c %F /bin /lib /lib64; touch /bin/x || echo refused" </dev/null 2>&1'; } >with_lib64
    is "directories instead of merged links" "$(host_namespace sh with_lib64 with | grep -v touch | xargs)" "directory directory directory refused"
    { cat other_root; echo 'exec /w/coop run ./syscalls </dev/null 2>&1'; } >without_lib64
    like "no /lib64 at all" "$(host_namespace sh without_lib64 without)" '^usage: syscalls'
fi
done_testing
