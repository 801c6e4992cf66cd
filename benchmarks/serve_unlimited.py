"""Run the server without limits for visitors, for benchmarks. It prints its port once it listens.

python benchmarks/serve_unlimited.py DATABASE
"""

import socket
import sys

from duels.web.server import Server
from duels.web.settings import ServerSettings
from duels.web.visitors import RateLimit, VisitorLimits

PLENTY = RateLimit(1e9, 1e9)
MANY = 10**6


def main() -> None:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(4096)
    port = listening.getsockname()[1]
    settings = ServerSettings(
        database=sys.argv[1],
        port=port,
        prepare_puzzles=False,
        limits=VisitorLimits(PLENTY, PLENTY, PLENTY, PLENTY, 1, *[MANY] * 6),
    )
    Server(settings, listening, lambda: print(port, flush=True)).run()


if __name__ == "__main__":
    main()
