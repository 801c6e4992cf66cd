"""Hidden information never leaks: matches that a seat cannot tell apart give the same bytes.

A surface is any output about a match for a seat or for the program that plays it. One law covers them all.
"""

import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from duels.core.errors import DuelsError
from duels.core.features import Encoding
from duels.core.game import Game
from duels.core.information_sets import InformationSet
from duels.core.match import AnyMatch, Match
from duels.core.record import dump_record, parse_record_text
from duels.core.rules import AnyRules, Seat
from duels.core.words import Words
from duels.games import all_games
from duels.games.hunt.rules import Observe
from duels.play.narrator import Narrator
from duels.players import PLAYER_KINDS, Player, make_player
from tests.attack.fuzzing import line
from tests.attack.harness import Case
from tests.attack.sessions import RECORD, Scenario, perform
from tests.core.toys import Hide
from tests.support import lines_of, play_randomly
from tests.terminal.terminal import HIDE, PASS, Terminal

# -- pairs that a seat cannot tell apart --------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """Two different matches that `seat` cannot tell apart."""

    seat: Seat
    matches: tuple[AnyMatch, AnyMatch]

    def __str__(self) -> str:
        return f"{self.seat.label}: {' and '.join(', '.join(lines_of(match)) for match in self.matches)}"


def with_secrets() -> list[AnyRules]:
    """Rules of every game that has secrets, ours and others'."""
    ours = [game.rules(**options) for game in all_games() for options in _sizes(game)]
    return [*(rules for rules in ours if rules.has_hidden_information), Hide()]


def _sizes(game: Game) -> list[dict[str, Any]]:
    return [{}, {"cells": 4, "max_turns": 6}] if game.name == "hunt" else [{}]


def make_twin(match: AnyMatch, seat: Seat, rng: Random) -> AnyMatch:
    """Return a match that `seat` cannot tell from this one."""
    information_set = InformationSet.start(match.rules, seat)
    for turn in match.turns_known_to(seat):
        branches = information_set.branch(None if turn.hidden_from(seat) else turn.action)
        information_set = next(
            branch
            for branch in branches
            if branch.match.last and branch.match.last.events_seen_by(seat) == turn.events_seen_by(seat)
        )
    other: AnyMatch = rng.choice(information_set.matches)
    # Whether the other seat has already decided in secret is also hidden.
    while other.actor is seat.other and rng.random() < 0.5:
        after = other.play(seat.other, rng.choice(other.actions))
        if after.last and after.last.events_seen_by(seat):
            break
        other = after
    return other


def make_twin_by_book(match: AnyMatch, seat: Seat, rng: Random) -> AnyMatch | None:
    """Return such a match of hunt by its book alone: only the other seat's movements may differ."""
    other: AnyMatch = Match.start(match.rules)
    for played in match.steps():
        assert played.last
        secret = played.last.actor is seat.other and not isinstance(played.last.action, Observe)
        action = rng.choice(other.actions) if secret else played.last.action
        if action not in other.actions:
            return None
        other = other.play(played.last.actor, action)
        if other.outcome != played.outcome:
            return None
    return other


def pairs(rng: Random) -> Iterator[Pair]:
    while True:
        for rules in with_secrets():
            seat = rng.choice(list(Seat))
            match = play_randomly(Match.start(rules), rng, rng.randrange(1, 24))
            twins = [make_twin(match, seat, rng)]
            if rules.name == "hunt":
                twins += [twin for _ in range(20) if (twin := make_twin_by_book(match, seat, rng))][:1]
            yield from (Pair(seat, (match, other)) for other in twins if other.turns != match.turns)


# -- surfaces -----------------------------------------------------------------------------------------------

Show = Callable[[AnyMatch, Seat], bytes | None]
"""Returns the output of a match for a seat; None without any, such as a prompt on the other's turn."""


@dataclass(frozen=True)
class Surface:
    show: Show
    every: int
    """It is tried on every so-manyth pair: some take long."""


SURFACES: dict[str, Surface] = {}
"""All surfaces. Add a new one by decorating its function."""


def surface(name: str, every: int = 1) -> Callable[[Show], Show]:
    def add(show: Show) -> Show:
        SURFACES[name] = Surface(show, every)
        return show

    return add


def _headers(match: AnyMatch, seat: Seat, other: str) -> dict[str, str]:
    """Return headers of a record whose seed differs with every secret."""
    return {f"seat{seat.value}": "human", f"seat{seat.other.value}": other, "seed": repr(match.turns)}


@surface("sight")
def _sight(match: AnyMatch, seat: Seat) -> bytes:
    return repr(match.sight(seat)).encode()


@surface("sight, pickled")
def _pickled(match: AnyMatch, seat: Seat) -> bytes:
    """The pickle for another process, written twice: at first, equal parts may or may not be shared."""
    return pickle.dumps(pickle.loads(pickle.dumps(match.sight(seat))))


@surface("sight of a match read from disk")
def _read_sight(match: AnyMatch, seat: Seat) -> bytes:
    return repr(_loaded(dump_record(match)).sight(seat)).encode()


@surface("copy for the seat")
def _copy(match: AnyMatch, seat: Seat) -> bytes:
    return dump_record(match, _headers(match, seat, "human"), seat).encode()


@surface("copy for the seat, read and copied again")
def _copied(match: AnyMatch, seat: Seat) -> bytes:
    return dump_record(_loaded(dump_record(match, seat=seat)), seat=seat).encode()


@surface("position in notation")
def _position(match: AnyMatch, seat: Seat) -> bytes:
    return match.rules.format_position(match.sight(seat)).encode()


@surface("refusals")
def _refusals(match: AnyMatch, seat: Seat) -> bytes:
    """Return the match's errors for every illegal attempt."""
    messages = []
    for action in (*match.rules.all_actions(), *match.rules.all_outcomes(), None):
        try:
            match.play(seat, action)
        except DuelsError as error:
            messages.append(str(error))
    return "\n".join(messages).encode()


@surface("observation of an environment")
def _encoded(match: AnyMatch, seat: Seat) -> bytes:
    return _encoding(match.rules).encode(match.sight(seat).view, seat)


@surface("choice of every machine")
def _chosen(match: AnyMatch, seat: Seat) -> bytes | None:
    """Return the choices of a bot at that seat with the same random numbers."""
    if match.actor is not seat or not _words(match):
        return None
    return repr([player.choose(match.sight(seat), Random(0)) for player in _machines(match.rules)]).encode()


@surface("questions")
def _questions(match: AnyMatch, seat: Seat) -> bytes | None:
    """Return questions and refusals for any entry."""
    words = _words(match)
    if not words or match.actor is not seat:
        return None
    questions, rng = [], Random(1)
    for _ in range(20):
        dialogue = words.ask(match.sight(seat))
        try:
            question = next(dialogue)
            for _ in range(3):
                questions.append(repr(question))
                question = dialogue.send(rng.choice((line(rng), "MOVE 3", "TUNNEL 2", "OBSERVE 4")))
        except StopIteration as end:
            questions.append(repr(end.value))
    return "\n".join(questions).encode()


@surface("board, moves and memory in words")
def _in_words(match: AnyMatch, seat: Seat) -> bytes | None:
    words, sight = _words(match), match.sight(seat)
    if not words:
        return None
    moves = words.moves(sight) if sight.actions else ""
    return f"{words.board(sight)}{moves}{words.recap(sight).render()}".encode()


@surface("drawing")
def _drawn(match: AnyMatch, seat: Seat) -> bytes | None:
    return match.rules.game.drawing(match.rules).draw(match.sight(seat)).encode() if _words(match) else None


@surface("narrator")
def _narration(match: AnyMatch, seat: Seat) -> bytes | None:
    words = _words(match)
    visible_part = match.after(len(match.turns_known_to(seat)))
    return "".join(Narrator(words, frozenset({seat})).render_match(visible_part)).encode() if words else None


# -- surfaces of the command --------------------------------------------------------------------------------


def _command(
    match: AnyMatch, headers: dict[str, str], arguments: tuple[str, ...], *typed: str
) -> bytes | None:
    """Return the output of a command on the record of a match."""
    if not _words(match):
        return None
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        path = Path(folder) / RECORD
        path.write_text(dump_record(match, headers, _copy_for(headers)), encoding="utf-8")
        result = perform(Scenario("", (*arguments, f"{{}}/{RECORD}"), typed), Path(folder))
        return f"{result.code} {result.out}{result.err}".replace(folder, "").encode()


def _copy_for(headers: dict[str, str]) -> Seat | None:
    return Seat(int(headers["seat"])) if "seat" in headers else None


@surface("replay for the seat")
def _replay(match: AnyMatch, seat: Seat) -> bytes | None:
    return _command(match, _headers(match, seat, "human"), ("replay", "--seat", str(seat.value)))


@surface("replay for bystanders")
def _replay_open(match: AnyMatch, seat: Seat) -> bytes | None:
    """Replay for a bystander, who may see no more than a seat; after the end everything is shown."""
    return None if match.over else _command(match, _headers(match, seat, "human"), ("replay",))


@surface("share")
def _share(match: AnyMatch, seat: Seat) -> bytes | None:
    return _command(match, _headers(match, seat, "human"), ("share", "--seat", str(seat.value)))


@surface("verify and replay of the copy")
def _verify(match: AnyMatch, seat: Seat) -> bytes | None:
    headers = {"seat": str(seat.value)}
    verified, replayed = (_command(match, headers, (name,)) for name in ("verify", "replay"))
    return verified + replayed if verified and replayed else None


_ENTERED = (
    *("board", "moves", "hint", "help", "rules", "undo", "save", "back", "MOVE 9", "OBSERVE", "?"),
    *("quit",),
)


@surface("review of the copy", every=5)
def _review(match: AnyMatch, seat: Seat) -> bytes | None:
    return _command(match, {"seat": str(seat.value)}, ("review",))


@surface("session against a machine")
def _session(match: AnyMatch, seat: Seat) -> bytes | None:
    """The seat's own terminal, up to its next decision."""
    if match.actor is not seat:
        return None
    return _command(match, _headers(match, seat, "random"), ("resume",), *_ENTERED)


@surface("session of two people", every=60)
def _hot_seat(match: AnyMatch, seat: Seat) -> bytes | None:
    """A real terminal with everything that it ever showed while this seat had the keyboard."""
    if match.actor is not seat or not _words(match):
        return None
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        path = Path(folder) / RECORD
        path.write_text(dump_record(match, _headers(match, seat, "human")), encoding="utf-8")
        with Terminal(Path(folder), "resume", path) as terminal:
            terminal.answer(PASS.format(seat.label), "")
            for command in ("board", "moves", "MOVE 9"):
                terminal.answer("Enters: ", command)
                terminal.answer(HIDE, "")
            terminal.answer("Enters: ", "quit")
            assert terminal.wait() == 0
            return terminal.text.replace(folder, "").encode()


# -- what the surfaces need ---------------------------------------------------------------------------------


def _loaded(text: str) -> AnyMatch:
    games: dict[str, Any] = {rules.name: type(rules) for rules in with_secrets()}
    return parse_record_text(text, lambda name: games[name]).match


def _words(match: AnyMatch) -> Words[Any, Any] | None:
    """Return the words of a game, or None for toys without words."""
    game = match.rules.game
    return game.words(match.rules) if game.find("words", "WORDS") else None


@cache
def _encoding(rules: AnyRules) -> Encoding:
    return rules.game.encoding(rules)


@cache
def _machines(rules: AnyRules) -> list[Player]:
    """Return one bot of each kind that plays by these rules."""
    seated = []
    for name in PLAYER_KINDS:
        with suppress(DuelsError):  # people cannot be made, and not every level knows every size
            seated.append(make_player(name, rules))
    return seated


# -- the law ------------------------------------------------------------------------------------------------


def compare(name: str, pair: Pair, folder: Path) -> None:
    one, two = (SURFACES[name].show(match, pair.seat) for match in pair.matches)
    if one != two:
        at = next((i for i, (a, b) in enumerate(zip(one or b"", two or b"", strict=False)) if a != b), 0)
        around = slice(max(0, at - 60), at + 60)
        raise AssertionError(f"{name}: {(one or b'')[around]!r} and {(two or b'')[around]!r}")


def information_flow(rng: Random) -> Iterator[Case]:
    for number, pair in enumerate(pairs(rng)):
        for name, render in SURFACES.items():
            if number % render.every == 0:
                yield Case(f"{name}, {pair}", partial(compare, name, pair))
