"""Command-line parameters for games and players.

The options for a game's size and variants are generated from its rules.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from duels.core.errors import DuelsError
from duels.core.game import Game
from duels.core.options import Option, OptionKind, list_options
from duels.core.rules import AnyRules
from duels.core.words import join_or
from duels.games import all_games, find_game
from duels.players import PLAYER_KINDS, PlayerKind, find_player_kind

F = TypeVar("F", bound=Callable[..., Any])
_MODEL_TIMEOUT = 60.0  # seconds, retries included


@contextmanager
def _reraise_as_bad_parameter() -> Iterator[None]:
    # click adds the name of the parameter to its own errors.
    try:
        yield
    except DuelsError as error:
        raise click.BadParameter(str(error)) from None


def _parse_game(_context: click.Context, _parameter: click.Parameter, name: str | None) -> Game | None:
    with _reraise_as_bad_parameter():
        return None if name is None else find_game(name)


def _parse_player(context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    with _reraise_as_bad_parameter():
        return None if name is None else find_player_kind(name).name


def _parse_player_or_program(
    context: click.Context, parameter: click.Parameter, name: str | None
) -> PlayerKind | str | None:
    if name is None or not name.strip().lower().startswith(("cmd:", "model:")):
        return _parse_player(context, parameter, name)
    from duels.players.endpoint import EndpointSettings
    from duels.players.external import parse_player_kind

    settings = {key: context.params[key] for key in ("base_url", "key_env") if context.params.get(key)}
    with _reraise_as_bad_parameter():
        return parse_player_kind(name, model=EndpointSettings(**settings, total_seconds=_MODEL_TIMEOUT))


def _make_completer(
    list_items: Callable[[], Iterable[Game | PlayerKind]],
) -> Callable[..., list[CompletionItem]]:
    return lambda context, parameter, start: [
        CompletionItem(item.name, help=item.summary)
        for item in list_items()
        if item.name.startswith(start.lower())
    ]


class _GameName(click.types.StringParamType):
    """The name of a game. The error for a missing name lists the games."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        return f"Choose {join_or([game.name for game in all_games()])}."


def _make_game_argument(required: bool) -> Callable[[F], F]:
    return click.argument(
        "game",
        type=_GameName(),
        required=required,
        callback=_parse_game,
        shell_complete=_make_completer(all_games),
    )


game_argument = _make_game_argument(required=True)
optional_game_argument = _make_game_argument(required=False)


def player_option(
    name: str, help_text: str, default: str | None = None, allow_programs: bool = False
) -> Callable[[F], F]:
    """Make an option that takes the name of a player.

    With `allow_programs`, it also takes "cmd:COMMAND" and model:NAME, and these become a PlayerKind.
    """
    return click.option(
        name,
        metavar="PLAYER",
        callback=_parse_player_or_program if allow_programs else _parse_player,
        shell_complete=_make_completer(PLAYER_KINDS.values),
        default=default,
        show_default=default is not None,
        help=help_text,
    )


def model_options(command: F) -> F:
    """Add the options for model:NAME. Click parses them before the seat options, which need them."""
    base_url = "Chat endpoint for model:NAME, such as http://localhost:8000/v1."
    key_env = "Environment variable with the endpoint's key.  [default: OPENAI_API_KEY]"
    for name, help_text in (("--key-env", key_env), ("--base-url", base_url)):
        command = click.option(name, is_eager=True, help=help_text)(command)
    return command


class GameCommand(click.Command):
    """A command that takes a game and its options. Its function receives the resulting rules.

    If the game is optional and missing, the function receives None.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        game = ctx.meta[_GAME_KEY] = self._find_game(ctx, args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            owners = [other.name for other in all_games() if error.option_name in _list_flags(other)]
            if not game or not owners:
                raise
            message = f"{error.option_name} is an option of {join_or(owners)}, not of {game.name}."
            raise click.UsageError(f"{message} Options: duels {self.name} {game.name} --help", ctx) from None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = super().get_params(ctx)
        game = ctx.meta.get(_GAME_KEY)
        if game is None:
            return params
        arguments = [param for param in params if isinstance(param, click.Argument)]
        game_options = [_make_click_option(option, game) for option in list_options(game.rules_class())]
        return [*arguments, *game_options, *(param for param in params if param not in arguments)]

    def invoke(self, ctx: click.Context) -> Any:
        game: Game | None = ctx.params.pop("game")
        values = {key: ctx.params.pop(key) for key in list(ctx.params) if key.startswith(_PREFIX)}
        options = {key.removeprefix(_PREFIX): value for key, value in values.items() if value is not None}
        try:
            ctx.params["rules"] = game.rules(**options) if game else None
        except DuelsError as error:
            raise click.UsageError(str(error), ctx) from None
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.meta.get(_GAME_KEY) is None:
            rows = [(game.name, ", ".join(_list_flags(game))) for game in all_games()]
            with formatter.section(f"Game options (details: duels {self.name} GAME --help)"):
                formatter.write_dl(rows)
        super().format_epilog(ctx, formatter)

    def _find_game(self, ctx: click.Context, args: list[str]) -> Game | None:
        """Find the game among the arguments, before the game's own options are known."""
        parser = self.make_parser(ctx)
        parser.ignore_unknown_options = True
        try:
            params, rest, _ = parser.parse_args(args=list(args))
        except click.UsageError:
            return None  # super().parse_args reports the error
        words = [word for word in (params.get("game"), *rest) if isinstance(word, str) and word[:1] != "-"]
        first_error: DuelsError | None = None
        for word in words:
            try:
                return find_game(word)
            except DuelsError as error:
                first_error = first_error or error
        if first_error and not ctx.resilient_parsing:
            raise click.BadParameter(str(first_error), ctx, param_hint="'GAME'")
        return None


_GAME_KEY = "duels.game"
_PREFIX = "option_"


def _format_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _list_flags(game: Game) -> list[str]:
    return [_format_flag(option.name) for option in list_options(game.rules_class())]


def _make_click_option(option: Option, game: Game) -> click.Option:
    flag = _format_flag(option.name)
    if option.kind is OptionKind.FLAG:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    default = "no limit" if option.default is None else option.format(option.default)
    kinds: dict[OptionKind, Any] = {
        OptionKind.NUMBER: click.IntRange(option.minimum, option.maximum),
        OptionKind.LIMIT: click.IntRange(option.minimum),
        OptionKind.NAME: click.Choice(option.choices) if option.choices else str,
        OptionKind.FLAG: bool,
    }
    help_text = f"{game.name}: {option.help}".removesuffix(": ") + f". [default: {default}]"
    kind = kinds.get(option.kind, _ListType(option))
    return click.Option([flag, f"{_PREFIX}{option.name}"], type=kind, default=None, help=help_text)


class _ListType(click.ParamType):  # type: ignore[type-arg]
    """A comma-separated list of numbers or names."""

    name = "list"

    def __init__(self, option: Option) -> None:
        self._option = option

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"{self._option.kind.value.upper()},…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        with _reraise_as_bad_parameter():
            return self._option.parse(value)


def format_options(rules: AnyRules) -> list[str]:
    """Format the command-line options that select these rules."""
    words: list[str] = []
    for name, value in rules.options().items():
        if isinstance(value, bool):
            words.append(_format_flag(name) if value else f"--no-{_format_flag(name).removeprefix('--')}")
        else:
            words += [_format_flag(name), Option.format(value)]
    return words
