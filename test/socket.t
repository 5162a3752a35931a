#!/bin/bash
# socket.t - one unix socket of the host, and no other: --socket
# fuse: both
. "$(dirname "$0")/box.sh"
mkdir services
cat >serve.py <<'EOF'
# Answers with its name at each path that is given; NAME=PATH
import os, socket, sys, threading
def serve(name, path):
    s = socket.socket(socket.AF_UNIX); s.bind(path); os.chmod(path, 0o666); s.listen(64); print("up", flush=True)
    while True:
        c, _ = s.accept(); c.sendall(name.encode() + b"\n"); c.close()
for word in sys.argv[1:]:
    threading.Thread(target=serve, args=word.split("=", 1), daemon=True).start()
threading.Event().wait()
EOF
cat >ws/ask.py <<'EOF'
import errno, os, socket, sys
for path in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        s.connect(path); print(s.makefile().readline().strip())
    except OSError as e:
        print(errno.errorcode[e.errno])
EOF
ask() { run "${options[@]}" python3 ask.py "$@" 2>/dev/null | xargs; }
A=$T/services/a.sock B=$T/services/b.sock
python3 serve.py "a=$A" "b=$B" "inside=$T/ws/in.sock" "beside=$T/ws/beside.sock" >served &
served=$!
again=
trap 'kill $served $again; rm -rf "$T" "$T.cache"' EXIT
all_up() { [ "$(grep -c up served)" = 4 ]; }
await 20 all_up

options=()
is "without it neither is there" "$(ask "$A" "$B")" "ENOENT ENOENT"
options=(--socket "$A")
is "the one that is named, at its path" "$(ask "$A")" a
is "its neighbour is not there" "$(ask "$B")" ENOENT
is "nor may others be connected to that are shown" "$(ask in.sock beside.sock)" "EACCES EACCES"
options=(--socket "$A" --ro "$T/services:/shown")
is "also not in its own directory" "$(ask "$A" /shown/a.sock /shown/b.sock)" "a a EACCES"
options=(--socket "$A" --socket "$B")
is "more than once" "$(ask "$A" "$B")" "a b"
options=(--socket "$A" --socket ws/in.sock)
is "one in the workspace" "$(ask "$A" in.sock beside.sock "$T/ws/in.sock")" "a inside EACCES inside"
for network in none off gate host; do
    options=(--socket "$A" --ro "$B:/b.sock" --network "$network")
    is "network $network" "$(ask "$A" /b.sock)" "a EACCES"
done
for target in /tmp /opt/x /tmp/x /run/x; do
    options=(--rw "$T/services:$target")
    is "a directory of the host at $target" "$(ask "$target/a.sock" in.sock)" "EACCES EACCES"
done
cat >ws/own.py <<'EOF'
import socket, sys
for path in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX); s.bind(path); s.listen()
    socket.socket(socket.AF_UNIX).connect(path)
print("own")
EOF
for network in none host; do
    for explain in default --explain; do
        options=(--network "$network")
        [ $explain = default ] || options+=("$explain")
        is "the box's own, network $network, $explain" "$(run "${options[@]}" python3 own.py /tmp/s /var/tmp/s2 /run/s /dev/shm/s 2>/dev/null)" own
    done
done

# ---- names do not decide

options=(--socket ws/in.sock)
is "another under its name" "$(run "${options[@]}" -c 'mv in.sock away.sock; mv beside.sock in.sock; python3 ask.py in.sock away.sock; mv in.sock beside.sock; mv away.sock in.sock' 2>/dev/null | xargs)" "EACCES inside"
is "links to another" "$(run "${options[@]}" -c 'ln -s /work/beside.sock /tmp/x; ln -s /work/in.sock /tmp/y; python3 ask.py /tmp/x /tmp/y' 2>/dev/null | xargs)" "EACCES inside"
is "a second name for another" "$(run "${options[@]}" -c 'ln beside.sock second.sock; python3 ask.py second.sock; rm -f second.sock' 2>/dev/null | xargs)" EACCES
is "datagrams go nowhere" "$(run "${options[@]}" python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", "in.sock")' >/dev/null 2>&1; echo $?)" 1
ln -s "$B" ws/link.sock
out=$(run --socket "$T/ws/link.sock" true 2>&1)
is "a link that a box could have made" "$?" 125
like "is refused" "$out" "leads through the symbolic link .*ws/link.sock', which a command may have created"
rm ws/link.sock
mkfifo hold
"$COOP" run -w ws --socket "$A" -- sh -c 'python3 ask.py "$0" >now; touch ready; read -r x; python3 ask.py "$0" >later' "$A" <hold >/dev/null 2>&1 &
box=$!
exec 8>hold
await 20 test -e ws/ready
rm "$A"
python3 serve.py "another=$A" >again 8>&- &
again=$!
await 20 grep -q up again
exec 8>&-
wait $box
is "what comes later under its name is another" "$(cat ws/now ws/later | xargs)" "a a"
options=(--socket "$A")
is "for the next box it is the one" "$(ask "$A")" another

# ---- mistakes, and what is said

: >plain
for what in "plain:is no unix socket" "nothing:No such file" "services:is no unix socket"; do
    out=$(run --socket "$T/${what%%:*}" true 2>&1)
    like "--socket ${what%%:*}" "$? $out" "^125 .*${what#*:}"
done
like "coop why" "$("$COOP" why -w ws --socket "$B" connect "$B")" "sandbox.sockets '$B'"
like "coop why, of another" "$("$COOP" why -w ws connect "$B")" "--socket $B"
like "coop plan" "$("$COOP" plan -w ws --socket "$B" -- true)" "to be connected to.*$B"
like "a refusal says which" "$(run python3 ask.py "$B" 2>&1)" "allow it with --socket $B"
isnt "it is a part of the policy" "$(run --json --ro "$B" true | jq -r .policy_digest)" "$(run --json --socket "$B" true | jq -r .policy_digest)"

# ---- the configuration

printf '[sandbox]\nsockets = ["%s"]\n' "$B" >policy.toml
options=(--config "$T/policy.toml")
is "sandbox.sockets" "$(ask "$B")" b
like "says where it stands" "$("$COOP" why --config policy.toml -w ws connect "$B")" "policy.toml:2"
printf '[sandbox]\nsockets = ["%s"]\n' "$A" >ws/coop.toml
not_ok "a file in the workspace may not add one" run --config "$T/policy.toml" true
printf '[sandbox]\nsockets = []\n' >ws/coop.toml
is "but take it away" "$(ask "$B")" ENOENT
done_testing
