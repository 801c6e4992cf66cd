"""Players at their seats: each made once, and programs tried before anything is played."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from duels.arena.bout import Bout, play_with
from duels.arena.config import Config
from duels.arena.folder import CONFIG
from duels.arena.logs import Row
from duels.arena.values import Judge
from duels.core.errors import DuelsError
from duels.core.rules import AnyRules, Seat
from duels.players import Player
from duels.players.program import ProgramPlayer


class Seats:
    """Players and judges of a run, each made once for each game; a program serves one seat only.

    `log_of` says where what a program writes to its stderr goes.
    """

    def __init__(self, config: Config, log_of: Callable[[str, Seat], Path | None] = lambda *_: None) -> None:
        self._config, self._log_of = config, log_of
        self._judges: dict[AnyRules, Judge] = {}
        self._players: dict[tuple[AnyRules, str, Seat], Player] = {}

    def judge(self, rules: AnyRules) -> Judge:
        """The judge of a game."""
        if rules not in self._judges:
            self._judges[rules] = Judge(rules)
        return self._judges[rules]

    def player(self, rules: AnyRules, name: str, seat: Seat) -> Player:
        """The player of that name, at a seat of a game."""
        key = rules, name, seat
        if key not in self._players:
            self._players[key] = self._config.seat(name, rules, self._log_of(name, seat))
        return self._players[key]

    def play(self, bout: Bout) -> Row:
        """Play a match; its row."""
        rules = bout.rules()
        players = {seat: self.player(rules, bout.players[seat - 1], seat) for seat in Seat}
        return play_with(bout, self.judge(rules), players)

    def close(self) -> None:
        """End the programs."""
        for player in self._players.values():
            if isinstance(player, ProgramPlayer):
                player.close()


class ProgramCheck:
    """Starts each program of a run once: one that cannot start would forfeit every match.

    Where a run begins that is done at once, so that nothing is written if one does not start. Where it goes
    on, it is done before the first match that is missing, and not at all if none is.
    """

    def __init__(self, config: Config, out: Path) -> None:
        self._config = config
        self._done = False
        if not (out / CONFIG).exists():
            self()

    def __call__(self) -> None:
        """DuelsError, which says why, if a program does not start and say that it is ready."""
        if self._done:
            return
        rules = self._config.rules(self._config.games[0])
        for name in self._config.programs():
            player = self._config.seat(name, rules)
            assert isinstance(player, ProgramPlayer)
            with closing(player):
                try:
                    player.start()
                except DuelsError as error:
                    raise DuelsError(f"{name} does not start: {error}") from None
        self._done = True
