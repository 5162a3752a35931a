#!/bin/bash
# Limits: each is held, told apart from other failures, and the result says by what.
# builds: clang asan asan-root
# speed: slow
. "$(dirname "$0")/box.sh"

json() { "$COOP" run -w ws --json "$@" </dev/null; }
held_by() { json true | jq -r ".enforced.limits.memory.by"; }
if held_by | grep -q cgroup; then has_cgroup=1; else has_cgroup=0; fi
note "memory is held by: $(held_by)"

# ---- memory: each wants more than the limit of 64 MiB and would keep it

cat >ws/processes.py <<'END'
import os, time
for i in range(8):
    if os.fork() == 0:
        hold = bytearray(20 << 20)
        for j in range(0, len(hold), 4096): hold[j] = 1
        time.sleep(600)
exit(os.wait()[1] != 0) # where a cgroup holds the limit, one of them is killed, not all
END
cat >ws/memfd.py <<'END'
import os
fd = os.memfd_create("x")
for i in range(200): os.write(fd, b"x" * (1 << 20))
import time; time.sleep(600)
END
cat >ws/memfds.py <<'END'
import os
for i in range(50):
    if os.fork() == 0:
        fd = os.memfd_create("x")
        for j in range(4): os.write(fd, b"x" * (1 << 20))
        import time; time.sleep(600)
exit(os.wait()[1] != 0)
END
cat >ws/hidden.py <<'END'
import ctypes, os
fd = os.memfd_create("x")
for i in range(200): os.write(fd, b"x" * (1 << 20))
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) # PR_SET_DUMPABLE: who is not root cannot look at its descriptors
import time; time.sleep(600)
END
cat >ws/hundreds.py <<'END'
import os
small = [os.memfd_create("x") for i in range(300)]
for fd in small: os.write(fd, b"x")
fd = os.memfd_create("x")
for i in range(200): os.write(fd, b"x" * (1 << 20))
import time; time.sleep(600)
END
cat >ws/sysv.py <<'END'
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
for i in range(20):
    at = libc.shmat(libc.shmget(0, 10 << 20, 0o1600), None, 0)
    if at == ctypes.c_void_p(-1).value: raise SystemExit(3)
    ctypes.memset(at, 1, 10 << 20)
    libc.shmdt(ctypes.c_void_p(at)) # still there, belongs to no process
import time; time.sleep(600)
END
cat >ws/shared.py <<'END'
import mmap
m = mmap.mmap(-1, 200 << 20, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
for i in range(0, len(m), 4096): m[i] = 1
import time; time.sleep(600)
END
cat >ws/private.py <<'END'
hold = [bytearray(b"x" * (1 << 20)) for i in range(200)]
import time; time.sleep(600)
END
# The first thread ends, another goes on: the process looks as if it had ended.
cat >ws/leader.py <<'END'
import ctypes, os, sys, threading, time
def eat():
    while open("/proc/self/task/%d/stat" % os.getpid()).read().split(") ")[1][0] != "Z": time.sleep(0.01)
    if sys.argv[1] == "hidden": ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    if sys.argv[1] != "memory":
        fd = os.memfd_create("x")
        for i in range(200): os.write(fd, b"x" * (1 << 20))
    else:
        hold = [bytearray(b"x" * (1 << 20)) for i in range(200)]
    time.sleep(600)
threading.Thread(target=eat).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
END
# A thread that has descriptors of its own, by both ways to them; if it cannot have them, it goes on without.
cat >ws/table.py <<'END'
import ctypes, os, sys, threading, time
def eat():
    fd = os.memfd_create("x")
    for i in range(200): os.write(fd, b"x" * (1 << 20))
    time.sleep(600)
def unshare():
    print(ctypes.CDLL(None, use_errno=True).syscall(436, 3000, 3001, 2), ctypes.get_errno(), flush=True) # close_range
    eat()
threading.Thread(target=unshare).start()
time.sleep(600)
END
# Long asleep, then awake.
cat >ws/late.py <<'END'
import sys, time
time.sleep(4)
exec(open("private.py").read())
END
# On its way out a process looks like one that hides its descriptors.
is "processes that end are within the limit" \
    "$(for _ in {1..60}; do json sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; touch x; done'; done | jq -r '.exit_code // .signal' | sort | uniq -c | xargs)" "60 0"
eat() { # NAME COMMAND...
    local name=$1
    shift
    result=$(within 60 "$COOP" run -w ws --json --memory 64m --tmp-size 512m --timeout "$(scaled 20)s" "$@" </dev/null)
    isnt "memory: $name does not succeed" "$(jq .status <<<"$result")" 0
    is "memory: $name is not stopped by the clock" "$(jq .timed_out <<<"$result")" false
    # Without a cgroup a process that grows while the supervisor does not run is refused more by the kernel, which
    # tells nobody: then the process itself is the one that ends, and says so.
    if [ $has_cgroup = 0 ] && [ "$(jq .oom <<<"$result")" = false ]; then
        like "memory: $name says itself that there is no more" "$(jq -r .stderr.text <<<"$result")" 'MemoryError|[Oo]ut of memory|[Aa]llocation failed|[Cc]annot allocate|ENOMEM'
        return
    fi
    is "memory: $name is told" "$(jq -r '.oom, (.denials[] | .op)' <<<"$result" | sort -u | xargs)" "memory true"
}
eat "python" python3 private.py
eat "many processes" python3 processes.py
eat "a memory file" python3 memfd.py
eat "many memory files" python3 memfds.py
eat "a memory file of a process that hides" python3 hidden.py
eat "the 301st memory file" python3 hundreds.py
eat "System V segments" python3 sysv.py
eat "shared mappings" python3 shared.py
eat "files in /tmp" sh -c 'dd if=/dev/zero of=/tmp/f bs=1M count=200 && sleep 600'
eat "files in /dev/shm" sh -c 'dd if=/dev/zero of=/dev/shm/f bs=1M count=200 && sleep 600'
for kind in memory file hidden; do eat "a process without its first thread: $kind" python3 leader.py $kind; done
eat "a thread with descriptors of its own" python3 table.py
eat "a process after a long sleep" python3 late.py
eat "node" node -e 'const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))'
eat "java" java -Xms300m -XX:+AlwaysPreTouch -version
like "without --json the sentence is on standard error" "$(run --memory 64m python3 private.py 2>&1 >/dev/null)" 'memory.*(64|limit)'
is "and not on standard output" "$(run --memory 64m python3 private.py 2>/dev/null)" ""
is "nothing is said when all is well" "$(run --memory 64m true 2>&1)" ""
is "what fits, fits" "$(json --memory 300m python3 -c 'x = b"x" * (100 << 20)' | jq -c '[.status, .oom, (.denials | length)]')" '[0,false,0]'
is "a plain failure is no memory failure" "$(json --memory 64m sh -c 'kill -KILL $$' | jq -c '[.signal, .oom]')" '[9,false]'

is "a process that hides and has nothing is none" \
    "$(json --memory 64m python3 -c 'import ctypes, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); time.sleep(0.5)' | jq -c '[.status, .oom]')" '[0,false]'
[ $has_cgroup = 1 ] ||
    like "what is not counted is said" "$(json true | jq -r .enforced.limits.memory.by)" 'not counted: buffers of sockets and pipes'

# What sleeps is hardly looked at. Counted are the reads of the supervisor in a second.
reads() { awk '/^syscr/ { print $2 }' "/proc/$box/io"; }
is_quiet() {
    local before
    before=$(reads) && sleep 1 && [ $(($(reads) - before)) -lt 10 ]
}
start ws --memory 64m
if reads >/dev/null 2>&1; then
    ok "a box that sleeps is not sampled all the time" await is_quiet
else
    skip_never "a box that sleeps is not sampled all the time" "this kernel does not count reads"
fi
finish_box

# ---- never by address space: these reserve far more than they use

is "node runs under 2g" "$(run --memory 2g node -e 'console.log(6 * 7)')" 42
ok "java runs under 2g" run --memory 2g java -version
is "64 GiB of address space can be reserved under 64m" "$(run --memory 64m python3 -c '
import ctypes
libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p
print(libc.mmap(None, ctypes.c_size_t(64 << 30), 0, 0x4022, -1, ctypes.c_long(0)) != ctypes.c_void_p(-1).value)')" True

# ---- processes

cat >ws/forks.py <<'END'
import os, sys, time
n = 0
try:
    for i in range(int(sys.argv[1])):
        if os.fork() == 0: time.sleep(600)
        n += 1
except BlockingIOError: pass
print(n)
END
result=$(json --pids 20 python3 forks.py 100)
started=$(jq -r .stdout.text <<<"$result")
is "pids: no more than 20 processes" "$((started < 20 && started > 10))" 1
is "pids: told" "$(jq -c '[.pids_hit, .denials[0].op]' <<<"$result")" '[true,"pids"]'
is "pids: told, also while it goes on" \
    "$(json --pids 20 --timeout 700ms python3 -c 'exec(open("forks.py").read()); time.sleep(600)' 100 | jq -c '[.pids_hit, .denials[0].op]')" \
    '[true,"pids"]'
is "pids: one less than the limit is none" "$(json --pids 20 python3 forks.py $((started - 1)) | jq -c '[.pids_hit, (.denials | length)]')" '[false,0]'
is "pids: within the limit nothing is told" "$(json --pids 100 python3 forks.py 20 | jq -c '[.stdout.text, .pids_hit, (.denials | length)]')" '["20\n",false,0]'
is "pids: threads count" "$(run --pids 20 python3 -c '
import threading, time
n = 0
try:
    for i in range(100): threading.Thread(target=time.sleep, args=(600,), daemon=True).start(); n += 1
except RuntimeError: pass
print(n < 20)')" True
is "pids: 512 by default" "$(json python3 forks.py 600 | jq -c '[(.stdout.text | tonumber) < 512, (.stdout.text | tonumber) > 480, .enforced.limits.pids.value]')" '[true,true,512]'
is "pids: a box beside it is not touched" "$(run --pids 20 python3 forks.py 100 >/dev/null & run --pids 20 python3 forks.py 10; wait)" 10

# ---- the others

status "cpu-seconds: a busy command ends" 152 run --cpu-seconds 1 sh -c 'while :; do :; done'
status "file-size: a big file ends it" 153 run --file-size 1m sh -c 'exec head -c 5000000 /dev/zero >big'
is "file-size: and stays small" "$(stat -c %s ws/big)" 1048576
is "open-files: are counted" "$(run --open-files 20 python3 -c '
n = 0
try: keep = [open("/dev/null") for i in range(100)]
except OSError as e: print(e.errno)')" 24
cat >ws/files.py <<'END'
import errno, os, resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
try:
    while True: last = os.dup(0)
except OSError as e: print(last + 1, errno.errorcode[e.errno])
END
mine=$(ulimit -Hn)
[ "$mine" = unlimited ] && mine=$(cat /proc/sys/fs/nr_open)
usual=$((mine < 16384 ? mine : 16384))
is "open-files: 16384 by default" "$(run python3 files.py)" "$usual EMFILE"
is "open-files: for root inside too" "$(run --uid 0 python3 files.py)" "$usual EMFILE"
is "open-files: the result says so" "$(json true | jq -c '.enforced.limits["open-files"]')" '{"value":16384,"by":"RLIMIT_NOFILE"}'
like "open-files: and the plan" "$("$COOP" plan -w ws true)" 'limit open files 16384'
is "open-files: none lifts it" "$(run --open-files none bash -c 'ulimit -Hn')" "$(ulimit -Hn)"
is "open-files: never more than the caller has" "$(ulimit -n 300 && run --open-files 20000 python3 files.py)" "300 EMFILE"
is "open-files: nor a higher soft limit by default" "$(ulimit -Sn 300 && run bash -c 'ulimit -Sn')" 300
is "open-files: but if one is asked for" "$(ulimit -Sn 300 && run --open-files 400 bash -c 'ulimit -Sn')" 400
printf '[sandbox]\nopen_files = "none"\n' >files.toml
is "open-files: none in a configuration" "$(run --config files.toml bash -c 'ulimit -Hn')" "$(ulimit -Hn)"
for place in /tmp /var/tmp /dev/shm /run; do
    refused "tmp-size: $place is bounded" run --tmp-size 16m dd if=/dev/zero of=$place/f bs=1M count=32
    ok "tmp-size: $place takes what fits" run --tmp-size 16m dd if=/dev/zero of=$place/f bs=1M count=8
done
refused "tmp-size: together, too" run --tmp-size 16m sh -c 'for p in /tmp /dev/shm /run; do dd if=/dev/zero of=$p/f bs=1M count=7 || exit 1; done'
refused "tmp-size: empty files are bounded" run --tmp-size 1m sh -c 'i=0; while [ $i -lt 200000 ]; do : >/tmp/$i || exit 1; i=$((i + 1)); done'
refused "/dev takes no files at all" run dd if=/dev/zero of=/dev/f bs=1k count=1
refused "limits cannot be raised inside" run --open-files 20 bash -c 'ulimit -n 100'
refused "not by root inside either" run --uid 0 --open-files 20 bash -c 'ulimit -n 100'
is "no core is written" "$(run bash -c 'ulimit -c; sh -c "kill -SEGV \$\$"; ls core* 2>/dev/null' 2>/dev/null)" 0

# ---- what holds them

limits=$(json --memory 64m --pids 20 --cpus 0.5 --cpu-seconds 7 --file-size 1m --open-files 20 --tmp-size 16m true | jq -c .enforced.limits)
while read -r name value by; do
    is "enforced: $name has its value" "$(jq -r ".[\"$name\"].value" <<<"$limits")" "$value"
    like "enforced: $name is held by $by" "$(jq -r ".[\"$name\"].by" <<<"$limits")" "^$by"
done <<END
memory 67108864 $([ $has_cgroup = 1 ] && echo cgroup || echo sampled)
pids 20 $([ $has_cgroup = 1 ] && echo cgroup || echo RLIMIT_NPROC)
cpus 500 $([ $has_cgroup = 1 ] && echo cgroup || echo null)
cpu-seconds 7 RLIMIT_CPU
file-size 1048576 RLIMIT_FSIZE
open-files 20 RLIMIT_NOFILE
tmp-size 16777216 tmpfs
END
[ $has_cgroup = 0 ] && like "a limit that nothing holds is said on standard error" "$(run --cpus 0.5 true 2>&1)" 'cpus'
unlike "never RLIMIT_AS" "$(run --memory 64m cat /proc/self/limits | grep 'address space')" ' [0-9]+ '
for limit in memory pids cpus cpu-seconds file-size open-files tmp-size; do
    is "none: $limit is not limited" "$(json --$limit none true | jq -c ".enforced.limits[\"$limit\"]")" null
done
printf '[sandbox]\ntimeout = "300ms"\n' >timeout.toml
is "a timeout of the configuration holds" "$(json --config timeout.toml sleep 60 | jq .timed_out)" true
like "people read what was too much, once" "$(run --config timeout.toml sleep 60 2>&1)" 'refused: more time than the timeout: it may run for 300 ms'
is "none: --timeout lifts it" "$(json --config timeout.toml --timeout none sh -c 'sleep 0.7; echo on' | jq -c '[.timed_out, .stdout.text]')" '[false,"on\n"]'

# ---- what the kernel counts for a user, not for a box

cat >ws/inotify.py <<'END'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
fds = []
while (fd := libc.inotify_init1(0o2000000)) >= 0 and len(fds) < 10000: fds.append(fd)
print(len(fds))
END
all=$(cat /proc/sys/user/max_inotify_instances)
if [ "$all" -lt 10000 ]; then
    is "a box has at most half of the user's inotify instances" "$((2 * $(run --open-files 20000 python3 inotify.py) <= all))" 1
    is "also a box of several" "$(run python3 -c '
import os
for i in range(4):
    if os.fork() == 0: exec(open("inotify.py").read()); os._exit(len(fds) > '$((all / 2))')
print(max(os.wait()[1] for i in range(4)))' | tail -n 1)" 0
else
    skip_never "a box has at most half of the user's inotify instances" "this user may have $all"
fi
is "and half of the watches" "$(run cat /proc/sys/user/max_inotify_watches)" $(($(cat /proc/sys/user/max_inotify_watches) / 2))
is "few pending signals, few bytes of message queues" "$(run bash -c 'ulimit -i -q' | awk '{ print ($NF <= 409600) }' | xargs)" "1 1"

# A supervisor that cannot watch says so. In a user namespace of our own, where nobody may.
echo TOKEN=1 >ws/.env
blind() { unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"' sh "$@"; }
if blind true 2>/dev/null; then
    result=$(blind "$COOP" run -w ws --json sleep 1 </dev/null 2>>"$T/err")
    if [ "$(jq -r .enforced.tier <<<"$result")" = full ]; then
        like "a guard that cannot watch is told" "$(jq -r '.denials[].why' <<<"$result")" 'files that others create while the command runs are not watched'
        like "and does not hold" "$(jq -r .enforced.protected <<<"$result")" 'files that others create meanwhile are not watched'
        # One instance, and none to be had as soon as the command runs: the guard has it already.
        cat >taken.py <<'END'
import os, subprocess, sys, time
def set_most(n):
    with open("/proc/sys/user/max_inotify_instances", "w") as f: f.write(str(n))
set_most(1)
box = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
while not os.path.exists("ws/ready") and box.poll() is None: time.sleep(0.001)
set_most(0)
box.communicate(b"go\n")
END
        # The user's other programs may have all of them for a moment.
        for _ in 1 2 3 4 5; do
            rm -f ws/ready
            result=$(unshare -Ur python3 taken.py "$COOP" run -w ws --json -c ': >ready; read -r x; sleep 1; echo on' 2>>"$T/err")
            [ "$(jq -c .denials <<<"$result")" != "[]" ] || break
        done
        is "a guard has its instance before the command runs" "$(jq -c '[.stdout.text, .denials]' <<<"$result")" '["on\n",[]]'
        unlike "and watches" "$(jq -r .enforced.protected <<<"$result")" 'files that others create meanwhile are not watched'
    else
        skip_never "a guard that cannot watch is told" "no further user namespace in one here"
    fi
else
    skip_never "a guard that cannot watch is told" "no user namespaces for this user"
fi
rm ws/.env

done_testing
