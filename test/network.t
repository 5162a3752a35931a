#!/bin/bash
# Network: a loopback of its own, nothing at all, or the host's; and the unix sockets of the host.
. "$(dirname "$0")/box.sh"

# A service of the host's: TCP, UDP, an abstract unix socket, and one with a path in the workspace.
cat >server.py <<'END'
import os, select, socket, sys
tcp = socket.create_server(("127.0.0.1", 0))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.bind(("127.0.0.1", 0))
abstract = socket.socket(socket.AF_UNIX); abstract.bind("\0" + sys.argv[1]); abstract.listen()
path = socket.socket(socket.AF_UNIX); path.bind("ws/host.sock"); path.listen()
datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); datagram.bind("ws/dgram.sock")
os.chmod("ws/host.sock", 0o777); os.chmod("ws/dgram.sock", 0o777)
print(tcp.getsockname()[1], udp.getsockname()[1], file=open("ports.new", "w"), flush=True)
os.rename("ports.new", "ports")
while True:
    for s in select.select([tcp, udp, abstract, path, datagram], [], [])[0]:
        if s in (udp, datagram): open("reached", "a").write(f"{s.recv(100)}\n")
        else:
            c, _ = s.accept()
            try: c.sendall(b"host")
            except OSError: pass
            c.close()
END
name=coop-test-$$
python3 server.py "$name" &
server=$!
trap 'kill $server; wait $server 2>/dev/null; rm -rf "$T" "$T.cache"' EXIT
await test -e ports
read -r tcp udp <ports

cat >ws/client.py <<'END'
import errno, socket, sys
kind, where = sys.argv[1:]
try:
    if kind == "tcp": s = socket.create_connection(("127.0.0.1", int(where)), 5)
    elif kind == "out": s = socket.create_connection((where, 80), 5)
    elif kind == "udp":
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"udp", ("127.0.0.1", int(where))); s.close(); sys.exit(print("sent"))
    elif kind == "dgram":
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b"dgram", where); sys.exit(print("sent"))
    elif kind == "sendmsg":
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendmsg([b"dgram"], [], 0, where); sys.exit(print("sent"))
    else:
        s = socket.socket(socket.AF_UNIX); s.connect("\0" + where if kind == "abstract" else where)
    print(s.recv(10).decode())
except OSError as e: print(errno.errorcode.get(e.errno, e))
END
client() { run "${options[@]}" python3 client.py "$@"; }
cat >ws/pair.py <<'END'
import os, socket, sys
family = getattr(socket, sys.argv[1]); address = {"AF_INET": ("127.0.0.1", 0), "AF_INET6": ("::1", 0), "AF_UNIX": sys.argv[2:] and sys.argv[2].replace("@", "\0")}[sys.argv[1]]
try:
    server = socket.socket(family); server.bind(address); server.listen(); server.settimeout(10)
    if os.fork() == 0:
        try: c = socket.socket(family); c.connect(server.getsockname()); c.sendall(b"inside")
        except OSError as e: print("connect:", e.strerror, flush=True)
        os._exit(0)
    print(server.accept()[0].recv(10).decode())
except OSError as e: print(e.strerror or e)
END

# ---- outside, the client reaches everything

cd ws || exit 1
is "outside: tcp" "$(python3 client.py tcp "$tcp")" host
is "outside: abstract" "$(python3 client.py abstract "$name")" host
is "outside: path" "$(python3 client.py path host.sock)" host
is "outside: datagram" "$(python3 client.py dgram dgram.sock)" sent
cd ..
await grep -q dgram reached
: >reached

# ---- none

for options in "" "--network none"; do
    # shellcheck disable=SC2206
    options=($options)
    label="none${options:+, asked for}"
    is "$label: the only interface is lo" "$(run "${options[@]}" python3 -c 'import socket; print([n for _, n in socket.if_nameindex()])')" "['lo']"
    is "$label: loopback works" "$(run "${options[@]}" python3 pair.py AF_INET)" inside
    [ -e /proc/net/if_inet6 ] && is "$label: loopback works, IPv6" "$(run "${options[@]}" python3 pair.py AF_INET6)" inside
    is "$label: the host's port is closed" "$(client tcp "$tcp")" ECONNREFUSED
    like "$label: nothing outside is reached" "$(client out 192.0.2.1)" 'ENETUNREACH|EHOSTUNREACH'
    like "$label: the host's abstract socket is not there" "$(client abstract "$name")" 'ECONNREFUSED|EPERM'
done
client udp "$udp" >/dev/null
is "none: no name is resolved" "$(run getent hosts example.com; echo $?)" 2
refused "none: lo cannot be taken down" run --uid 0 /usr/sbin/ip link set lo down
refused "none: no raw socket" run --uid 0 python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'
not_ok "none: no /etc/resolv.conf" run test -e /etc/resolv.conf

# A full queue drops what comes: the second waits until the kernel asks again, a second later. It
# waits by itself.
cat >ws/waits.py <<'END'
import errno, socket, threading
full = socket.create_server(("127.0.0.1", 0), backlog=0); free = socket.create_server(("127.0.0.1", 0))
first = socket.create_connection(full.getsockname())
waiting, heard = socket.socket(), []
thread = threading.Thread(target=lambda: (waiting.connect(full.getsockname()), heard.append(waiting.recv(9))))
thread.start()
at_once = socket.socket(); at_once.setblocking(False)
print(errno.errorcode[at_once.connect_ex(full.getsockname())]); at_once.close()
for _ in range(50): socket.create_connection(free.getsockname()).close(); free.accept()[0].close()
print("others need not wait" if thread.is_alive() else "it did not wait")
for peer in full.accept()[0], full.accept()[0]: peer.sendall(b"inside")
thread.join(20); print(heard)
END
is "none: a connection that has to wait holds nobody up" "$(run timeout 30 python3 waits.py)" $'EINPROGRESS\nothers need not wait\n[b\'inside\']'

# init connects for its caller, and leaves nothing on the socket of what it needs for that.
cat >ws/blocking.py <<'END'
import os, socket
server = socket.create_server(("127.0.0.1", 0)); closed = socket.create_server(("127.0.0.1", 0)); nobody = closed.getsockname(); closed.close()
for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
    for address in server.getsockname(), nobody:
        for wanted in True, False:
            s = socket.socket(socket.AF_INET, kind); s.setblocking(wanted); s.connect_ex(address)
            if os.get_blocking(s.fileno()) != wanted: print(kind, address, wanted)
print("as before")
END
is "none: a socket waits or does not, as before it was connected" "$(run timeout 30 python3 blocking.py)" "as before"
# Numbers of threads and processes come again: each time it is the caller's own socket.
cat >ws/whose.py <<'END'
import os, socket, threading
servers = [socket.create_server(("127.0.0.1", 0), backlog=64) for _ in range(4)]
wrong = []
def connect(i):
    s = socket.socket()
    if s.connect_ex(servers[i % 4].getsockname()) or s.getpeername() != servers[i % 4].getsockname(): return wrong.append(i)
    servers[i % 4].accept()[0].close()
def process(i):
    if os.fork() == 0: connect(i); os._exit(bool(wrong))
    wrong.extend([i] * (os.wait()[1] != 0))
for i in range(150):
    for own in connect, process:
        thread = threading.Thread(target=own, args=(i,)); thread.start(); thread.join()
        connect(i)
print(wrong)
END
is "none: it is the caller's own socket that is connected" "$(run timeout 60 python3 -W ignore whose.py)" "[]"

# ---- off

options=(--network off)
for family in AF_INET AF_INET6; do
    is "off: no socket of $family" "$(run --network off python3 pair.py $family)" "Address family not supported by protocol"
done
like "off: nothing is reached" "$(client tcp "$tcp")" EAFNOSUPPORT
is "off: unix sockets work" "$(run --network off python3 pair.py AF_UNIX /tmp/s)" inside
is "off: lo is down" "$(run --network off awk '/lo:/ { print $3 + $11 }' /proc/net/dev)" 0
like "off: the host's abstract socket is not there" "$(client abstract "$name")" 'ECONNREFUSED|EPERM'

# ---- host

options=(--network host)
is "host: the host's port is open" "$(client tcp "$tcp")" host
is "host: UDP too" "$(client udp "$udp")" sent
await grep -q udp reached
is "host: and this was the only UDP packet that came through" "$(grep -c udp reached)" 1
like "host: abstract sockets of the host stay closed" "$(client abstract "$name")" 'EPERM|ECONNREFUSED|EACCES'
# Abstract names of the box and of the host cannot be told apart there.
like "host: abstract sockets are refused, the box's own too" \
    "$(run --network host python3 pair.py AF_UNIX "@inner-$$" 2>&1)" 'Operation not permitted'
is "host: unless they are allowed" "$(run --network host --allow-sockets python3 pair.py AF_UNIX "@inner-$$")" inside
[ -e /etc/resolv.conf ] && ok "host: resolv.conf is there" run --network host cat /etc/resolv.conf
refused "host: no raw socket" run --network host --uid 0 python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'
is "host: enforced says that the network is open" "$("$COOP" run -w ws --network host --json true </dev/null | jq -r .enforced.network)" null

# ---- unix sockets of the host that lie in the workspace

for options in "" "--network off" "--network host" "--profile dev" "--uid 0"; do
    # shellcheck disable=SC2206
    options=($options)
    like "${options[*]:-default}: the host's socket in the workspace cannot be connected to" "$(client path host.sock)" '^E(ACCES|PERM|CONNREFUSED)$'
    like "${options[*]:-default}: nor sent to" "$(client dgram dgram.sock)" '^E(ACCES|PERM|CONNREFUSED)$'
    like "${options[*]:-default}: nor by sendmsg" "$(client sendmsg dgram.sock)" '^E(ACCES|PERM|CONNREFUSED)$'
done
ln -s host.sock ws/alias.sock && ln ws/host.sock ws/hard.sock
options=()
for alias in alias.sock hard.sock ./../work/host.sock /proc/self/cwd/host.sock; do
    like "nor by another name: $alias" "$(client path "$alias")" '^E(ACCES|PERM|CONNREFUSED)$'
done
is "nothing came through" "$(grep -c dgram reached)" 0
is "a socket made in the box can be connected to in the box" "$(run python3 pair.py AF_UNIX inner.sock; run python3 pair.py AF_UNIX /tmp/inner.sock)" $'inside\ninside'
is "abstract ones too" "$(run python3 pair.py AF_UNIX "@inner-$$")" inside
options=(--allow-sockets)
is "--allow-sockets opens it" "$(client path host.sock)" host
options=(--allow-sockets --network off)
is "also without a network" "$(client path host.sock)" host
done_testing
