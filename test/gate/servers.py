#!/usr/bin/env python3
"""Real little servers for test/gate.t, in the network namespace that the test made.

usage: servers.py DIRECTORY     (holds cert.pem, key.pem, www/, git/; gets log, ready)

Names (zone): good.test, git.test, *.wild.test at PUBLIC; other.test, denied.test at OTHER;
inner.test at a private address, own.test at the host's own, meta.test at the metadata address, loop.test at the loopback;
chain.test is an alias of inner.test; turn.test is public once and private from then on.
"""
import os
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIRECTORY = sys.argv[1]
PUBLIC, OTHER, INNER = "11.22.33.5", "11.22.33.6", "10.9.8.7"
PUBLIC6 = "2a00:11:22:33::5"
OWN = "11.22.33.77"
ZONE = {
    "good.test": [PUBLIC], "git.test": [PUBLIC], "both.test": [PUBLIC, PUBLIC6],
    "six.test": [PUBLIC6], "other.test": [OTHER], "denied.test": [OTHER],
    "inner.test": [INNER], "meta.test": ["169.254.169.254"], "loop.test": ["127.0.0.1"],
    "mixed.test": [INNER, PUBLIC], "dead.test": ["11.22.33.99"], "own.test": [OWN],
}
ALIASES = {"chain.test": "inner.test", "alias.test": "good.test"}
asked = {}
lock = threading.Lock()


def log(*words):
    with lock, open(DIRECTORY + "/log", "a", encoding="utf-8") as out:
        out.write(" ".join(str(word) for word in words) + "\n")


# ---- names

def addresses(name):
    if name == "turn.test":
        asked[name] = asked.get(name, 0) + 1
        return [PUBLIC] if asked[name] <= 2 else [INNER]  # A and AAAA of the first question
    if name.endswith(".wild.test"):
        return [PUBLIC]
    return ZONE.get(name)


def encode(name):
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


def answer(query):
    number, at, labels = query[:2], 12, []
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    kind, = struct.unpack(">H", query[at + 1:at + 3])
    question, name, records = query[12:at + 5], ".".join(labels).lower(), b""
    log("dns", name, kind)
    count, found = 0, addresses(name)
    if name in ALIASES:
        target = encode(ALIASES[name])
        records += b"\xc0\x0c" + struct.pack(">HHIH", 5, 1, 60, len(target)) + target
        count, found = 1, addresses(ALIASES[name])
    owner = encode(ALIASES[name]) if name in ALIASES else b"\xc0\x0c"
    for address in found or []:
        family = 28 if ":" in address else 1
        if family == kind:
            packed = socket.inet_pton(socket.AF_INET6 if family == 28 else socket.AF_INET, address)
            ttl = 0 if name == "turn.test" else 60
            records += owner + struct.pack(">HHIH", kind, 1, ttl, len(packed)) + packed
            count += 1
    flags = 0x8180 if found is not None else 0x8183
    return number + struct.pack(">HHHHH", flags, 1, count, 0, 0) + question + records


def serve_names():
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.bind(("127.0.0.1", 53))
    while True:
        query, client = out.recvfrom(4096)
        out.sendto(answer(query), client)


# ---- the web, plain and with TLS; git over it

KINDS = {".html": "text/html", ".tgz": "application/octet-stream", ".whl": "application/octet-stream"}


class Web(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body, kind="text/plain"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def git(self):
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        environment = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": DIRECTORY + "/git", "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command, "PATH_INFO": path[len("/git"):], "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "", "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "", "REMOTE_USER": "agent",
            "HOME": DIRECTORY,
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        status, kind = 200, "application/octet-stream"
        for line in head.decode().split("\r\n"):
            key, _, value = line.partition(": ")
            if key.lower() == "status":
                status = int(value.split()[0])
            elif key.lower() == "content-type":
                kind = value
        self.reply(status, rest, kind)

    def do_GET(self):
        where = "https" if isinstance(self.connection, ssl.SSLSocket) else "http"
        log(where, self.command, self.headers.get("Host"), self.path, self.server.server_address[0])
        if self.path.startswith("/git/"):
            return self.git()
        if self.path == "/slow":
            self.send_response(200)
            self.send_header("Content-Length", "10")
            self.end_headers()
            for i in range(10):
                self.wfile.write(b"%d" % i)
                self.wfile.flush()
                time.sleep(0.05)
            return None
        if self.path.startswith("/bytes/"):
            return self.reply(200, b"x" * int(self.path.split("/")[2]))
        file = DIRECTORY + "/www" + self.path.replace("%2f", "/")
        if ".." not in file and os.path.isfile(file):
            with open(file, "rb") as content:
                return self.reply(200, content.read(), KINDS.get(os.path.splitext(file)[1], "application/json"))
        return self.reply(200, b"hello from " + (self.headers.get("Host") or "?").encode() + b"\n")

    def do_POST(self):
        if self.path.startswith("/git/"):
            return self.git()
        log("post", self.headers.get("Host"), self.path)
        return self.reply(200, b"%d\n" % len(self.rfile.read(int(self.headers.get("Content-Length") or 0))))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        pass


class Server6(Server):
    address_family = socket.AF_INET6

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, 78, 1)  # IPV6_FREEBIND: no interface has it
        super().server_bind()


def serve_web(address, port, is_tls):
    server = (Server6 if ":" in address else Server)((address, port), Web)
    if is_tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(DIRECTORY + "/cert.pem", DIRECTORY + "/key.pem")
        if ":" in address:  # no client's first choice: it must send a second hello
            context.set_ecdh_curve("secp384r1")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()


# ---- bytes back, any port

class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        log("echo", *self.server.server_address[:2])
        while True:
            bytes_ = self.request.recv(65536)
            if not bytes_:
                break
            self.request.sendall(bytes_)


class EchoServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        pass


def serve_echo(address, port):
    server = EchoServer((address, port), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()


class UdpEcho(socketserver.BaseRequestHandler):
    def handle(self):
        bytes_, out = self.request
        log("udp", *self.server.server_address[:2])
        out.sendto(bytes_, self.client_address)


def serve_datagrams(address, port):
    server = socketserver.UDPServer((address, port), UdpEcho)
    threading.Thread(target=server.serve_forever, daemon=True).start()


threading.Thread(target=serve_names, daemon=True).start()
for host in (PUBLIC, OTHER, OWN, INNER, "169.254.169.254", "127.0.0.1", PUBLIC6):
    serve_web(host, 80, False)
    serve_web(host, 443, True)
    if ":" not in host:
        serve_echo(host, 7777)
        serve_datagrams(host, 7123)
serve_echo("127.0.0.1", 5432)
with open(DIRECTORY + "/ready", "w", encoding="utf-8"):
    pass
threading.Event().wait()
