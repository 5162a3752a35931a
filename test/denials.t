#!/bin/bash
# What a box refuses is recorded, field by field; what fails of itself, or would on the host, is not.
# builds: asan
# fuse: both
# speed: slow
. "$(dirname "$0")/box.sh"
chmod 755 "$T" # a box of root's is somebody else

# The tree that every attempt begins with.
git init -q tree
mkdir -p tree/sub tree/bin tree/.git/hooks ro out
echo old >tree/.git/hooks/old
for name in .env notes secret.txt; do echo "$name" >"tree/$name"; done
cp /bin/true tree/program
cp /bin/true out/program
echo x >ro/file
echo x >out/file
cat >tree/bin/py <<'END'
import ctypes, os, signal, socket, sys
s = socket.socket
call = ctypes.CDLL(None, use_errno=True).syscall
x86 = os.uname().machine == "x86_64"
numbers = dict(mount=(165, 40), ptrace=(101, 117), bpf=(321, 280), keyctl=(250, 219), setns=(308, 268),
               sethostname=(170, 161), io_uring_setup=(425, 425), setuid=(105, 146))
def syscall(name, *arguments): return call(numbers[name][0 if x86 else 1], *arguments)
def c(address):
    try: s(2, 1).connect(address)
    except OSError: pass
def until_refused(open_one):
    held = []
    try:
        while True: held.append(open_one(len(held)))
    except OSError: os._exit(1)
def hold(): until_refused(lambda i: os.open("f%d" % i, os.O_CREAT | os.O_WRONLY))
def hold_read(): until_refused(lambda i: os.open("notes", os.O_RDONLY))
exec(sys.argv[1])
END
cat >enforce.toml <<'END'
[commands]
strength = "enforce"
[commands.sh]
[commands.python3]
END
cat >limits.toml <<'END'
[sandbox]
memory = "64m"
readonly = true
network = "none"
END
# Services of the host.
python3 -c '
import socket, sys
held = []
for path in sys.argv[1:]:
    one = socket.socket(socket.AF_UNIX)
    one.bind(path)
    one.listen()
    held.append(one)
open("up", "w").close()
sys.stdin.read()' ws/sock out/sock < <(exec tail -f /dev/null --pid=$$) &
service=$!
await test -e up

fresh() {
    find ws -mindepth 1 -maxdepth 1 ! -name sock -exec rm -rf {} +
    cp -a tree/. ws/
}
attempt() { # OPTIONS HOW; prints the document
    local options=${1//@T/$T} how=${2//@T/$T}
    case $how in
    "py "*) how="python3 bin/py '${how#py }'" ;;
    "exec py "*) how="exec python3 bin/py '${how#exec py }'" ;;
    esac
    fresh
    eval "run --json $options -- sh -c \"\$how\"" 2>/dev/null
}
fields='.denials[] | [.op, .target, .errno, .rule, .origin, .why, (.allow // "-"), .count] | map(tostring) | join("|")'
records() { # of the document on standard input, a line each
    jq -r "$fields" | sed "s#$T#@T#g"
}
# Of many documents in files, and how many records were summed: told[FILE]. One jq for all: it takes long to start.
declare -A told
read_documents() { # FILE...
    local file line
    told=()
    while IFS=$'\t' read -r file line; do
        told[$file]+=$line$'\n'
    done < <(jq -r "input_filename as \$file | (($fields), (.records.more // 0)) | \"\\(\$file)\\t\\(.)\"" "$@" | sed "s#$T#@T#g")
}
who=user
real_root && who=root

# ---- what is refused: who, options, how | op, target, errno, rule, origin, why, allow, count

n=0 names=() wanted=()
while IFS='|' read -r by options how expected; do
    [ "$by" = both ] || [ "$by" = $who ] || continue
    attempt "$options" "$how" >refused.$n
    names[n]="$options $how" wanted[n]=$expected
    n=$((n + 1))
done <<'END'
both||echo x >.git/hooks/pre-commit|create|/work/.git/hooks/pre-commit|13|protect.no_write '.git/hooks'|built-in default|the name is write-protected|--unprotect .git/hooks|1
both||echo x >.git/hooks/old|write|/work/.git/hooks/old|13|protect.no_write '.git/hooks'|built-in default|the name is write-protected|--unprotect .git/hooks|1
both||mkdir .vscode|create|/work/.vscode|13|protect.no_write '.vscode'|built-in default|the name is write-protected|--unprotect .vscode|1
both||ln -s /tmp .vscode|create|/work/.vscode|13|protect.no_write '.vscode'|built-in default|the name is write-protected|--unprotect .vscode|1
both||ln notes .envrc|create|/work/.envrc|13|protect.no_write '.envrc'|built-in default|the name is write-protected|--unprotect .envrc|1
both||mv notes .envrc|rename|/work/.envrc|13|protect.no_write '.envrc'|built-in default|the name is write-protected|--unprotect .envrc|1
both||mv .git/hooks/old elsewhere|rename|/work/.git/hooks/old|13|protect.no_write '.git/hooks'|built-in default|the name is write-protected|--unprotect .git/hooks|1
both||mv .git/hooks elsewhere|rename|/work/.git/hooks|13|protect.no_write '.git/hooks'|built-in default|the name is write-protected|--unprotect .git/hooks|1
both||py os.truncate(".git/hooks/old", 0)|write|/work/.git/hooks/old|13|protect.no_write '.git/hooks'|built-in default|the name is write-protected|--unprotect .git/hooks|1
both||py os.mkfifo(".mcp.json")|create|/work/.mcp.json|13|protect.no_write '.mcp.json'|built-in default|the name is write-protected|--unprotect .mcp.json|1
both||py s(1, 1).bind(".envrc")|create|/work/.envrc|13|protect.no_write '.envrc'|built-in default|the name is write-protected|--unprotect .envrc|1
both||git config core.fsmonitor ./evil|write|/work/.git/config|13|protect.no_write '.git/config'|built-in default|line 6: 'core.fsmonitor' may not be set from inside a box: git would run what it names|--unprotect .git/config|1
both||echo x >.env|write|/work/.env|30|protect.deny '.env'|built-in default|the name is hidden|--unprotect .env|1
both|--explain|rm -f .env|delete|/work/.env|16|protect.deny '.env'|built-in default|the name is hidden|--unprotect .env|1
both||mv .env other|rename|/work/.env|16|protect.deny '.env'|built-in default|the name is hidden|--unprotect .env|1
both|--protect secret.txt|echo x >>secret.txt|write|/work/secret.txt|13|protect.deny 'secret.txt'|--protect|the name is hidden|--unprotect secret.txt|1
both|--protect-write notes|echo x >>notes|write|/work/notes|13|protect.no_write 'notes'|--protect-write|the name is write-protected|--unprotect notes|1
both|--protect-write 'gen/**'|mkdir -p gen/a|create|/work/gen|13|protect.no_write 'gen/**'|--protect-write|the name is write-protected|--unprotect gen|1
both|--explain=all|cat .env|read|/work/.env|13|protect.deny '.env'|built-in default|the name is hidden|--unprotect .env|1
both|--explain=all --protect secret.txt|cat secret.txt|read|/work/secret.txt|13|protect.deny 'secret.txt'|--protect|the name is hidden|--unprotect secret.txt|1
both|--explain=all --block notes|cat notes|read|/work/notes|13|blocked_paths 'notes'|--block|it is hidden|leave the flag out|1
both|--explain|chmod 600 .git/hooks/old|chmod|/work/.git/hooks/old|30|protect.no_write '.git/hooks'|built-in default|the name is write-protected|--unprotect .git/hooks|1
both||unshare -U true|syscall|unshare|1|the system call filter, 'unshare'|built-in default|the answer to it is always 'Operation not permitted'|-|1
both||py syscall("mount", 0, 0, 0, 0, 0)|syscall|mount|1|the system call filter, 'mount'|built-in default|the answer to it is always 'Operation not permitted'|-|1
both||py syscall("ptrace", 0, 0, 0, 0)|syscall|ptrace|1|the system call filter, 'ptrace'|built-in default|the answer to it is always 'Operation not permitted', but in boxes for debuggers|--profile dev|1
both||py syscall("bpf", 0, 0, 0)|syscall|bpf|1|the system call filter, 'bpf'|built-in default|the answer to it is always 'Operation not permitted'|-|1
both||py syscall("keyctl", 0, 0, 0, 0, 0)|syscall|keyctl|1|the system call filter, 'keyctl'|built-in default|the answer to it is always 'Operation not permitted'|-|1
both||py [syscall("setns", -1, 0) for i in range(1000)]|syscall|setns|1|the system call filter, 'setns'|built-in default|the answer to it is always 'Operation not permitted'|-|1000
both||chmod u+s notes|syscall|fchmodat|1|the system call filter, 'fchmodat'|built-in default|the filter lets it through, but answers 'Operation not permitted' where argument 2 has a bit of 0xc00|-|1
both||py syscall("sethostname", 0, 0)|syscall|sethostname|1|the system call filter, 'sethostname'|built-in default|the answer to it is always 'Operation not permitted'|-|1
both||py s(17, 3)|socket|AF_PACKET|97|the system call filter, 'socket'|built-in default|only AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK routes are allowed|-|1
both||py s(40, 1)|socket|AF_VSOCK|97|the system call filter, 'socket'|built-in default|only AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK routes are allowed|-|1
both||py s(1, 2)|socket|AF_UNIX, datagram|1|sandbox.allow_sockets 'false'|built-in default|a datagram socket can send to any visible service of the host|--allow-sockets|1
both||py s(16, 3, 9)|socket|AF_NETLINK, protocol 9|97|the system call filter, 'socket'|built-in default|only AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK routes are allowed|-|1
both|--network off|py s(2, 1)|socket|AF_INET|97|network 'off'|--network|the box has no sockets but those of AF_UNIX|--network host|1
both|--network off|py s(10, 2)|socket|AF_INET6|97|network 'off'|--network|the box has no sockets but those of AF_UNIX|--network host|1
both||py s(2, 1).connect(("192.0.2.1", 443))|connect|192.0.2.1:443|101|network 'none'|built-in default|the box has a private loopback and nothing else|--allow 192.0.2.1:443|1
both||py s(2, 2).connect(("192.0.2.1", 53))|connect|192.0.2.1:53|101|network 'none'|built-in default|the box has a private loopback and nothing else|--allow 192.0.2.1:53|1
both||py s(10, 1).connect(("2001:db8::1", 443))|connect|[2001:db8::1]:443|101|network 'none'|built-in default|the box has a private loopback and nothing else|--allow '[2001:db8::1]:443'|1
both||py [c(("192.0.2.1", 443)) for i in range(3)]|connect|192.0.2.1:443|101|network 'none'|built-in default|the box has a private loopback and nothing else|--allow 192.0.2.1:443|3
both||py s(2, 1).bind(("192.0.2.9", 8080))|bind|192.0.2.9:8080|99|network 'none'|built-in default|the box has no other address than those of its private loopback|--network host|1
both||py s(10, 1).bind(("2001:db8::9", 8080))|bind|[2001:db8::9]:8080|99|network 'none'|built-in default|the box has no other address than those of its private loopback|--network host|1
both|--explain|py s(2, 2).sendto(b"x", ("192.0.2.1", 514))|connect|192.0.2.1:514|101|network 'none'|built-in default|the box has a private loopback and nothing else|--allow 192.0.2.1:514|1
both|--explain=all|py s(2, 2).sendmsg([b"x"], [], 0, ("192.0.2.1", 514))|connect|192.0.2.1:514|101|network 'none'|built-in default|the box has a private loopback and nothing else|--allow 192.0.2.1:514|1
both||py s(1, 1).connect("sock")|connect|/work/sock|13|sandbox.allow_sockets 'false'|built-in default|services of the host may not be connected to, even if their socket is visible|--allow-sockets|1
both||getent hosts Github.com|dns|github.com|2|network 'none'|built-in default|the box has a private loopback and nothing else|--allow github.com|1
both||py socket.getaddrinfo("a.example.org", 443)|dns|a.example.org|2|network 'none'|built-in default|the box has a private loopback and nothing else|--allow a.example.org|1
both||py s(1, 1).connect("@T/out/sock")|connect|@T/out/sock|2|the box's own view|built-in default|the box has its own; the host's is not visible|--socket @T/out/sock|1
both|--network host|py s(1, 1).connect("\0nobody")|connect|@nobody|1|sandbox.allow_sockets 'false'|built-in default|abstract names belong to the host|--allow-sockets|1
both|--ro @T/ro|echo x >@T/ro/new|create|@T/ro/new|30|mount '@T/ro' at '@T/ro'|--ro|the mount is read-only|--rw @T/ro|1
both|--ro @T/ro|echo x >>@T/ro/file|write|@T/ro/file|30|mount '@T/ro' at '@T/ro'|--ro|the mount is read-only|--rw @T/ro|1
both|--ro @T/ro:/data|echo x >>/data/file|write|/data/file|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--ro @T/ro:/data|mkdir /data/dir|create|/data/dir|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--ro @T/ro:/data|rm /data/file|delete|/data/file|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--ro @T/ro:/data|mv /data/file /data/other|rename|/data/file|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--ro @T/ro:/data|chmod 600 /data/file|chmod|/data/file|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--ro @T/ro:/data|truncate -s 0 /data/file|write|/data/file|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--ro @T/ro:/data|ln -s x /data/link|create|/data/link|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--ro @T/ro:/data|cd /data && echo x >file|write|/data/file|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--ro @T/ro:/data|ln -s /data/file link && echo x >link|write|/data/file|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--ro @T/ro:/data|py os.open("file", os.O_WRONLY, dir_fd=os.open("/data", os.O_RDONLY))|write|/data/file|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--volume @T/ro:/data:ro|echo x >/data/file|write|/data/file|30|mount '@T/ro' at '/data'|--volume|the mount is read-only|--rw @T/ro:/data|1
both|--read-only|echo x >notes|write|/work/notes|30|sandbox.readonly|--read-only|the workspace is read-only|write readonly = false in [sandbox]|1
both|--read-only|echo x >new|create|/work/new|30|sandbox.readonly|--read-only|the workspace is read-only|write readonly = false in [sandbox]|1
both|--read-only|rm notes|delete|/work/notes|30|sandbox.readonly|--read-only|the workspace is read-only|write readonly = false in [sandbox]|1
both|--read-only --no-protect|mkdir new|create|/work/new|30|sandbox.readonly|--read-only|the workspace is read-only|write readonly = false in [sandbox]|1
both|--explain=all|cat @T/out/file|read|@T/out/file|2|the box's own view|built-in default|the box has its own; the host's is not visible|--ro @T/out/file|1
both|--explain=all|stat @T/out/file|read|@T/out/file|2|the box's own view|built-in default|the box has its own; the host's is not visible|--ro @T/out/file|1
both|--explain=all|cd @T/out|read|@T/out|2|the box's own view|built-in default|the box has its own; the host's is not visible|--ro @T/out|1
both|--explain=all|readlink @T/out/file|read|@T/out/file|2|the box's own view|built-in default|the box has its own; the host's is not visible|--ro @T/out/file|1
both|--explain=all|@T/out/program|exec|@T/out/program|2|the box's own view|built-in default|the box has its own; the host's is not visible|--ro @T/out/program|1
both|--explain|@T/out/program|exec|@T/out/program|2|the box's own view|built-in default|the box has its own; the host's is not visible|--ro @T/out/program|1
both|--explain|echo x >@T/out/new|create|@T/out/new|2|the box's own view|built-in default|the box has its own; the host's is not visible|--rw @T/out|1
both|--explain|unlink @T/out/file|delete|@T/out/file|2|the box's own view|built-in default|the box has its own; the host's is not visible|--rw @T/out|1
both|--explain|mkdir @T/out/dir2|create|@T/out/dir2|2|the box's own view|built-in default|the box has its own; the host's is not visible|--rw @T/out|1
both|--explain=all|ln -sf @T/out/file link && cat link|read|@T/out/file|2|the box's own view|built-in default|the box has its own; the host's is not visible|--ro @T/out/file|1
both|--explain=all|cat /tmp/../@T/out/file|read|@T/out/file|2|the box's own view|built-in default|the box has its own; the host's is not visible|--ro @T/out/file|1
both|--explain=all|cat /etc/fstab|read|/etc/fstab|2|the box's own view|built-in default|the box does not have it|--ro /etc/fstab|1
root||echo x >/usr/new|create|/usr/new|30|the box's own view|built-in default|the host's programs and settings are read-only in a box|-|1
root||rm /usr/bin/env|delete|/usr/bin/env|30|the box's own view|built-in default|the host's programs and settings are read-only in a box|-|1
root||mkdir /srv|create|/srv|30|the box's own view|built-in default|the box does not have it|--rw /srv|1
root||echo x >/etc/passwd|write|/etc/passwd|30|the box's own view|built-in default|the box creates it itself, read-only|-|1
root|--explain=all|cat /etc/shadow|read|/etc/shadow|2|the box's own view|built-in default|the box does not have it|--ro /etc/shadow|1
both|--restrict sub --explain=all|cat /work/notes|read|/work/notes|2|sandbox.restrict '/sub'|--restrict|only part of the workspace is shown, and it is outside that part|--restrict /|1
both|--config @T/enforce.toml|/work/program|command|sh -c /work/program|13|commands '/work/program'|built-in default|'/work/program' is a file of its own, not a program of the allowed ones (fest, camp, just, git, sh, python3)|name the program without a path|1
both|--config @T/enforce.toml|cp program /tmp/p && /tmp/p|command|sh -c cp program /tmp/p && /tmp/p|13|commands 'cp program /tmp/p'|built-in default|'cp' is not among the allowed commands (fest, camp, just, git, sh, python3)|[commands.cp]|1
both|--timeout 300ms|sleep 60|time|more time than the timeout|110|timeout|--timeout|it may run for 300 ms|--timeout DURATION|1
both|--memory 64m|exec py x = bytearray(200 << 20)|memory|more memory than the limit|12|sandbox.memory|--memory|all its processes together may use 67108864 bytes|--memory SIZE|1
both|--file-size 64k|exec py signal.signal(25, signal.SIG_DFL); open("big", "wb").write(b"x" * 200000)|file-size|a larger file than the limit|27|sandbox.file_size|--file-size|each file may have 65536 bytes|--file-size SIZE|1
both|--file-size 64k|py os.truncate("notes", 200000)|file-size|a larger file than the limit|27|sandbox.file_size|--file-size|each file may have 65536 bytes|--file-size SIZE|1
both|--cpu-seconds 1|exec py while True: pass|cpu|more CPU time than the limit|0|sandbox.cpu_seconds|--cpu-seconds|each process may use 1 s of CPU time|--cpu-seconds N|1
both|--tmp-size 1m|dd if=/dev/zero of=/tmp/big bs=64k count=64|tmp-size|/tmp|28|sandbox.tmp_size|--tmp-size|all its 1048576 bytes were in use|--tmp-size SIZE|1
both|--file-size 64k --explain|dd if=/dev/zero of=big bs=64k count=4; true|file-size|a larger file than the limit|27|sandbox.file_size|--file-size|each file may have 65536 bytes|--file-size SIZE|1
both|--cpu-seconds 1 --explain|sh -c "while :; do :; done"; true|cpu|more CPU time than the limit|0|sandbox.cpu_seconds|--cpu-seconds|each process may use 1 s of CPU time|--cpu-seconds N|1
both|--tmp-size 1m --explain|dd if=/dev/zero of=/tmp/big bs=64k count=64; rm /tmp/big|tmp-size|/tmp|28|sandbox.tmp_size|--tmp-size|all its 1048576 bytes were in use|--tmp-size SIZE|1
both|--ro @T/ro:/data|mv notes /data/other|delete|/data/other|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--ro @T/ro:/data|py os.utime("/data/file")|chmod|/data/file|30|mount '@T/ro' at '/data'|--ro|the mount is read-only|--rw @T/ro:/data|1
both|--explain|echo x >>@T/out/file|create|@T/out/file|2|the box's own view|built-in default|the box has its own; the host's is not visible|--rw @T/out|1
both|--explain=all|py os.listdir("/home")|read|/home|2|the box's own view|built-in default|the box does not have it|--ro /home|1
both|--open-files 32|py hold()|open-files|more open files than the limit|24|sandbox.open_files|--open-files|each process may have 32 descriptors|--open-files N|1
both|--open-files 32 --explain=all|py hold_read()|open-files|more open files than the limit|24|sandbox.open_files|--open-files|each process may have 32 descriptors|--open-files N|1
both|--config @T/enforce.toml|cat program|command|sh -c cat program|13|commands 'cat program'|built-in default|'cat' is not among the allowed commands (fest, camp, just, git, sh, python3)|[commands.cat]|1
both|--config @T/enforce.toml|py os.execv("/work/program", ["x"])|exec|/work/program|13|commands '/work/program'|@T/enforce.toml:2:12|'/work/program' is a file of its own, not a program of the allowed ones (fest, camp, just, git, sh, python3)|name the program without a path|1
both|--config @T/enforce.toml|py os.execv("/usr/bin/ls", ["x"])|exec|/usr/bin/ls|2|commands '/usr/bin/ls'|@T/enforce.toml:2:12|'/usr/bin/ls' is not among the allowed commands (fest, camp, just, git, sh, python3)|[commands./usr/bin/ls]|1
both|--config @T/limits.toml|exec py x = bytearray(200 << 20)|memory|more memory than the limit|12|sandbox.memory|@T/limits.toml:2:10|all its processes together may use 67108864 bytes|--memory SIZE|1
both|--config @T/limits.toml|py s(2, 1).connect(("192.0.2.1", 443))|connect|192.0.2.1:443|101|network 'none'|@T/limits.toml:4:11|the box has a private loopback and nothing else|--allow 192.0.2.1:443|1
both|--config @T/limits.toml|echo x >notes|write|/work/notes|30|sandbox.readonly|@T/limits.toml:3:12|the workspace is read-only|write readonly = false in [sandbox]|1
END
read_documents refused.*
for ((i = 0; i < n; i++)); do is "refused: ${names[i]}" "${told[refused.$i]-}" "${wanted[i]}"$'\n0\n'; done
ok "there were 60 of them and more" test $n -ge 60

# ---- what fails of itself, or would on the host too

n=0
while IFS='|' read -r by options how; do
    [ "$by" = both ] || [ "$by" = $who ] || continue
    attempt "$options" "$how" >innocent.$n
    names[n]="$options $how"
    n=$((n + 1))
done <<'END'
both|--explain=all|cat missing
both|--explain=all|cat missing/file
both|--explain=all|cat /missing
both|--explain=all|cat /etc/no-such-file
both|--explain=all|cat /tmp/no-such-file
both|--explain=all|cat notes/file
both|--explain=all|cat sub
both|--explain=all|cat /proc/1/environ
both|--explain=all|cat /proc/no-such-file
both|--explain=all|ln -s loop loop; cat loop
both|--explain=all|ln -s missing link; cat link
both|--explain=all|ls missing
both|--explain=all|cd missing
both|--explain=all|readlink notes
both|--explain=all|test -e /missing; test -w /usr; test -x /usr/bin/env; test -r missing
both|--explain=all|mkdir sub
both|--explain=all|mkdir -p sub /tmp /usr/bin
both|--explain=all|mkdir missing/sub
both|--explain=all|mkfifo notes
both|--explain=all|ln -s x notes
both|--explain=all|ln missing other
both|--explain=all|rm missing
both|--explain=all|rm -f missing
both|--explain=all|rmdir missing
both|--explain=all|mkdir -p d/e; rmdir d
both|--explain=all|mv missing other
both|--explain=all|mkdir d; mv d d/e
both|--explain=all|mv notes other; mv other notes; rm notes
both|--explain=all|echo x >sub
both|--explain=all|echo x >missing/file
both|--explain=all|py os.open("notes", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
both|--explain=all|py os.truncate("missing", 0)
both|--explain=all|chmod 600 missing; chmod 600 notes; touch notes; touch new
both|--explain=all|echo x >own; chmod 0 own; cat own; echo x >>own
both|--explain=all|no-such-command
both|--explain=all|./notes
both|--explain=all|./sub
both|--explain=all|printf '#!/no/such/interpreter\n' >script; chmod 755 script; ./script
both||false
both||exit 3
both||exit 153
both||kill -9 $$
both||kill -XFSZ $$
both||kill -XCPU $$
both||kill -TERM $$
both|--timeout 60s|timeout 0.1 sleep 60
both|--file-size 1m|ulimit -f 1; dd if=/dev/zero of=big bs=64k count=1
both|--file-size 1m --explain|ulimit -f 1; dd if=/dev/zero of=big bs=64k count=1; true
both|--open-files 64 --explain=all|ulimit -n 20; py hold_read()
both|--tmp-size 1m|dd if=/dev/zero of=/dev/full bs=1k count=1
both|--tmp-size 4m|dd if=/dev/zero of=/tmp/some bs=64k count=8
both|--memory 256m|py x = bytearray(20 << 20)
both|--explain=all|py c(("127.0.0.1", 1))
both|--explain=all|py s(10, 1).connect(("::1", 1))
both|--explain=all|py a = s(); a.bind(("127.0.0.1", 0)); a.listen(); c(a.getsockname())
both|--explain=all|py s().bind(("0.0.0.0", 0)); s(10).bind(("::", 0))
both|--explain=all|py s(2, 2).sendto(b"x", ("127.0.0.1", 9))
both|--explain=all|py s(2, 2).sendmsg([b"x"], [], 0, ("127.0.0.1", 9))
both|--explain=all|py a, b = socket.socketpair(); a.sendmsg([b"x"]); b.recvmsg(1)
both|--explain=all --tmp-size 1m|dd if=/dev/zero of=/tmp/some bs=64k count=8; rm /tmp/some
both|--explain=all|py s(1, 1).connect("missing")
both|--explain=all|py s(1, 1).connect("/tmp/missing")
both|--explain=all|py s(1, 1).connect("notes")
both|--explain=all|py a = s(1, 1); a.bind("/tmp/a"); a.listen(); s(1, 1).connect("/tmp/a")
both|--explain=all|py a = s(1, 1); a.bind("own"); a.listen(); s(1, 1).connect("own")
both|--explain=all|py s(1, 1).bind("notes")
both|--explain=all|py syscall("io_uring_setup", 0, 0)
both|--explain=all|py syscall("setuid", 12345)
both|--explain=all|py os.nice(-5)
both|--explain=all|py os.kill(1, 9)
both|--explain=all|py os.kill(99999, 9)
both|--explain=all|git status; git log
both|--explain=all|cd sub && git diff --no-index ../notes ../missing
both|--explain=all|git config user.name somebody; git add notes; git -c user.email=a@b commit -qm x
both|--explain=all|grep x missing; grep -r no-such-word sub bin
both|--explain=all|echo x >/dev/null; cat /dev/null; echo x >/tmp/x; rm /tmp/x
both|--ro @T/ro:/data|cat /data/file; cat /data/missing; cp /data/file copy; mkdir -p /data
both|--config @T/enforce.toml|py os.execv("/no/such/program", ["x"])
user|--explain=all|cat /etc/shadow
user|--explain=all|echo x >/usr/new
user|--explain=all|rm -f /usr/bin/env
user|--explain=all|chmod 600 /usr/bin/env
user|--explain=all|mkdir /srv
user|--explain=all|cat /root/.bashrc
user|--explain --ro /usr/share:/data|echo x >/data/new; rm -f /data/doc
END
read_documents innocent.*
for ((i = 0; i < n; i++)); do is "innocent: ${names[i]}" "${told[innocent.$i]-}" $'0\n'; done
ok "there were 60 of them and more" test $n -ge 60

# Start-ups: what programs look for before they do anything.
for start in 'sh -c :' 'bash -c :' 'bash -lc :' 'git --version' 'git status' 'python3 -c 1' 'python3 -c "import ssl, json, sqlite3, ctypes, urllib.request"' \
    'perl -e 1' 'node -e 1' 'go version' 'go env GOROOT' 'gcc --version' 'make --version' 'ls -l' 'id' 'date' 'tar --version' 'curl --version' 'java -version'; do
    if ! command -v "${start%% *}" >/dev/null; then
        skip_never "start-up: $start" "no ${start%% *} here"
        continue
    fi
    attempt --explain=all "$start" >document
    is "start-up: $start" "$(records <document)" ""
    is "start-up: $start, and it worked" "$(jq .status document)" 0
done

# ---- first_ms, and the whole shape

attempt "" 'sleep 0.3; mkdir .vscode' >document
ok "first_ms is when it happened" jq -e '.denials[0].first_ms | . >= 100' document
ok "and not later than the end" jq -e '.denials[0].first_ms <= .duration_us / 1000' document
is "the fields of a record" "$(jq -c '.denials[0] | keys_unsorted' document)" \
    '["op","target","errno","rule","origin","why","allow","count","first_ms"]'

# ---- an empty list does not lie

watched() { jq -r '.records.watched[] | select(.name == "'"$1"'") | "\(.watched) \(.note // "")"' document; }
attempt "" true >document
is "every kind is told of" "$(jq -r '[.records.watched[].name] | join(" ")' document)" \
    "syscall socket connect unix-connect datagram bind dns protected read-only exec hidden memory pids time cpu file-size tmp-size open-files"
like "hidden paths are not watched by default, and why" "$(watched hidden)" "^false only with --explain, or with --explain=all"
like "calls are" "$(watched syscall)" "^true"
like "names are, also without a network" "$(watched dns)" "^true"
[ $who = root ] || like "writes are not watched where the host refuses them too" "$(watched read-only)" "^false only with --explain"
attempt --read-only true >document
like "but where the policy makes something read-only" "$(watched read-only)" "^true"
attempt --explain true >document
like "and on request" "$(watched read-only)" "^true"
like "which is not everything" "$(watched hidden)" "only with --explain=all"
attempt --explain=all true >document
like "everything, on request" "$(watched hidden)" "^true"
attempt --explain=none "unshare -U true" >document
is "or nothing at all" "$(jq -c .denials document)" "[]"
like "which is said" "$(watched syscall)" "^false not with --explain=none"
attempt --allow-sockets true >document
like "with the host's sockets connect is not watched" "$(watched connect)" "^false connect.2. is not watched with allow_sockets"
status "another value is refused" 125 run --explain=some true
like "with a hint" "$(run --explain=some true 2>&1)" "expected --explain, --explain=all or --explain=none"

# ---- for people: one line each

fresh
is "one line on standard error" "$(run sh -c 'mkdir .vscode 2>/dev/null' 2>&1)" \
    "coop run: refused: create /work/.vscode: the name is write-protected (protect.no_write '.vscode', built-in default); allow it with --unprotect .vscode"
is "and with --quiet none" "$(run -q sh -c 'mkdir .vscode 2>/dev/null' 2>&1)" ""
is "what it says, coop why says" \
    "$("$COOP" why -w ws --json write .vscode | jq -r '[.rule, .origin, .why, .flag] | join("|")')" \
    "protect.no_write '.vscode'|built-in default|the name is write-protected|--unprotect .vscode"
fresh
is "and what it suggests helps" "$(run --unprotect .vscode sh -c 'mkdir .vscode && echo made' 2>&1)" made
is "a name with an escape in it is made harmless" \
    "$(run sh -c 'mkdir -p sub && mkdir "$(printf "sub/\033[2Jx")" && cd sub/*x && mkdir -p .vscode' 2>&1 | grep -c "$(printf '\033')")" 0

# ---- a flood is bounded

attempt "" 'py for i in range(100000):
    try: os.mkdir(".git/hooks/%d" % i)
    except OSError: pass' >document
is "100,000 different refusals: 200 are kept" "$(jq '.denials | length' document)" 200
is "the rest is summed" "$(jq '.records.more + ([.denials[].count] | add)' document)" 100000
attempt "" 'py for i in range(100000): syscall("setns", -1, 0)' >document
is "100,000 times the same is one record" "$(jq -c '[.denials[].count]' document)" "[100000]"
attempt --explain=all 'py for i in range(20000):
    try: os.stat("@T/out/missing%d" % i)
    except OSError: pass' >document
is "20,000 names that nobody has are none" "$(jq -c '[.denials, .records.more]' document)" "[[],0]"
attempt --explain=all 'py for i in range(20000):
    try: open("@T/out/file")
    except OSError: pass' >document
is "20,000 looks at a hidden one are one" "$(jq -c '[.denials[].count]' document)" "[20000]"

kill $service
done_testing
