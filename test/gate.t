#!/bin/bash
# gate.t - the hosts that are allowed by name, and nothing else: real programs against real servers,
# in a network that the test made (test/gate/world.sh)
# worlds: root user
# builds: none
# needs: nodejs npm python3-pip default-jre-headless hey dropbear-bin openssh-client wget
# speed: slow
if [ -z "${GATE_WORLD-}" ]; then
    . "$(dirname "$0")/tap.sh"
    export GATE_WORLD=$T/world
    mkdir -p "$GATE_WORLD" && cd "$GATE_WORLD" || exit 1
    openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj "/CN=CA of the test" -days 30 2>/dev/null
    openssl req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj "/CN=good.test" 2>/dev/null
    printf 'subjectAltName=DNS:good.test,DNS:git.test,DNS:other.test,DNS:*.wild.test' >names
    openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -days 30 -extfile names 2>/dev/null
    "$SRC/test/gate/world.sh" "$SRC/test/gate.t"
    exit $?
fi
. "$(dirname "$0")/box.sh"
ALLOWED=(--allow good.test:443 --allow good.test:80 --allow good.test:7777 --allow '*.wild.test:443')
cp "$GATE_WORLD/ca.pem" ws/ca.pem
gate() { run "${ALLOWED[@]}" "$@"; }
# The denials of a run as lines: OP TARGET.
denials() { gate --json "$@" 2>/dev/null | jq -r '.denials[] | .op + " " + .target'; }

# ---- names decide

is "an allowed name, TLS" "$(gate -- curl -s --cacert ca.pem https://good.test/)" "hello from good.test"
is "an allowed name, plain" "$(gate -- curl -s http://good.test/)" "hello from good.test"
is "a name below a wildcard" "$(gate -- curl -s --cacert ca.pem https://a.wild.test/)" "hello from a.wild.test"
is "any other port that is named" "$(gate -- bash -c 'exec 3<>/dev/tcp/good.test/7777; echo ping >&3; read -r x <&3; echo $x')" ping
is "no variables are set for it" "$(gate -- env | grep -ci proxy)" 0
status "another name does not exist" 6 gate -- curl -s --cacert ca.pem https://other.test/
is "and is named as refused" "$(denials -- curl -s --cacert ca.pem https://other.test/)" "dns other.test"
out=$(gate --json -- curl -s https://other.test/ 2>/dev/null | jq -c '.denials[0] | [.op, .target, .rule, .origin, .allow]')
is "with the flag that would allow it" "$out" '["dns","other.test","network.allow","built-in default","--allow other.test"]'
like "and in words" "$(gate -- curl -s https://other.test/ 2>&1)" "refused: .*other.test.*--allow other.test"
status "the name itself is not below its wildcard" 6 gate -- curl -s https://wild.test/
isnt "a port that is not named" "$(gate -- bash -c 'exec 3<>/dev/tcp/good.test/8443 && echo open >&2; cat <&3' 2>&1 | grep -c open; gate -- curl -s http://good.test:8080/ -o /dev/null -w '%{http_code}')" "200"
like "is refused by name and port" "$(denials -- curl -s http://good.test:8080/)" "connect good.test:8080"
is "nothing outside was asked for a refused name" "$(grep -c ' other.test ' "$GATE_WORLD/log")" 0
is "deny wins" "$(run --allow '*' --deny denied.test -- curl -s -o /dev/null -w '%{http_code}' http://denied.test/; run --allow '*' --deny denied.test -- curl -s http://good.test/)" "000hello from good.test"
is "a name of 253 characters" "$(run --allow '*.wild.test' -- curl -s "http://$(printf 'a%.0s' {1..60}).$(printf 'b%.0s' {1..60}).$(printf 'c%.0s' {1..60}).$(printf 'd%.0s' {1..50}).wild.test/" | cut -c1-20)" "hello from aaaaaaaaa"
is "IPv6 alone" "$(run --allow six.test -- curl -s http://six.test/)" "hello from six.test"
is "and TLS with a second hello" "$(run --allow six.test -- curl -sk https://six.test/)" "hello from six.test"
is "asked for by IPv6" "$(gate -- curl -6 -s http://good.test/)" "hello from good.test"
is "an alias of a public name" "$(run --allow alias.test -- curl -s http://alias.test/)" "hello from alias.test"

# ---- addresses

for address in 11.22.33.6 '[::ffff:11.22.33.6]' 185999622 0x0b162106 013.026.041.6 10.9.8.7 169.254.169.254 '[2a00:11:22:33::5]' '[64:ff9b::b16:2106]'; do
    is "by address: $address" "$(gate -- curl -s -g -m 5 -o /dev/null -w '%{http_code}' "http://$address/")" 000
done
like "is named as refused" "$(denials -- curl -s -m 5 http://11.22.33.6/)" "connect 11.22.33.6:80"
is "an address that a rule names" "$(run --allow 11.22.33.0/24:80 -- curl -s http://11.22.33.6/)" "hello from 11.22.33.6"
is "but not its other ports" "$(run --allow 11.22.33.0/24:80 -- curl -sk -m 5 -o /dev/null -w '%{http_code}' https://11.22.33.6/)" 000
for name in inner meta loop chain mixed; do
    expected=403
    [ $name = mixed ] && expected=200 # one of its addresses is public
    is "a name that leads to a private address: $name.test" \
        "$(run --allow $name.test -- curl -s -m 5 -o /dev/null -w '%{http_code}' http://$name.test/)" $expected
done
like "is named with the address" "$(run --allow inner.test --json -- curl -s -m 5 http://inner.test/ 2>/dev/null | jq -r '.denials[].why')" "10.9.8.7"
is "unless a rule names that too" "$(run --allow inner.test --allow 10.9.8.7:80 -- curl -s http://inner.test/)" "hello from inner.test"
is "a name that leads to the host itself" "$(run --allow own.test -- curl -s -m 5 -o /dev/null -w '%{http_code}' http://own.test/)" 403
like "is named with the address" "$(run --allow own.test --json -- curl -s -m 5 http://own.test/ 2>/dev/null | jq -r '.denials[] | .why + " " + .allow')" "leads to 11.22.33.77 \(the host's own\).* --allow 11.22.33.77:80$"
is "the host by address" "$(run --allow '*' -- curl -s -m 5 -o /dev/null -w '%{http_code}' http://11.22.33.77/)" 000
is "unless a rule names that" "$(run --allow own.test --allow 11.22.33.77:80 -- curl -s http://own.test/)" "hello from own.test"
# The first answer is believed for some seconds; then the name leads to a private address.
like "a name that turns to another address" "$(run --allow turn.test -c 'curl -s http://turn.test/; for i in $(seq 100); do
    code=$(curl -s -m 5 -o /dev/null -w "%{http_code}" http://turn.test/); [ "$code" = 200 ] || break; sleep 0.1; done; echo "$code"')" '403$'
unlike "never arrives there" "$(cat "$GATE_WORLD/log")" 'turn.test .* 10\.9\.8\.7'
for host in localhost 127.0.0.1 '[::1]' 127.1 0.0.0.0 localhost. foo.localhost; do
    like "the host's own loopback: $host" "$(run --allow '*' -- curl -s -g -m 5 -o /dev/null -w '%{http_code}' "http://$host/")" '^(000|403)$'
done

# ---- what is said must be for the name

is "SNI of another host" "$(gate -- curl -sk -m 5 --connect-to other.test:443:good.test:443 -o /dev/null -w '%{http_code}' https://other.test/)" 000
like "is named" "$(gate --json -- curl -sk -m 5 --connect-to other.test:443:good.test:443 https://other.test/ 2>/dev/null | jq -r '.denials[] | .target + " " + .why')" "good.test:443 .*other.test"
is "Host of another host" "$(gate -- curl -s -m 5 -H 'Host: other.test' -o /dev/null -w '%{http_code}' http://good.test/)" 403
is "in a second request of one connection" "$(gate -- curl -s -m 5 http://good.test/ --next -s -m 5 -H 'Host: other.test' -o /dev/null -w '%{http_code}' http://good.test/)" "hello from good.test
403"
is "absolute form for another host" "$(gate -- curl -s -m 5 --request-target http://other.test/ -o /dev/null -w '%{http_code}' http://good.test/)" 403
is "CONNECT to another host" "$(gate -- curl -s -m 5 -p -x http://good.test:80 -o /dev/null -w '%{http_connect}' http://other.test/)" 403
is "no SNI, below a wildcard" "$(run --allow '*.wild.test' -- bash -c 'echo | openssl s_client -noservername -connect a.wild.test:443 2>/dev/null | grep -c "BEGIN CERT"')" 0
no_sni='echo | openssl s_client -noservername -connect good.test:443 2>/dev/null | grep -c "BEGIN CERT"'
is "no SNI, where a rule names the host" "$(gate -- bash -c "$no_sni")" 1
printf '[network]\nallow = ["good.test"]\nrequire_sni = true\n' >sni.toml
is "unless the policy wants one" "$(run --config sni.toml -- bash -c "$no_sni")" 0
is "or a flag" "$(gate --require-sni -- bash -c "$no_sni")" 0
is "which others have" "$(run --config sni.toml -- curl -s --cacert ca.pem https://good.test/)" "hello from good.test"
is "no TLS on 443" "$(gate -- bash -c 'exec 3<>/dev/tcp/good.test/443; printf "GET / HTTP/1.0\r\n\r\n" >&3; timeout 5 cat <&3 | grep -c hello')" 0
smuggle='POST / HTTP/1.1\r\nHost: good.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: other.test\r\n\r\n'
is "two lengths in one request" "$(gate -- bash -c 'exec 3<>/dev/tcp/good.test/80; printf "$1" >&3; timeout 5 cat <&3' - "$smuggle" | grep -c 'hello\|^0')" 0
unlike "of all this nothing reached a server under another name" "$(cat "$GATE_WORLD/log")" '^https? .* other.test .* 11.22.33.5'

# ---- other ways out

for way in "udp:8.8.8.8:443" "udp:8.8.8.8:4433"; do
    IFS=: read -r _ address port <<<"$way"
    refused "$way" gate -- bash -c "exec 3>/dev/udp/$address/$port && echo x >&3 && sleep 0.2 && echo y >&3"
done
refused "raw sockets" gate -- python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'
refused "ping sockets" gate -- python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)'
refused "packet sockets" gate -- python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'
refused "routes" gate -- ip route replace default dev lo
refused "rules" gate -- python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)'
refused "addresses" gate -- ip address add 1.2.3.4 dev lo
refused "a second network namespace" gate -- unshare -Urn true
is "whatever resolver is asked" "$(gate -- python3 -c '
import socket, struct
def ask(server, name):
    q = b"\x12\x34\x01\x00\x00\x01\0\0\0\0\0\0" + b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0\0\x01\0\x01"
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5); s.sendto(q, (server, 53)); a = s.recv(512)
    t = socket.create_connection((server, 53), 5); t.sendall(struct.pack(">H", len(q)) + q); b = t.recv(512)[2:]
    return a[3] & 15, b[3] & 15
print([ask(s, n) for s in ("8.8.8.8", "9.9.9.9") for n in ("good.test", "other.test")])')" "[(0, 0), (3, 3), (0, 0), (3, 3)]"
like "DNS over TLS" "$(denials -- bash -c 'exec 3<>/dev/tcp/8.8.8.8/853')" "connect 8.8.8.8:853"
is "DNS over HTTPS" "$(gate -- curl -s -m 5 -o /dev/null -w '%{http_code}' https://dns.google/dns-query)" 000
python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind("\0coop-gate-test"); s.listen(); print("up", flush=True); time.sleep(60)' >"$T/abstract" &
abstract=$!
await grep -q up "$T/abstract"
refused "abstract sockets of the host" gate -- python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("\0coop-gate-test")'
kill $abstract

# ---- datagrams

cat >ws/udp.py <<'END'
import socket, sys
s = socket.socket(socket.getaddrinfo(sys.argv[1], 0)[0][0], socket.SOCK_DGRAM)
s.settimeout(float(sys.argv[3]) if len(sys.argv) > 3 else 5)
s.connect((sys.argv[1], int(sys.argv[2])))
try:
    s.send(b"ping")
    print(s.recv(100).decode())
except OSError as error:
    print(type(error).__name__)
END
udp=(--allow good.test:7123/udp --allow 11.22.33.6:7123/udp --allow inner.test:7123/udp)
is "UDP to a name and port that a rule with /udp names" "$(run "${udp[@]}" -- python3 udp.py good.test 7123)" ping
is "and to an address" "$(run "${udp[@]}" -- python3 udp.py 11.22.33.6 7123)" ping
is "which opens no TCP" "$(run "${udp[@]}" --json -- bash -c 'exec 3<>/dev/tcp/good.test/7123; cat <&3' 2>/dev/null | jq -r '.denials[] | .op + " " + .target')" "connect good.test:7123"
is "another port is refused at once" "$(run "${udp[@]}" -- python3 udp.py good.test 7124)" ConnectionRefusedError
like "and named" "$(run "${udp[@]}" --json -- python3 udp.py good.test 7124 2>/dev/null | jq -r '.denials[] | .op + " " + .target + " " + .allow')" "^connect good.test:7124/udp --allow good.test:7124/udp$"
is "another address is not answered" "$(run "${udp[@]}" -- python3 udp.py 11.22.33.5 7123 0.3)" TimeoutError
like "but named" "$(run "${udp[@]}" --json -- python3 udp.py 11.22.33.5 7123 0.3 2>/dev/null | jq -r '.denials[] | .op + " " + .target')" "^connect 11.22.33.5:7123/udp$"
like "a name that leads to a private address too" "$(run "${udp[@]}" --json -- python3 udp.py inner.test 7123 0.3 2>/dev/null | jq -r '.denials[] | .target + " " + .allow')" "^inner.test:7123/udp --allow 10.9.8.7:7123/udp$"
is "QUIC to an allowed name is refused at once" "$(gate -- python3 udp.py good.test 443)" ConnectionRefusedError
is "the host's loopback is not the box's" "$(run --allow '*:7123/udp' -- python3 udp.py 127.0.0.1 7123 0.3)" TimeoutError
is "unless a rule says so" "$(run --allow localhost:7123/udp -- python3 udp.py 127.0.0.1 7123)" ping
refused "for datagrams only" run --allow localhost:7777/udp -- bash -c 'exec 3<>/dev/tcp/127.0.0.1/7777'
out=$(run --allow good.test:1-17/udp -- true 2>&1)
is "more ports than there can be sockets for" "$?" 125
like "is said" "$out" "the rules with '/udp' name more than 16 ports"
unlike "none of it arrived where it was not to" "$(cat "$GATE_WORLD/log")" '^udp (10\.9\.8\.7|169\.254|11\.22\.33\.6 7124)'

# ---- single ports of the loopbacks

is "--reach" "$(run --reach 5432 -- bash -c 'exec 3<>/dev/tcp/127.0.0.1/5432; echo ping >&3; read -r x <&3; echo $x')" ping
refused "and no other" run --reach 5432 -- bash -c 'exec 3<>/dev/tcp/127.0.0.1/7777'
like "a port that the gate has itself" "$(run --reach 1 true 2>&1)" "port 1 .*cannot be reached: in the box it is the gate's own"
like "or the proxy" "$(run --reach 1080 --proxy-env true 2>&1)" "port 1080 .*in the box it is the proxy's"
like "no port" "$(run --reach 65536 true 2>&1)" "bad port '65536': expected one from 1 to 65535"
mkfifo "$T/published"
"$COOP" run -w "$T/ws" --publish 18080:3000 -- python3 -c '
import http.server
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b"from the box\n")
    def log_message(self, *a): pass
http.server.HTTPServer(("127.0.0.1", 3000), Page).serve_forever()' <"$T/published" >/dev/null 2>&1 &
published=$!
exec 8>"$T/published"
await 20 curl -s -m 2 http://127.0.0.1:18080/
is "--publish" "$(curl -s -m 5 http://127.0.0.1:18080/)" "from the box"
refused "at no other address of the host" curl -s -m 5 http://11.22.33.5:18080/
exec 8>&-
kill $published
wait $published
# The servers' own port is taken.
out=$(run --publish 5432:3000 -- sleep 10 2>&1)
is "a port that is taken" "$?" 125
like "is named" "$out" "publish port 5432: Address (already )?in use"

# ---- while it runs

mkfifo "$T/hold"
"$COOP" run -w "$T/ws" --allow good.test -c 'cat >/dev/null; curl -s http://other.test/ >got; curl -s -o /dev/null -w "%{http_code}" http://good.test/ >code' <"$T/hold" >/dev/null 2>&1 &
live=$!
exec 8>"$T/hold"
await 20 "$COOP" net allow $live other.test:80
like "coop net list names the box" "$("$COOP" net list)" "^$live  .*--allow good.test"
ok "coop net deny" "$COOP" net deny $live good.test
if real_root; then
    out=$(setpriv --reuid 65533 --regid 65533 --clear-groups "$COOP" net allow $live wild.test 2>&1)
    is "somebody else may not" "$?" 125
    like "and is told" "$out" "look for the gate of the process $live: Permission denied"
    is "nor sees it" "$(setpriv --reuid 65533 --regid 65533 --clear-groups "$COOP" net list)" ""
fi
exec 8>&-
wait $live
is "a host that was allowed later" "$(cat ws/got)" "hello from other.test"
is "and one that was denied later" "$(cat ws/code)" "000"
"$COOP" run -w "$T/ws" --json --allow '*.wild.test:7123/udp' --allow 11.22.33.0/24:81 --reach 7777 -c 'curl -s -m 5 http://10.9.8.7/; : >before; cat >/dev/null
    python3 udp.py good.test 7123; curl -s -m 5 http://11.22.33.6/; curl -s -m 5 http://10.9.8.7/; curl -s -m 5 "http://[2a00:11:22:33::5]/"
    curl -s -m 5 http://10.9.8.7:7777/ || echo refused; curl -s -m 5 http://10.9.8.8/ || echo refused; python3 udp.py 10.9.8.7 99' <"$T/hold" >"$T/live.json" 2>/dev/null &
live=$!
exec 8>"$T/hold"
await 20 "$COOP" net allow $live localhost:7777 # as it is already
ok "datagrams to a port that was named at the start" "$COOP" net allow $live good.test:7123/udp
ok "an address of a network that was" "$COOP" net allow $live 11.22.33.6:80
await 20 test -e ws/before
ok "an address that no rule named" "$COOP" net allow $live 10.9.8.7:80
ok "of IPv6 too" "$COOP" net allow $live '[2a00:11:22:33::/64]:80'
for other in good.test:7124/udp=7124 good.test:7123-7124/udp=7124 localhost:5432=5432; do
    out=$("$COOP" net allow $live "${other%=*}" 2>&1)
    is "what cannot come later: ${other%=*}" "$?" 125
    like "is said, and what to do" "${out//$'\n'/ }" "${other#*=}.*--allow ${other%=*}"
done
exec 8>&-
wait $live
is "these can be reached, and no others" "$(jq -r .stdout.text "$T/live.json")" "ping
hello from 11.22.33.6
hello from 10.9.8.7
hello from [2a00:11:22:33::5]
refused
refused
PermissionError"
is "what was refused before, and what still is" "$(jq -r '.denials[].target' "$T/live.json" | sort | tr '\n' ' ')" "10.9.8.7:7777 10.9.8.7:80 10.9.8.7:99/udp 10.9.8.8:80 "
status "a process that has no gate" 125 "$COOP" net allow $$ other.test
status "a host that is none" 125 "$COOP" net allow $$ http://other.test
"$COOP" run -w "$T/ws" --json --allow good.test -c ': >up; read -r line; curl -s -o /dev/null http://good.test/; cat >/dev/null; curl -s -m 5 http://good.test/' <"$T/hold" >"$T/killed.json" 2>/dev/null &
live=$!
exec 8>"$T/hold"
await 20 test -e ws/up
status "no gate is there for who reaches for nothing" 1 pgrep -P $live coop-gate
echo >&8
await 20 pgrep -P $live coop-gate
kill -KILL "$(pgrep -P $live coop-gate)"
exec 8>&-
wait $live
is "a gate that is killed lets nothing through" "$(jq -r .stdout.text "$T/killed.json")" ""
like "and the result says so" "$(jq -r .note "$T/killed.json")" "the network gate ended before"

# ---- a proxy, for those who insist

is "--proxy-env: a proxy under the same rules" "$(gate --proxy-env -- curl -s --cacert ca.pem https://good.test/; gate --proxy-env -- curl -s -m 5 -o /dev/null -w '%{http_connect}' https://other.test/)" "hello from good.test
403"
is "SOCKS5 too" "$(gate --proxy-env -- curl -s --cacert ca.pem -x socks5h://127.0.0.1:1080 https://good.test/)" "hello from good.test"
status "but not for others" 97 gate --proxy-env -- curl -s -m 5 -x socks5h://127.0.0.1:1080 https://other.test/

# ---- programs, with no variables set

git init -q -b main source && (cd source && git config user.email a@b && git config user.name a && echo one >file && git add file && git commit -qm one)
git clone -q --bare source "$GATE_WORLD/git/project.git" && git -C "$GATE_WORLD/git/project.git" config http.receivepack true
ok "git clone" gate -- git -c http.sslCAInfo=/work/ca.pem clone -q https://good.test/git/project.git clone
is "and its content" "$(cat ws/clone/file)" one
like "git from another host is refused by name" "$(denials -- git clone -q https://git.test/git/project.git other)" "dns git.test"
is "wget" "$(gate -- wget -qO- --ca-certificate=/work/ca.pem https://good.test/)" "hello from good.test"
refused "wget, another host" gate -- wget -qO- --timeout=5 https://other.test/
is "python" "$(gate -- python3 -c 'import ssl, urllib.request
print(urllib.request.urlopen("https://good.test/", context=ssl.create_default_context(cafile="/work/ca.pem")).read().decode(), end="")')" "hello from good.test"
refused "python, another host" gate -- python3 -c 'import urllib.request; urllib.request.urlopen("http://other.test/")'
if command -v node >/dev/null; then
    is "node" "$(gate --env NODE_EXTRA_CA_CERTS=/work/ca.pem -- node -e 'fetch("https://good.test/").then(r => r.text()).then(t => process.stdout.write(t))')" "hello from good.test"
    refused "node, another host" gate -- node -e 'fetch("https://other.test/").catch(e => process.exit(1))'
else skip "node" "not installed"; fi
if command -v npm >/dev/null; then
    mkdir -p package "$GATE_WORLD/www/npm" && printf '{"name":"hello-coop","version":"1.0.0","main":"index.js"}' >package/package.json && echo 'module.exports = "hello"' >package/index.js
    tar czf "$GATE_WORLD/www/npm/hello-coop-1.0.0.tgz" package
    sum=$(sha1sum <"$GATE_WORLD/www/npm/hello-coop-1.0.0.tgz" | cut -d' ' -f1)
    printf '{"name":"hello-coop","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"hello-coop","version":"1.0.0","dist":{"tarball":"https://good.test/npm/hello-coop-1.0.0.tgz","shasum":"%s"}}}}' "$sum" >"$GATE_WORLD/www/hello-coop"
    mkdir -p ws/npm && ok "npm install" gate --chdir npm --timeout 60s -- npm install --no-audit --no-fund --no-update-notifier --cafile /work/ca.pem --registry https://good.test/ hello-coop
    is "and its content" "$(cat ws/npm/node_modules/hello-coop/index.js)" 'module.exports = "hello"'
else skip "npm" "not installed"; fi
if /usr/bin/python3 -m pip --version >/dev/null 2>&1; then # which asks by the library requests
    mkdir -p "$GATE_WORLD/www/pip" && (cd "$GATE_WORLD/www/pip" && python3 -c 'import zipfile
with zipfile.ZipFile("hello_coop-1.0-py3-none-any.whl", "w") as wheel:
    for name, text in {"METADATA": "Metadata-Version: 2.1\nName: hello-coop\nVersion: 1.0\n", "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "RECORD": ""}.items():
        wheel.writestr("hello_coop-1.0.dist-info/" + name, text)
    wheel.writestr("hello_coop.py", "greeting = 1\n")' && echo '<a href="hello_coop-1.0-py3-none-any.whl">hello_coop-1.0-py3-none-any.whl</a>' >index.html)
    pip=(/usr/bin/python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --retries 0 --no-index --cert /work/ca.pem --dest wheels)
    ok "pip" gate --timeout 60s -- "${pip[@]}" --find-links https://good.test/pip/index.html hello-coop
    ok "and its content" cmp ws/wheels/*.whl "$GATE_WORLD"/www/pip/*.whl
    like "pip, another host" "$(denials -- "${pip[@]}" --find-links https://other.test/pip/index.html hello-coop)" "dns other.test"
else skip "pip" "not installed"; fi
if command -v keytool >/dev/null; then # the client that is in every runtime of Java
    like "java" "$(gate -- keytool -printcert -sslserver good.test:443)" "Owner: CN=good.test"
    like "java, another host" "$(denials -- keytool -printcert -sslserver other.test:443)" "dns other.test"
else skip "java" "no keytool here"; fi
if command -v hey >/dev/null; then # a client written in Go: its own resolver, its own TLS
    like "go" "$(gate -- hey -n 20 -c 4 https://good.test/)" "\[200\][[:space:]]+20 responses"
    like "go, another host" "$(denials -- hey -n 1 -c 1 https://other.test/)" "dns other.test"
else skip "go" "no hey here"; fi

# A server that is there, or one that comes without a service that would begin to serve.
serve_ssh() {
    if [ -x /usr/sbin/sshd ] && [ "$1" != dropbear ]; then
        printf '%s\n' "Port 2222" "ListenAddress 11.22.33.5" "HostKey $GATE_WORLD/hostkey" "AuthorizedKeysFile $GATE_WORLD/.ssh/authorized_keys" \
            "StrictModes no" "UsePAM no" "PidFile none" "Subsystem sftp internal-sftp" >"$GATE_WORLD/sshd_config"
        set -- /usr/sbin/sshd -D -e -f "$GATE_WORLD/sshd_config"
    else
        dropbearkey -t ed25519 -f "$GATE_WORLD/dropbearkey" >/dev/null 2>&1
        set -- /usr/sbin/dropbear -F -E -r "$GATE_WORLD/dropbearkey" -P "" -p 11.22.33.5:2222
    fi
    # As somebody who is not root even in here: then it needs no users of its own.
    exec unshare -U --map-user=1000 --map-group=1000 "$@" >"$GATE_WORLD/sshd.out" 2>&1
}
if [ -x /usr/sbin/sshd ] || [ -x /usr/sbin/dropbear ]; then
    mkdir -m 700 "$GATE_WORLD/.ssh"
    ssh-keygen -q -t ed25519 -N '' -f "$GATE_WORLD/hostkey" && ssh-keygen -q -t ed25519 -N '' -f ws/sshkey
    cat ws/sshkey.pub >"$GATE_WORLD/.ssh/authorized_keys"
    { grep -v ':x:1000:' /etc/passwd; echo "agent:x:1000:1000::$GATE_WORLD:/bin/sh"; } >"$GATE_WORLD/passwd"
    mount --bind "$GATE_WORLD/passwd" /etc/passwd
    serve_ssh "${COOP_TEST_SSHD-}" &
    sshd=$!
    await 20 bash -c 'exec 3<>/dev/tcp/11.22.33.5/2222'
    known=(-i sshkey -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR)
    is "ssh" "$(run --allow good.test:2222 -- ssh "${known[@]}" -p 2222 agent@good.test echo from there)" "from there"
    echo content >"$GATE_WORLD/fetched"
    ok "scp" run --allow good.test:2222 -- scp -q -O "${known[@]}" -P 2222 agent@good.test:"$GATE_WORLD/fetched" fetched
    is "and its content" "$(cat ws/fetched)" content
    like "ssh to another host is refused by name" "$(denials -- ssh "${known[@]}" -p 2222 agent@other.test true)" "dns other.test"
    kill $sshd
    umount /etc/passwd
else skip "ssh" "no sshd and no dropbear here"; fi

# ---- many, long, broken

is "a slow answer arrives whole" "$(gate -- curl -s http://good.test/slow)" 0123456789
is "20 MB through it" "$(gate -- curl -s http://good.test/bytes/20000000 | wc -c)" 20000000
is "20 MB up" "$(head -c 20000000 /dev/zero | "$COOP" run -w "$T/ws" "${ALLOWED[@]}" -- curl -s --data-binary @- http://good.test/up)" 20000000
is "200 at once" "$(gate -- bash -c 'for i in $(seq 200); do curl -s http://good.test/ & done; wait' | grep -c hello)" 200
is "a host that is down: not refused, not there" "$(run --allow dead.test --json -- curl -s -m 8 http://dead.test/ 2>/dev/null | jq -c '.denials')" '[]'
like "which the result says" "$(run --allow dead.test --json -- curl -s -m 8 http://dead.test/ 2>/dev/null | jq -r .note)" "^the host could not reach dead.test:80: (Network (is )?unreachable|No route to host|Host is unreachable)$"
like "and who runs it is told" "$(run --allow dead.test -- curl -s -m 8 http://dead.test/ 2>&1)" "^coop run: the host could not reach dead.test:80: "
like "also of a name that does not exist" "$(run --allow nobody.test --json -- curl -s -m 8 http://nobody.test/ 2>/dev/null | jq -r .note)" "^the host could not reach nobody.test:80: the name could not be resolved$"
is "10,000 names: at most 200 are kept" "$(gate --json -- python3 -c 'import socket
for i in range(10000):
    try: socket.gethostbyname("n%d.test" % i)
    except OSError: pass' 2>/dev/null | jq '.denials | length <= 201')" true
status "the gate is gone with the box" 1 pgrep -P $$ coop-gate
is "nothing is set on the host" "$(ip -o link | grep -vc ' lo:')" 0
done_testing
