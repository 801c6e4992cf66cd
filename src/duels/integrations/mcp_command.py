"""The command `duels mcp`."""

import click

from duels.core.errors import require_extra
from duels.paths import data_dir

_EXAMPLES = """\b
Examples:
  duels mcp                       serve one client over stdin and stdout
  duels mcp --hints               let the model ask for hints
  duels mcp --http --port 8322    serve http://127.0.0.1:8322/mcp
"""


@click.command(epilog=_EXAMPLES)
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen at this address, with --http.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=8322,
    show_default=True,
    help="Use this port, with --http.",
)
@click.option("--hints", is_flag=True, help="Offer the tool `hint`.")
@click.option(
    "--seed", metavar="TEXT", help="Repeat the same matches: fix chance and the opponents' choices."
)
def mcp(http: bool, host: str, port: int, hints: bool, seed: str | None) -> None:
    """Let a language model play matches, as a server of the Model Context Protocol.

    The model starts matches against our players, sees only what its seat may know, and gets exact grades
    after the end. Every action is saved before it is played, so matches continue after a restart.
    """
    with require_extra("mcp"):
        from duels.integrations.match_store import MatchStore
        from duels.integrations.mcp_server import make_server

    server = make_server(MatchStore(data_dir() / "mcp"), seed, hints)
    if http:
        click.echo(f"Serving at http://{host}:{port}/mcp", err=True)
        server.run("streamable-http", host=host, port=port)
    else:
        server.run()
