"""The command `duels serve`."""

import errno
import os
import socket
import sys
import threading

import click

from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.paths import data_dir

_EXAMPLES = """\b
Examples:
  duels serve                             play in your browser
  duels serve --lan                       for phones nearby: shows a code
  duels serve --port 9000 --no-browser    at another port
  duels serve --public-url https://duels.example
"""
_LEAST_PORT = 1024


@click.command(epilog=_EXAMPLES)
@click.option("--host", help="The address to listen at.  [default: 127.0.0.1, with --lan all]")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8321, show_default=True, help="The port; 0 for any."
)
@click.option(
    "--database",
    metavar="FILE|URL",
    help="Where matches are kept: a file, or postgresql://…  [default: web.sqlite3 beside your matches]",
)
@click.option("--lan", is_flag=True, help="Serve the local network, and show the address as a QR code.")
@click.option(
    "--public-url", metavar="URL", default="", help="Where browsers find the server behind a proxy."
)
@click.option(
    "--player",
    "players",
    metavar="NAME=PLAYER",
    multiple=True,
    help="A further player to choose, by a name of yours: champion=expert, or mine='cmd:python bot.py'.",
)
@click.option("--no-browser", is_flag=True, help="Do not open the page.")
@click.option("--log-addresses", is_flag=True, help="Log every request with the address that it came from.")
def serve(
    host: str | None,
    port: int,
    database: str | None,
    lan: bool,
    public_url: str,
    players: tuple[str, ...],
    no_browser: bool,
    log_addresses: bool,
) -> None:
    """Play in a browser: against any level, or with a friend by a link.

    Prints the address, opens it, and serves until Ctrl-C. Every move is on disk before it is on a screen:
    whatever happens, matches go on where they were.
    """
    with require_extra("web"):
        from duels.web.reach import local_addresses
        from duels.web.server import Server
        from duels.web.settings import ANY_ADDRESS, EVERYWHERE, ServerSettings
    from duels.web.opponents import register_player

    if database is not None and not database.strip():
        raise DuelsError("--database: name a file, or postgresql://….")
    for player in players:
        register_player(player)
    host = host or (ANY_ADDRESS if lan else "127.0.0.1")
    addresses = local_addresses() if lan or host in EVERYWHERE else ()
    if lan and not addresses:
        raise DuelsError("--lan: this machine has no address in a local network.")
    listening = _listen(host, port)
    settings = ServerSettings(
        database=database or str(data_dir() / "web.sqlite3"),
        host=host,
        port=listening.getsockname()[1],
        public_url=public_url,
        addresses=addresses,
    )
    opens = not no_browser and not public_url and sys.stdout.isatty() and _has_desktop()

    def ready() -> None:
        _say_where(settings.link, lan)
        if opens:  # in a thread: some browsers are waited for
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(settings.link,), daemon=True).start()

    Server(settings, listening, ready, log_addresses).run()


def _listen(host: str, port: int) -> socket.socket:
    """The socket to serve at; one line where that cannot be had."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise DuelsError(f"--host {host}: {error.strerror}.") from None
    listening = socket.socket(family, kind, protocol)
    if os.name != "nt":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(place)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise DuelsError(_why_not(error, host, port)) from None
    return listening


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken: maybe duels is served already. Choose another with --port (0 for any)."
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} is not for everybody: choose one from {_LEAST_PORT} up with --port."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"--host {host}: this machine has no such address."
    return f"{host}:{port}: {error.strerror}."


def _say_where(link: str, lan: bool) -> None:
    click.echo(f"Play at {link}")
    if lan:
        from duels.web.reach import qr_text

        click.echo(qr_text(link))
    click.echo("Press Ctrl-C to end. Matches are kept.", err=True)


def _has_desktop() -> bool:
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
