# server.py NAME PORT [ADDRESS] - says its name and the peer's address to whoever comes, by TCP and UDP
import selectors
import socket
import sys

name, port = sys.argv[1], int(sys.argv[2])
addresses = sys.argv[3:] or ["0.0.0.0", "::"]
selector = selectors.DefaultSelector()
for address in addresses:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(family, kind)
        if family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((address, port))
        if kind == socket.SOCK_STREAM:
            s.listen(1000)
        selector.register(s, selectors.EVENT_READ, kind)
print("ready", flush=True)
while True:
    for key, _ in selector.select():
        if key.data == socket.SOCK_STREAM:
            connection, peer = key.fileobj.accept()
            try:
                connection.sendall(f"{name} {peer[0]}".encode())
            except OSError:
                pass
            connection.close()
        else:
            _, peer = key.fileobj.recvfrom(2000)
            key.fileobj.sendto(f"{name} {peer[0]}".encode(), peer)
