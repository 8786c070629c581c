"""An embedding API on this machine: answers as Gemini's or Voyage's, after whatever trouble a test asks for."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

WIDTH = 12


@dataclass
class Trouble:
    """What one request gets in place of its vectors."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b"{}"
    silent: float = 0.0
    """Seconds before anything is sent."""
    dripping: int = 0
    """Bytes sent one at a time, a tenth of a second apart, in front of the content."""
    hang_up: bool = False


@dataclass
class Api:
    """The server's side: what it was sent, and what it will do next."""

    url: str
    troubles: deque[Trouble] = field(default_factory=deque)
    bodies: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


def vector_of(parts: Any) -> list[float]:
    """Return the vector of an input: any other input has another one."""
    seed = int.from_bytes(hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).digest()[:8])
    row: list[float] = np.random.default_rng(seed).standard_normal(WIDTH).tolist()
    return row


def answer_to(body: Any) -> Any:
    """Return the JSON of Gemini's or Voyage's answer; Voyage's comes in another order, which its numbers undo."""
    if "requests" in body:
        return {"embeddings": [{"values": vector_of(row["content"]["parts"])} for row in body["requests"]]}
    rows = [{"embedding": vector_of(row["content"]), "index": at} for at, row in enumerate(body["inputs"])]
    return {"object": "list", "data": rows[::-1], "model": body["model"]}


@contextmanager
def serving() -> Iterator[Api]:
    """Serve on a free port until the block ends."""
    api = Api("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            api.times.append(time.monotonic())
            api.headers.append({name.title(): value for name, value in self.headers.items()})
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            api.bodies.append(body)
            trouble = api.troubles.popleft() if api.troubles else Trouble(content=json.dumps(answer_to(body)).encode())
            try:
                self._send(trouble)
            except OSError:  # the client has left, as it should
                self.close_connection = True

        def _send(self, trouble: Trouble) -> None:
            time.sleep(trouble.silent)
            if trouble.hang_up:
                self.connection.close()
                return
            self.send_response(trouble.status)
            for name, value in trouble.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(trouble.dripping + len(trouble.content)))
            self.end_headers()
            for _ in range(trouble.dripping):
                self.wfile.write(b" ")
                time.sleep(0.1)
            self.wfile.write(trouble.content)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
