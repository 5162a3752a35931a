#!/bin/bash
# coop status, coop sandbox status and coop doctor: every mark agrees with what a look of another kind
# finds, what is taken away is named with its cause and its fix, and a wall that is broken is noticed.
# builds: clang
# speed: slow
. "$(dirname "$0")/box.sh"

of() { jq -r --arg name "$2" --arg key "$3" '.capabilities[] | select(.name == $name)[$key]' <<<"$1"; } # DOCUMENT NAME KEY

# ---- the three commands and their forms

text=$("$COOP" status)
status=$?
json=$("$COOP" status --json)
is "status exits with 0 at the full tier and with 1 below" "$status" "$([ "$(jq -r .tier <<<"$json")" = full ] && echo 0 || echo 1)"
is "what a sandbox is made of comes first" "$(sed 's/^  [^ ]* *//; s/   *.*//' <<<"$text" | sed -n '2,6p' | paste -sd ,)" \
    "User namespaces,Network namespace,Landlock,Seccomp filter,Cgroup v2"
is "coop sandbox status is the same" "$("$COOP" sandbox status)" "$text"
is "also as a document" "$("$COOP" sandbox status --json | jq -S 'del(.capabilities[].detail)')" "$(jq -S 'del(.capabilities[].detail)' <<<"$json")"
is "the first line is the sandbox" "$(head -n 1 <<<"$text")" "Sandbox: $(jq -r .sandbox <<<"$json")"
like "in the short form" "$(head -n 1 <<<"$text")" '^Sandbox: (linux \((namespaces|landlock|seccomp)( \+ (landlock|seccomp))*\)|none)$'
is "behind the capabilities come limits, kernel and tier" "$(sed -nE '1!s/^(Limits|Kernel: .*|Tier: .*)(:.*)?$/\1/p' <<<"$text" | sed 's/^Limits.*/Limits/' | paste -sd ,)" \
    "Limits,Kernel: $(uname -r),Tier: $(jq -r .tier <<<"$json")"
is "one line for each capability, marked as in the document" \
    "$(sed -nE 's/^  (✓|✗) (.*)/\1 \2/p' <<<"$text" | sed 's/   *.*//' | sort)" \
    "$(jq -r '.capabilities[] | (if .available then "✓ " else "✗ " end) + .title' <<<"$json" | sort)"
is "each with its words" "$(grep -cE '^  (✓|✗) .*[^ ]  +[^ ]' <<<"$text")" "$(jq '.capabilities | length' <<<"$json")"
is "no colour where no terminal is" "$(grep -c $'\033' <<<"$text")" 0
is "the full tier is what has all that is needed" "$(jq -r '[.capabilities[] | select(.needed)] | all(.available)' <<<"$json")" \
    "$([ "$(jq -r .tier <<<"$json")" = full ] && echo true || echo false)"
for sub in status "sandbox status" doctor; do
    # shellcheck disable=SC2086
    status "$sub takes no argument" 2 "$COOP" $sub something
    # shellcheck disable=SC2086
    ok "$sub --help" "$COOP" $sub --help
done
report=$("$COOP" doctor --json)
is "the doctor's document has the same capabilities" "$(jq -S '[.capabilities[] | {name, available}]' <<<"$report")" \
    "$(jq -S '[.capabilities[] | {name, available}]' <<<"$json")"
is "all three documents have the version 1" "$(jq -r .version <<<"$json") $(jq -r .version <<<"$report") $("$COOP" plan --mode preferred --json true | jq -r .version)" "1 1 1"
doctor=$("$COOP" doctor)
is "the doctor's text lists what is missing, and nothing else" \
    "$(sed -nE '/^Missing:/,/^Self-test/s/^  ✗ (.*)/\1/p' <<<"$doctor" | sed 's/  .*//')" "$(jq -r '.capabilities[] | select(.available | not).title' <<<"$json")"
is "with every fix there is" "$(grep -c '^      fix: ' <<<"$doctor")" "$(jq '[.capabilities[] | select(.fix)] | length' <<<"$report")"
is "what is available needs no fix" "$(jq '[.capabilities[] | select(.available and .fix)] | length' <<<"$report")" 0

# ---- another look at everything, without coop

cat >look.py <<'END'
import ctypes, os, re, stat, subprocess, tempfile
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    r = libc.syscall(number, *arguments)
    return r if r >= 0 else -ctypes.get_errno()
def works(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
def own(*flags):
    return works("unshare", "-Ur", *flags, "true")
def there(*script):
    return works("unshare", "-Urm", "sh", "-ec", *script)
def opens(path, flags):
    try: os.close(os.open(path, flags)); return True
    except OSError: return False
def writable_group(directory):
    group = directory + "/coop-look.%d" % os.getpid()
    try: os.mkdir(group); os.rmdir(group); return True
    except OSError: return False
abi = max(call(444, None, 0, 1), 0)
actions = open("/proc/sys/kernel/seccomp/actions_avail").read().split() if os.path.exists("/proc/sys/kernel/seccomp") else []
groups = dict()
for line in open("/proc/self/cgroup"):
    number, names, path = line.rstrip("\n").split(":", 2)
    for name in names.split(","): groups[name] = path
mounts = [line.split() for line in open("/proc/self/mountinfo")]
def mounted(kind, option=None):
    for words in mounts:
        rest = words[words.index("-") + 1:]
        if rest[0] == kind and (option is None or option in rest[2].split(",")) and words[3] == "/":
            return words[4]
def v1(name):
    place = mounted("cgroup", name)
    return bool(place) and name in groups and writable_group(place + groups[name])
v2_place = mounted("cgroup2")
def v2():
    path = (v2_place + groups.get("", "")).rstrip("/") if v2_place else ""
    while v2_place and len(path) >= len(v2_place):
        has = open(path + "/cgroup.controllers").read().split()
        if set(has) & {"memory", "pids", "cpu"} and writable_group(path) and os.access(path + "/cgroup.subtree_control", os.W_OK):
            if not os.path.exists(path + "/cgroup.type") or not open(path + "/cgroup.procs").read(): return True
        path = os.path.dirname(path)
    return False
def granted(file):
    name = [l.split(":")[0] for l in open("/etc/passwd") if l.split(":")[2] == str(os.getuid())]
    try: return any(l.split(":")[0] in name + [str(os.getuid())] for l in open(file))
    except OSError: return False
overlay = 'mount -t tmpfs none /mnt; cd /mnt; mkdir l u w m; mount -t overlay -o userxattr,lowerdir=l,upperdir=u,workdir=w none m'
devpts = 'mount -t tmpfs none /mnt; cd /mnt; mkdir p; mount -t devpts -o newinstance,ptmxmode=0666 none p; : <>p/ptmx'
fsopen = 'import ctypes, os; os._exit(ctypes.CDLL(None).syscall(430, b"tmpfs", 1) < 0)'
runtime = (os.environ.get("XDG_RUNTIME_DIR") or "/run/user/%d" % os.getuid())
found = {
    "user-namespaces": works("unshare", "-U", "true"),
    "id-maps": own(),
    "mount-namespace": own("-m"),
    "pid-namespace": own("-pf"),
    "ipc-namespace": own("-i"),
    "uts-namespace": own("-u"),
    "network-namespace": own("-n"),
    "loopback": works("unshare", "-Urn", "ip", "link", "set", "lo", "up"),
    "cgroup-namespace": own("-C"),
    "mount-api": works("unshare", "-Urm", "python3", "-c", fsopen),
    "mount-setattr": own() and call(442, -1, b"", 0, None, 0) != -38,
    "fresh-proc": works("unshare", "-Urmpf", "mount", "-t", "proc", "proc", "/proc"),
    "overlay": there(overlay),
    "devpts": there(devpts),
    "landlock": abi >= 1, "landlock-refer": abi >= 2, "landlock-truncate": abi >= 3,
    "landlock-tcp": abi >= 4, "landlock-ioctl": abi >= 5, "landlock-scopes": abi >= 6,
    "landlock-audit": abi >= 7,
    "seccomp": "errno" in actions,
    "seccomp-notify": "user_notif" in actions,
    "clone3": call(435, None, 0) != -38,
    "pidfd": call(434, os.getpid(), 0) >= 0,
    "close-range": call(436, 0xfffffff0, 0xffffffff, 4) == 0,
    "openat2": call(437, -1, None, None, 0) != -38,
    "memfd-exec": call(319 if os.uname().machine == "x86_64" else 279, b"x", 0x10) >= 0,
    "cgroup-v1": any(v1(name) for name in ("memory", "pids", "cpu")),
    "cgroup-v2": v2(),
    "nat": works("unshare", "-Urn", "nft", "add", "table", "inet", "x")
    and (open("/proc/sys/net/ipv4/ip_forward").read()[0] != "0"
         if os.getuid() == 0 and "4294967295" in open("/proc/self/uid_map").read()
         else opens("/dev/net/tun", os.O_RDWR) and any(os.access("/usr/bin/" + p, os.X_OK) for p in ("pasta", "slirp4netns"))),
    "newuidmap": own() and os.access("/usr/bin/newuidmap", os.X_OK) and granted("/etc/subuid") and granted("/etc/subgid"),
    "systemd-scope": any(os.path.exists(runtime + "/" + s) for s in ("systemd/private", "bus")),
    "fuse": opens("/dev/fuse", os.O_RDWR),
    "yama": os.path.exists("/proc/sys/kernel/yama/ptrace_scope"),
}
for name, truth in found.items():
    print(name, str(truth).lower())
END
python3 look.py >looked || tap_result 1 "the other look runs"
while read -r name truth; do
    is "$name is so by another look" "$(of "$json" "$name" available)" "$truth"
done <looked
is "everything was looked at but these" \
    "$(jq -r '.capabilities[].name' <<<"$json" | grep -vxF "$(cut -d ' ' -f 1 looked)" | xargs)" \
    "idmapped-mounts cgroup-memory cgroup-pids cgroup-cpu"
is "the version of Landlock is the kernel's" "$(jq .landlock_abi <<<"$json")" "$(python3 -c 'import ctypes; print(max(ctypes.CDLL(None).syscall(444, None, 0, 1), 0))')"
is "owners of mounts can be mapped by root, and by nobody else" "$(of "$json" idmapped-mounts available)" "$(real_root && echo true || echo false)"

# What status says of limits, a run has. Arguments: what is put before coop.
limits_agree() { # WHAT PREFIX...
    local what=$1 said held limit
    shift
    said=$("$@" "$COOP" status --json)
    held=$("$@" "$COOP" run -w "$T/ws" --mode preferred --json --cpus 0.5 true 2>/dev/null </dev/null)
    for limit in memory pids cpus; do
        is "$what: status and run agree on what holds $limit" "$(jq -r ".enforced.limits.$limit.by // \"\"" <<<"$held" | grep -o 'cgroup v[12]')" \
            "$(jq -r --arg name "cgroup-${limit%s}" '.capabilities[] | select(.name == $name or .name == $name + "s") | select(.available).detail' <<<"$said")"
    done
}
limits_agree "here" env

# ---- taken away: the cause, and the fix, which mends it

if ! unshare -Ur true 2>/dev/null; then
    skip "causes and fixes" "user namespaces are refused here"
else
    # In a user namespace of our own, by this shell text first; then again after the fix.
    there() { unshare -Ur "${with[@]}" sh -c "$1 && exec \"\$@\"" sh "${@:2}"; }
    taken() { # WHAT TEXT CAPABILITY CAUSE FIX [TIER]
        local found
        found=$(there "$2" "$COOP" doctor --json)
        is "$1: missing" "$(of "$found" "$3" available)" false
        like "$1: the cause" "$(of "$found" "$3" detail)" "$4"
        like "$1: the fix" "$(of "$found" "$3" fix)" "$5"
        [ $# -lt 6 ] || is "$1: the tier" "$(jq -r .tier <<<"$found")" "$6"
    }
    with=()
    below=$([ "$(jq .landlock_abi <<<"$json")" -gt 0 ] && echo landlock || echo none)
    # "sudo sysctl a.b=c" of the fix, done by hand.
    apply='fix=$("$0" doctor --json | jq -r --arg n "$1" ".capabilities[] | select(.name == \$n).fix" | sed "s/^sudo sysctl //")
        path=/proc/sys/$(echo "${fix%%=*}" | tr . /); echo "${fix#*=}" >"$path" && exec "$0" status --json'
    while read -r sysctl name; do
        taken "$sysctl=0" "echo 0 >/proc/sys/user/$sysctl" "$name" "user\.$sysctl is (0|reached)" "^sudo sysctl user\.$sysctl=[1-9][0-9]+\$" "$below"
        is "$sysctl=0: the fix mends it" "$(of "$(there "echo 0 >/proc/sys/user/$sysctl" sh -c "$apply" "$COOP" "$name")" "$name" available)" true
    done <<'END'
max_user_namespaces user-namespaces
max_mnt_namespaces mount-namespace
max_pid_namespaces pid-namespace
max_ipc_namespaces ipc-namespace
max_uts_namespaces uts-namespace
max_net_namespaces network-namespace
max_cgroup_namespaces cgroup-namespace
END
    found=$(there 'echo 0 >/proc/sys/user/max_user_namespaces' "$COOP" doctor --json)
    is "without user namespaces, the rest says so" "$(for n in id-maps newuidmap; do of "$found" $n detail; done | sort -u)" "needs user namespaces"
    err=$(there 'echo 0 >/proc/sys/user/max_user_namespaces' "$COOP" run -w ws true 2>&1)
    like "coop run refuses with the doctor's cause and fix" "$err" "user\.max_user_namespaces is 0.*sudo sysctl user\.max_user_namespaces="

    with=(-mpf --mount-proc)
    real_root && taken "vm.memfd_noexec=2" 'echo 2 >/proc/sys/vm/memfd_noexec' memfd-exec 'vm\.memfd_noexec is 2' '^sudo sysctl vm\.memfd_noexec=1$'
    with=(-m)
    taken "a covered /proc" 'mount --bind /dev/null /proc/uptime' fresh-proc 'parts of /proc are covered.*uptime' . "$below"
    taken "no /proc" 'mount -t tmpfs none /proc' id-maps '/proc is not mounted' 'mount -t proc proc /proc'

    # The range that is offered is nobody's. 100000 is taken in one file, 165536 in the other.
    printf 'somebody:100000:65536\n' >subuid
    printf 'somebody:165536:65536\n' >subgid
    if [ -e /etc/subuid ] && [ -e /etc/subgid ] && [ -x /usr/bin/newuidmap ]; then
        taken "no range of ids" "mount --bind '$T/subuid' /etc/subuid && mount --bind '$T/subgid' /etc/subgid" \
            newuidmap 'grant no range to' '^sudo usermod --add-subuids 231072-296607 --add-subgids 231072-296607 [a-z]'
    else
        skip "a range of ids that is free" "no newuidmap here"
    fi
    # A file that is not there is not edited, and a device that can be used is left alone.
    for name in cgroup-v2 landlock; do
        [ -e /etc/default/grub ] || unlike "$name: no command for a boot loader that is not here" "$(of "$report" $name fix)" grub
    done
    if [ -w /dev/fuse ]; then
        is "FUSE: nothing to mend" "$(of "$report" fuse fix)" null
    else
        like "FUSE: how to fix it" "$(of "$report" fuse fix)" '^sudo (chmod 666 /dev/fuse|modprobe fuse)'
    fi

    # Landlock and seccomp, taken away by a filter that answers in the kernel's place.
    cat >without.py <<'END'
import ctypes, os, struct, sys
numbers = [int(n) for n in sys.argv[1].split(",")]
code = [(0x20, 0, 0, 0)] + [(0x15, len(numbers) - i, 0, n) for i, n in enumerate(numbers)] + [(6, 0, 0, 0x7fff0000), (6, 0, 0, 0x50000 | int(sys.argv[2]))]
data = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
class Program(ctypes.Structure):
    _fields_ = [("n", ctypes.c_ushort), ("code", ctypes.c_void_p)]
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(len(code), ctypes.addressof(data)))) == 0
os.execv(sys.argv[3], sys.argv[3:])
END
    without() { python3 "$T/without.py" "$@"; }
    if [ "$below" = landlock ]; then
        found=$(without 444 38 "$COOP" doctor --json)
        is "without Landlock: the tier" "$(jq -r .tier <<<"$found")" namespaces
        like "without Landlock: the cause" "$(of "$found" landlock detail)" 'Function not implemented; a seccomp filter is on this process|CONFIG_SECURITY_LANDLOCK'
        is "without Landlock: its features need it" "$(of "$found" landlock-tcp detail)" "needs Landlock"
        is "without Landlock: the isolation holds" "$(jq -c '[.ok, ([.selftest[] | select(.outcome == "not-held")] | length)]' <<<"$found")" "[true,0]"
        found=$(without 444 95 "$COOP" doctor --json)
        like "Landlock switched off: the cause" "$(of "$found" landlock detail)" 'but not enabled'
        like "Landlock switched off: the fix names the word" "$(of "$found" landlock fix)" 'lsm=landlock,'
    fi
    seccomp=$([ "$(uname -m)" = x86_64 ] && echo 317 || echo 277)
    found=$(without "$seccomp" 1 "$COOP" doctor --json)
    is "without seccomp: the tier" "$(jq -r .tier <<<"$found")" none
    is "without seccomp: missing" "$(of "$found" seccomp available)" false
    is "at the tier none there is no self-test, and all is not well" "$(jq -c '[(.selftest | length), .ok]' <<<"$found")" "[0,false]"
    found=$(without "435" 38 "$COOP" doctor --json)
    is "without clone3: missing, and not needed" "$(of "$found" clone3 available) $(of "$found" clone3 needed) $(jq -r .tier <<<"$found")" "false false $(jq -r .tier <<<"$json")"
fi

# ---- the self-test: every act is one

is "the doctor is well exactly when every wall held" "$(jq -r .ok <<<"$report")" \
    "$(jq -r '[.selftest[].outcome] | (all(. == "held" or . == "not-counted") and any(. == "held"))' <<<"$report")"
if [ "$(jq -r .tier <<<"$json")" = full ]; then
    is "here every wall holds" "$(jq -c '[.selftest[] | select(.outcome != "held" and .outcome != "not-counted").name]' <<<"$report")" "[]"
    status "and the doctor is well" 0 "$COOP" doctor
fi
is "the text shows every act" "$(sed -n '/^Self-test/,$p' <<<"$doctor" | grep -cE '^  (✓|✗|\?) ')" "$(jq '.selftest | length' <<<"$report")"
is "and counts them" "$(tail -n 1 <<<"$doctor")" "$(jq -r '[.selftest[].outcome] | "\(map(select(. == "held")) | length) held, \(map(select(. == "not-held" or . == "no-answer")) | length) not held, \(map(select(. == "not-counted")) | length) not counted"' <<<"$report")"

# Where no wall is, every act works that is counted: it acts, and would be noticed.
mkdir -p scene/work
token=0123456789abcdef
printf %s $token >scene/canary
ln -s .. scene/work/out
cat >scene.py <<'END'
import os, socket, subprocess, sys
coop, token, directory = sys.argv[1:]
keep = []
def listen(family, address):
    s = socket.socket(family); s.bind(address); s.listen(9); keep.append(s); return s
port = listen(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
listen(socket.AF_UNIX, "\0coop-doctor-" + token)
os.chdir(directory + "/work")
listen(socket.AF_UNIX, "socket")
open("/proc/self/comm", "w").write("coop-" + token[:10])
leak = os.open(directory, os.O_RDONLY); os.set_inheritable(leak, True)
import signal; signal.signal(signal.SIGUSR1, lambda *a: None)
os.environ["COOP_DOCTOR_CANARY"] = token
sys.exit(subprocess.run([coop, "run", "-q", "--mode", "disabled", "--keep-fd", str(leak), "--", coop, "doctor", "--inside", token, str(os.getpid()), str(port), directory], close_fds=False).returncode)
END
said=$(python3 scene.py "$COOP" $token "$T/scene" 2>/dev/null)
while read -r name; do
    if [ "$name" = open-memory ]; then
        continue # of pid 1, which inside is the box's own init
    fi
    is "the self-test notices if one can: $name" "$(sed -n "s/^$token $name //p" <<<"$said")" 0
done < <(jq -r '.selftest[] | select(.outcome == "held").name' <<<"$report")
is "nothing of it is left" "$(find scene -mindepth 1 -printf "%P\n" | sort | xargs)" "canary work work/out work/socket"

# A wall that is really broken. strace lets the box's further filters seem loaded when they are not.
if [ "${below-none}" = landlock ] && command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    with=()
    broken=$(there 'echo 0 >/proc/sys/user/max_user_namespaces' strace -f -qq -o /dev/null -e trace=seccomp -e inject=seccomp:retval=0:when=2+ "$COOP" doctor --json)
    is "a broken wall is noticed" "$(jq -r '.selftest[] | select(.name == "connect-workspace").outcome' <<<"$broken")" not-held
    is "and the doctor is not well" "$(jq -r .ok <<<"$broken")" false
    like "in words too" "$(there 'echo 0 >/proc/sys/user/max_user_namespaces' strace -f -qq -o /dev/null -e trace=seccomp -e inject=seccomp:retval=0:when=2+ "$COOP" doctor)" \
        '✗ connect to a host socket in the workspace +NOT HELD'
else
    skip "a broken wall is noticed" "strace cannot trace here, or there is no Landlock"
fi
is "nothing of the doctor's is left" "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'coop-doctor-*' -user "$(id -u)" -newer "$T/look.py" 2>/dev/null)" ""

# ---- cgroups of version 1, given to a user in the way that the doctor proposes

if ! real_root; then
    skip_never "a subtree that root gives to a user" "not root"
elif [ "$(of "$json" cgroup-v1 available)" = false ]; then
    skip_never "a subtree that root gives to a user" "no cgroups of version 1 to give"
else
    user=(setpriv --reuid 12345 --regid 12345 --clear-groups --)
    chmod 755 "$T" && chown 12345:12345 ws
    limits_agree "a user" "${user[@]}"
    fix=$(of "$("${user[@]}" "$COOP" doctor --json)" cgroup-v1 fix)
    like "the doctor proposes a subtree" "$fix" '^sudo sh -c "for d in .*chown'
    # The shell that is put into it is one of our own.
    cat >given.sh <<'END'
sudo() { "$@"; }
eval "${1//'$(id -u)'/12345}"
shift
"$@"
END
    if ls -d /sys/fs/cgroup/*/coop >/dev/null 2>&1; then skip "the fix is done" "somebody has such a subtree"; else
        given() { bash given.sh "$fix" "${user[@]}" "$@"; }
        is "after that the user has it" "$(of "$(given "$COOP" status --json)" cgroup-v1 available)" true
        limits_agree "a user with a subtree" bash given.sh "$fix" "${user[@]}"
        is "and a run holds its limits by it" \
            "$(given "$COOP" run -w "$T/ws" --json --cpus 0.5 true </dev/null | jq -r '.enforced.limits | .memory.by, .pids.by, .cpus.by' | sort -u)" "cgroup v1"
        is "for real" "$(given "$COOP" run -w "$T/ws" --json --memory 64m python3 -c 'x = bytearray(200 << 20)' </dev/null | jq -c '[.oom, .denials[0].op]')" '[true,"memory"]'
        is "and processes" "$(given "$COOP" run -w "$T/ws" --json --pids 5 sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 5 & done' </dev/null | jq -c .pids_hit)" true
        is "nothing is left in it" "$(find /sys/fs/cgroup -path '*/coop/*' -type d)" ""
        find /sys/fs/cgroup -depth -name coop -type d -user 12345 -exec rmdir {} +
    fi
fi
like "the doctor says what FUSE means for denials" \
    "$("$COOP" doctor --json 2>/dev/null | jq -r '.. | objects | select(.name? == "fuse") | .detail')" "hidden files"
done_testing
