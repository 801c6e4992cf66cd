"""The command `duels serve`."""

import errno
import os
import socket
import sys
import threading

import click

from duels.core.errors import DuelsError, require_extra
from duels.paths import data_dir

_EXAMPLES = """\b
Examples:
  duels serve                             play in your browser
  duels serve --lan                       play on phones nearby, by QR code
  duels serve --port 9000 --no-browser    use another port
  duels serve --public-url https://duels.example
"""
_MIN_PORT = 1024


@click.command(epilog=_EXAMPLES)
@click.option("--host", help="Listen at this address.  [default: 127.0.0.1; all addresses with --lan]")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8321, show_default=True, help="Use this port; 0 for any."
)
@click.option(
    "--database",
    metavar="FILE|URL",
    help="Store matches in a file or at postgresql://…  [default: web.sqlite3 next to your matches]",
)
@click.option("--lan", is_flag=True, help="Serve the local network and show a QR code.")
@click.option("--public-url", metavar="URL", default="", help="Set the server's address behind a proxy.")
@click.option(
    "--player",
    "players",
    metavar="NAME=PLAYER",
    multiple=True,
    help="Offer another player under this name: champion=expert, or mine='cmd:python bot.py'.",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--log-addresses", is_flag=True, help="Log every request with the visitor's IP address.")
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
    """Play in the browser: against a bot, or with a friend over a link.

    Prints the address, opens it in your browser, and serves until Ctrl-C. Every move is saved before it is
    shown, so matches continue after a restart.
    """
    with require_extra("web"):
        from duels.web.network import list_local_addresses, make_qr_text
        from duels.web.server import Server
        from duels.web.settings import ANY_ADDRESS, EVERYWHERE, ServerSettings
    from duels.web.opponents import register_player

    if database is not None and not database.strip():
        raise DuelsError("--database must be a file or postgresql://….")
    for player in players:
        register_player(player)
    host = host or (ANY_ADDRESS if lan else "127.0.0.1")
    addresses = list_local_addresses() if lan or host in EVERYWHERE else ()
    if lan and not addresses:
        raise DuelsError("--lan: this machine has no address in a local network. Connect it and try again.")
    listener = _open_socket(host, port)
    settings = ServerSettings(
        database=database or str(data_dir() / "web.sqlite3"),
        host=host,
        port=listener.getsockname()[1],
        public_url=public_url,
        addresses=addresses,
    )
    opens_browser = not no_browser and not public_url and sys.stdout.isatty() and _has_desktop()

    def on_ready() -> None:
        click.echo(f"Play at {settings.link}")
        if lan:
            click.echo(make_qr_text(settings.link))
        click.echo("Press Ctrl-C to end the server. Matches are saved.", err=True)
        if opens_browser:  # in a thread: some browsers block until they are closed
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(settings.link,), daemon=True).start()

    Server(settings, listener, on_ready, log_addresses).run()


def _open_socket(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise DuelsError(f"--host {host}: {error.strerror}.") from None
    dual = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    try:
        return socket.create_server(address, family=family, backlog=2048, dualstack_ipv6=dual)
    except OSError as error:
        raise DuelsError(_explain_bind_error(error, host, port)) from None


def _explain_bind_error(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use, perhaps by duels itself. Choose another with --port (0 for any)."
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} needs administrator rights. Choose {_MIN_PORT} or higher with --port."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"--host {host}: this machine has no such address."
    return f"{host}:{port}: {error.strerror}."


def _has_desktop() -> bool:
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
