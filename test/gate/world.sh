#!/bin/bash
# world.sh - a host with servers on the internet, all of it in namespaces of its own
#
#   test/gate/world.sh COMMAND...     runs it there; $GATE_WORLD is the servers' directory
#
# As root or anybody. The loopback carries the addresses of test/gate/servers.py, /etc/resolv.conf
# names its resolver, and nothing leads out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1-}" != --inside ]; then
    if [ "$(id -u)" = 0 ]; then exec unshare -n -m -- "$0" --inside "$@"; fi
    exec unshare -U -r -n -m -- "$0" --inside "$@"
fi
shift
export GATE_WORLD=${GATE_WORLD:?a directory for the servers}
mkdir -p "$GATE_WORLD/www" "$GATE_WORLD/git"
ip link set lo up
# They lead here, but are not the host's own; one is.
for address in 11.22.33.5 11.22.33.6 10.9.8.7 169.254.169.254; do ip route add local $address/32 dev lo; done
ip -6 route add local 2a00:11:22:33::5/128 dev lo
ip address add 11.22.33.77/32 dev lo
printf 'nameserver 127.0.0.1\n' >"$GATE_WORLD/resolv.conf"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$GATE_WORLD/hosts"
mount --make-rprivate /
for file in resolv.conf hosts; do mount --bind "$GATE_WORLD/$file" "$(readlink -f /etc/$file)"; done
python3 "$here/servers.py" "$GATE_WORLD" >"$GATE_WORLD/servers.out" 2>&1 &
servers=$!
trap 'kill $servers; wait $servers || :' EXIT
end=$((SECONDS + 20))
until [ -e "$GATE_WORLD/ready" ]; do
    [ $SECONDS -lt $end ] || { cat "$GATE_WORLD/servers.out" >&2; exit 1; }
    read -rt 0.05 <> <(:) || :
done
"$@"
