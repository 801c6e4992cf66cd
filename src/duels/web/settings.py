"""The settings of a server: its addresses, its database and its limits."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from duels.core.errors import DuelsError, quote
from duels.web.visitors import VisitorLimits

try:
    import resource
except ImportError:  # Windows
    _MAX_FILES = 2048
else:
    _MAX_FILES = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65_536)
_OTHER_FILES = 96  # the database, the worker processes, programs
LOOPBACK = ("127.0.0.1", "localhost", "::1")
ANY_ADDRESS = "0.0.0.0"
EVERYWHERE = frozenset({ANY_ADDRESS, "::"})
"""Hosts that mean all addresses of a machine. A server can listen there, but links cannot use them."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class ServerSettings:
    """The settings of a server. Raises DuelsError if the public URL is not an origin."""

    database: str
    host: str = "127.0.0.1"
    port: int = 8321
    public_url: str = ""
    """The address of the server behind a proxy, such as `https://duels.example`."""
    addresses: tuple[str, ...] = ()
    """This machine's addresses in the local network, if the server listens there."""
    pause: float = 0.8
    """Seconds before a bot moves."""
    prepare_puzzles: bool = True
    """Whether to find the puzzles of the day before the first visitor asks."""
    limits: VisitorLimits = field(default_factory=VisitorLimits)

    def __post_init__(self) -> None:
        if self.public_url and not _is_origin(self.public_url):
            raise DuelsError(
                f"--public-url must be an address without a path, such as https://duels.example, "
                f"not {quote(self.public_url)}."
            )

    @property
    def max_connections(self) -> int:
        """The number of connections that can be open: by default as many as the system allows files."""
        return self.limits.connections_in_all or max(16, _MAX_FILES - _OTHER_FILES)

    @property
    def secure(self) -> bool:
        """Whether browsers connect over TLS."""
        return self.public_url.startswith("https://")

    @property
    def on_loopback(self) -> bool:
        """Whether the server is reachable only from this machine."""
        return not self.public_url and not self.addresses and self.host in LOOPBACK

    @property
    def origins(self) -> frozenset[str]:
        """The origins at which browsers may use this server."""
        if self.public_url:
            return frozenset({_format_origin(self.public_url)})
        names = {*LOOPBACK, *self.addresses, self.host} - EVERYWHERE
        return frozenset(_format_origin(f"http://{_add_brackets(name)}:{self.port}") for name in names)

    @property
    def link(self) -> str:
        """The address to open or to share."""
        if self.public_url:
            return _format_origin(self.public_url)
        name = self.addresses[0] if self.addresses else self.host
        return _format_origin(
            f"http://{_add_brackets('127.0.0.1' if name in EVERYWHERE else name)}:{self.port}"
        )


def _add_brackets(name: str) -> str:
    return f"[{name}]" if ":" in name and not name.startswith("[") else name


def _format_origin(url: str) -> str:
    """Return the origin as browsers write it: lower case, without the default port."""
    parts = urlsplit(url.lower())
    host = _add_brackets(parts.hostname or "")
    return f"{parts.scheme}://{host}" + (
        f":{parts.port}" if parts.port not in (None, _DEFAULT_PORTS[parts.scheme]) else ""
    )


def _is_origin(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    has_host = parts.scheme in _DEFAULT_PORTS and parts.hostname and port != 0
    return bool(has_host and parts.path in ("", "/") and not parts.query and not parts.username)
