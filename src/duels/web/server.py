"""The web server: uvicorn with limits for connections, and a guard in front of the site.

The guard checks the host, origin and size of every request. It adds the headers that protect pages from other
sites and foreign code.
"""

import asyncio
import gc
import logging
import re
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from duels.web import puzzles, reviews
from duels.web.settings import LOOPBACK, ServerSettings
from duels.web.site import Site
from duels.web.visitors import make_json_response, make_text_response, normalize_address, wants_json

log = logging.getLogger("duels.web")

_BUSY_MESSAGE = "The server has too many connections. Try again in 5 seconds.\n"
_BUSY = (
    "HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    f"Content-Length: {len(_BUSY_MESSAGE)}\r\n\r\n{_BUSY_MESSAGE}"
).encode()
_GRACE_PERIOD = 1.0  # seconds in which a new connection is treated like one with a request
_BUSY_INTERVAL = 60.0  # seconds between two lines in the log
_SHUTDOWN_TIMEOUT = 3  # seconds for open requests
# Reference counting frees matches. A full collection stops the server for as long as twenty moves take, so it
# must be rare. Each request holds a hundred objects: with the default thresholds, a dozen requests at once
# would cause a collection with every move.
_GC_THRESHOLDS = (10_000, 20, 1_000)
MAX_BODY_BYTES = 4 << 10
"""The size of a request body, unless its path has a larger limit."""
MAX_HEAD_BYTES = 32 << 10
"""The size of a request's first line and headers."""
_MAX_REQUEST_BYTES = 1 << 20  # also for the largest body in chunks
_LARGER_BODIES = {"/review": 2 * reviews.MAX_UPLOAD_BYTES, "/daily": puzzles.MAX_ANSWERS_BYTES}
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_PORT = re.compile(r":\d+$")
# Browsers ignore this header on untrusted connections, with a warning.
_TRUSTED_ONLY = (b"cross-origin-opener-policy", b"same-origin")
_HSTS = {"Strict-Transport-Security": "max-age=31536000"}


class Server(uvicorn.Server):
    """The web server. It runs until `stop` is called or a signal arrives."""

    def __init__(
        self,
        settings: ServerSettings,
        listener: socket.socket,
        on_ready: Callable[[], object] = lambda: None,
        log_addresses: bool = False,
    ) -> None:
        """`on_ready` is called when the server listens."""
        self._site = Site(settings)
        self._listener = listener
        self._on_ready = on_ready
        connections = ConnectionLimiter(self._site)
        # Event streams are not compressed.
        compressed = GZipMiddleware(self._site.make_router(), minimum_size=1_000, compresslevel=5)
        config = uvicorn.Config(
            _Guard(compressed, settings),
            http=connections.make_connection,  # type: ignore[arg-type]
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=log_addresses,
            server_header=False,
            proxy_headers=bool(settings.public_url),
            timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
            timeout_keep_alive=30,
        )
        super().__init__(config)

    def stop(self) -> None:
        """Ask the server to end. Can be called from any thread."""
        self.should_exit = True

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until Ctrl-C, a signal or `stop`. Raises DuelsError or OSError if the server cannot start."""
        logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it warns of malformed requests
        if self.config.access_log:
            logging.getLogger("uvicorn.access").setLevel(logging.INFO)
        # Ctrl-C is the usual way to end the server.
        with self._listener, suppress(KeyboardInterrupt):
            super().run([self._listener])

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the site, serve it, and close it."""
        await self._site.open()
        gc.freeze()  # collections skip everything that was loaded until now
        gc.set_threshold(*_GC_THRESHOLDS)
        try:
            await super().serve(sockets)
        finally:
            await self._site.close()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen and call `on_ready`."""
        await super().startup(sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the event streams, which would keep the server from shutting down, then shut down."""
        self._site.end_streams()
        await super().shutdown(sockets)


# -- connections --------------------------------------------------------------------------------


class ConnectionLimiter:
    """The open connections of a server, and how many there can be.

    If there are too many, one that waits for its client gives way to a new one, so idle connections
    lock nobody out. A connection that has not sent a whole request gives way first, a player's last.
    Among equals, the visitor with the most connections loses the one that has waited longest.
    """

    def __init__(self, site: Site) -> None:
        limits = site.settings.limits
        self.site = site
        self._total = site.settings.max_connections
        # All connections behind a proxy come from its address.
        self._per_address = sys.maxsize if site.settings.public_url else limits.connections
        self._open: dict[Connection, None] = {}  # in the order of their last data
        self._addresses: Counter[str] = Counter()
        self._next_report = 0.0

    def make_connection(self, **settings: Any) -> "Connection":
        """Make the protocol of a connection, as uvicorn asks for it."""
        return Connection(self, **settings)

    def add(self, connection: "Connection") -> bool:
        """Add a connection, in place of another if necessary. Return False if all others are in use."""
        is_address_full = self._addresses[connection.address] >= self._per_address
        if is_address_full or len(self._open) >= self._total:
            idle = [
                other
                for other in self._open
                if other.can_give_way and (not is_address_full or other.address == connection.address)
            ]
            if not idle:
                if not is_address_full:
                    self._report_refusal()
                return False
            owners = Counter(other.owner for other in idle)
            other = min(idle, key=lambda other: (other.precedence, -owners[other.owner]))
            self.remove(other)
            other.transport.abort()
        self._open[connection] = None
        self._addresses[connection.address] += 1
        return True

    def _report_refusal(self) -> None:
        now = time.monotonic()
        if now >= self._next_report:
            log.warning("All connections (%d) are in use: new ones are refused.", self._total)
            self._next_report = now + _BUSY_INTERVAL

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
    """A connection that ends if its client takes too long to send a request or to read the response.

    It also ends if a request is too large, or is sent before the last one has been answered: browsers and
    proxies do neither, and either would use memory without a limit.
    """

    def __init__(self, limiter: ConnectionLimiter, **settings: Any) -> None:
        super().__init__(**settings)
        self._limiter = limiter
        self._timer: asyncio.TimerHandle | None = None
        self._timeout = limiter.site.settings.limits.request_timeout
        self._opened = self.loop.time()
        self._notes: dict[str, Any] = {}  # of earlier requests
        self._received = 0  # bytes of the current request
        self._has_head = False
        self.address = ""

    @property
    def awaits_client(self) -> bool:
        """Whether the client is to send more of a request, or to read more of a response."""
        request = self.cycle
        return not request or request.response_complete or request.more_body or self.flow.write_paused

    @property
    def _state(self) -> dict[str, Any]:
        """The site's notes about the last request."""
        state: dict[str, Any] = self.cycle.scope["state"] if self.cycle else {}
        return state

    @property
    def can_give_way(self) -> bool:
        """Whether the server is not handling a request of this connection."""
        return self.awaits_client or self._waiting_task is not None

    @property
    def _waiting_task(self) -> asyncio.Task[object] | None:
        """The task of a request that waits for its turn."""
        task: asyncio.Task[object] | None = self._state.get("waiting_task")
        return task

    @property
    def precedence(self) -> int:
        """0 without a whole request, 1 after one, 2 after a player's. The lowest gives way first.

        A new connection has 1 for a moment: its request is on the way.
        """
        if self._state.get("is_seated") or self._notes.get("is_seated"):
            return 2
        if not self.cycle or self.cycle.more_body:
            return int(self.loop.time() < self._opened + _GRACE_PERIOD)
        return 1

    @property
    def owner(self) -> str | None:
        """The identity of the visitor, if known."""
        return self._state.get("owner") or self._notes.get("owner")

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer, or refuse the connection."""
        super().connection_made(transport)
        with suppress(ValueError):
            self.address = normalize_address(self.client[0]) if self.client else ""
        if self._limiter.add(self):
            self._set_timer()
        else:
            transport.write(_BUSY)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer, and cancel a request that still waits for its turn."""
        self._limiter.remove(self)
        super().connection_lost(exc)
        self._stop_timer()
        if self._waiting_task:
            self._waiting_task.cancel()

    def data_received(self, data: bytes) -> None:
        """Start the timer with the first byte of a request, and stop it with the last."""
        self._limiter.note_data(self)
        self._notes |= self._state
        self._received += len(data)
        super().data_received(data)
        limit = _MAX_REQUEST_BYTES if self._has_head else MAX_HEAD_BYTES
        if self._received > limit and not self.transport.is_closing():
            self.send_400_response("The request is too large.")
        self._set_timer()

    def on_message_begin(self) -> None:
        """Begin a request. Raises ValueError if the last one has not been answered."""
        if self.cycle and not self.cycle.response_complete:
            raise ValueError
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header. Headers after the body are ignored."""
        if not self._has_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start to handle the request."""
        self._has_head = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End the request."""
        self._received, self._has_head = 0, False
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Start the timer: the client does not read."""
        super().pause_writing()
        self._set_timer()

    def resume_writing(self) -> None:
        """Stop the timer if the request is complete."""
        super().resume_writing()
        self._set_timer()

    def shutdown(self) -> None:
        """Finish the request, but hardly wait for the client."""
        super().shutdown()
        self._stop_timer()
        self._timeout = _SHUTDOWN_TIMEOUT / 3
        self._set_timer()

    def send_400_response(self, msg: str) -> None:
        """Count a malformed request without logging it. Abort the connection if a response has begun."""
        self._limiter.site.malformed_requests += 1
        if self.cycle and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()
        else:
            super().send_400_response(msg)

    def _set_timer(self) -> None:
        if not self.awaits_client:
            self._stop_timer()
        elif not self._timer:
            self._timer = self.loop.call_later(self._timeout, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


# -- the guard ----------------------------------------------------------------------------------


class _Guard:
    """Middleware that rejects requests to other hosts and from other sites' pages."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._link = settings.link
        added = _HEADERS | _HSTS if settings.secure else _HEADERS
        self._added = [(name.lower().encode(), value.encode()) for name, value in added.items()]
        self._secure = settings.secure
        self._hosts = {
            host: (origin.encode(), self._list_headers(host))
            for origin in settings.origins
            if (host := urlsplit(origin).netloc)
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a request, or pass it on."""
        if scope["type"] != "http":  # no WebSockets
            return
        headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))  # the first of equal names counts
        host = headers.get(b"host", b"").decode("latin-1").lower()
        origin, added = self._hosts.get(host) or (None, self._list_headers(host))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                response_headers = MutableHeaders(raw=[*message["headers"], *added])
                response_headers.setdefault("cache-control", "no-store")
                message["headers"] = response_headers.raw
            await send(message)

        max_bytes = _LARGER_BODIES.get(scope["path"], MAX_BODY_BYTES)
        status, reason = self._check(scope["method"], headers, origin, max_bytes)
        if not status:
            await self._app(scope, _limit_body(receive, max_bytes), send_with_headers)
        elif wants_json(Request(scope)):
            await make_json_response({"message": reason}, status)(scope, receive, send_with_headers)
        else:
            await make_text_response(status, reason)(scope, receive, send_with_headers)

    def _list_headers(self, host: str) -> list[tuple[bytes, bytes]]:
        # Browsers trust TLS connections and the machine itself.
        trusted = self._secure or _PORT.sub("", host).strip("[]") in LOOPBACK
        return [*self._added, _TRUSTED_ONLY] if trusted else self._added

    def _check(
        self, method: str, headers: dict[bytes, bytes], origin: bytes | None, max_bytes: int
    ) -> tuple[int, str]:
        """Return the status and message of a rejection, or status 0. `origin` is the host's."""
        # Another host name may be an attack by DNS rebinding.
        if origin is None:
            return 421, f"This server's address is {self._link}. To use another, start it with --public-url."
        if method in ("GET", "HEAD"):
            return 0, ""
        if method != "POST":
            return 405, "Only GET and POST are allowed."
        if headers.get(b"origin", b"").lower() != origin:
            return 403, "The Origin header of a POST must be this server's address."
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
            return 415, "The Content-Type of a POST must be application/json."
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 9 or int(length) > max_bytes:
            return 413, f"The request is too large. At most {max_bytes} bytes are allowed."
        return 0, ""


def _limit_body(receive: Receive, limit: int) -> Receive:
    """Return a receive function that disconnects after `limit` bytes of the body."""
    size = 0

    async def limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        return message if size <= limit else {"type": "http.disconnect"}

    return limited
