#!/bin/bash
# The tier landlock, where user namespaces are refused: what it says is what it holds. The host's
# objects that no namespace keeps apart are out of reach, and what stays open is said in the result.
. "$(dirname "$0")/box.sh"

# A user namespace of our own, in which no further one may be made.
here() { unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "$@"; }
run() { here "$COOP" run --mode preferred -w "$T/ws" "$@" </dev/null 2>>"$T/err"; }
if ! here true 2>/dev/null; then
    skip "the tier landlock" "user namespaces are refused, or cannot be taken away"
    done_testing
fi
abi=$(python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))')
if [ "$abi" -lt 1 ]; then
    skip "the tier landlock" "no Landlock in this kernel"
    done_testing
fi
json=$(run --json true)
wall() { jq -r ".enforced.$1" <<<"$json"; }
is "it is the tier landlock" "$(wall tier)" landlock
status "required refuses it" 125 here "$COOP" run -w ws true
like "and preferred says it" "$(here "$COOP" run --mode preferred -w ws true 2>&1 >/dev/null)" "tier 'landlock' instead of 'full'"
is "with --quiet too" "$(here "$COOP" run -q --mode preferred -w ws true 2>&1 >/dev/null | grep -c 'NOT enforced')" 1

for place in /proc /dev /; do
    like "the kernel's files are no source, as in every tier: $place" \
        "$(here "$COOP" run --mode preferred -w ws --rw "$place:/x" true 2>&1)" "the mount source '$place' belongs to the host's kernel"
done

# ---- a try: prints the name of the error, or "done"

cat >ws/try.py <<'END'
import ctypes, errno, os, resource, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = int(os.environ.get("HOST_PID", "0"))
shm = int(os.environ.get("HOST_SHM", "-1"))
key = int(os.environ.get("KEY", "0"), 16)
queue = b"coop-" + os.environ.get("TOKEN", "").encode()
def call(number, *arguments):
    r = libc.syscall(number, *arguments)
    if r == -1:
        raise OSError(ctypes.get_errno(), "")
    return r
def x86(on_x86, elsewhere):
    return on_x86 if os.uname().machine == "x86_64" else elsewhere
def unix(kind):
    return socket.socket(socket.AF_UNIX, kind)
acts = {
    "connect": lambda: unix(socket.SOCK_STREAM).connect("socket"),
    "connect-abstract": lambda: unix(socket.SOCK_STREAM).connect("\0coop-" + os.environ["TOKEN"]),
    "send": lambda: unix(socket.SOCK_DGRAM).sendto(b"x", "datagrams"),
    "send-raw": lambda: unix(socket.SOCK_RAW).sendto(b"x", "datagrams"),
    "send-from-pair": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", "datagrams"),
    "raw-pair": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW),
    "pair": lambda: socket.socketpair(),
    "packet-pair": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET),
    "tcp": lambda: socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), 5),
    "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "shmget": lambda: call(x86(31, 195), call(x86(29, 194), key, 4096, 0o1600), 0, None),
    "shmat": lambda: call(x86(30, 196), shm, 0, 0o10000),
    "shmctl": lambda: call(x86(31, 195), shm, 2, ctypes.create_string_buffer(256)),
    "semget": lambda: call(x86(66, 191), call(x86(64, 190), key, 1, 0o1600), 0, 0, 0),
    "semop": lambda: call(x86(65, 193), 0, None, 1),
    "semtimedop": lambda: call(x86(220, 192), 0, None, 1, None),
    "semctl": lambda: call(x86(66, 191), 0, 0, 12, 0),
    "msgget": lambda: call(x86(71, 187), call(x86(68, 186), key, 0o1600), 0, None),
    "msgsnd": lambda: call(x86(69, 189), 0, None, 0, 0),
    "msgrcv": lambda: call(x86(70, 188), 0, None, 0, 0, 0),
    "msgctl": lambda: call(x86(71, 187), 0, 2, None),
    "mq_open": lambda: call(x86(240, 180), queue, 0o102, 0o600, None) + call(x86(241, 181), queue),
    "mq_unlink": lambda: call(x86(241, 181), queue),
    "limit": lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (9999, resource.RLIM_INFINITY)),
    "limit-self": lambda: resource.setrlimit(resource.RLIMIT_CPU, (9999, 9999)),
    "ask-limit": lambda: resource.prlimit(pid, resource.RLIMIT_CPU),
    "signal": lambda: os.kill(pid, 0),
    "environment": lambda: open("/proc/%d/environ" % pid).read(),
    "memory": lambda: open("/proc/%d/mem" % pid, "rb"),
    "nice": lambda: os.setpriority(os.PRIO_PROCESS, pid, 5),
    "read": lambda: open(os.environ["OUTSIDE"]).read(),
    "write": lambda: open(os.environ["OUTSIDE"], "a"),
    "chmod": lambda: os.chmod(os.environ["OUTSIDE"], 0o640),
    "utime": lambda: os.utime(os.environ["OUTSIDE"]),
}
for name in sys.argv[1:]:
    try:
        acts[name]()
        print("done")
    except OSError as e:
        print(errno.errorcode[e.errno])
END
# The host's side: sockets, a process, a segment, a file.
export TOKEN=$$-$RANDOM PORT=0 OUTSIDE=$T/outside
KEY=$(printf '0x43%02x%04x' $((RANDOM % 256)) $(($$ % 65536))) # of our own: others make such objects meanwhile
export KEY
echo canary >outside
cat >serve.py <<'END'
import os, socket, time
listening = []
def listen(family, kind, address):
    s = socket.socket(family, kind)
    s.bind(address)
    if kind == socket.SOCK_STREAM: s.listen(50)
    listening.append(s)
    return s
listen(socket.AF_UNIX, socket.SOCK_STREAM, "socket")
listen(socket.AF_UNIX, socket.SOCK_DGRAM, "datagrams").setblocking(False)
listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0coop-" + os.environ["TOKEN"])
print(listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)).getsockname()[1], flush=True)
time.sleep(1000)
END
exec 6< <(cd ws && exec python3 ../serve.py)
server=$!
read -r PORT <&6
sleep 1000 &
export HOST_PID=$!
HOST_SHM=$(ipcmk -M 4096 2>/dev/null | grep -o '[0-9]*$')
export HOST_SHM
trap 'kill $server $HOST_PID; ipcrm -m "$HOST_SHM"; rm -rf "$T" "$T.cache"' EXIT

pass=(--env-pass TOKEN --env-pass KEY --env-pass PORT --env-pass OUTSIDE --env-pass HOST_PID --env-pass HOST_SHM)
outside() { (cd ws && here python3 try.py "$@"); }
inside() { # [OPTION...] -- ACT...
    local options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    run "${options[@]}" "${pass[@]}" python3 try.py "$@"
}
refused_there() { # WHAT ERROR ACT [OPTION...]: works outside, is refused inside
    local what=$1 error=$2 act=$3
    shift 3
    is "$what: works outside" "$(outside "$act")" "done"
    is "$what: refused inside" "$(inside "$@" -- "$act")" "$error"
}

# ---- unix sockets of the host

refused_there "connect to a socket in the workspace" EPERM connect
refused_there "connect to an abstract socket" EPERM connect-abstract
refused_there "send to a socket in the workspace" EPERM send
refused_there "send to it as a raw socket" EPERM send-raw
refused_there "send to it from one of a pair" EPERM send-from-pair
refused_there "a raw pair" EPERM raw-pair
is "stream and packet pairs there are" "$(inside -- pair packet-pair | xargs)" "done done"
is "with the host's network, TCP there is, and no unix socket" \
    "$(inside --network host -- tcp connect connect-abstract send | xargs)" "done EPERM EPERM EPERM"
is "with --network off none" "$(inside --network off -- connect tcp udp | xargs)" "EPERM EAFNOSUPPORT EAFNOSUPPORT"
is "--allow-sockets lifts it for files" "$(inside --allow-sockets -- connect send | xargs)" "done done"
[ "$abi" -ge 6 ] && is "but not for abstract ones" "$(inside --allow-sockets -- connect-abstract)" EPERM
refused_there "connect to the host's loopback" EAFNOSUPPORT tcp
refused_there "make a UDP socket" EAFNOSUPPORT udp
like "the result names what holds the network" "$(wall network)" "^seccomp( . landlock)?$"

# ---- objects of the host

for call in shmget semget msgget; do
    refused_there "$call" ENOSYS $call
done
if [ -n "$HOST_SHM" ]; then
    refused_there "attach the host's segment by its number" ENOSYS shmat
    refused_there "look at it" ENOSYS shmctl
else
    skip "the host's segment" "ipcmk makes none here"
fi
for call in semop semtimedop semctl msgsnd msgrcv msgctl mq_open mq_unlink; do
    isnt "$call: there is such a call" "$(outside $call)" ENOSYS
    is "$call: not inside" "$(inside -- $call)" ENOSYS
done
is "none of these calls left anything" "$(ipcs -m -s -q | grep -c "^$KEY")" 0

# ---- processes of the host

refused_there "limit a process of the host" EPERM limit
is "its own limits it may set, and ask for those of others" "$(inside -- limit-self ask-limit | xargs)" "done done"
[ "$abi" -ge 6 ] && refused_there "signal it" EPERM signal
cp "$BIN/others" ws
# Some of it works on any process that one sees, whoever one is. Without Landlock's scope the signals would end it.
state() { cat /proc/"$HOST_PID"/{limits,oom_score_adj,timerslack_ns,comm}; ps -o ni=,cls=,s= "$HOST_PID"; taskset -p "$HOST_PID"; ionice -p "$HOST_PID"; }
if [ "$abi" -ge 6 ]; then
    before=$(state)
    like "whatever else one may do to a process of the same user: all is tried" \
        "$(run ./others -a "$HOST_PID" "$HOST_PID" | tee others.out)" 'tried [1-9]'
    is "and nothing works" "$(grep -v tried others.out)" ''
    is "it is as it was" "$(state)" "$before"
    is "the same on a shell's own number, which it may" "$(run sh -c 'nice -n 3 renice -n 7 -p 0 >/dev/null && taskset 1 sh -c "ionice -c 3 echo own"')" own
fi
# One of our own user namespace: of another's nothing can be read anyway.
# shellcheck disable=SC2016
is "another's environment and memory: open outside, closed inside" \
    "$(here sh -c 'sleep 1000 & export HOST_PID=$!; (cd ws && python3 try.py environment memory)
        "$0" run --mode preferred -w ws --env-pass HOST_PID python3 try.py environment memory; kill $!' "$COOP" 2>>err | xargs)" \
    "done done EACCES EACCES"

# ---- files, and what is said of what stays open

refused_there "read a file outside" EACCES read
refused_there "write it" EACCES write
like "files are held by Landlock" "$(wall files)" "^landlock"
for act in chmod utime; do
    [ "$(inside -- $act)" = "done" ] && like "$act works, and the result says so" "$(wall files)" "not against .*$act"
done
like "processes are visible, and the result says so" "$(wall processes)" "null|visible"
like "coop plan says the same" "$(here "$COOP" plan --mode preferred -w ws true 2>/dev/null)" "files +$(wall files)"

# ---- programs that need no more than that

is "python runs event loops" "$(run python3 -c '
import asyncio
async def main(): print((await (await asyncio.create_subprocess_exec("echo", "hi", stdout=-1)).communicate())[0])
asyncio.run(main())')" "b'hi\\n'"
is "node runs" "$(run node -e 'require("child_process").exec("echo hi", (e, out) => console.log(e, out.trim()))')" "null hi"
ok "java runs" run java -version
ok "git works" run sh -c 'git init -q r && cd r && git -c user.name=a -c user.email=b commit -q --allow-empty -m x'
is "shells run pipelines" "$(run bash -c 'seq 5 | sort -r | head -n 1')" 5

# ---- status and the doctor agree

for sub in status doctor; do
    like "$sub says what the tier does not hold" "$(here "$COOP" $sub | tr '\n' ' ')" 'Tier: landlock +The command can change modes, times.*see other processes.*--tmp-size'
done

report=$(here "$COOP" doctor --json)
is "the doctor finds this tier" "$(jq -r .tier <<<"$report")" landlock
# A sanitizer wants more memory than a process in a box has where no cgroup holds the limit.
grep -qa __asan_init "$COOP" ||
    is "and of the acts only one that works, which is said above" \
    "$(jq -r '.selftest[] | select(.outcome != "held" and .outcome != "not-counted") | .name' <<<"$report" | grep -vx "$([ "$abi" -ge 6 ] && echo none || echo signal-host)")" see-processes
status "so all is not well" 1 here "$COOP" doctor
done_testing
