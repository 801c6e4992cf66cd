"""A small TCP proxy between a browser and a server that cuts or stalls connections."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


class Proxy:
    """Forwards everything to a local port until told otherwise."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.to = 0
        self._refusing = False
        self._pairs: list[_Pair] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self._refusing:
                    near.close()
                    continue
                pair = _Pair(near, socket.create_connection(("127.0.0.1", self.to)))
                with self._lock:
                    self._pairs.append(pair)

    def cut(self) -> None:
        """Close every connection, and refuse new ones."""
        self._refusing = True
        self._each(_Pair.close)

    def mend(self) -> None:
        """Let new connections through again."""
        self._refusing = False

    def stall(self) -> None:
        """Drop all data of existing connections; new ones work."""
        self._each(_Pair.stall)

    def _each(self, what: Callable[["_Pair"], None]) -> None:
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            what(pair)

    def close(self) -> None:
        self._listener.close()
        self._each(_Pair.close)


class _Pair:
    """One forwarded connection."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self._ends = (near, far)
        self._stalled = False
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self._stalled:
                    sink.sendall(data)
        if not self._stalled:
            self.close()

    def stall(self) -> None:
        self._stalled = True

    def close(self) -> None:
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def proxied() -> Iterator[Proxy]:
    """A proxy whose target the caller sets."""
    proxy = Proxy()
    try:
        yield proxy
    finally:
        proxy.close()
