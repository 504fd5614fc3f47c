"""A JSON API for benchmarks that has each answer ready in memory, on a free loopback port.

  pages.py RECORDS PAGE-SIZE [MILLISECONDS MEGABITS [gzip]]
      prints the port, and serves until it is killed; answers each request as late as over a network
      of some milliseconds and megabits a second, with a compressed body if the client accepts one
"""

import gzip
import json
import socket
import sys
import threading
import time

records, size = int(sys.argv[1]), int(sys.argv[2])
delay, seconds_per_byte = (int(sys.argv[3]) / 1000, 8e-6 / int(sys.argv[4])) if len(sys.argv) > 4 else (0, 0)
compresses = "gzip" in sys.argv[5:]
listener = socket.create_server(("127.0.0.1", 0))
address = f"http://127.0.0.1:{listener.getsockname()[1]}"


def record(n):
    text = "lorem ipsum dolor sit amet " * 6
    return {
        "id": f"item-{n:07d}",
        "number": n,
        "name": f"Item {n}",
        "tags": ["a", "b"],
        "text": text,
        "changed_at": f"2026-01-01T00:{n // 60 % 60:02d}:{n % 60:02d}Z",
    }


def answer(start):
    end = min(records, start + size)
    following = f"{address}/items?cursor=c{end}&page_size={size}" if end < records else None
    rows = [record(n) for n in range(start, end)]
    body = json.dumps({"next": following, "results": rows}, separators=(",", ":")).encode()
    return message(body), message(gzip.compress(body, 6), "Content-Encoding: gzip\r\n") if compresses else None


def message(body, field=""):
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{field}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


# By the cursor in the request; the first page has none. As they are, and compressed.
answers = {(f"c{start}" if start else ""): answer(start) for start in range(0, records, size)}


def serve(client):
    reader = client.makefile("rb")
    while line := reader.readline():
        target = line.split()[1].decode()
        accepted = False
        while (field := reader.readline()) not in (b"\r\n", b""):
            name, _, value = field.partition(b":")
            accepted = accepted or name.lower() == b"accept-encoding" and b"gzip" in value
        plain, compressed = answers[target.partition("cursor=")[2].partition("&")[0]]
        chosen = compressed if accepted and compressed else plain
        time.sleep(delay + seconds_per_byte * len(chosen))
        client.sendall(chosen)


print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
