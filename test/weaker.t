#!/bin/bash
# weaker.t - a host that cannot hold everything: check, the log and the command's own line say so
. "$(dirname "$0")/tap.sh"
export XDG_CONFIG_HOME=$T/config XDG_STATE_HOME=$T/state HOME=$T/home
mkdir -p ws home

# ---- no sandbox at all

# A user namespace of our own in which no further one may be made, and a filter that has no Landlock.
cat >nolandlock.py <<'END'
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
def op(code, jt, jf, k): return struct.pack("HBBI", code, jt, jf, k)
text = b"".join([op(0x20, 0, 0, 0), op(0x35, 0, 2, 444), op(0x25, 1, 0, 446), op(0x06, 0, 0, 0x50000 | 38), op(0x06, 0, 0, 0x7fff0000)])
class Program(ctypes.Structure):
    _fields_ = [("n", ctypes.c_ushort), ("text", ctypes.c_char_p)]
libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, ctypes.byref(Program(len(text) // 8, text))) != 0:
    sys.exit(9)
os.execv(sys.argv[1], sys.argv[1:])
END
bare() { unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec python3 "$@"' sh "$T/nolandlock.py" "$@"; }
if ! bare /bin/true 2>/dev/null; then
    skip "no sandbox at all" "user namespaces are refused, or cannot be taken away"
else
    err=$(bare "$COOP" run --mode preferred -w ws -- true 2>&1)
    like "without any sandbox, preferred says that there is none" "$err" "NOT sandboxed: the command runs on the host"
    like "and the causes" "$err" "\(User namespaces: .*; Landlock: .*\); 'coop doctor' says why"
    unlike "a disabled one has none" "$("$COOP" run --mode disabled -w ws -- true 2>&1)" "User namespaces|doctor"
    printf '[sandbox]\nmode = "preferred"\nmemory = "1g"\n' >f.toml
    like "check: what holds nothing there" "$(bare "$COOP" check --config f.toml -w ws 2>&1)" "f.toml:3:10: warning: nothing on this host can enforce sandbox.memory"
    answer=$({
        echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
        echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bash","arguments":{"command":"true"}}}'
    } | bare "$COOP" mcp --quiet --config f.toml -w ws 2>/dev/null | jq -r 'select(.id == 2).result.content[0].text')
    like "a tool's answer has the causes" "$answer" '\[NOT sandboxed: this host has no sandbox \(User namespaces: .*Landlock: '
fi

# ---- limits without a cgroup

# A mount namespace in which no cgroup is to be seen.
hidden() { unshare -Urm sh -c 'for d in /sys/fs/cgroup/* /sys/fs/cgroup; do ! mountpoint -q "$d" || mount -t tmpfs none "$d" || exit 9; done; exec "$@"' sh "$@"; }
if ! hidden "$COOP" run -w ws -- true 2>/dev/null; then
    skip "limits without a cgroup" "cgroups cannot be hidden, or no box can be made then"
    done_testing
fi
is "no cgroup is seen" "$(hidden "$COOP" status --json | jq -r '.capabilities[] | select(.name == "cgroup-cpu").available')" false
printf '[sandbox]\ncpus = 1.5\npids_limit = 100\n' >g.toml
out=$(hidden "$COOP" check --config g.toml -w ws 2>&1)
like "check: cpus that nothing holds" "$out" "g.toml:2:8: warning: nothing on this host can enforce sandbox.cpus; 'coop doctor' says how to fix it"
like "check: what is held in a weaker way" "$out" "g.toml:3:14: info: no cgroup can enforce sandbox.pids_limit on this host; it is enforced more weakly, by: RLIMIT_NPROC"
like "check: what coop sets itself" "$out" "info: no cgroup can enforce sandbox.memory on this host; it is enforced more weakly, by: sampled"
status "check --strict fails then" 1 hidden "$COOP" check --strict --config g.toml -w ws
printf '[[users]]\nname = "a"\ntrust = "inner"\nmatch = ["x:a"]\nsandbox = { cpus = 2 }\n' >h.toml
like "check: somebody's own keys too" "$(hidden "$COOP" check --config h.toml -w ws 2>&1)" "h.toml:1:1: warning: for user 'a': nothing on this host can enforce sandbox.cpus"
log=$(COOP_LOG=warn hidden "$COOP" run --memory 1g --cpus 1 -w ws -- true 2>&1)
like "the log warns that a cgroup is missing" "$log" "no cgroup enforces the limit 'memory'; it is enforced by: sampled"
like "for processes too" "$log" "no cgroup enforces the limit 'pids'; it is enforced by: RLIMIT_NPROC"
like "and of what nothing holds" "$log" "nothing on this host enforces the limit 'cpus'"
done_testing
