"""Players from outside the package, as a person names them: `cmd:python bot.py`, `model:NAME`.

Only what is typed, or stands in a person's own config, is read here. Records, uploads and requests name
players by the registry alone (`find_player_kind`): nothing in them can make us run a command.
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

COMMAND = "cmd:"
MODEL_PREFIX = "model:"


def parse_player_kind(
    text: str,
    limits: ProgramLimits = DEFAULT_LIMITS,
    log: Path | None = None,
    model: "EndpointSettings | None" = None,
) -> PlayerKind:
    """The kind of player that a person means: a built-in one by its name, a program by its command, a model.

    `limits` and `log` are a program's, `model` says where and how a model is asked.
    Programs do not get the key that it names.
    """
    text = text.strip()
    if text.lower().startswith(COMMAND):
        command, secret = text[len(COMMAND) :], model.key_env if model else KEY_ENV
        return PlayerKind(
            make_program_name(command),
            "a program that is asked in JSON lines",
            lambda rules, progress: ProgramPlayer(command, rules, limits, log, secret),
        )
    if text.lower().startswith(MODEL_PREFIX):
        name = text[len(MODEL_PREFIX) :].strip()
        if not name:
            raise UnknownName("model: needs a name, such as model:NAME.")
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
    from duels.players.model import SeatedModel  # what asks over the network is slow to load

    if not settings or not settings.base_url:
        raise BadOption("a model needs an address: --base-url URL.")
    return SeatedModel(name, rules, settings)
