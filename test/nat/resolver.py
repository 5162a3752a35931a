# resolver.py - the host's name server, on 127.0.0.1:53 by UDP and TCP. Long answers go by TCP only
import selectors
import socket
import struct

A, TXT, AAAA = 1, 16, 28
names = {
    ("server.test", A): [socket.inet_aton("44.55.66.7")],
    ("server.test", AAAA): [socket.inet_pton(socket.AF_INET6, "2a0e:2::7")],
    ("v4.test", A): [socket.inet_aton("44.55.66.7")],
    ("neighbour.test", A): [socket.inet_aton("10.9.9.7")],
    ("long.test", A): [bytes([44, 55, 66, i]) for i in range(100)],
}
known = {name for name, _ in names}


def answer(query, is_tcp):
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode().lower())
        at += 1 + query[at]
    kind = struct.unpack(">H", query[at + 1 : at + 3])[0]
    name = ".".join(labels)
    found = names.get((name, kind), [])
    flags = 0x8180 | (0 if name in known else 3)
    if len(found) > 20 and not is_tcp:
        flags, found = flags | 0x200, []
    records = b"".join(struct.pack(">HHHIH", 0xC00C, kind, 1, 60, len(d)) + d for d in found)
    return query[:2] + struct.pack(">HHHHH", flags, 1, len(found), 0, 0) + query[12 : at + 5] + records


udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
for s in (udp, tcp):
    s.bind(("127.0.0.1", 53))
tcp.listen(100)
selector = selectors.DefaultSelector()
selector.register(udp, selectors.EVENT_READ)
selector.register(tcp, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for key, _ in selector.select():
        if key.fileobj is udp:
            query, peer = udp.recvfrom(4096)
            udp.sendto(answer(query, False), peer)
        else:
            connection, _ = tcp.accept()
            head = connection.recv(2, socket.MSG_WAITALL)
            if len(head) == 2:
                query = connection.recv(struct.unpack(">H", head)[0], socket.MSG_WAITALL)
                said = answer(query, True)
                connection.sendall(struct.pack(">H", len(said)) + said)
            connection.close()
