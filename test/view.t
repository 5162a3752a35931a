#!/bin/bash
# What a command sees: exactly the default view, and nothing else of the host.
# builds: clang asan asan-root
. "$(dirname "$0")/box.sh"
echo mine >ws/canary-in && echo secret >canary-out
words() { sort | xargs; }
there() { # of the host's paths, those that exist, without what stands before the last slash
    local path
    for path; do [ -e "$path" ] && echo "${path##*/}"; done
    return 0
}

# ---- the lists

is "/ holds this and nothing else" "$(run ls -A / | words)" \
    "$({ printf '%s\n' dev etc proc run tmp var work usr
        there /bin /sbin /lib /lib64 /lib32 /libx32
        [ -e /nix/store ] && echo nix; } | words)"
is "/etc holds this and nothing else" "$(run ls -A /etc | words)" \
    "$({ printf '%s\n' group hosts mtab nsswitch.conf passwd ssl
        there /etc/{ld.so.cache,alternatives,pki,localtime,os-release,fonts,java,java-{8,11,17,21,25}-openjdk}; } | words)"
is "/etc/ssl holds certificates and settings, no keys" "$(run ls -A /etc/ssl | words)" \
    "$(there /etc/ssl/certs /etc/ssl/openssl.cnf | words)"
is "/dev holds this and nothing else" "$(run ls -A /dev | words)" \
    "$(printf '%s\n' fd full null ptmx pts random shm stderr stdin stdout tty urandom zero | words)"
while read -r place holds; do
    is "$place holds: ${holds:-nothing}" "$(run ls -A "$place" | words)" "$holds"
done <<'END'
/run shm
/var tmp
/tmp
/var/tmp
/dev/shm
/dev/pts ptmx
/work canary-in
END
for link in /bin /sbin /lib /lib64 /lib32; do
    [ -e "$link" ] || continue
    is "$link is the link or directory it is on the host" "$(run readlink "$link")" "$(readlink "$link")"
done
is "passwd knows root, nobody and the caller" "$(run cut -d: -f1 /etc/passwd | sort -u | grep -vx "${USER:-user}" | xargs)" \
    "$(printf '%s\n' nobody root | grep -vx "${USER:-user}" | xargs)"
is "the caller has a name" "$(run id -un)" "$(is_root && echo root || echo "${USER:-user}")"
is "no line of the host's passwd but those is there" "$(run grep -c . /etc/passwd)" "$(is_root && echo 2 || echo 3)"

# ---- the workspace

is "starts in the workspace, which is HOME" "$(run sh -c 'pwd; echo $HOME; echo $PWD')" $'/work\n/work\n/work'
run sh -c 'echo new >made; mkdir -p a/b; mv made a/b/; ln -s x a/link; rm canary-in'
is "what it changes there is changed on the host" "$(cat ws/a/b/made; readlink ws/a/link; ls ws)" $'new\nx\na'
is "the default workspace is the current directory" "$(cd ws && "$COOP" run ls </dev/null)" a
is "--same-path shows it at its own path" "$(run --same-path sh -c 'pwd; ls')" "$T/ws"$'\n'a
is "--same-path shows nothing beside it" "$(run --same-path ls -A "$T")" ws
refused "--same-path leaves no /work" run --same-path test -e /work
for base in /tmp /var/tmp /dev/shm; do # where the box has something of its own
    place=$(mktemp -d "$base/coop-view.XXXXXX")
    ok "--same-path below $base: it can be written, and so can /tmp and /dev/null" "$COOP" run --same-path -w "$place" sh -ec \
        'echo x >f; mv f g; d=$(mktemp -d); echo y >"$d/h"; mv "$d/h" "$d/i"; ln -s i "$d/j"; cat "$d/j"; mkfifo "$d/k"; echo >/dev/null' </dev/null
    is "and stays after it" "$(cat "$place/g")" x
    refused "--same-path below $base: protected names are" "$COOP" run --same-path -w "$place" mkdir .vscode </dev/null
    refused "by no way" "$COOP" run --same-path -w "$place" sh -c "mkdir -p /tmp/x && mv $place /tmp/x/y && mkdir /tmp/x/y/.vscode" </dev/null
    rm -rf "$place"
done
is "--chdir begins at the workspace" "$(run --chdir a/b pwd)" /work/a/b
is "--chdir takes an absolute path" "$(run --chdir /tmp pwd)" /tmp

# ---- nothing of the host beside it

mkdir -p "$T/home/.ssh" && echo key >"$T/home/.ssh/canary-out"
for path in "$T/canary-out" "$T/home/.ssh/canary-out" ../canary-out /work/../canary-out /proc/1/root/etc/shadow \
    /etc/shadow /etc/hostname /root /home /sys /boot /mnt /opt /srv /media "$HOME" "$SRC" /proc/self/root/home; do
    refused "not there: $path" env HOME="$T/home" "$COOP" run -w ws -- ls -d "$path"
done
is "a search of the whole tree finds nothing" \
    "$(run find / \( -path /proc -o -path /usr \) -prune -o -name 'canary-out' -print)" ""
ln -s "$T/canary-out" ws/out && ln -s "$T" ws/up
refused "a link out of the workspace leads nowhere" run cat out
refused "a linked directory likewise" run ls up/
ok "and outside it leads there" cat ws/out
rm ws/out ws/up

# ---- what can be written

for place in / /etc /usr /usr/bin /usr/local /bin /lib /dev /var /proc /proc/sys/kernel /dev/pts /etc/ssl; do
    refused "not writable: $place" run touch "$place/coop-new"
done
for file in /etc/passwd /etc/hosts /etc/ld.so.cache /etc/nsswitch.conf /usr/bin/env; do
    [ -e "$file" ] && refused "not writable: $file" run sh -c "echo x >>$file"
done
for place in /tmp /var/tmp /dev/shm /run /work; do
    is "writable: $place" "$(run sh -c "echo x >$place/coop-new && cat $place/coop-new")" x
done
is "only the workspace shows it" "$(ls -d {/tmp,/var/tmp,/dev/shm,/run,ws}/coop-new 2>/dev/null)" ws/coop-new
is "the next box has its own /tmp" "$(run ls -A /tmp /dev/shm /run/shm | grep coop-new)" ""
is "/tmp and /var/tmp are one" "$(run sh -c 'echo x >/tmp/f; cat /var/tmp/f')" x
ok "programs run from /tmp" run sh -c 'cp /bin/true /tmp/t && /tmp/t'

# ---- devices

is "/dev/null swallows, /dev/zero gives" "$(run sh -c 'echo x >/dev/null; head -c 3 /dev/zero | od -An -tx1')" " 00 00 00"
refused "/dev/full is full" run sh -c 'echo x >/dev/full'
is "/dev/urandom and /dev/random give" "$(run sh -c '(head -c 4 /dev/urandom; head -c 4 /dev/random) | wc -c')" 8
refused "/dev/tty is not there without a terminal" run sh -c ': </dev/tty'
refused "no device can be made" run mknod /tmp/mem c 1 1
refused "no device can be made by root inside" run --uid 0 mknod /work/null c 1 3
is "terminals inside work" "$(run script -qec 'echo on; tty' /dev/null | tr -d '\r' | xargs)" "on /dev/pts/0"
is "/dev/shm serves semaphores and shared memory" "$(run python3 -c '
from multiprocessing import Process, Lock, shared_memory
memory = shared_memory.SharedMemory(create=True, size=4096)
lock = Lock()
def child():
    with lock: memory.buf[0] = 42
p = Process(target=child); p.start(); p.join()
print(memory.buf[0]); memory.close(); memory.unlink()')" 42
is "/dev/stdin can be opened" "$(echo x | "$COOP" run -w ws cat /dev/stdin)" x
is "/dev/stdout can be opened" "$(run sh -c 'echo x >/dev/stdout')" x
is "/dev/stderr can be opened" "$(run sh -c 'echo x >/dev/stderr' 2>&1)" x
is "/dev/fd leads to descriptors" "$(run bash -c 'cat <(echo x)')" x
# ---- what the policy puts where the box has something of its own

rm -rf own && mkdir -p own/conf/in own/a/conf own/p/inner own/x own/tmp
echo secret >own/conf/in/data && echo secret >own/a/conf/f && echo here >own/tmp/inside
is "a directory of the host at /tmp is that directory" "$(run -w own --rw own/tmp:/tmp -c 'cat /tmp/inside; echo back >/tmp/f')" here
is "and keeps what is written" "$(cat own/tmp/f)" back
case $T in
/tmp/*) is "a workspace at /tmp, too" "$("$COOP" run --no-protect --yes-whole-home --same-path -w /tmp cat "$T/own/tmp/inside" </dev/null)" here ;;
*) skip_never "a workspace at /tmp" "the tests' own directory is not in it" ;;
esac
out=$(run -w own --rw own/x:/run true 2>&1)
is "/run is the box's own" "$?" 125
like "and that is said" "$out" "'/run' is the box's own place"
is "the host's /etc brings its own" "$(run --ro /etc -c 'cat /etc/hostname')" "$(cat /etc/hostname)"

# ---- what is blocked, or covered by a mount, cannot be moved away with the directory that holds it

for options in "" --no-protect; do
    # shellcheck disable=SC2086
    out=$("$COOP" run -w own $options --block conf/in/data --block a/conf --block absent --ro own/x:/work/p/inner -c '
        for d in conf conf/in a p; do mv $d moved 2>/dev/null && echo "moved $d"; done
        python3 -c "import os; os.rename(\"conf\", \"moved\")" 2>/dev/null && echo moved
        rm -rf conf a 2>/dev/null; mkdir -p conf/in; echo forged >conf/in/data
        cat conf/in/data a/conf/f
        touch absent conf/in/other && echo made' 2>/dev/null </dev/null)
    is "directories above a block or a mount stay (${options:-default})" "$out" made
    is "and what is in them, too (${options:-default})" "$(cat own/conf/in/data own/a/conf/f)" "secret
secret"
    rm -f own/absent own/conf/in/other
done
done_testing
