"""Forwards bytes between TLS connections and a server on this machine.

The end of a connection is forwarded as an end, in either direction.
"""

import os
import select
import socket
import ssl
import sys
import threading

certificate, key, upstream = sys.argv[1], sys.argv[2], int(sys.argv[3])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
# Session tickets would arrive before the first byte of an answer.
context.num_tickets = 0


def serve(connection):
    plain = None
    try:
        tls = context.wrap_socket(connection, server_side=True)
        plain = socket.create_connection(("127.0.0.1", upstream))
        pump(tls, plain)
        tls.settimeout(5)
        tls.unwrap()
    except OSError:
        pass  # The peer is gone.
    finally:
        if plain:
            plain.close()
        connection.close()
        try:
            tls.close()
        except (NameError, OSError):
            pass


def pump(tls, plain):
    while True:
        ready = [tls] if tls.pending() else select.select([tls, plain], [], [])[0]
        if tls in ready:
            tls.setblocking(False)
            try:
                data = tls.recv(1 << 16)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                data = None
            finally:
                tls.setblocking(True)
            if data == b"":
                return
            if data:
                plain.sendall(data)
        if plain in ready:
            data = plain.recv(1 << 16)
            if not data:
                return
            tls.sendall(data)


def end_with_parent():
    sys.stdin.buffer.read()
    os._exit(0)


listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print(listener.getsockname()[1], flush=True)
threading.Thread(target=end_with_parent, daemon=True).start()
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
