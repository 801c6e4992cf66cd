"""Limits of connections: the time in which a request must arrive, and numbers per address and in all."""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

try:
    import resource
except ImportError:  # Windows
    _MAX_FILES = 2048
else:
    _MAX_FILES = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65_536)
_OTHER_FILES = 96  # the database, the review process, programs
_BUSY = b"HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class ConnectionLimiter:
    """The open connections of a server, and how many there can be.

    If there are too many, the one that has waited longest for its client gives way to a new one: idle
    connections lock nobody out.
    """

    def __init__(self, per_address: int, total: int | None = None, timeout: float = 30.0) -> None:
        self._total = max(16, _MAX_FILES - _OTHER_FILES) if total is None else total
        self._per_address = per_address
        self.timeout = timeout
        self.malformed_requests = 0
        self._open: dict[Connection, None] = {}  # in the order of their last data
        self._addresses: Counter[str] = Counter()

    def make_connection(self, **settings: Any) -> "Connection":
        """Make the protocol of a connection, as uvicorn asks for it."""
        return Connection(self, **settings)

    def add(self, connection: "Connection") -> bool:
        """Add a connection, in place of another if necessary. Return False if all others are in use."""
        too_many_here = self._addresses[connection.address] >= self._per_address
        if too_many_here or len(self._open) >= self._total:
            for other in self._open:
                if other.awaits_client and (not too_many_here or other.address == connection.address):
                    break
            else:
                return False
            self.remove(other)
            other.transport.abort()
        self._open[connection] = None
        self._addresses[connection.address] += 1
        return True

    def note_data(self, connection: "Connection") -> None:
        """Make a connection the last one to give way."""
        if connection in self._open:
            self._open[connection] = self._open.pop(connection)

    def remove(self, connection: "Connection") -> None:
        """Remove a connection if it is open."""
        if connection in self._open:
            del self._open[connection]
            self._addresses[connection.address] -= 1
            if not self._addresses[connection.address]:
                del self._addresses[connection.address]


class Connection(HttpToolsProtocol):
    """A connection that ends if its client takes too long to send a request or to read the response."""

    def __init__(self, limiter: ConnectionLimiter, **settings: Any) -> None:
        super().__init__(**settings)
        self._limiter = limiter
        self._timer: asyncio.TimerHandle | None = None
        self.address = ""

    @property
    def awaits_client(self) -> bool:
        """Whether the client is to send more of a request, or to read more of a response."""
        request = self.cycle
        return not request or request.response_complete or request.more_body or self.flow.write_paused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer, or refuse the connection."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if self._limiter.add(self):
            self._set_timer()
        else:
            transport.write(_BUSY)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._limiter.remove(self)
        super().connection_lost(exc)
        self._stop_timer()

    def data_received(self, data: bytes) -> None:
        """Start the timer with the first byte of a request, and stop it with the last."""
        self._limiter.note_data(self)
        super().data_received(data)
        self._set_timer()

    def pause_writing(self) -> None:
        """Start the timer: the client does not read."""
        super().pause_writing()
        self._set_timer()

    def resume_writing(self) -> None:
        """Stop the timer if the request is complete."""
        super().resume_writing()
        self._set_timer()

    def send_400_response(self, msg: str) -> None:
        """Count a malformed request, of which nothing is logged."""
        self._limiter.malformed_requests += 1
        super().send_400_response(msg)

    def _set_timer(self) -> None:
        if not self.awaits_client:
            self._stop_timer()
        elif not self._timer:
            self._timer = self.loop.call_later(self._limiter.timeout, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
