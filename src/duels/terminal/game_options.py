"""A game and its players on the command line.

Options for sizes and variants are generated from the rules of the game that a command names.
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
_PATIENCE = 60.0  # seconds that a person waits for a model's reply, with all that is tried again


@contextmanager
def _bad_parameter() -> Iterator[None]:
    """Within, errors of ours become click's, which name the parameter."""
    try:
        yield
    except DuelsError as error:
        raise click.BadParameter(str(error)) from None


def _as_game(_context: click.Context, _parameter: click.Parameter, name: str) -> Game:
    with _bad_parameter():
        return find_game(name)


def _as_who(context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    with _bad_parameter():
        return None if name is None else find_player_kind(name).name


def _as_who_or_program(
    context: click.Context, parameter: click.Parameter, name: str | None
) -> PlayerKind | str | None:
    """A program or a model is seated as it was called; everybody else is known by a name."""
    if name is None or not name.strip().lower().startswith(("cmd:", "model:")):
        return _as_who(context, parameter, name)
    from duels.players.endpoint import EndpointSettings
    from duels.players.external import parse_player_kind

    given = {key: context.params[key] for key in ("base_url", "key_env") if context.params.get(key)}
    with _bad_parameter():
        return parse_player_kind(name, model=EndpointSettings(**given, total_seconds=_PATIENCE))


def _complete(named: Callable[[], Iterable[Game | PlayerKind]]) -> Callable[..., list[CompletionItem]]:
    """A shell completion of names, each with its summary."""
    return lambda context, parameter, start: [
        CompletionItem(each.name, help=each.summary)
        for each in named()
        if each.name.startswith(start.lower())
    ]


class _GameName(click.types.StringParamType):
    """The name of a game, which an error about its lack lists."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        return f"Choose {join_or([game.name for game in all_games()])}."


game_argument = click.argument(
    "game", type=_GameName(), callback=_as_game, shell_complete=_complete(all_games)
)


def player_option(
    name: str, text: str, default: str | None = None, programs: bool = False
) -> Callable[[F], F]:
    """An option that names a kind of player.

    With `programs`, "cmd:COMMAND" and model:NAME too (see `model_options`), which give their kind.
    """
    return click.option(
        name,
        metavar="WHO",
        callback=_as_who_or_program if programs else _as_who,
        shell_complete=_complete(PLAYER_KINDS.values),
        default=default,
        show_default=default is not None,
        help=text,
    )


def model_options(command: F) -> F:
    """Where models are asked that are seated by name; read before the seats are."""
    address = "The address of a chat endpoint for model:NAME, such as URL/v1."
    key = "The environment variable with its key.  [default: OPENAI_API_KEY]"
    for name, text in (("--key-env", key), ("--base-url", address)):
        command = click.option(name, is_eager=True, help=text)(command)
    return command


class GameCommand(click.Command):
    """A command that takes a game and its options, and is called with `rules` in place of both."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_GAME] = self._named_in(ctx, args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = super().get_params(ctx)
        game = ctx.meta.get(_GAME)
        if game is None:
            return params
        made = [_as_click(option, game) for option in list_options(game.rules_class())]
        own = [param for param in params if isinstance(param, click.Argument)]
        return [*own, *made, *(param for param in params if param not in own)]

    def invoke(self, ctx: click.Context) -> Any:
        game: Game = ctx.params.pop("game")
        given = {key: ctx.params.pop(key) for key in list(ctx.params) if key.startswith(_OPTION)}
        options = {key.removeprefix(_OPTION): value for key, value in given.items() if value is not None}
        try:
            ctx.params["rules"] = game.rules(**options)
        except DuelsError as error:
            raise click.UsageError(str(error), ctx) from None
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.meta.get(_GAME) is None:
            rows = [
                (game.name, ", ".join(_flag(option.name) for option in list_options(game.rules_class())))
                for game in all_games()
            ]
            with formatter.section(f"Options of the games (duels {self.name} GAME --help tells more)"):
                formatter.write_dl(rows)
        super().format_epilog(ctx, formatter)

    def _named_in(self, ctx: click.Context, args: list[str]) -> Game | None:
        """The game that the arguments name, whatever options of its own stand around it."""
        parser = self.make_parser(ctx)
        parser.ignore_unknown_options = True
        try:
            found, rest, _ = parser.parse_args(args=list(args))
        except click.UsageError:
            return None  # it is told when the arguments are parsed in earnest
        words = [word for word in (found.get("game"), *rest) if isinstance(word, str) and word[:1] != "-"]
        wrong: DuelsError | None = None
        for word in words:
            try:
                return find_game(word)
            except DuelsError as error:
                wrong = wrong or error
        if wrong and not ctx.resilient_parsing:
            raise click.BadParameter(str(wrong), ctx, param_hint="'GAME'")
        return None


_GAME = "duels.game"
_OPTION = "option_"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _as_click(option: Option, game: Game) -> click.Option:
    """The option of a command for an option of the rules."""
    flag = _flag(option.name)
    if option.kind is OptionKind.FLAG:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    default = "no limit" if option.default is None else option.format(option.default)
    kind: Any = click.IntRange(option.minimum)
    if option.kind is OptionKind.NUMBER:
        kind = click.IntRange(option.minimum, option.maximum)
    elif option.kind is OptionKind.NAME:
        kind = click.Choice(option.choices) if option.choices else str
    elif option.kind is OptionKind.FLAG:
        kind = bool
    elif option.kind is not OptionKind.LIMIT:
        kind = _List(option)
    help_text = f"{game.name}: {option.help}".removesuffix(": ") + f". [default: {default}]"
    return click.Option([flag, f"{_OPTION}{option.name}"], type=kind, default=None, help=help_text)


class _List(click.ParamType):  # type: ignore[type-arg]
    """Numbers or names with commas between them."""

    name = "list"

    def __init__(self, option: Option) -> None:
        self._option = option

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"{self._option.kind.value.upper()},…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        with _bad_parameter():
            return self._option.parse(value)


def format_options(rules: AnyRules) -> list[str]:
    """The words of a command line that give these rules, after the name of their game."""
    words: list[str] = []
    for name, value in rules.options().items():
        if isinstance(value, bool):
            words.append(_flag(name) if value else f"--no-{_flag(name).removeprefix('--')}")
        else:
            words += [_flag(name), Option.format(value)]
    return words
