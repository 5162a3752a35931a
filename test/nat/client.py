# client.py TRY... - one line for each: what the server said, or which error
#
#   tcp:HOST:PORT  udp:HOST:PORT  ask:NAME (how many addresses)
import errno
import socket
import sys


def name_of(error):
    if isinstance(error, socket.timeout):
        return "timeout"
    if isinstance(error, socket.gaierror):
        return "noname"
    return errno.errorcode.get(error.errno, str(error.errno))


def talk(kind, host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM) as s:
        s.settimeout(8)
        s.connect((host, port))
        if kind == "udp":
            s.send(b"hello")
        return s.recv(100).decode()


for what in sys.argv[1:]:
    kind, _, rest = what.partition(":")
    try:
        if kind == "ask":
            found = socket.getaddrinfo(rest, 80, socket.AF_INET, socket.SOCK_STREAM)
            print(len(found))
        else:
            host, _, port = rest.rpartition(":")
            print(talk(kind, host.strip("[]"), int(port)))
    except OSError as error:
        print(name_of(error))
