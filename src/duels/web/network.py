"""Addresses in the local network, and QR codes of links."""

import io
import socket
from contextlib import suppress
from functools import lru_cache
from typing import Any


def list_local_addresses() -> tuple[str, ...]:
    """Return this machine's addresses in the local network, the most useful first."""
    addresses: list[str] = []
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing: the system only chooses an interface
        addresses.append(probe.getsockname()[0])
    with suppress(OSError):
        for *_, address in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET):
            addresses.append(str(address[0]))
    return tuple(dict.fromkeys(address for address in addresses if not address.startswith("127.")))


@lru_cache(maxsize=256)
def make_qr_svg(link: str) -> str:
    """Return the QR code of a link as SVG, black on white in every theme."""
    code: str = _make_qr(link, "m").svg_inline(scale=4, border=2, dark="#000", light="#fff")
    return code


def make_qr_text(link: str) -> str:
    """Return the QR code of a link as text for a terminal."""
    text = io.StringIO()
    _make_qr(link, "l").terminal(text, compact=True, border=2)
    return text.getvalue()


def _make_qr(link: str, error: str) -> Any:
    import segno  # slow to import, and only invitations need it

    return segno.make(link, error=error)
