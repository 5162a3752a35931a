#!/bin/bash
# What a process may do to another of the same user it must not do to process 1 of its box, nor to
# whatever else of coop's is in there, nor, without namespaces, to the user's other processes. All of it
# is tried from inside; from outside we look whether anything has changed, and whether the box ends when
# its supervisor is killed.
. "$(dirname "$0")/tap.sh"
. "$SRC/test/leftovers.sh"
mkdir ws
cp "$BIN/others" ws
mkfifo -m 666 input
exec 7<>input # opened for both, it never blocks
RANGE=40      # numbers of processes that are tried: 1 is init, others may be threads of it

says() { grep -qx -- "$1" "$T/out"; }
# Of a process: whatever others could change, and nothing that changes by itself.
state_of() {
    local dir=/proc/$1
    cat "$dir/limits" "$dir/oom_score_adj" "$dir/coredump_filter" "$dir/comm" 2>&1
    grep -E '^(State|SigBlk|SigIgn|SigCgt|Cap|Seccomp|Cpus_allowed|TracerPid|Threads|NoNewPrivs)' "$dir/status" |
        sed 's/State:.*[RS] .*/State: lives/'
    sed 's/.*) //' "$dir/stat" | awk '{ print "group", $3, "session", $4, "nice", $17, "policy", $39 }'
    ionice -p "$1"
    for task in "$dir"/task/*; do
        echo "task $(sed 's/.*) //' "$task/stat" | awk '{ print $17, $39 }') $(taskset -p "${task##*/}" | sed 's/.*: //')"
    done
}
# A box in which everything is tried, and one kill from outside. The box speaks through files, which is
# the same with a terminal and for tools.
attack() { # WHAT COMMAND...: starts a box that runs SCRIPT; $messages: what it reads
    local what=$1 out=$T/ws/out
    shift
    rm -f ws/go ws/out
    mark=$(new_mark)
    script="echo ready >out; until [ -e go ]; do sleep 0.02; done; ./others 1 $RANGE >>out; echo over >>out; exec sleep $mark"
    "${@//SCRIPT/$script}" >"$T/said" 2>"$T/err" <input 7<&- &
    pid=$!
    [ -z "${messages-}" ] || printf '%s\n' "${messages//SCRIPT/$script}" >&7
    if ! await 20 grep -qsx ready "$out"; then
        tap_result 1 "$what: a box"
        note "$(cat "$T/said" "$T/err")"
        kill -KILL $pid
        return 1
    fi
    await 5 eval 'init=$(child_named $pid coop-init); [ -n "$init" ]'
    is "$what: nothing about the box is in init's arguments" "$(tr '\0' ' ' <"/proc/$init/cmdline")" 'coop-init '
    before=$(state_of "$init")
    : >ws/go
    await 20 grep -qsx over "$out"
    like "$what: all was tried" "$(cat "$out")" '^tried [1-9][0-9]{2,}'
    is "$what: nothing of it succeeded" "$(grep -E '^[a-z-]+ [0-9]+$' "$out" | grep -v ^tried)" ''
    is "$what: init is as it was" "$(state_of "$init")" "$before"
    kill -KILL $pid
    wait $pid 2>/dev/null
    ok "$what: the box ends with its supervisor" await 10 gone "$mark"
    ok "$what: so does its init" await 10 eval '! [ -e /proc/$init ]'
}
box=("$COOP" run -w "$T/ws")
attack "a box" "${box[@]}" -c SCRIPT
attack "with --profile dev" "${box[@]}" --profile dev -c SCRIPT
attack "with --explain" "${box[@]}" --explain -c SCRIPT
attack "with the host's sockets" "${box[@]}" --allow-sockets -c SCRIPT
attack "with nothing watched" "${box[@]}" --allow-sockets --explain=none -c SCRIPT
attack "with the host's network" "${box[@]}" --network host -c SCRIPT
attack "as root inside" "${box[@]}" --uid 0 -c SCRIPT
attack "the project is the root" "$COOP" run --root "$T/ws" -c SCRIPT
attack "with a terminal" "${box[@]}" -t -c SCRIPT
attack "with a terminal and --explain" "${box[@]}" -t --explain -c SCRIPT
messages='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bash","arguments":{"command":"SCRIPT"}}}'
attack "the tool bash" "$COOP" mcp -w "$T/ws"
unset messages

# Again and again, while it is being attacked.
left=0
for ((i = 0; i < 20; i++)); do
    rm -f ws/out
    mark=$(new_mark)
    "${box[@]}" -c "while :; do ./others 1 $RANGE; done >/dev/null & echo ready >out; exec sleep $mark" </dev/null 2>"$T/err" 7<&- &
    pid=$!
    await 20 grep -qsx ready ws/out && there "$mark" || left=$((left + 100))
    kill -KILL $pid
    wait $pid 2>/dev/null
    await 10 gone "$mark" || left=$((left + 1))
done
is "of 20 boxes that attack while coop is killed none is left" "$left" 0

# ---- a stuck init, and sockets that others hold

# Makes a process spin for ever where it is: from outside, as a debugger would.
cat >spin.py <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long
ATTACH, DETACH, GETREGS, SETREGS, POKE = 16, 17, 12, 13, 4
RIP, ORIG_RAX = 16, 15
def trace(request, address, data):
    if libc.ptrace(request, pid, address, data) < 0:
        print(os.strerror(ctypes.get_errno()))
        sys.exit(1)
pid = int(sys.argv[1])
trace(ATTACH, None, None)
os.waitpid(pid, 0x40000000)
registers = (ctypes.c_ulonglong * 27)()
trace(GETREGS, None, registers)
registers[ORIG_RAX] = 2**64 - 1  # the call that it was in is not begun again
trace(SETREGS, None, registers)
trace(POKE, registers[RIP], 0xfeeb)
trace(DETACH, None, None)
END
launched() { # COMMAND...: a box; sets pid, init, mark
    mark=$(new_mark)
    : >"$T/out"
    "$@" sh -c "echo ready; exec sleep $mark" >"$T/out" 2>"$T/err" </dev/null 7<&- &
    pid=$!
    await 20 says ready && await 5 eval 'init=$(child_named $pid coop-init); [ -n "$init" ]'
}
ends_stuck() { # WHAT OPTION...
    local what=$1 why
    shift
    launched "${box[@]}" "$@"
    if why=$(python3 spin.py "$init"); then
        ok "$what: init spins" await 5 eval '[ "$(sed "s/.*) //" /proc/$init/stat | cut -c1)" = R ]'
        kill -KILL $pid
        ok "$what: and ends all the same when coop is killed" await 10 eval '! [ -e /proc/$init ]'
        ok "$what: with everything in it" await 10 gone "$mark"
    else
        kill -KILL $pid
        skip_never "$what: init spins" "init cannot be traced: $why"
    fi
    wait $pid 2>/dev/null
}
if [ "$(uname -m)" = x86_64 ]; then
    ends_stuck "stuck"
    ends_stuck "stuck with --explain" --explain
else
    skip_never "init spins" "the test knows the registers of x86_64 only"
fi

# Copies of coop's descriptors in another process: they must not keep the box.
cat >hold.py <<'END'
import ctypes, os, sys, time
pid = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
target = os.pidfd_open(pid)
held = 0
for name in os.listdir("/proc/%d/fd" % pid):
    if libc.syscall(438, target, int(name), 0) >= 0:
        held += 1
os.close(target)
print("held", held, flush=True)
time.sleep(1000)
END
launched "${box[@]}"
exec 6< <(exec python3 hold.py "$pid" 2>&1)
holder=$!
read -r -t 20 -u 6 held
if [[ $held =~ ^held\ [1-9] ]]; then
    kill -KILL $pid
    ok "the box ends though another process holds coop's descriptors" await 10 gone "$mark"
else
    skip_never "the box ends though another process holds coop's descriptors" "they cannot be copied: $held"
    kill -KILL $pid
fi
kill $holder
wait $pid 2>/dev/null
launched "${box[@]}"
for s in IO CHLD USR1 TERM HUP; do kill -$s "$init"; done
ok "signals do not end it" test -e "/proc/$init"
kill -KILL $pid
wait $pid 2>/dev/null
ok "but its supervisor's end does" await 10 gone "$mark"

# ---- what a box may still do to its own

sh() { "$COOP" run -w "$T/ws" "$@" </dev/null; }
like "limits of one's own process, named by its number" "$(sh sh -c 'prlimit --pid $$ --nofile=77:77 && ulimit -n' 2>&1)" '^77$'
like "priority, scheduling and processors too" \
    "$(sh sh -c 'renice -n 19 -p $$ && taskset -p 1 $$ && ionice -c 3 -p $$ && chrt -i -p 0 $$ && echo all' 2>&1)" '^all$'
like "limits of process 1 are refused, and recorded" \
    "$(sh --json sh -c 'prlimit --pid 1 --nofile=9:9' | jq -r '.denials[] | .op + " " + .target')" '^syscall prlimit64$'
status "they may be asked for" 0 sh prlimit --pid 1 --nofile

# ---- leases

cat >ws/lease.py <<'END'
import fcntl, sys
f = open("leased", "w")
for command in 1024, 1026, 1040:
    try:
        print(fcntl.fcntl(f, command, fcntl.F_WRLCK))
    except OSError as e:
        print(e.errno)
END
is "no leases, no delegations, no F_NOTIFY" "$(sh --tmp-size 10m python3 lease.py | xargs)" "1 1 1"
done_testing
