"""How others reach the server: its addresses in the local network, and a code that a phone can read."""

import io
import socket
from contextlib import suppress
from functools import lru_cache
from typing import Any


def local_addresses() -> tuple[str, ...]:
    """The addresses of this machine in the local network, the likeliest first; none if it has no network."""
    found: list[str] = []
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent: the system only chooses the way out
        found.append(probe.getsockname()[0])
    with suppress(OSError):
        for *_, place in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET):
            found.append(str(place[0]))
    return tuple(dict.fromkeys(address for address in found if not address.startswith("127.")))


@lru_cache(maxsize=256)
def qr_code(link: str) -> str:
    """A link as an SVG that a phone can read, in any theme."""
    code: str = _made(link, "m").svg_inline(scale=4, border=2, dark="#000", light="#fff")
    return code


def qr_text(link: str) -> str:
    """The same for a terminal."""
    drawn = io.StringIO()
    _made(link, "l").terminal(drawn, compact=True, border=2)
    return drawn.getvalue()


def _made(link: str, error: str) -> Any:
    import segno  # takes long to load, and no page needs it before somebody is invited

    return segno.make(link, error=error)
