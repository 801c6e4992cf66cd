"""What seats know of a game that an engine plays: for boards, for grades, and for players that decide."""

from duels.analysis.grading import at_clock
from duels.core.rules import AnySight, Seat
from duels.envs.engine import Engine, MatchEngine, RulesEngine


class Sights:
    """Sights of a game under way, made when somebody asks for them.

    Where nothing is hidden and the engine knows the position as the rules have it, that is all it takes.
    Otherwise the game is played once more, as a match, up to where it stands.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._match: MatchEngine | None = None
        self._begun: int | None = None
        self._moves: list[tuple[int, int]] = []
        self._known = isinstance(engine, RulesEngine) and not engine.rules.has_secrets

    def begin(self, stream: int) -> None:
        """A game begins, as `Engine.reset` has it."""
        self._begun = stream
        self._moves.clear()

    def add(self, action: int, chance: int) -> None:
        """A move is made, as `Engine.step` has it."""
        if not self._known:
            self._moves.append((action, chance))

    def of(self, seat: int) -> AnySight:
        """What `seat` knows now."""
        engine = self._engine
        if self._known:
            assert isinstance(engine, RulesEngine)
            return engine.rules.sight(at_clock(engine.rules, engine.state, engine.clock), Seat(seat + 1))
        self._match = self._match or MatchEngine(engine.rules)
        if self._begun is not None:
            self._match.reset(self._begun)
            self._begun = None
        for move in self._moves:
            self._match.step(*move)
        self._moves.clear()
        return self._match.sight(seat)
