# world.sh - a host with an internet, in namespaces of the test's own. Sourced by test/nat.t, which is
# root of a network and a mount namespace that it made
#
#   host        45.10.20.2, 2a0e:1::2; 10.9.9.1 in a private net; everything here runs in it
#   internet    44.55.66.7, 2a0e:2::7, 169.254.169.254: behind 45.10.20.1
#   neighbour   10.9.9.7
#
# All have servers on port 80 (TCP and UDP) that say who they are; the host also on 127.0.0.1:81, and a
# resolver on 127.0.0.1. Nothing of it leads out of the machine: no interface of it is here.
# shellcheck shell=bash

in_net() { nsenter -t "$1" -n -- "${@:2}"; } # PID COMMAND...

make_world() {
    local here=$SRC/test/nat
    ip link set lo up
    unshare -n sleep infinity &
    internet=$!
    unshare -n sleep infinity &
    neighbour=$!
    world=("$internet" "$neighbour")
    await has_own_net "$internet" && await has_own_net "$neighbour" || return 1
    ip link add wan type veth peer name host netns "$internet"
    ip link add lan type veth peer name host netns "$neighbour"
    ip addr add 45.10.20.2/24 dev wan
    ip -6 addr add 2a0e:1::2/64 dev wan nodad
    ip addr add 10.9.9.1/24 dev lan
    ip link set wan up
    ip link set lan up
    in_net "$internet" sh -e -c '
        ip link set lo up
        ip addr add 45.10.20.1/24 dev host
        ip -6 addr add 2a0e:1::1/64 dev host nodad
        ip link set host up
        for address in 44.55.66.7/32 169.254.169.254/32; do ip addr add $address dev lo; done
        ip -6 addr add 2a0e:2::7/128 dev lo nodad' || return 1
    in_net "$neighbour" sh -e -c '
        ip link set lo up
        ip addr add 10.9.9.7/24 dev host
        ip link set host up
        ip route add default via 10.9.9.1' || return 1
    ip route add default via 45.10.20.1
    ip -6 route add default via 2a0e:1::1
    echo 1 >/proc/sys/net/ipv4/ip_forward
    echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
    echo "nameserver 127.0.0.1" >"$T/resolv.conf"
    chmod 644 "$T/resolv.conf"
    mount --bind "$T/resolv.conf" "$(realpath /etc/resolv.conf)"
    serve internet in_net "$internet" python3 "$here/server.py" internet 80 44.55.66.7 169.254.169.254 2a0e:2::7
    serve neighbour in_net "$neighbour" python3 "$here/server.py" neighbour 80 10.9.9.7
    serve host python3 "$here/server.py" host 80
    serve loopback python3 "$here/server.py" loopback 81 127.0.0.1
    serve resolver python3 "$here/resolver.py"
}
has_own_net() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
serve() { # NAME COMMAND...: until it says that it is ready
    "${@:2}" >"$T/$1.said" 2>&1 &
    world+=($!)
    await grep -q ready "$T/$1.said" || { cat "$T/$1.said"; return 1; }
}
# Whatever is left ends with the namespace of processes.
end_world() { kill "${world[@]}" 2>/dev/null; }
