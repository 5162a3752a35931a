#!/bin/bash
# Processes: the box sees and reaches its own only, and not even its init.
# fuse: both
# speed: slow
. "$(dirname "$0")/box.sh"

sleep 1000 &
sentinel=$!
trap 'kill $sentinel; rm -rf "$T" "$T.cache"' EXIT
lives() { [ "$(cat "/proc/$sentinel/comm" 2>/dev/null)" = sleep ]; }

# ---- what is seen

is "the command is process 2" "$(run sh -c 'echo $$')" 2
is "and sees no other" "$(run sh -c 'cd /proc && echo [0-9]*')" 2
is "but its own" "$(run sh -c 'sleep 100 & cd /proc && echo [0-9]*; kill $!')" "2 3"
refused "the caller's process is not" run test -e "/proc/$sentinel"
is "the box is a session of its own" "$(run python3 -c 'import os; print(os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid(), os.getppid())')" "True True 1"
is "the host name is coop" "$(run uname -n)" coop
is "--hostname sets it" "$(run --hostname box7 uname -n)" box7
isnt "and not the host's" "$(uname -n)" box7
for ns in user mnt pid ipc uts net cgroup; do
    isnt "a namespace of its own: $ns" "$(run readlink "/proc/self/ns/$ns")" "$(readlink "/proc/self/ns/$ns")"
done

# ---- signals

is "kill(-1) reaches only the box" "$(run bash -c 'sleep 100 & kill -KILL -1; wait; echo on' 2>/dev/null)" on
status "kill(0) reaches only the box" 143 run bash -c 'kill -TERM 0; sleep 100'
status "a signal to its group, likewise" 137 run bash -c 'kill -KILL -$$; sleep 100'
is "no signal ends init" "$(run sh -c 'for s in TERM INT HUP KILL STOP ABRT SEGV; do kill -$s 1; done 2>/dev/null; echo on')" on
refused "the caller's process gets no signal" run kill -KILL $sentinel
ok "and lives" lives
is "orphans are reaped by init" "$(run bash -c '(sleep 0 & sleep 0 &) ; while [ "$(cat /proc/[0-9]*/stat 2>/dev/null | grep -c " Z ")" != 0 ]; do :; done; echo none')" none

# ---- init

for file in mem maps environ cwd root exe auxv syscall io map_files ns/mnt ns/pid fd/0 fd/3; do
    for uid in "" "--uid 0"; do
        # shellcheck disable=SC2086
        refused "closed: ${uid:+to root inside, }/proc/1/$file" run $uid sh -c "cat /proc/1/$file || ls /proc/1/$file/ || readlink /proc/1/$file"
    done
done
cp "$BIN/early" ws/
for uid in "" "--uid 0" "--profile dev" --explain; do
    # shellcheck disable=SC2086
    is "closed from the first instant, 40 times: coop run $uid" \
        "$(for i in {1..40}; do run $uid ./early || echo "found something, or did not run"; done)" ""
done
if real_root; then # to members of the group root the kernel shows more of /proc, if it is not told otherwise
    chmod 755 "$T" && mkdir theirs && cp "$BIN/early" theirs/ && chown -R 12345 theirs
    is "closed to members of the group root, 40 times" "$(for i in {1..40}; do
        setpriv --reuid 12345 --regid 12345 --groups 0 -- env HOME=/nonexistent XDG_STATE_HOME="$T/theirs" "$COOP" run -w "$T/theirs" ./early ||
            echo "found something, or did not run"
    done)" ""
else
    skip_never "closed to members of the group root" "not root"
fi
refused "init's memory cannot be written" run python3 -c 'open("/proc/1/mem", "r+b")'
refused "not by the dev profile either" run --profile dev python3 -c 'open("/proc/1/mem", "rb")'
refused "init cannot be traced with the dev profile" run --profile dev python3 -c '
import ctypes; exit(0 if ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0 else 1)'
ok "a child can be traced with the dev profile" run --profile dev python3 -c '
import ctypes, os, time
pid = os.fork()
if pid == 0: time.sleep(100)
r = ctypes.CDLL(None).ptrace(16, pid, 0, 0)
os.kill(pid, 9); exit(0 if r == 0 else 1)'
refused "init cannot be had as a descriptor" run --profile dev python3 -c '
import os, ctypes
fd = os.pidfd_open(1)
exit(0 if ctypes.CDLL(None).syscall(438, fd, 4, 0) >= 0 else 1)'

# From outside: empty environment, no descriptors but its own, no capabilities but the one that guards it.
start ws
isnt "init is found from outside" "$init" ""
if is_root; then
    is "its environment is empty" "$(tr '\0' '\n' <"/proc/$init/environ")" ""
    is "init holds no file, terminal or pipe of the host" "$(ls -l "/proc/$init/fd" | sed -n 's/.* -> //p' | sed 's/:.*//' | sort -u | xargs)" "/tmp anon_inode socket user" # its own /tmp; the last: the lock shared by all boxes
    is "its program is a sealed memory file" "$(readlink "/proc/$init/exe" | cut -d: -f1)" /memfd
    real_root && isnt "it does not run as root of the host" "$(awk '/^Uid/ { print $2 }' "/proc/$init/status")" 0
else
    not_ok "its environment cannot even be read by the caller" cat "/proc/$init/environ"
    not_ok "nor its descriptors" ls "/proc/$init/fd"
fi
is "one capability at most" "$(awk '/^Cap(Eff|Prm)/ { print $2 }' "/proc/$init/status" | sort -u)" 0000000000080000
finish_box

# ---- /proc

for file in kcore kmsg keys sysrq-trigger timer_list sched_debug latency_stats kpagecount kpageflags slabinfo \
    vmallocinfo pagetypeinfo sys/kernel/core_pattern sys/kernel/hostname sys/vm/overcommit_memory \
    sys/fs/binfmt_misc/register sys/kernel/modprobe sys/kernel/ns_last_pid sys/net/ipv4/ip_forward \
    irq/default_smp_affinity mtrr self/uid_map self/setgroups 1/oom_score_adj; do
    [ -e "/proc/$file" ] || continue
    for uid in "" "--uid 0"; do
        # shellcheck disable=SC2086
        refused "cannot be opened for writing: ${uid:+as root inside, }/proc/$file" run $uid sh -c ": >>/proc/$file"
    done
done
for file in kcore kmsg keys sysrq-trigger timer_list sched_debug kpagecount kpageflags kpagecgroup slabinfo vmallocinfo pagetypeinfo; do
    [ -e "/proc/$file" ] || continue
    refused "cannot be read: /proc/$file" run sh -c "head -c 1 /proc/$file | grep -q ."
    refused "cannot be read by root inside: /proc/$file" run --uid 0 sh -c "head -c 1 /proc/$file | grep -q ."
done
for directory in acpi scsi; do
    [ -d "/proc/$directory" ] && is "empty: /proc/$directory" "$(run ls -A "/proc/$directory" 2>/dev/null)" ""
done
for link in self/root self/cwd/.. thread-self/root 2/root; do
    is "/proc/$link stays inside" "$(run sh -c "ls /proc/$link/ | grep -cx -e home -e root -e boot -e sys")" 0
done

# ---- System V and POSIX objects, keys

key=$(ipcmk -M 4096 2>/dev/null | grep -o '[0-9]*$')
if [ -n "$key" ]; then
    isnt "the caller has a shared memory segment" "$(ipcs -m | grep -c '^0x')" 0
    is "the box sees none" "$(run ipcs -m | grep -c '^0x')" 0
    ipcrm -m "$key"
else
    skip "System V objects of the host" "ipcmk makes none here"
fi
size=$((4096 * (1000 + RANDOM))) # by which it would be known among those of others
is "what the box makes is gone with it" "$(run sh -c "ipcmk -M $size >/dev/null; ipcs -m" | grep -cw $size) $(ipcs -m | grep -cw $size)" "1 0"
is "no key of the caller's is seen" "$(run cat /proc/keys 2>/dev/null | wc -l)" 0

# A key that only its possessors see: who has our session keyring. The calls for keys are refused inside
# and /proc/keys is empty there, so that must be seen in two ways.
cat >keys.py <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
x86 = os.uname().machine == "x86_64"
def call(*arguments):
    r = libc.syscall(*arguments)
    if r < 0: sys.exit("keys: " + os.strerror(ctypes.get_errno()))
    return r
keyctl = 250 if x86 else 219
call(keyctl, 1, None) # a session keyring of our own
key = call(248 if x86 else 217, b"user", sys.argv[1].encode(), b"x", ctypes.c_size_t(1), -3)
call(keyctl, 5, key, ctypes.c_uint(0x3f000000))
os.execvp(sys.argv[2], sys.argv[2:])
END
with_key() { python3 "$T/keys.py" "coop-canary-$$" "$@" 2>/dev/null; }
weaker() { # the tier landlock, where the host's /proc/keys can be read
    with_key unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "$@"
}
if ! with_key true; then
    skip_never "session keyrings" "the kernel has no keyrings, or the quota is full"
elif ! command -v strace >/dev/null || ! strace -o /dev/null true 2>/dev/null; then
    skip "session keyrings" "strace cannot trace here"
else
    seen="grep -c coop-canary-$$ /proc/keys"
    is "a key of the caller's session is seen outside" "$(with_key sh -c "$seen")" 1
    is "and not inside" "$(weaker "$COOP" run --mode preferred -w ws sh -c "$seen")" 0
    is "but would be, if its keyring were not replaced" \
        "$(weaker strace -f -qq -o /dev/null -e trace=keyctl -e inject=keyctl:retval=1 "$COOP" run --mode preferred -w ws sh -c "$seen")" 1
    with_key strace -f -qq -o trace -e trace=keyctl,execve "$COOP" run -w ws /bin/true
    is "with every wall the command's own process replaces it, just before exec" \
        "$(awk -v program='"/bin/true"' '/keyctl\(KEYCTL_JOIN_SESSION_KEYRING, NULL/ && $NF > 0 { joined[$1] = 1 }
            index($0, "execve(" program) && joined[$1] { print "yes" }' trace)" yes
    if ! is_root; then # root's boxes are somebody else, whose keyrings root does not see
        keyrings() { awk '/ _ses/ { print $1 }' /proc/keys | sort; }
        keyrings >before
        start ws
        like "a new session keyring is there while the box is" "$(comm -13 before <(keyrings))" '^[0-9a-f]+$'
        finish_box
    fi
fi

# ---- standard output cannot be reached as a file

echo before >log
run sh -c 'true >/proc/self/fd/1; true >/dev/stdout; true >/proc/self/fd/2; true 1<>/proc/self/fd/1; truncate -s 0 /proc/self/fd/1; echo after' >>log 2>/dev/null
is "a redirected output cannot be emptied" "$(cat log)" $'before\nafter'
run python3 -c '
import os
for fd in (0, 1, 2):
    for call in (lambda: os.ftruncate(fd, 0), lambda: os.lseek(fd, 0, 0), lambda: os.pwrite(fd, b"X", 0), lambda: os.fchmod(fd, 0)):
        try: call()
        except OSError: pass
' >>log 2>>log <log
is "nor through the descriptor itself" "$(cat log)" $'before\nafter'
is "the caller's files are not its descriptors" "$("$COOP" run -w ws sh -c 'readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2' <log 2>/dev/null | sed 's/:.*//' | sort -u)" pipe
done_testing
