"""A bad line for tests: a TCP proxy that cuts every connection after so many bytes, and can be slow."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from types import TracebackType
from typing import Self

PIECE = 64 * 2**10
LOOK = 0.02
"""Seconds until a connection sees that it was cut."""
RESET = struct.pack("ii", 1, 0)
"""Closing a socket that lingers for no time sends RST: the other side sees a broken line, not an end."""


class CuttingProxy:
    """Forwards ``localhost:port`` to ``target``; use it in a ``with``.

    It cuts all connections with RST as soon as ``after`` bytes went to the target, counted anew from each cut,
    ``times`` times in all. ``bytes_per_second`` slows down what goes to the target, each connection for itself.
    """

    def __init__(self, target: int, *, after: int = 0, times: int = 0, bytes_per_second: float | None = None) -> None:
        self.target = target
        self.after = after
        self.times = times
        self.bytes_per_second = bytes_per_second
        self.cuts = 0
        """How often the line was cut."""
        self.sent = 0
        """Bytes that went to the target in all."""
        self._since_cut = 0
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self._door = socket.create_server(("127.0.0.1", 0))
        self._door.settimeout(LOOK)
        self.port: int = self._door.getsockname()[1]

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stopped.set()
        for thread in list(self._threads):
            thread.join(10)
        self._door.close()

    def _start(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(TimeoutError):
                client, _ = self._door.accept()
                self._start(self._connect, client)

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.target), 5)
        except OSError:
            client.close()
            return
        self._carry(client, server, self.cuts)
        for end in (client, server):
            end.close()

    def _carry(self, client: socket.socket, server: socket.socket, cuts: int) -> None:
        """Carry bytes both ways until one side ends, or the line is cut: this thread alone closes its sockets."""
        with contextlib.suppress(OSError):
            while not self._stopped.is_set() and self.cuts == cuts:
                for source in select.select([client, server], [], [], LOOK)[0]:
                    piece = source.recv(PIECE)
                    if not piece:
                        return
                    (server if source is client else client).sendall(piece)
                    if source is client:
                        self._count(len(piece), cuts)
        for end in (client, server):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

    def _count(self, size: int, cuts: int) -> None:
        with self._lock:
            self.sent += size
            self._since_cut += size
            if self.cuts == cuts < self.times and self._since_cut >= self.after:
                self.cuts += 1
                self._since_cut = 0
        if self.bytes_per_second:
            time.sleep(size / self.bytes_per_second)
