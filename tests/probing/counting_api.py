"""An embedding API on this machine that is slow on purpose and counts every input it is sent.

Pictures are one colour that says which picture it is, and every query has a text and a reference of its own, so the API
knows what each input is: ``gallery 3``, ``multimodal 5``, ``text-only 5``, ``image-only 5``.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

DIMENSION = 12


class Desk:
    """Pictures, a file of queries and the spec of an encoder, for ``python -m evaluator audit``."""

    def __init__(self, folder: Path, address: str, pictures: int, queries: int) -> None:
        self.folder, self.pictures, self.queries = folder, pictures, queries
        (folder / "pictures").mkdir(parents=True)
        for number in range(pictures):
            colour = (number + 1, 255 - number, 7)
            Image.new("RGB", (4, 3), colour).save(folder / f"pictures/{number:03}.png")
        rows = [
            {"id": f"q{n}", "reference": f"{n:03}", "text": f"text {n}", "targets": [f"{(n * 7 + 1) % pictures:03}"]}
            for n in range(queries)
        ]
        (folder / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        self.spec("slow", address)

    def spec(self, name: str, address: str) -> None:
        api = {
            "url": address,
            "body": {"inputs": "{inputs}"},
            "input": {"parts": "{parts}", "role": "{role}", "model": "{model}"},
            "text": {"text": "{text}"},
            "picture": {"picture": "{base64}"},
            "vectors": "vectors.*",
            "query_role": "query",
            "gallery_role": "document",
            "together": 2,
        }
        row = {"name": name, "family": "remote", "model": name, "revision": "1", "options": {"api": api}}
        (self.folder / f"{name}.json").write_text(json.dumps(row), encoding="utf-8")

    def arguments(self, *names: str, shard: int = 8) -> list[str]:
        encoders = [part for name in names or ("slow",) for part in ("--encoder", str(self.folder / f"{name}.json"))]
        return [
            *("audit", "--queries", str(self.folder / "asked.jsonl"), "--images", str(self.folder / "pictures")),
            *(*encoders, "--state", str(self.folder / "state"), "--shard", str(shard)),
        ]


class CountingApi(ThreadingHTTPServer):
    """``seen`` has every input in the order of its arrival, ``pause`` the seconds of each request."""

    daemon_threads = True

    def __init__(self, pause: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pause = pause
        self.seen: list[str] = []
        self.status = 200

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/embed"


class _Handler(BaseHTTPRequestHandler):
    server: CountingApi

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen += [_name(row) for row in body["inputs"]]
        time.sleep(self.server.pause)
        answer = json.dumps({"vectors": [_vector(row) for row in body["inputs"]]}).encode()
        try:
            self.send_response(self.server.status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        except OSError:
            pass  # who asked was killed

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def _name(row: dict[str, Any]) -> str:
    text = next((part["text"] for part in row["parts"] if "text" in part), "")
    picture = next(part["picture"] for part in row["parts"] if "picture" in part)
    red, _, blue = Image.open(io.BytesIO(base64.b64decode(picture))).getpixel((0, 0))  # type: ignore[misc]
    if row["role"] == "document":
        return f"gallery {red - 1}"
    if not text:
        return f"image-only {red - 1}"
    return f"{'multimodal' if blue else 'text-only'} {text.removeprefix('text ')}"


def _vector(row: dict[str, Any]) -> list[float]:
    seed = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).digest()[:8]
    found: list[float] = np.random.default_rng(int.from_bytes(seed)).standard_normal(DIMENSION).tolist()
    return found


@contextmanager
def counting_api(pause: float = 0.0) -> Iterator[CountingApi]:
    """Serve until the block ends."""
    api = CountingApi(pause)
    thread = threading.Thread(target=api.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        api.shutdown()
        api.server_close()
        thread.join()
