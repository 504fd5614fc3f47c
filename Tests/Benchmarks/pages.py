"""A JSON API for benchmarks that has each answer ready in memory, on a free loopback port.

  pages.py RECORDS PAGE-SIZE    prints the port, and serves until it is killed
"""

import json
import socket
import sys
import threading

records, size = int(sys.argv[1]), int(sys.argv[2])
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
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


# By the cursor in the request; the first page has none.
answers = {(f"c{start}" if start else ""): answer(start) for start in range(0, records, size)}


def serve(client):
    reader = client.makefile("rb")
    while line := reader.readline():
        target = line.split()[1].decode()
        while reader.readline() not in (b"\r\n", b""):
            pass
        client.sendall(answers[target.partition("cursor=")[2].partition("&")[0]])


print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
