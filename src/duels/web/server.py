"""Runs the server with uvicorn, on a socket that is open already."""

import asyncio
import gc
import logging
import socket
from collections.abc import Callable

import uvicorn

from duels.web.app import make_app
from duels.web.settings import ServerSettings
from duels.web.site import Site

_TO_END = 3  # seconds for requests that are being answered
# Matches are freed without the collector. A look through all of them stops the server for as long as twenty
# moves take, so it is rare. Nor should it look because some dozen requests are being answered at once, which
# hold a hundred objects each: the collector's own numbers would have that with every move.
_COLLECT = (10_000, 20, 1_000)


class Server:
    """A server that runs until it is told to end."""

    def __init__(
        self,
        settings: ServerSettings,
        listening: socket.socket,
        ready: Callable[[], object] = lambda: None,
        log_addresses: bool = False,
    ) -> None:
        self._settings = settings
        self._listening = listening
        self._log_addresses = log_addresses
        self._ready = ready
        self._uvicorn: _Uvicorn | None = None

    def stop(self) -> None:
        """End it soon, from any thread."""
        if self._uvicorn:
            self._uvicorn.should_exit = True

    def run(self) -> None:
        """Serve until Ctrl-C, or until a signal tells it to end; DuelsError or OSError if it cannot begin."""
        logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
        if self._log_addresses:
            logging.getLogger("uvicorn.access").setLevel(logging.INFO)
        try:
            with asyncio.Runner(loop_factory=_event_loop()) as runner:
                runner.run(self._serve())
        except KeyboardInterrupt:
            pass  # that is how it ends
        finally:
            self._listening.close()

    async def _serve(self) -> None:
        site = Site(self._settings)
        await site.open()
        gc.freeze()  # what was loaded until now stays: no collection has to look through it
        gc.set_threshold(*_COLLECT)
        try:
            config = uvicorn.Config(
                make_app(site),
                lifespan="off",
                ws="none",
                log_config=None,
                access_log=self._log_addresses,
                server_header=False,
                proxy_headers=bool(self._settings.public_url),
                timeout_graceful_shutdown=_TO_END,
                timeout_keep_alive=30,
            )
            self._uvicorn = _Uvicorn(config, self._ready, site.end_streams)
            await self._uvicorn.serve(sockets=[self._listening])
        finally:
            await site.close()


def _event_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop, where there is one: it takes a tenth less than Python's own."""
    try:
        import uvloop
    except ImportError:  # on Windows
        return None
    return uvloop.new_event_loop


class _Uvicorn(uvicorn.Server):
    """Says when it is ready and when it ends: streams would keep it from ending."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], object], ending: Callable[[], object]
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._ending = ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what is open, then everything."""
        self._ending()
        await super().shutdown(sockets)
