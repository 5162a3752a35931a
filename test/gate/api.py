#!/usr/bin/env python3
"""A service that wants a secret, for test/credentials.t, in the world of test/gate/world.sh.

usage: api.py DIRECTORY     (holds cert.pem, key.pem, stranger-cert.pem, stranger-key.pem; gets api.log, api.ready)

Every head that arrives is written to api.log, a line "PORT | METHOD TARGET | FIELD | FIELD ...".
Port 9443 has a certificate of the test's CA, 9444 one that nobody has signed, 9445 has no TLS 1.3.
"""
import base64
import hashlib
import socket
import ssl
import sys
import threading

DIRECTORY = sys.argv[1]
PUBLIC = "11.22.33.5"
lock = threading.Lock()
acknowledged = threading.Event()


def log(port, lines):
    with lock, open(DIRECTORY + "/api.log", "a", encoding="latin-1") as out:
        out.write(" | ".join([str(port)] + lines) + "\n")


class Stream:
    def __init__(self, connection):
        self.connection, self.rest = connection, b""

    def more(self):
        bytes_ = self.connection.recv(1 << 18)
        self.rest += bytes_
        return len(bytes_) > 0

    def until(self, mark):
        while mark not in self.rest:
            if not self.more():
                return None
        found, _, self.rest = self.rest.partition(mark)
        return found

    def count(self, n):
        seen = min(n, len(self.rest))
        self.rest = self.rest[seen:]
        while seen < n:
            bytes_ = self.connection.recv(min(1 << 18, n - seen))
            if not bytes_:
                break
            seen += len(bytes_)
        return seen

    def count_chunks(self):
        total = 0
        while True:
            size = int(self.until(b"\r\n"), 16)
            total += self.count(size)
            self.until(b"\r\n")
            if size == 0:
                return total


def reply(connection, body, *fields, status="200 OK"):
    head = ["HTTP/1.1 " + status, "Content-Length: %d" % len(body), "Keep-Alive: timeout=5", *fields]
    connection.sendall(("\r\n".join(head) + "\r\n\r\n").encode("latin-1") + body)


def events(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: one\n\n")
    acknowledged.wait()  # the next is written only when the box has read the first
    connection.sendall(b"data: two\n\n")
    connection.unwrap()


def websocket(stream, fields):
    key = fields["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    stream.connection.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                               "Sec-WebSocket-Accept: " + accept + "\r\n\r\n").encode())
    while stream.rest or stream.more():
        bytes_, stream.rest = stream.rest, b""
        stream.connection.sendall(bytes_)


def serve(connection, port):
    stream = Stream(connection)
    head = stream.until(b"\r\n\r\n")
    if head is None:
        return
    lines = head.decode("latin-1").split("\r\n")
    log(port, lines)
    method, target, _ = lines[0].split(" ")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    if "expect" in fields:
        connection.sendall(b"HTTP/1.1 100 Continue\r\nX-Early: " + fields.get("authorization", "").encode() + b"\r\n\r\n")
    if target == "/echo":
        secret = fields.get("authorization", "") + fields.get("x-api-key", "")
        reply(connection, b"ok\n", "X-Echo: " + secret, "Set-Cookie: token=" + secret.split(" ")[-1] + "; Path=/", "Location: https://other.test/?key=" + secret.split(" ")[-1])
    elif target == "/redirect":
        reply(connection, b"", "Location: http://other.test/landing", status="302 Found")
    elif target == "/sse":
        return events(connection)
    elif target == "/ack":
        acknowledged.set()
        reply(connection, b"ok\n")
    elif target == "/upload":
        body = stream.count_chunks() if fields.get("transfer-encoding") else stream.count(int(fields["content-length"]))
        reply(connection, b"%d\n" % body)
    elif target == "/ws":
        websocket(stream, fields)
    elif target.startswith("/bytes/"):
        reply(connection, b"x" * int(target.split("/")[2]))
    elif target == "/cut":
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nhalf of i")
    elif target == "/nonsense":
        connection.sendall(b"220 ready\r\n\r\n")
    else:
        reply(connection, b"hello from the service\n")
    # What else has come, within the time in which the other side hangs up.
    if target == "/keep":
        while stream.more():
            pass
        if stream.rest:
            log(port, ["rest", repr(stream.rest)])
    return None


def handle(connection, context, port):
    try:
        with context.wrap_socket(connection, server_side=True) as secured:
            serve(secured, port)
    except OSError as error:
        log(port, ["failed", type(error).__name__])


def accept(server, context, port):
    while True:
        connection, _ = server.accept()
        threading.Thread(target=handle, args=(connection, context, port), daemon=True).start()


for number, name in ((9443, ""), (9444, "stranger-"), (9445, "")):
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(DIRECTORY + "/" + name + "cert.pem", DIRECTORY + "/" + name + "key.pem")
    if number == 9445:
        secure.maximum_version = ssl.TLSVersion.TLSv1_2
    listener = socket.create_server((PUBLIC, number), backlog=256)
    threading.Thread(target=accept, args=(listener, secure, number), daemon=True).start()
with open(DIRECTORY + "/api.ready", "w", encoding="utf-8"):
    pass
threading.Event().wait()
