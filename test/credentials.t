#!/bin/bash
# credentials.t - requests that are sent on with a secret which the box never has: [network.credentials]
# in the world of test/gate, against a service that writes down what it gets (test/gate/api.py)
# worlds: root user
# builds: none
# needs: openssl
# speed: slow
if [ -z "${GATE_WORLD-}" ]; then
    . "$(dirname "$0")/tap.sh"
    if [ ! -x "$(dirname "$COOP")/coop-credential" ] && [ -z "${COOP_LIBEXEC-}" ]; then
        skip_never "credentials" "coop-credential was not built: OpenSSL 3 was not there"
        done_testing
    fi
    export GATE_WORLD=$T/world
    mkdir -p "$GATE_WORLD" && cd "$GATE_WORLD" || exit 1
    openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj "/CN=CA of the test" -days 30 2>/dev/null
    openssl req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj "/CN=good.test" 2>/dev/null
    printf 'subjectAltName=DNS:good.test,DNS:inner.test,DNS:dead.test' >names
    openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -days 30 -extfile names 2>/dev/null
    openssl req -x509 -newkey rsa:2048 -nodes -keyout stranger-key.pem -out stranger-cert.pem -subj "/CN=good.test" \
        -addext subjectAltName=DNS:good.test -days 30 2>/dev/null
    "$SRC/test/gate/world.sh" "$SRC/test/credentials.t"
    exit $?
fi
. "$(dirname "$0")/box.sh"
python3 "$SRC/test/gate/api.py" "$GATE_WORLD" >"$T/api.out" 2>&1 &
api=$!
trap 'kill $api; rm -rf "$T" "$T.cache"' EXIT
await 20 test -e "$GATE_WORLD/api.ready"
export HOME=$T/home XDG_STATE_HOME=$T/state
CANARY=canary-$RANDOM$RANDOM$RANDOM
LOG=$GATE_WORLD/api.log
mkdir -p home
printf '%s\n' "$CANARY" >secret && chmod 600 secret
cat >policy.toml <<EOF
[secrets.token]
file = "$T/secret"
[network.credentials.api]
host = "good.test:9443"
secret = "token"
env = "API_URL"
ca = "$GATE_WORLD/ca.pem"
[network.credentials.keyed]
host = "good.test:9443"
secret = "token"
header = "x-api-key"
ca = "$GATE_WORLD/ca.pem"
[network.credentials.older]
host = "good.test:9445"
secret = "token"
ca = "$GATE_WORLD/ca.pem"
[network.credentials.stranger]
host = "good.test:9444"
secret = "token"
ca = "$GATE_WORLD/ca.pem"
[network.credentials.misnamed]
host = "both.test:9443"
secret = "token"
ca = "$GATE_WORLD/ca.pem"
[network.credentials.unsigned]
host = "good.test:9443"
secret = "token"
[network.credentials.inner]
host = "inner.test:443"
secret = "token"
ca = "$GATE_WORLD/ca.pem"
[network.credentials.dead]
host = "dead.test"
secret = "token"
EOF
chmod 600 policy.toml
box() { run --config "$T/policy.toml" "$@"; }
code() { box "${@:2}" -- curl -s -m 20 -o /dev/null -w '%{http_code}' "$1"; }
denied() { box --json -- "$@" 2>/dev/null | jq -r '.denials[] | .target + " " + .rule + " " + .why'; }
# The last head that the service got.
last() { grep "^9443 | [A-Z]* /" "$LOG" | tail -n 1; }

# ---- the secret arrives, and the box does not have it

is "a request is answered" "$(box -- curl -s http://api.coop.internal/hello)" "hello from the service"
like "with the secret added" "$(last)" "\| Authorization: Bearer $CANARY( |$)"
like "for its own host" "$(last)" '\| Host: good.test:9443 '
like "and nothing after it" "$(last)" '\| Connection: close '
is "the variable says where" "$(box -c 'curl -s $API_URL/hello; echo $API_URL')" "hello from the service
http://api.coop.internal"
is "another field, without a prefix" "$(box -- curl -s http://keyed.coop.internal/x >/dev/null; last | grep -c "| x-api-key: $CANARY")" 1
is "the box's own copy of the field goes" "$(box -- curl -s -H 'Authorization: mine' -H 'authorization: too' http://api.coop.internal/x >/dev/null; last | grep -o -i '[a]uthorization: [^|]*')" "Authorization: Bearer $CANARY"
is "also in the spelling that some servers take for it" "$(box -- curl -s -H 'x_api_key: mine' http://keyed.coop.internal/x >/dev/null; last | grep -c mine)" 0
like "other fields stay" "$(box -- curl -s -H 'X-Mine: yes' -d a=b http://api.coop.internal/x >/dev/null; last)" '\| POST /x .*X-Mine: yes.*Content-Length: 3'
cat >ws/search.sh <<'EOF'
# All that a box can look at, while its requests are being served. Into a file: what is printed loses
# secrets on its way.
exec >found 2>&1
( while sleep 0.02; do curl -s -o /dev/null "$API_URL/hello"; done ) & busy=$!
for i in 1 2 3; do
    curl -s -D headers -o body "$API_URL/echo"
    cat headers body
    env; set
    cat /proc/*/environ /proc/*/cmdline /proc/*/maps /proc/*/status 2>/dev/null
    find / -xdev -path /work -prune -o -type f -newer /work/search.sh -exec cat {} + 2>/dev/null
    python3 - <<'PY'
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
            for line in maps:
                first, last = (int(x, 16) for x in line.split()[0].split("-"))
                if " r" not in line or "v" in line.split()[-1][:2]: continue
                try:
                    memory.seek(first); os.write(1, memory.read(min(last - first, 1 << 22)))
                except (OSError, OverflowError, ValueError): pass
    except OSError: pass
PY
done
kill $busy
EOF
box -- sh search.sh
like "the search went through" "$(grep -a -c 'X-Echo' ws/found)" '^[1-9]'
is "the secret is nowhere in what the box can see" "$(grep -r -a -l "$CANARY" ws | wc -l)" 0
box -- curl -s -D head -o /dev/null http://api.coop.internal/echo
is "a field that repeats it does not say it" "$(tr -d '\r' <ws/head | grep -E '^(X-Echo|Set-Cookie|Location)')" "X-Echo: Bearer [secret token]
Set-Cookie: token=[secret token]; Path=/
Location: https://other.test/?key=[secret token]"
box --json -- curl -s -D - http://api.coop.internal/echo >"$T/result.json" 2>"$T/result.err"
COOP_LOG=debug box -- curl -s http://api.coop.internal/echo >/dev/null 2>"$T/log.txt"
"$COOP" plan --config policy.toml -w ws -- true >plan.txt 2>&1
"$COOP" plan --config policy.toml -w ws --as-bwrap -- true >>plan.txt 2>&1
"$COOP" config show --config policy.toml >show.txt 2>&1
"$COOP" why --config policy.toml -w ws env API_URL >why.txt 2>&1
like "and the policy knows" "$("$COOP" why --config policy.toml -w ws connect api.coop.internal:80 2>&1)" "good.test:9443 with the secret 'token'"
like "of the variable too" "$(cat why.txt)" "network.credentials 'api'"
is "nor in the result, the log, the plan, the configuration as shown, the record of what was run" \
    "$(grep -rl "$CANARY" result.json result.err log.txt plan.txt show.txt why.txt state ws 2>/dev/null | wc -l)" 0
ok "of which all were written" test -s result.json -a -s log.txt -a -s plan.txt -a -s show.txt
like "the record too" "$(find state -type f | wc -l)" '^[1-9]'
mkfifo "$T/hold"
"$COOP" run -w "$T/ws" --config policy.toml -c 'curl -s $API_URL/hello >up; cat >/dev/null' <"$T/hold" >/dev/null 2>&1 &
live=$!
exec 8>"$T/hold"
await 20 grep -q hello ws/up
keeper=$(pgrep -P $live -x coop-credential)
like "one process holds it" "$keeper" '^[0-9]+$'
is "with no word of it in its arguments and its environment" "$(cat "/proc/$keeper/cmdline" "/proc/$keeper/environ" 2>/dev/null | grep -c -a "$CANARY")" 0
is "nor in those of the gate" "$(cat /proc/"$(pgrep -P $live -x coop-gate)"/{cmdline,environ} 2>/dev/null | grep -c -a "$CANARY")" 0
is "it can do nothing else any more" "$(awk '/^Seccomp:/ { print $2 } /^NoNewPrivs:/ { print $2 } /^CapEff:/ { print $2 }' "/proc/$keeper/status" | xargs)" "0000000000000000 1 2"
if real_root; then
    is "it keeps no descriptor but its sockets" "$(find "/proc/$keeper/fd" -lname '*memfd*' | wc -l)" 0
fi
exec 8>&-
wait $live
ok "it is gone with the box" test ! -e "/proc/$keeper"
is "a box that does not ask has none" "$("$COOP" run -w ws --config policy.toml --json -- true 2>/dev/null | jq -r .exit_code; pgrep -x coop-credential -P $$ | wc -l)" "0
0"

# ---- nobody else gets it

before=$(wc -l <"$LOG")
is "a certificate that nobody has signed" "$(code http://stranger.coop.internal/)" 502
like "is refused with a record" "$(denied curl -s http://stranger.coop.internal/)" '^good.test:9444 network.credentials.stranger .*certificate is not believed'
like "which says where the rule stands" "$(box --json -- curl -s http://stranger.coop.internal/ 2>/dev/null | jq -r '.denials[].origin')" 'policy.toml:[12][0-9]'
like "and the box is told" "$(box -- curl -s http://stranger.coop.internal/)" "^coop: the host's certificate is not believed: self.signed certificate"
is "a certificate for another name" "$(code http://misnamed.coop.internal/)" 502
is "the test's CA is believed only where that is written" "$(code http://unsigned.coop.internal/)" 502
is "none of these hosts got a request" "$(tail -n +$((before + 1)) "$LOG" | grep -c '| [A-Z]* /')" 0
is "variables of the caller do not change that" "$(SSL_CERT_FILE=$GATE_WORLD/ca.pem code http://unsigned.coop.internal/)" 502
is "a host that leads to a private address" "$(code http://inner.coop.internal/)" 403
is "a host that is down" "$(code http://dead.coop.internal/)" 000
is "a redirect goes to the box" "$(box -- curl -s -o /dev/null -w '%{http_code} %{redirect_url}' http://api.coop.internal/redirect)" "302 http://other.test/landing"
box --allow other.test -- curl -s -L -o /dev/null http://api.coop.internal/redirect
is "and who follows it takes nothing along" "$(grep -c 'http GET other.test /landing' "$GATE_WORLD/log")" 1
is "Host of another" "$(box -- curl -s -o /dev/null -w '%{http_code}' -H 'Host: other.test' http://api.coop.internal/)" 403
is "absolute form" "$(box -- curl -s -o /dev/null -w '%{http_code}' --request-target http://other.test/ http://api.coop.internal/)" 403
is "absolute form for the name itself" "$(box -- curl -s -o /dev/null -w '%{http_code}' --request-target http://api.coop.internal/absolute http://api.coop.internal/)" 200
is "arrives as a path" "$(grep -c 'GET /absolute HTTP' "$LOG")" 1
is "CONNECT" "$(box -- curl -s -p -x http://api.coop.internal:80 -o /dev/null -w '%{http_connect}' http://other.test/)" 403
is "OPTIONS *" "$(box -- curl -s -o /dev/null -w '%{http_code}' -X OPTIONS --request-target '*' http://api.coop.internal/)" 405
is "TRACE, which would show it" "$(box -- curl -s -o /dev/null -w '%{http_code}' -X TRACE http://api.coop.internal/)" 405
say() { box -- bash -c 'exec 3<>/dev/tcp/api.coop.internal/80; printf "$1" >&3; timeout 10 cat <&3' - "$1"; }
before=$(wc -l <"$LOG")
for smuggle in 'POST /s HTTP/1.1\r\nHost: api.coop.internal\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n' \
    'POST /s HTTP/1.1\r\nHost: api.coop.internal\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd' \
    'POST /s HTTP/1.1\r\nHost: api.coop.internal\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n' \
    'GET /s HTTP/1.1\nHost: api.coop.internal\n\n' \
    'GET /s HTTP/1.1\r\nHost: api.coop.internal\r\nHost: other.test\r\n\r\n' \
    'GET /s HTTP/1.1\r\nHost: api.coop.internal\r\nContent_Length: 4\r\n\r\nabcd'; do
    like "refused: ${smuggle:0:60}..." "$(say "$smuggle")" '^HTTP/1.1 403'
done
is "none of these arrived" "$(tail -n +$((before + 1)) "$LOG" | grep -c '/s HTTP')" 0
# The service waits for more on this connection, and must get nothing.
out=$(say 'GET /keep HTTP/1.1\r\nHost: api.coop.internal\r\n\r\nGET /second HTTP/1.1\r\nHost: api.coop.internal\r\n\r\n')
like "a second request on the same connection: the first is answered" "$out" "hello from the service"
is "once, and it says that no more follows" "$(grep -c '^HTTP/1.1' <<<"$out") $(tr -d '\r' <<<"$out" | grep -ci '^connection: close') $(grep -ci '^keep-alive' <<<"$out")" "1 1 0"
out=$(say 'POST /keep HTTP/1.1\r\nHost: api.coop.internal\r\nContent-Length: 2\r\n\r\nabGET /second HTTP/1.1\r\nHost: api.coop.internal\r\n\r\n')
like "behind a body too" "$out" "hello from the service"
is "the second never arrives" "$(grep -c second "$LOG")" 0
is "port 80 only" "$(box -- curl -s -m 5 -o /dev/null -w '%{http_code}' https://api.coop.internal/; box -- curl -s -m 5 -o /dev/null -w '%{http_code}' http://api.coop.internal:8080/)" "000000"
is "the host itself is not opened by it" "$(box -- curl -sk -m 5 -o /dev/null -w '%{http_code}' https://good.test:9443/)" 000
is "a name that is no credential" "$(box -- curl -s -m 5 -o /dev/null -w '%{http_code}' http://nobody.coop.internal/)" 000
is "deny wins, of the name" "$(code http://api.coop.internal/ --deny api.coop.internal)" 000
is "and of the host" "$(code http://api.coop.internal/ --deny good.test)" 000
is "another network has none" "$(box --network none -c 'echo "[$API_URL]"')" "[]"
is "an answer that is none" "$(code http://api.coop.internal/nonsense)" 502
status "an answer that is cut off is no whole one" 56 box -- curl -s http://api.coop.internal/cut

# ---- all that a service does

is "a large answer" "$(box -- curl -s http://api.coop.internal/bytes/20000000 | wc -c)" 20000000
is "events arrive as they are written" "$(box -c 'curl -sN $API_URL/sse | while read -r line; do
    [ "$line" ] || continue; echo "$line"; [ "$line" != "data: one" ] || curl -s -o /dev/null $API_URL/ack; done')" "data: one
data: two"
is "Expect: 100-continue" "$(box -- curl -s -H 'Expect: 100-continue' -d abc http://api.coop.internal/upload)" 3
box -- curl -s -i -o early -H 'Expect: 100-continue' -d abc http://api.coop.internal/upload
is "the early answer does not say it either" "$(tr -d '\r' <ws/early | grep X-Early)" "X-Early: Bearer [secret token]"
is "chunks" "$(head -c 3000000 /dev/zero | "$COOP" run -w ws --config policy.toml -- curl -s -H 'Transfer-Encoding: chunked' --data-binary @- http://api.coop.internal/upload)" 3000000
cat >ws/websocket.py <<'EOF'
import socket, sys
s = socket.create_connection(("api.coop.internal", 80))
s.sendall(b"GET /ws HTTP/1.1\r\nHost: api.coop.internal\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
f = s.makefile("rb")
head = []
while (line := f.readline().strip()): head.append(line.decode())
print(head[0]); print([h for h in head if "accept" in h.lower()][0])
for text in (b"\x81\x85\0\0\0\0hello", b"x" * 100000):
    s.sendall(text)
    print(f.read(len(text)) == text)
s.shutdown(socket.SHUT_WR)
print(f.read())
EOF
is "WebSocket" "$(box -- python3 websocket.py)" "HTTP/1.1 101 Switching Protocols
Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=
True
True
b''"
like "has it too" "$(last)" "GET /ws.*Upgrade: websocket.*Connection: Upgrade .*Bearer $CANARY"
is "TLS 1.2" "$(box -- curl -s http://older.coop.internal/hello)" "hello from the service"
is "through the gate's proxy" "$(box --proxy-env -- curl -s http://api.coop.internal/hello; box --proxy-env -- curl -s -x socks5h://127.0.0.1:1080 http://api.coop.internal/hello)" "hello from the service
hello from the service"
is "200 at once" "$(box -c 'for i in $(seq 200); do curl -s $API_URL/hello & done; wait' | grep -c hello)" 200
"$COOP" run -w "$T/ws" --config policy.toml -c 'head -c 1073741824 /dev/zero | curl -s -T - -H "Transfer-Encoding:" -H "Content-Length: 1073741824" -X POST $API_URL/upload >uploaded; cat >/dev/null' <"$T/hold" >"$T/upload.out" 2>&1 &
live=$!
exec 8>"$T/hold"
await 120 grep -q . ws/uploaded
is "an upload of 1 GiB" "$(cat ws/uploaded)" 1073741824
like "in a few megabytes of memory" "$(awk '/^VmHWM/ { print ($2 < 32768 ? "few" : $2) }' "/proc/$(pgrep -P $live -x coop-credential)/status")" few
exec 8>&-
wait $live

# ---- while it runs

"$COOP" run -w "$T/ws" --config policy.toml -c 'curl -s $API_URL/hello >live; cat >/dev/null; curl -s -o /dev/null -w "%{http_code}" $API_URL/hello >code' <"$T/hold" >/dev/null 2>&1 &
live=$!
exec 8>"$T/hold"
await 20 grep -q hello ws/live
ok "coop net deny" "$COOP" net deny $live good.test
exec 8>&-
wait $live
is "holds for its requests too" "$(cat ws/code)" 000
"$COOP" run -w "$T/ws" --config policy.toml --json -c 'curl -s $API_URL/hello >killed; cat >/dev/null; curl -s -o /dev/null -w "%{http_code}" $API_URL/hello' <"$T/hold" >"$T/killed.json" 2>/dev/null &
live=$!
exec 8>"$T/hold"
await 20 grep -q hello ws/killed
keeper=$(pgrep -P $live -x coop-credential)
kill -KILL "$keeper"
await 20 test ! -e "/proc/$keeper/exe"
exec 8>&-
wait $live
unlike "whoever kills it opens nothing" "$(jq -r .stdout.text killed.json)" 200
like "and the result says so" "$(jq -r '.denials[].why' killed.json)" "has ended"

# ---- who may use it, and who may say so

cat >>policy.toml <<EOF
[sandbox]
enabled = true
[[users]]
name = "ann"
trust = "full"
match = ["test:ann"]
[[users]]
name = "bob"
trust = "full"
match = ["test:bob"]
[network.credentials.hers]
host = "good.test:9443"
secret = "token"
users = ["ann"]
ca = "$GATE_WORLD/ca.pem"
EOF
is "for a user that it names" "$(code http://hers.coop.internal/ --as test:ann)" 200
is "not for another" "$(code http://hers.coop.internal/ --as test:bob)" 000
is "nor for nobody in particular" "$(code http://hers.coop.internal/)" 000
is "what names nobody is not for users" "$(code http://api.coop.internal/ --as test:bob)" 000
is "the secret itself is given to none of them" "$(box --as test:ann -- env | grep -c "$CANARY")" 0
like "coop check is content" "$("$COOP" check --config policy.toml -w ws 2>&1)" "no (errors|mistakes|problems)|0 errors|good|ok|nothing"
printf '[network.credentials.mine]\nhost = "good.test"\nsecret = "token"\n' >ws/coop.toml
out=$(box -- true 2>&1)
isnt "a file in the workspace may not say so" "$?" 0
like "and is told" "$out" "network.credentials"
rm ws/coop.toml
# Mistakes: KEY = VALUE; what is said.
while IFS='|' read -r line said; do
    printf '[secrets.token]\nfile = "%s"\n[network.credentials.%s\n' "$T/secret" "$(printf '%b' "$line")" >bad.toml
    chmod 600 bad.toml
    out=$("$COOP" run -w ws --config bad.toml -- true 2>&1)
    like "$line" "$? $out" "^125 .*$said"
done <<'EOF'
api]\nhost = "good.test"|secret
api]\nsecret = "token"|host
api]\nhost = "good.test"\nsecret = "other"|'other', which is not there
API]\nhost = "good.test"\nsecret = "token"|small letters
api]\nhost = "*.test"\nsecret = "token"|host
api]\nhost = "10.1.2.3"\nsecret = "token"|certificate
api]\nhost = "good.test"\nsecret = "token"\nheader = "Host"|frames the request
api]\nhost = "good.test"\nsecret = "token"\nheader = "a b"|no name of a field
api]\nhost = "good.test"\nsecret = "token"\nenv = "COOP_X"|COOP_
EOF
mkdir bin && cp "$COOP" "$(dirname "$COOP")/coop-gate" bin/
out=$(bin/coop run -w ws --config policy.toml -- true 2>&1 </dev/null)
if [ $? = 0 ]; then skip_never "without the program" "another is installed"; else
    like "without the program" "$out" "the credential 'api' needs the program coop-credential, which is not installed"
fi
like "coop plan counts them" "$("$COOP" plan --config policy.toml -w ws -- true)" "gate, 0 rules, 8 credentials"
printf 'two\nlines\n' >secret
like "a secret that no field can hold" "$(box -- true 2>&1)" "the secret 'token' of the credential 'api' has a control character"
printf '%s\n' "$CANARY" >secret
printf '[secrets.token]\nfile = "%s"\n[network.credentials.api]\nhost = "good.test"\nsecret = "token"\nca = "/nowhere/ca.pem"\n' "$T/secret" >bad.toml
chmod 600 bad.toml
like "a file of certificates that is not there" "$("$COOP" run -w ws --config bad.toml -- true 2>&1 </dev/null)" "the file of certificates '/nowhere/ca.pem' of the credential 'api'"
echo nothing >none.pem
sed -i "s|/nowhere/ca.pem|$T/none.pem|" bad.toml
like "one that holds none" "$("$COOP" run -w ws --config bad.toml --json -- curl -s -m 10 http://api.coop.internal/ 2>/dev/null </dev/null | jq -r '.denials[].why')" "read the certificates in '.*none.pem'"
done_testing
