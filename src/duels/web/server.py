"""The web server process: uvicorn on a socket that is already open."""

import asyncio
import gc
import logging
import socket
from collections.abc import Callable

import uvicorn

from duels.web.app import make_app
from duels.web.settings import ServerSettings
from duels.web.site import Site

_SHUTDOWN_TIMEOUT = 3  # seconds for open requests
# Reference counting frees matches. A full collection stops the server for as long as twenty moves take, so it
# must be rare. Each request holds a hundred objects: with the default thresholds, a dozen requests at once
# would cause a collection with every move.
_GC_THRESHOLDS = (10_000, 20, 1_000)


class Server:
    """The web server. It runs until `stop` is called or a signal arrives."""

    def __init__(
        self,
        settings: ServerSettings,
        listening: socket.socket,
        ready: Callable[[], object] = lambda: None,
        log_addresses: bool = False,
    ) -> None:
        self._settings = settings
        self._listener = listening
        self._log_addresses = log_addresses
        self._ready = ready
        self._uvicorn: _Uvicorn | None = None

    def stop(self) -> None:
        """Ask the server to end. Can be called from any thread."""
        if self._uvicorn:
            self._uvicorn.should_exit = True

    def run(self) -> None:
        """Serve until Ctrl-C, a signal or `stop`. Raises DuelsError or OSError if the server cannot start."""
        logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it warns of malformed requests
        if self._log_addresses:
            logging.getLogger("uvicorn.access").setLevel(logging.INFO)
        try:
            with asyncio.Runner(loop_factory=_get_loop_factory()) as runner:
                runner.run(self._serve())
        except KeyboardInterrupt:
            pass  # Ctrl-C is the usual way to end the server
        finally:
            self._listener.close()

    async def _serve(self) -> None:
        site = Site(self._settings)
        await site.open()
        gc.freeze()  # collections skip everything that was loaded until now
        gc.set_threshold(*_GC_THRESHOLDS)
        try:
            config = uvicorn.Config(
                make_app(site),
                http=site.connections.make_connection,  # type: ignore[arg-type]
                lifespan="off",
                ws="none",
                log_config=None,
                access_log=self._log_addresses,
                server_header=False,
                proxy_headers=bool(self._settings.public_url),
                timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
                timeout_keep_alive=30,
            )
            self._uvicorn = _Uvicorn(config, self._ready, site.end_streams)
            await self._uvicorn.serve(sockets=[self._listener])
        finally:
            await site.close()


def _get_loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's factory if installed: it uses a tenth less time than Python's event loop."""
    try:
        import uvloop
    except ImportError:  # not available on Windows
        return None
    return uvloop.new_event_loop


class _Uvicorn(uvicorn.Server):
    """A uvicorn server with callbacks: event streams must end before it can shut down."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], object], ending: Callable[[], object]
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._ending = ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen and call `ready`."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the event streams, then shut down."""
        self._ending()
        await super().shutdown(sockets)
