"""An MCP server: a model plays matches by calling tools."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from importlib.metadata import version
from typing import Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from duels.analysis.hints import hint
from duels.arena.config import MODEL, make_match_seed
from duels.arena.text_seat import DecisionGrade, MatchTask
from duels.core.errors import DuelsError
from duels.core.game import Game
from duels.core.options import list_options
from duels.games import all_games, find_game
from duels.integrations.conversation import CONVERSATION_CONDITIONS
from duels.integrations.match_store import MatchStore, MatchView
from duels.play.dice import make_seed
from duels.play.new_match import add_machine_limit
from duels.players import PLAYER_KINDS
from duels.players.text_player import Conditions

_INSTRUCTIONS = (
    "Play short two-player games. Call list_games, then start_match. Read the question in `text`, and answer "
    "it with play, until `over` is true. Then review_match has your grades. If the answer to a call is lost, "
    "repeat the call: it counts once."
)


@dataclass(frozen=True)
class GameInfo:
    """A game, with its options and their defaults."""

    name: str
    title: str
    summary: str
    options: dict[str, Any]

    @classmethod
    def from_game(cls, game: Game) -> "GameInfo":
        """Return the description of a game."""
        rules = add_machine_limit(game.rules())
        defaults = {option.name: getattr(rules, option.name) for option in list_options(type(rules))}
        return cls(game.name, game.title, game.summary, defaults)


@dataclass(frozen=True)
class MatchReview:
    """The grades of a finished match under perfect play, and the complete match."""

    match: str
    scores: dict[str, float]
    grades: list[DecisionGrade]
    entries: list[str]
    result: str


class MatchTools:
    """The tools of the server. Their docstrings are the descriptions that a model reads."""

    def __init__(self, store: MatchStore, seed: str | None = None) -> None:
        """`seed` makes matches repeatable. Without one, every match has a secret seed of its own."""
        self._store = store
        self._seed = seed

    def list_games(self) -> list[GameInfo]:
        """List the games, with their options and defaults."""
        return [GameInfo.from_game(game) for game in all_games()]

    def list_opponents(self) -> dict[str, str]:
        """List the opponents, with a summary of each."""
        return {name: kind.summary for name, kind in PLAYER_KINDS.items() if kind.make}

    def show_rules(self, game: str) -> str:
        """Show the rules of a game."""
        return find_game(game).rules_text()

    def start_match(
        self,
        game: str,
        opponent: str = "club",
        player: Literal[1, 2] = 1,
        options: dict[str, bool | int | str] | None = None,
        show_actions: bool = False,
    ) -> MatchView:
        """Start a match as player 1 or 2. With show_actions, questions list the legal actions."""
        conditions = Conditions(**CONVERSATION_CONDITIONS, show_actions=show_actions)
        task = MatchTask(game, opponent, player, options=options or {}, conditions=conditions)
        seed = make_seed() if self._seed is None else self._seed
        seed = make_match_seed(seed, task.game, MODEL, task.opponent, task.pair)
        return self._store.start(replace(task, seed=seed)).questions[-1]

    def show_match(self, match: str) -> MatchView:
        """Show the current question of a match."""
        return self._store.get(match).questions[-1]

    def play(self, match: str, question: int, action: str) -> MatchView:
        """Answer a question of a match with an action. The question says how to write it."""
        return self._store.play(match, question, action)

    def hint(self, match: str) -> list[str]:
        """Get advice in three stages: where to look, the best action, and the theory."""
        sight = self._store.get(match).seat.sight
        if not sight:
            raise DuelsError("The match is over.")
        return list(hint(sight).stages)

    def review_match(self, match: str) -> MatchReview:
        """Show the grades of a finished match, and everything that was hidden."""
        seat = self._store.get(match).seat
        row, scores = seat.row, seat.scores()
        if not row or not scores:
            raise DuelsError("The match is not over. Its grades come after the end.")
        return MatchReview(match, scores, seat.grades, row["entries"], row["result"])


def make_server(store: MatchStore, seed: str | None = None, allow_hints: bool = False) -> MCPServer[Any]:
    """Return a server for the matches of a store. See MatchTools for the seed."""
    server: MCPServer[Any] = MCPServer("duels", instructions=_INSTRUCTIONS, version=version("duels"))
    tools = MatchTools(store, seed)
    functions: list[Callable[..., Any]] = [
        tools.list_games,
        tools.list_opponents,
        tools.show_rules,
        tools.start_match,
        tools.show_match,
        tools.play,
        tools.review_match,
        *([tools.hint] if allow_hints else []),
    ]
    for function in functions:
        server.add_tool(_report_errors(function))
    return server


def _report_errors(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a tool's expected errors into messages to the model. Other errors are logged with a traceback."""

    @wraps(tool)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return tool(*args, **kwargs)
        except DuelsError as error:
            raise ToolError(str(error)) from None

    return run
