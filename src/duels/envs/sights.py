"""What seats know of a game that an engine plays: for boards, for grades, and for players that decide."""

from duels.analysis.grading import at_clock
from duels.core.match import AnyMatch, Match
from duels.core.rules import AnySight, Seat
from duels.envs import dice
from duels.envs.engine import Engine, RulesEngine, drawn


class Sights:
    """Sights of a game under way, made when somebody asks for them.

    Where nothing is hidden and the engine knows the position as the rules have it, that is all it takes.
    Otherwise the game is played once more, as a match, up to where it stands.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._actions = engine.rules.all_actions()
        self._match: AnyMatch | None = None
        self._stream = 0
        self._moves: list[tuple[int, int]] = []
        self._known = isinstance(engine, RulesEngine) and not engine.rules.has_secrets

    def begin(self, stream: int) -> None:
        """A game begins, as `Engine.reset` has it."""
        self._match = None
        self._stream = stream
        self._moves.clear()

    def add(self, action: int, chance: int) -> None:
        """A move is made, as `Engine.step` has it."""
        if not self._known:
            self._moves.append((action, chance))

    def of(self, seat: int) -> AnySight:
        """What `seat` knows now."""
        engine, rules = self._engine, self._engine.rules
        if self._known:
            assert isinstance(engine, RulesEngine)
            return rules.sight(at_clock(rules, engine.state, engine.clock), Seat(seat + 1))
        match = self._match or drawn(Match.start(rules), dice.begin(self._stream))
        for action, chance in self._moves:
            assert isinstance(match.actor, Seat)
            match = drawn(match.play(match.actor, self._actions[action]), chance)
        self._moves.clear()
        self._match = match
        # Where nothing is hidden, the history takes long to gather and adds nothing to the position.
        return match.sight(Seat(seat + 1)) if rules.has_secrets else rules.sight(match.state, Seat(seat + 1))
