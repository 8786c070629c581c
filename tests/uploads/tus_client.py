"""A client of tus that does what it is told, right or wrong."""

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from _house import ports
from sending import worker_environment

ROOT = Path(__file__).resolve().parents[2]
PART = "application/offset+octet-stream"


@dataclass
class Server:
    """A real gunicorn, as in production, on the test's database and files."""

    port: int
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> None:
        command = [sys.executable, "-m", "gunicorn", "config.wsgi:application", "--bind", f"127.0.0.1:{self.port}"]
        command += ["--worker-class", "gthread", "--workers", "1", "--threads", "6", "--no-control-socket"]
        self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment, start_new_session=True)
        for _ in range(600):
            if ports.answers(self.port):
                return
            time.sleep(0.05)
        raise AssertionError("gunicorn did not start")

    def kill(self) -> None:
        """End it as a power cut would, its worker too."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
            while ports.answers(self.port):  # its worker dies a moment later, and would take the next question along
                time.sleep(0.02)


@contextmanager
def serving(**more: str) -> Iterator[Server]:
    server = Server(ports.free_port(), {**worker_environment(), **more})
    server.start()
    try:
        yield server
    finally:
        server.kill()


def b64(value: bytes | str) -> str:
    return base64.b64encode(value.encode() if isinstance(value, str) else value).decode()


def checksum(body: bytes, algorithm: str = "sha256") -> str:
    return f"{algorithm} {b64(hashlib.new(algorithm, body).digest())}"


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Any
    body: bytes


@dataclass
class Tus:
    """Speaks to a server with somebody's token."""

    server: Server
    token: str

    def call(self, method: str, url: str, body: bytes | None = None, **headers: str) -> Answer:
        """Send a request. Header names are written with ``_``; an empty value leaves the header out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        sent = {"Authorization": f"Bearer {self.token}", "Tus-Resumable": "1.0.0"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, urlsplit(url).path, body, {n: v for n, v in sent.items() if v})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def create(self, size: int, name: str = "gallery.npz", digest: str = "", **headers: str) -> Answer:
        about = f"filename {b64(name)}" + (f",digest {b64(digest)}" if digest else "")
        return self.call("POST", "/api/v1/uploads/", Upload_Length=str(size), Upload_Metadata=about, **headers)

    def begin(self, size: int, digest: str = "") -> str:
        made = self.create(size, digest=digest)
        assert made.status == 201, made.body
        return str(made.headers["Location"])

    def patch(self, url: str, offset: int, body: bytes, **headers: str) -> Answer:
        given = {"Content_Type": PART, "Upload_Offset": str(offset), **headers}
        return self.call("PATCH", url, body, **given)

    def offset(self, url: str) -> int:
        return int(self.call("HEAD", url).headers["Upload-Offset"])

    def cut(self, url: str, offset: int, body: bytes, after: int, **headers: str) -> None:
        """Send a part and break the connection after so many of its bytes; wait until the server noticed."""
        connection = self.open(url, offset, len(body), **headers)
        connection.send(body[:after])
        connection.close()
        self.settled(url)

    def open(self, url: str, offset: int, length: int, **headers: str) -> http.client.HTTPConnection:
        """Begin a part and leave its body to the caller."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.putrequest("PATCH", urlsplit(url).path)
        sent = {"Authorization": f"Bearer {self.token}", "Tus-Resumable": "1.0.0", "Content-Type": PART}
        sent |= {"Upload-Offset": str(offset), "Content-Length": str(length)}
        for name, value in {**sent, **{n.replace("_", "-"): v for n, v in headers.items()}}.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection

    def settled(self, url: str) -> None:
        """Wait until nobody writes an upload."""
        from uploads.models import Upload

        public_id = urlsplit(url).path.rstrip("/").rpartition("/")[2]
        time.sleep(0.02)
        for _ in range(500):
            if not Upload.objects.filter(public_id=public_id).exclude(writer="").exists():
                return
            time.sleep(0.02)
        raise AssertionError("somebody still writes")
