"""A network on the way to a server: a proxy on loopback that passes on all bytes half a round trip later."""
import queue
import socket
import threading
import time


def passing_on(source, target, delay):
    """Starts the two threads of one direction: one reads, the other waits and sends."""
    waiting = queue.SimpleQueue()

    def read():
        while True:
            try:
                data = source.recv(1 << 18)
            except OSError:
                data = b""
            waiting.put((time.monotonic() + delay, data))
            if not data:
                return

    def send():
        while True:
            due, data = waiting.get()
            time.sleep(max(0, due - time.monotonic()))
            try:
                if not data:
                    return target.shutdown(socket.SHUT_WR)
                target.sendall(data)
            except OSError:
                return

    for body in (read, send):
        threading.Thread(target=body, daemon=True).start()


class RoundTrip:
    """Listens on a port of its own until it is closed, and connects each client to the server."""

    def __init__(self, host, port, seconds):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, args=((host, port), seconds / 2), daemon=True).start()

    def accept(self, server, delay):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            there = socket.create_connection(server)
            for end in (client, there):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            passing_on(client, there, delay)
            passing_on(there, client, delay)

    def close(self):
        self.listener.close()
