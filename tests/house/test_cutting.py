"""The bad line of other tests is bad as promised: otherwise they prove nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from cutting import CuttingProxy


@pytest.fixture
def echo() -> Iterator[int]:
    """Start a server that sends back what it gets, and return its port."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def answer(line: socket.socket) -> None:
            with line:
                try:
                    while piece := line.recv(65_536):
                        line.sendall(piece)
                except ConnectionError:
                    return

        def serve() -> None:
            while True:
                try:
                    line, _ = door.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(line,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield door.getsockname()[1]


def ask(line: socket.socket) -> bytes:
    line.sendall(b"x" * 10)
    return line.recv(65_536)


def read_all(line: socket.socket) -> None:
    """Read until the end: what came before a cut may still be read."""
    while line.recv(65_536):
        pass


def test_everything_passes_where_nothing_is_cut(echo: int) -> None:
    with CuttingProxy(echo) as proxy, socket.create_connection(("127.0.0.1", proxy.port), 5) as line:
        assert [ask(line) for _ in range(3)] == [b"x" * 10] * 3
        assert (proxy.cuts, proxy.sent) == (0, 30)


def test_all_lines_are_reset_after_so_many_bytes_and_so_many_times(echo: int) -> None:
    with CuttingProxy(echo, after=25, times=2) as proxy:
        for cut in (1, 2):
            with (
                socket.create_connection(("127.0.0.1", proxy.port), 5) as idle,
                socket.create_connection(("127.0.0.1", proxy.port), 5) as line,
            ):
                ask(idle)
                assert ask(line) == b"x" * 10
                line.sendall(b"x" * 10)
                with pytest.raises(ConnectionResetError):
                    read_all(line)
                with pytest.raises(ConnectionResetError):
                    idle.recv(1)
                assert proxy.cuts == cut
        with socket.create_connection(("127.0.0.1", proxy.port), 5) as line:
            assert [ask(line) for _ in range(10)] == [b"x" * 10] * 10, "it was cut as often as it may be"


def test_a_slow_line_takes_its_time(echo: int) -> None:
    with CuttingProxy(echo, bytes_per_second=100) as proxy:
        started = time.monotonic()
        with socket.create_connection(("127.0.0.1", proxy.port), 5) as line:
            ask(line), ask(line), ask(line)
        assert time.monotonic() - started >= 0.2


def test_nobody_listens_afterwards(echo: int) -> None:
    with CuttingProxy(echo) as proxy:
        pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", proxy.port), 1)
