#!/bin/bash
# The network nat: the internet through the host, and nothing that is nearer. As root by veth and
# nf_tables, as others by pasta or slirp4netns. The host, its internet and its neighbour are namespaces of
# the test's own (test/nat/world.sh): no packet leaves the machine.
# worlds: root user
# builds: none
# needs: passt slirp4netns
# speed: slow
. "$(dirname "$0")/box.sh"
cp "$SRC/test/nat/client.py" ws/

# ---- what needs no network

refuses() { # WHAT PATTERN OPTIONS...
    local out r=0
    out=$(run --network nat "${@:3}" true 2>&1) || r=$?
    is "$1" $r 125
    like "$1: and says why" "$out" "$2"
}
why() { "$COOP" why --network nat "$@" 2>&1 | head -n 1; }
without_network() {
    refuses "names make no sense" "'github.com' is a name, and the network 'nat' knows addresses only" --allow github.com
    like "the gate is what to use instead" "$(run --network nat --deny '*.test' true 2>&1)" 'hint: .*--network gate'
    refuses "neither does a port of the host's loopback" "localhost:81.* is a name" --reach 81
    refuses "nor one of all hosts" "'\*:443' cannot be allowed by itself" --allow '*:443'
    refuses "nor a port to publish" "publishes no ports" --publish 8080
    like "why knows the internet" "$(why connect 44.55.66.7:80)" '^allowed'
    like "and that names lead there" "$(why connect github.com:443)" '^allowed'
    for address in 10.1.2.3 192.168.0.1 172.16.5.5 100.64.0.1 169.254.169.254 127.0.0.1 224.0.0.1 '[fd00::1]' \
        '[fe80::1]' '[64:ff9b::808:808]'; do
        like "why knows that $address is not of it" "$(why connect "$address:80")" '^denied'
    done
    like "why knows rules that allow" "$(why --allow 10.0.0.0/8:80 connect 10.1.2.3:80)" '^allowed'
    like "and those that deny" "$(why --deny 44.0.0.0/8 connect 44.55.66.7:80)" '^denied'
    like "the plan has the step" "$("$COOP" plan --network nat true)" 'lead to the internet and nothing nearer'
    like "status knows of it" "$("$COOP" status)" "Network 'nat'"
}
# Nobody but root can make a world; what is missing here must be said in one sentence, and at once.
without_world() {
    if [ -w /dev/net/tun ]; then
        skip_never "a sentence about what is missing" "nothing is"
        return
    fi
    like "without the device it says so" "$(run --network nat true 2>&1)" "needs the device /dev/net/tun"
}
if ! real_root; then
    without_network
    without_world
    done_testing
fi
# Processes too, so that whatever happens nothing stays.
if [ -z "${NAT_WORLD-}" ]; then
    cd "$SRC" && rm -rf "$T"
    NAT_WORLD=1 exec unshare -n -m -p -f --mount-proc --propagation private --kill-child bash test/nat.t
fi
without_network

# ---- what a box can reach

. "$SRC/test/nat/world.sh"
echo 0 >/proc/sys/net/ipv4/ip_forward # a new namespace has what the first one has
ok "forwarding is asked for" eval 'r=0; out=$(run --network nat true 2>&1) || r=$?; [ $r = 125 ] && grep -q "sysctl -w net.ipv4.ip_forward=1" <<<"$out"'
make_world || exit 1
look() { ip -br link; ip addr show scope global; ip route; ip -6 route; nft list ruleset; } >"$1" 2>&1
look before
unchanged() { # WHAT
    look after
    is "$1" "$(diff before after)" ""
}

tries=(tcp:44.55.66.7:80 udp:44.55.66.7:80 ask:server.test ask:long.test ask:nobody.test
    'tcp:[2a0e:2::7]:80' 'udp:[2a0e:2::7]:80')
expected="internet 45.10.20.2
internet 45.10.20.2
1
100
noname
internet 2a0e:1::2
internet 2a0e:1::2"
forbidden=(tcp:45.10.20.2:80 udp:45.10.20.2:80 tcp:10.9.9.1:80 tcp:10.9.9.7:80 udp:10.9.9.7:80 tcp:neighbour.test:80
    tcp:127.0.0.1:81 tcp:169.254.169.254:80 tcp:198.19.0.1:80 tcp:100.64.0.1:80 tcp:192.168.1.1:80 tcp:172.16.0.1:80
    tcp:0.0.0.0:80 udp:224.0.0.1:80 udp:255.255.255.255:80 'tcp:[2a0e:1::2]:80' 'tcp:[fd00::1]:80' 'tcp:[::ffff:10.9.9.7]:80'
    'tcp:[64:ff9b::a09:907]:80' tcp:10.0.2.2:81 tcp:10.0.2.3:53)
nat() { run --network nat "$@"; }
client() { nat "${@:2}" -- python3 client.py $1; }
reaches_nothing() { # WHAT COMMAND...: each try failed, and none by waiting
    local out
    out=$("${@:2}" 2>/dev/null)
    is "$1: an answer for each" "$(wc -l <<<"$out")" ${#forbidden[@]}
    unlike "$1" "$out" 'host|internet|neighbour|loopback|timeout'
}
is "TCP, UDP, names and IPv6" "$(nat -- python3 client.py "${tries[@]}" 2>/dev/null)" "$expected"
unchanged "nothing is left of it"
is "with a terminal too" "$(script -qec "'$COOP' run -w '$T/ws' --network nat -- python3 client.py tcp:44.55.66.7:80" /dev/null </dev/null | tr -d '\r')" "internet 45.10.20.2"
reaches_nothing "neither the host nor what is near" nat -- python3 client.py "${forbidden[@]}"
json=$(nat --json -- python3 client.py tcp:44.55.66.7:80 tcp:10.9.9.7:80 tcp:45.10.20.2:80 udp:10.9.9.7:80)
is "the result says how" "$(jq -r .enforced.network <<<"$json")" "network namespace + nat (veth) + seccomp"
is "what is refused is recorded" "$(jq -r '.denials[].target' <<<"$json" | sort)" "10.9.9.7:80
10.9.9.7:80/udp
45.10.20.2:80"
is "and why" "$(jq -r '.denials[] | select(.target == "10.9.9.7:80") | .why + "; " + .allow' <<<"$json")" \
    "it is not on the internet (private), and no rule names it; --allow 10.9.9.7:80"
is "also the host's own" "$(jq -r '.denials[] | select(.target == "45.10.20.2:80").why' <<<"$json")" "it is an address of the host"
unchanged "nothing is left of these"

# ---- rules

is "an address that a rule names" "$(client tcp:10.9.9.7:80 --allow 10.9.9.0/24:80 2>/dev/null)" "neighbour 10.9.9.1"
is "is not opened for UDP" "$(client udp:10.9.9.7:80 --allow 10.9.9.0/24:80 2>/dev/null)" EPERM
is "unless the rule says so" "$(client udp:10.9.9.7:80 --allow 10.9.9.0/24:80/udp 2>/dev/null)" "neighbour 10.9.9.1"
is "nor at another port" "$(client tcp:10.9.9.7:80 --allow 10.9.9.0/24:81 2>/dev/null)" ECONNREFUSED
is "the host's own, by its private address" "$(client tcp:10.9.9.1:80 --allow 10.9.9.1:80 2>/dev/null | cut -d' ' -f1)" host
is "and by its public one" "$(client tcp:45.10.20.2:80 --allow 45.10.20.2:80 2>/dev/null | cut -d' ' -f1)" host
is "and nothing else of it" "$(client udp:45.10.20.2:80 --allow 45.10.20.2:80 2>/dev/null)" EPERM
is "secrets of a cloud are not opened by a wide rule" "$(client tcp:169.254.169.254:80 --allow 169.254.0.0/16 2>/dev/null)" ECONNREFUSED
is "but by one that names them" "$(client tcp:169.254.169.254:80 --allow 169.254.169.254:80 2>/dev/null)" "internet 45.10.20.2"
is "what is denied" "$(client tcp:44.55.66.7:80 --deny 44.55.66.0/24 2>/dev/null)" ECONNREFUSED
is "by its port" "$(client 'tcp:44.55.66.7:80' --deny '*:80' 2>/dev/null)" ECONNREFUSED
is "and IPv6" "$(client 'tcp:[2a0e:2::7]:80' --deny '[2a0e::/16]' 2>/dev/null)" ECONNREFUSED
is "the record names the rule" "$(client tcp:44.55.66.7:80 --json --deny 44.55.66.0/24 | jq -r '.denials[0].rule')" "deny 44.55.66.0/24"
unchanged "nothing is left of these either"

# ---- what it cannot undo

cat >ws/undo.py <<'END'
import socket
def tried(what, *arguments):
    try:
        what(*arguments)
        return "done"
    except OSError as error:
        return error.strerror
print(tried(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1))
print(tried(socket.socket, socket.AF_PACKET, socket.SOCK_RAW))
print(tried(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW, 12))
END
unlike "no raw sockets, no packets, no rules" "$(nat -- python3 undo.py 2>/dev/null)" 'done'
refused "no other way out" nat -- ip link add x type dummy
refused "no other route" nat -- ip route add 10.9.9.0/24 dev eth0

# ---- visitors

start ws --network nat
inside=$(nsenter -t "$command" -n ip -4 -o addr show eth0 | grep -oE 'inet [0-9.]+' | cut -d' ' -f2)
like "a box has an address" "$inside" '^[0-9.]+$'
nsenter -t "$command" -n python3 "$SRC/test/nat/server.py" box 99 >visited &
server=$!
await grep -q ready visited
in_net "$neighbour" ip route add "$inside" via 10.9.9.1
is "a neighbour that has a route cannot visit it" "$(in_net "$neighbour" timeout 2 python3 ws/client.py "tcp:$inside:99"; echo $?)" 124
is "nor can the host" "$(timeout 2 python3 ws/client.py "tcp:$inside:99"; echo $?)" 124
is "it would answer" "$(nsenter -t "$command" -n python3 ws/client.py "tcp:$inside:99" | cut -d' ' -f1)" box
is "another box cannot either" "$(client "tcp:$inside:99" 2>/dev/null)" ECONNREFUSED
is "nor with a rule that allows its address" "$(timeout 4 "$COOP" run -w ws --network nat --allow "$inside" -- timeout 2 python3 client.py "tcp:$inside:99" 2>/dev/null; echo $?)" 124
in_net "$neighbour" ip route del "$inside" via 10.9.9.1
ip addr add 45.10.20.9/24 dev wan
is "an address that the host gets later is closed too" "$(nsenter -t "$command" -n python3 ws/client.py tcp:45.10.20.9:80)" EHOSTUNREACH
ip addr del 45.10.20.9/24 dev wan
kill $server
finish_box

# ---- many at once, and killed ones

# Without a guard each: a user has 128 inotify instances, others' runs included.
for i in {1..300}; do
    nat --no-protect -- python3 client.py tcp:44.55.66.7:80 >"many.$i" 2>&1 &
    many[i]=$!
done
wait "${many[@]}"
is "three hundred at once" "$(cat many.* | sort | uniq -c | tr -s ' ')" " 300 internet 45.10.20.2"
unchanged "nothing is left of them"

nat_processes() { pgrep -x coop-nat; }
start ws --network nat
kill -9 "$box"
exec 5>&-
no_links() { ! ip -br link | grep -q '^coop'; }
await no_links
ok "killed, coop leaves no interface" no_links
gone() { ! nat_processes; }
ok "and no process" await gone
unchanged "and no rule: coop-nat takes them away"
start ws --network nat
mapfile -t killed < <(nat_processes)
kill -9 "${killed[@]}" "$box" 2>/dev/null # one of them ends with the other
exec 5>&-
await no_links
ok "killed with coop-nat, the interface goes all the same" no_links
like "but the rules stay" "$(nft list ruleset)" 'table inet coop_nat'
start ws --network nat # another is at work meanwhile
like "the doctor takes them away" "$("$COOP" doctor --clean)" '^Removed'
like "but not those of a box that is there" "$(nft list ruleset)" 'table inet coop_nat'
is "which goes on" "$(nsenter -t "$command" -n python3 ws/client.py tcp:44.55.66.7:80)" "internet 45.10.20.2"
finish_box
unchanged "nothing is left then"
start ws --network nat
mapfile -t killed < <(nat_processes)
kill -9 "${killed[@]}" "$box" 2>/dev/null # one of them ends with the other
exec 5>&-
await no_links
nat true
unchanged "a later box takes them away as well"
is "the doctor has nothing to do then" "$("$COOP" doctor --clean)" "Nothing was left behind."

# ---- where the host is another

ip addr add 198.19.0.1/16 dev lan
is "a range that the host knows is not taken" "$(nat -- sh -c 'ip -4 -o addr show eth0' | grep -oE 'inet [0-9]+\.[0-9]+')" "inet 100.117"
ip addr del 198.19.0.1/16 dev lan
echo 0 >/proc/sys/net/ipv6/conf/all/forwarding
is "without IPv6 there is none, at once" "$(client 'tcp:[2a0e:2::7]:80 tcp:44.55.66.7:80' 2>/dev/null)" "ENETUNREACH
internet 45.10.20.2"
echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
ip link set wan mtu 1400
is "the box has the host's MTU" "$(nat -- cat /sys/class/net/eth0/mtu 2>/dev/null || nat -- ip -o link show eth0 | grep -oE 'mtu [0-9]+')" "mtu 1400"
ip link set wan mtu 1500

# ---- for everybody

user=65533
as_user() { setpriv --reuid $user --regid $user --clear-groups env HOME="$T/nobody" "$@"; }
mkdir user
chmod 755 "$T"
cp ws/client.py user/
chown -R $user user
user_nat() { as_user "$COOP" run -w "$T/user" --network nat "$@" </dev/null; }
bind_null() { mount --bind /dev/null "$1"; }
if ! as_user test -x "$COOP"; then
    skip "as another user" "coop cannot be read by others"
    end_world
    done_testing
fi
mknod tun c 10 200
chmod 666 tun
mkdir -p /dev/net
[ -e /dev/net/tun ] || touch /dev/net/tun
no_tun=$(mktemp -p "$T")
chmod 600 "$no_tun"
mount --bind "$no_tun" /dev/net/tun
like "without the device it says so" "$(user_nat true 2>&1)" 'needs the device /dev/net/tun .*Permission denied'
umount /dev/net/tun
mount --bind tun /dev/net/tun

like "the doctor sees pasta" "$(as_user "$COOP" status)" "✓ Network 'nat' +by /usr/bin/pasta"
json=$(user_nat --json -- python3 client.py "${tries[@]}")
is "pasta: TCP, UDP, names and IPv6" "$(jq -j .stdout.text <<<"$json")" "$expected"
is "pasta: the result says so" "$(jq -r .enforced.network <<<"$json")" "network namespace + nat (pasta) + seccomp"
reaches_nothing "pasta: neither the host nor what is near" user_nat -- python3 client.py "${forbidden[@]}"
is "pasta: what is refused is recorded" "$(user_nat --json -- python3 client.py tcp:10.9.9.7:80 | jq -r '.denials[].target')" 10.9.9.7:80
is "pasta: an address that a rule names" "$(user_nat --allow 10.9.9.7:80 -- python3 client.py tcp:10.9.9.7:80 2>/dev/null | cut -d' ' -f1)" neighbour
is_up() { pgrep -f '^pasta --foreground'; } # its own name is another for each sort of processor
ended() { ! is_up && ! pgrep -x 'slirp4netns|coop-nat'; }
ok "pasta: it ends with the box" await ended
user_nat sleep 1000 &
ok "pasta: it is there while the box is" await is_up
mapfile -t killed < <(pgrep -x coop)
kill -9 "${killed[@]}"
ok "pasta: and with coop, killed" await ended
user_nat sleep 1000 &
await is_up
kill -9 "$(pgrep -o -x coop-nat)"
gone_too() { ! is_up; }
ok "pasta: and with coop-nat, killed" await gone_too
mapfile -t killed < <(pgrep -x coop)
kill "${killed[@]}"
await ended

# One that waits for ever, as some versions do.
printf '#!/bin/sh\nexec sleep 1000\n' >hang
chmod 755 hang
mount --bind hang /usr/bin/pasta
SECONDS=0
json=$(user_nat --json -- python3 client.py tcp:44.55.66.7:80 udp:44.55.66.7:80 ask:server.test ask:long.test)
is "where pasta hangs, slirp4netns does it" "$(jq -j .stdout.text <<<"$json")" "internet 45.10.20.2
internet 45.10.20.2
1
100"
is "slirp4netns: the result says so" "$(jq -r .enforced.network <<<"$json")" "network namespace + nat (slirp4netns) + seccomp"
umount /usr/bin/pasta
bind_null /usr/bin/pasta
reaches_nothing "slirp4netns: neither the host nor what is near" user_nat -- python3 client.py "${forbidden[@]}"
ok "slirp4netns: it ends with the box" await ended
mount --bind hang /usr/bin/slirp4netns
like "where both hang, that is said" "$(user_nat true 2>&1)" 'slirp4netns did not make a way out within 5 seconds'
ok "and nothing of them is left" await ended
umount /usr/bin/slirp4netns
bind_null /usr/bin/slirp4netns
out=$(user_nat true 2>&1)
like "where neither is installed, that is said" "$out" 'needs the program pasta or slirp4netns'
like "and what to install" "$out" 'hint: install the package passt'
like "the doctor says it too" "$(as_user "$COOP" status)" "✗ Network 'nat' +neither pasta nor slirp4netns is installed"
unchanged "nothing is left of anybody's"

end_world
done_testing
