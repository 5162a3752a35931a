#!/bin/bash
# Privileges and identity: no capability, no way to get one, and whose files the command makes.
# builds: clang asan asan-root
. "$(dirname "$0")/box.sh"
owner() { stat -c %u:%g "$@"; }

# ---- nothing to begin with

for uid in "" "--uid 0" "--uid 12345" "--profile dev" "--network host" "--network off"; do
    # shellcheck disable=SC2086
    is "no capability, no new privileges, a filter: coop run $uid" \
        "$(run $uid awk '/^(Cap|NoNewPrivs|Seccomp:)/ { print $1 $2 }' /proc/self/status | xargs)" \
        "CapInh:0000000000000000 CapPrm:0000000000000000 CapEff:0000000000000000 CapBnd:0000000000000000 CapAmb:0000000000000000 NoNewPrivs:1 Seccomp:2"
done
is "securebits are locked" "$(run --uid 0 python3 -c 'import ctypes; print(hex(ctypes.CDLL(None).prctl(27, 0, 0, 0, 0) & 0x3f))')" 0x2f
refused "and cannot be changed" run --uid 0 python3 -c 'import ctypes; exit(ctypes.CDLL(None).prctl(28, 0, 0, 0, 0) and 1)'
is "the groups are the caller's one" "$(run python3 -c 'import os; print([g for g in os.getgroups() if g not in (os.getgid(), 65534)])')" "[]"
refused "the filter cannot be left by exec" run sh -c 'exec env unshare -U true'

# ---- who it is inside

is "the caller's own number by default" "$(run id -u)" "$(id -u)"
is "root inside on request" "$(run --uid 0 sh -c 'id -u; id -un; echo $USER')" $'0\nroot\nroot'
is "any other on request" "$(run --uid 4321 id -u)" 4321
for attempt in 'chown 1 f' 'chown 65534 f' 'mount -t tmpfs t /tmp' 'umount /tmp' '/usr/sbin/chroot / true || exit 1' 'setpriv --reuid 1 true' \
    'unshare -m true' 'echo other >/proc/sys/kernel/hostname' 'mknod n b 8 0' 'date -s 2020-01-01' 'nice -n -5 true 2>&1 | grep -q denied && false' \
    '/usr/sbin/ip link set lo down' 'chmod u+s /bin/su' 'cat /etc/shadow' 'dmesg' '/usr/sbin/swapoff /dev/null' 'kill -9 1 && ! kill -0 1'; do
    refused "root inside may not: $attempt" run --uid 0 sh -c "touch f; $attempt"
done
for options in "" "--explain" "--no-protect" "--profile dev"; do
    # shellcheck disable=SC2086
    is "root inside keeps what it has made${options:+, $options}" \
        "$(run --uid 0 $options sh -c 'touch f /tmp/g && chown 0:0 f /tmp/g && chown root f && chgrp 0 f && chown -h 0 f && cp -p f h && install -o 0 -g 0 f i && stat -c %u:%g f /tmp/g h i | sort -u; rm f h i' 2>&1)" 0:0
done
# What a packer of another user has packed.
tar -cf ws/packed.tar --owner=1234 --group=1234 -C "$SRC" LICENSE
is "an archive of somebody else, as the manual says" "$(run --uid 0 sh -c 'tar -xf packed.tar --no-same-owner && stat -c %u:%g LICENSE; rm LICENSE packed.tar' 2>&1)" 0:0

# ---- whose files it makes

rm -rf ws && mkdir ws
run sh -c 'touch default' && run --uid 0 sh -c 'touch zero' && run --uid 777 sh -c 'touch other'
is "files belong to the owner of the workspace" "$(owner ws/default ws/zero ws/other | sort -u)" "$(owner ws)"
is "and inside to the user inside" "$(run stat -c %u:%g /work/default)" "$(id -u):$(id -g)"
if real_root; then
    # owner and group of the workspace; root, another user, another user in root's group
    for who in 0:0 12345:12346 12345:0 0:12346; do
        rm -rf owned && mkdir -m 700 owned && chown "$who" owned
        ok "a workspace of $who: can be written" "$COOP" run -w owned sh -c 'mkdir d; echo x >d/f; ln -s x l; cp /bin/true t; ./t' </dev/null
        is "a workspace of $who: everything made is its owner's" "$(find owned -printf '%U:%G\n' | sort -u)" "$who"
        start owned
        unlike "a workspace of $who: the command is not root on the host" "$(awk '/^[UG]id/ { print $2, $3, $4, $5 }' "/proc/$command/status")" '\<0\>'
        is "a workspace of $who: it is in no other group" "$(awk '/^Groups/ { print NF - 1 }' "/proc/$command/status")" 0
        finish_box
    done
    rm -rf owned && mkdir owned && chown 12345:12346 owned
    echo s >owned/of-root && chmod 600 owned/of-root && echo s >owned/of-other && chown 999:999 owned/of-other && chmod 600 owned/of-other
    refused "a file of root's in another's workspace stays closed" "$COOP" run -w owned cat of-root </dev/null
    refused "a file of a third stays closed" "$COOP" run -w owned cat of-other </dev/null
    mkdir private && chmod 700 private && echo s >private/f && chown -R 4242:4242 private
    refused "another's private directory can be shown, not changed" "$COOP" run -w ws --ro private:/p touch /p/f </dev/null
else
    skip_never "files made by root's boxes" "not root"
fi

# ---- setuid and file capabilities

if findmnt -no OPTIONS -T "$T" | grep -qw nosuid; then
    skip_never "setuid programs, coop itself among them" "the tests' own directory is nosuid"
elif real_root; then
    cp /usr/bin/id ws/setuid && chown 0:0 ws/setuid && chmod 6755 ws/setuid
    mkdir other && chown 12345:12345 other && cp -p ws/setuid other/
    cp /usr/bin/awk ws/capable 2>/dev/null && setcap cap_sys_admin+ep ws/capable
    is "outside, a setuid program has its effect" "$(setpriv --reuid 12345 --regid 12345 --clear-groups "$T/other/setuid" -u 2>/dev/null || (chmod 755 "$T"; setpriv --reuid 12345 --regid 12345 --clear-groups "$T/other/setuid" -u))" 0
    is "inside it has none" "$("$COOP" run -w other --uid 12345 ./setuid -u </dev/null)" 12345
    is "file capabilities have none" "$(run ./capable '/^CapEff/ { print $2 }' /proc/self/status)" 0000000000000000
    # coop itself, setuid
    chmod 755 "$T"
    cp "$COOP" suid && chown 0:0 suid && chmod 4755 suid
    cp "$COOP" sgid && chown 0:0 sgid && chmod 2755 sgid
    for program in suid sgid; do
        if [ $program = sgid ] && grep -qa __asan_init "$COOP"; then
            skip_never "coop refuses to run sgid" "the leak sanitizer cannot run there, and has the last word"
            continue
        fi
        out=$(cd other && setpriv --reuid 12345 --regid 12345 --clear-groups "$T/$program" run true 2>&1 </dev/null)
        is "coop refuses to run $program" "$?" 125
        like "coop says why it does not run $program" "$out" 'refusing to run setuid'
    done
    cp "$COOP" capable && chmod 755 capable
    if setcap cap_net_raw+ep capable 2>/dev/null; then
        is "outside, file capabilities have their effect" \
            "$(cp /usr/bin/awk holder && setcap cap_net_raw+ep holder && setpriv --reuid 12345 --regid 12345 --clear-groups "$T/holder" '/^CapEff/ { print $2 }' /proc/self/status)" 0000000000002000
        for sub in run plan; do
            out=$(cd other && setpriv --reuid 12345 --regid 12345 --clear-groups "$T/capable" $sub true 2>&1 </dev/null)
            is "coop refuses to $sub with file capabilities" "$?" 125
            like "coop says why it does not $sub" "$out" 'file capabilities'
        done
        out=$(setpriv --reuid 12345 --regid 12345 --clear-groups "$COOP" run -w other true 2>&1 </dev/null)
        is "without them the same user may" "$?" 0
    else
        skip "coop with file capabilities" "no extended attributes on this file system, or no setcap"
    fi
else
    skip_never "setuid programs, coop itself among them" "not root"
fi
chmod u+s ws/default 2>/dev/null
cp /usr/bin/id ws/own && chmod 6755 ws/own
is "a setuid program of the caller's own changes nothing" "$(run --uid 0 ./own -u)" 0

# What a box leaves behind must not run as its owner, whoever starts it: every way to set the bits.
cat >ws/bits.py <<'END'
import ctypes, os, shutil, struct
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    if libc.syscall(*args) < 0:
        raise OSError(ctypes.get_errno(), "")
def file(name, mode=0o755):
    shutil.copy("/usr/bin/id", name)
    os.chmod(name, mode)
    return name
def linked(bits):
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o755 | bits)
    os.link(f"/proc/self/fd/{fd}", "linked", follow_symlinks=True)
ways = {
    "chmod": lambda bits: os.chmod(file("f1"), 0o755 | bits),
    "fchmod": lambda bits: os.fchmod(os.open(file("f2"), os.O_RDONLY), 0o755 | bits),
    "fchmodat": lambda bits: os.chmod("f3", 0o755 | bits, dir_fd=os.open(os.path.dirname(os.path.abspath(file("f3"))), os.O_RDONLY)),
    "fchmodat2": lambda bits: call(452, -100, file("f4").encode(), 0o755 | bits, 0),
    "open": lambda bits: os.open("f5", os.O_CREAT | os.O_WRONLY, 0o755 | bits),
    "openat2": lambda bits: call(437, -100, b"f6", struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o755 | bits, 0), 24),
    "openat2, larger": lambda bits: call(437, -100, b"f7", struct.pack("QQQQ", os.O_CREAT | os.O_WRONLY, 0o755 | bits, 0, 0), 32),
    "mknod": lambda bits: os.mknod("f8", 0o100755 | bits),
    "a file without a name": linked,
}
os.umask(0)
for bits in (0o4000, 0o2000, 0o6000):
    for name, way in ways.items():
        try:
            way(bits)
            print(f"{name} WORKED")
        except OSError as e:
            print(name, os.strerror(e.errno))
END
for options in "" --no-protect "--profile dev" "--uid 0"; do
    # shellcheck disable=SC2086
    out=$(run $options python3 bits.py 2>/dev/null)
    is "no way to leave a setuid or setgid file (${options:-default}): tried" "$(wc -l <<<"$out")" 27
    unlike "none works (${options:-default})" "$out" WORKED
    is "none is there (${options:-default})" "$(find ws -newer ws/bits.py -perm /6000)" ""
    is "the rest of a mode is kept (${options:-default})" "$(stat -c %a ws/f1)" 755
    rm -f ws/f? ws/linked
done
done_testing
