"""How a server is set up: where it listens, what it is called by, where it keeps matches."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from duels.core.errors import DuelsError, quote
from duels.web.visitors import VisitorLimits

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ANY_ADDRESS = "0.0.0.0"
EVERYWHERE = frozenset({ANY_ADDRESS, "::"})
"""Hosts that stand for all addresses of a machine. They can be listened at, and are no name to call it by."""
_USUAL = {"http": 80, "https": 443}


@dataclass(frozen=True)
class ServerSettings:
    """A server's settings."""

    database: str
    host: str = "127.0.0.1"
    port: int = 8321
    public_url: str = ""
    """Where browsers find the server, if it stands behind a proxy: `https://duels.example`."""
    addresses: tuple[str, ...] = ()
    """The machine's addresses in the local network, if it is served."""
    pause: float = 0.8
    """Seconds before a machine player answers."""
    look_ahead: bool = True
    """Whether today's puzzles are looked for before anybody asks."""
    limits: VisitorLimits = field(default_factory=VisitorLimits)

    def __post_init__(self) -> None:
        if self.public_url and not _is_origin(self.public_url):
            raise DuelsError(
                f"--public-url is an address without a path, like https://duels.example, "
                f"not {quote(self.public_url)}."
            )

    @property
    def secure(self) -> bool:
        """Whether browsers come over TLS."""
        return self.public_url.startswith("https://")

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return not self.public_url and not self.addresses and self.host in ("127.0.0.1", "::1", "localhost")

    @property
    def origins(self) -> frozenset[str]:
        """The origins that pages of this server have: what browsers may call it by, and nothing else."""
        if self.public_url:
            return frozenset({_origin(self.public_url)})
        names = {*LOOPBACK, *self.addresses, self.host} - EVERYWHERE
        return frozenset(_origin(f"http://{_bracketed(name)}:{self.port}") for name in names)

    @property
    def link(self) -> str:
        """The address to open, or to send to somebody."""
        if self.public_url:
            return _origin(self.public_url)
        name = self.addresses[0] if self.addresses else self.host
        return _origin(f"http://{_bracketed('127.0.0.1' if name in EVERYWHERE else name)}:{self.port}")


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name and not name.startswith("[") else name


def _origin(url: str) -> str:
    """The origin as browsers write it: lower case, without the usual port."""
    parts = urlsplit(url.lower())
    host = _bracketed(parts.hostname or "")
    return f"{parts.scheme}://{host}" + (
        f":{parts.port}" if parts.port not in (None, _USUAL[parts.scheme]) else ""
    )


def _is_origin(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    named = parts.scheme in _USUAL and parts.hostname and port != 0
    return bool(named and parts.path in ("", "/") and not parts.query and not parts.username)
