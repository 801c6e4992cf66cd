"""Parsing of the names of external players: `cmd:python bot.py`, `model:NAME`.

Parse only text that users typed or put into their own config. For records, uploads and requests call
`find_player_kind`, which knows only built-in players, so that they cannot run a command.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from duels.core.errors import BadOption, UnknownName
from duels.core.rules import AnyRules
from duels.players import MODEL, Player, PlayerKind, find_player_kind
from duels.players.child import KEY_ENV
from duels.players.program import DEFAULT_LIMITS, ProgramLimits, ProgramPlayer, make_program_name

if TYPE_CHECKING:
    from duels.players.endpoint import EndpointSettings

CMD_PREFIX = "cmd:"
MODEL_PREFIX = "model:"


def parse_player_kind(
    text: str,
    limits: ProgramLimits = DEFAULT_LIMITS,
    log: Path | None = None,
    model: "EndpointSettings | None" = None,
) -> PlayerKind:
    """Parse the name of a built-in player, a program's command or a model.

    `limits` and `log` apply to programs, `model` to models. Programs do not inherit the model's key. Raises
    UnknownName if there is no such player.
    """
    text = text.strip()
    if text.lower().startswith(CMD_PREFIX):
        command, key_env = text[len(CMD_PREFIX) :], model.key_env if model else KEY_ENV
        return PlayerKind(
            make_program_name(command),
            "a program that speaks JSON lines",
            lambda rules, progress: ProgramPlayer(command, rules, limits, log, key_env),
        )
    if text.lower().startswith(MODEL_PREFIX):
        name = text[len(MODEL_PREFIX) :].strip()
        if not name:
            raise UnknownName("model: needs a name, such as model:gpt-5.")
        return PlayerKind(
            MODEL + name, "a language model", lambda rules, progress: _seat_model(name, rules, model)
        )
    try:
        return find_player_kind(text)
    except UnknownName as error:
        raise UnknownName(
            f'{str(error).removesuffix(".")}, or "cmd:COMMAND" for a program, or model:NAME.'
        ) from None


def _seat_model(name: str, rules: AnyRules, settings: "EndpointSettings | None") -> Player:
    from duels.players.model import SeatedModel  # slow to import

    if not settings or not settings.base_url:
        raise BadOption("A model needs an address: add --base-url URL.")
    return SeatedModel(name, rules, settings)
