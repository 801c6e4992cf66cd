"""Asks a player about positions instead of matches: the cheapest way to know it.

In a game that is small enough, every position is asked that the answers so far let an opponent reach: what
the player gets against anybody, and how much the best opponent gets, then follows exactly. In others,
positions drawn from good play are asked. In the former a player is asked without history: a probe describes
how it plays then.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from duels.arena.config import ProbeConfig
from duels.arena.folder import Folder
from duels.arena.logs import AT_ONCE, QUICK, VERSION, Log, Row
from duels.arena.models import Asker, Purse
from duels.arena.pool import ProgramCheck, Seats
from duels.arena.positions import draw_positions
from duels.core.errors import BadOption
from duels.core.extras import require_extra
from duels.core.rules import AnyRules, AnySight, OpenRules, Seat
from duels.games import find_game
from duels.play.step import DecisionRequest, ask_player
from duels.players.completions import Usage
from duels.players.endpoint import Endpoint
from duels.players.failures import Answer, NoMove
from duels.players.model import Mirror, ModelPlayer
from duels.solving.progress import Progress, no_progress

with require_extra("arena"):
    from duels.analysis.grading import has_state_table


@dataclass
class Probe:
    """What was asked and answered in one game. Keys are a seat and a position in notation."""

    rules: AnyRules
    whole: bool
    """Whether every position that matters was asked."""
    sights: dict[tuple[Seat, str], AnySight] = field(default_factory=dict)
    answers: dict[tuple[Seat, str], list[Row]] = field(default_factory=dict)
    weights: dict[tuple[Seat, str], float] = field(default_factory=dict)
    """Where positions were drawn: what each stands for."""
    missing: int = 0
    """Questions that are not answered yet."""

    def policy(self, key: tuple[Seat, str]) -> dict[Any, float]:
        """What the player did there, as often as it did; less than 1 in all if it had no answer at times."""
        return policy_of(self.answers[key], self.sights[key])


def policy_of(answers: list[Row], sight: AnySight) -> dict[Any, float]:
    """The policy that some answers show; what is missing to 1 is how often there was none."""
    rules = sight.rules
    found: dict[Any, float] = defaultdict(float)
    for answer in answers:
        if answer["policy"]:
            for text, chance in answer["policy"].items():
                found[rules.parse(text)] += chance / len(answers)
        elif answer["action"] is not None:
            found[rules.parse(answer["action"])] += 1 / len(answers)
    return dict(found)


def probe(config: ProbeConfig, out: Path, tell: Progress = no_progress) -> Folder:
    """Ask what is missing of a probe; one that was broken off goes on."""
    if config.symmetric:
        for game in config.games:
            _check_symmetric(find_game(game).rules())
    check = ProgramCheck(config.run(), out)
    with Folder.held(out, config) as folder, closing(_Asking(config, folder, tell, check)) as asking:
        for game in config.games:
            collect(config, find_game(game).rules(), asking.ask, tell)
        folder.unfinished = tuple(dict.fromkeys(asking.broken_off))
        folder.is_spent = asking.purse.is_spent
    return folder


def _check_symmetric(rules: AnyRules) -> None:
    if not _asked_whole(rules):
        raise BadOption(f"{rules.name} is not asked whole, where --symmetric means nothing: leave it out.")
    Mirror.of(rules)


def _asked_whole(rules: AnyRules) -> bool:
    """Whether a game is small enough that every position that matters is asked."""
    return isinstance(rules, OpenRules) and has_state_table(rules)


def collected(folder: Folder, tell: Progress = no_progress) -> Iterator[Probe]:
    """All that a probe's folder holds, game by game; nobody is asked."""
    kept, config = folder.rows(), folder.config
    asked = ProbeConfig(  # by whom does not matter here
        "random",
        tuple(config["games"]),
        config["samples"],
        config["positions"],
        config["symmetric"],
        config["seed"],
    )

    def answered(questions: "list[Ask]") -> dict[str, Row]:
        return {each.key: kept[each.key] for each in questions if each.key in kept}

    for game in config["games"]:
        yield collect(asked, find_game(game).rules(), answered, tell)


@dataclass(frozen=True)
class Ask:
    """One question of a probe."""

    sight: AnySight
    position: str
    sample: int

    @property
    def key(self) -> str:
        """A hash of what is asked."""
        rules = self.sight.rules
        told = [VERSION, rules.name, sorted(rules.options().items()), self.sight.seat.value]
        return sha256(json.dumps([*told, self.position, self.sample]).encode()).hexdigest()[:32]


Answerer = Callable[[list[Ask]], Mapping[str, Row]]
"""Answers questions, by their keys; those that could not be answered now are left out."""


def collect(config: ProbeConfig, rules: AnyRules, answer: Answerer, tell: Progress = no_progress) -> Probe:
    """Ask about one game, wave after wave, until nothing new can be reached."""
    if not _asked_whole(rules):
        found = Probe(rules, whole=False)
        drawn = draw_positions(rules, config.positions, config.seed, tell)
        for each in drawn:
            found.weights[each.sight.seat, each.notation] = each.weight
            found.sights[each.sight.seat, each.notation] = each.sight
        _fill(config, found, list(found.sights.values()), answer)
        return found
    assert isinstance(rules, OpenRules)
    found = Probe(rules, whole=True)
    mirror = Mirror.of(rules) if config.symmetric else None
    for seat in Seat:
        _explore(config, found, rules, seat, mirror, answer)
    return found


def _explore(
    config: ProbeConfig,
    found: Probe,
    rules: OpenRules[Any, Any],
    seat: Seat,
    mirror: Mirror | None,
    answer: Answerer,
) -> None:
    """Ask the player at one seat everywhere that an opponent can lead it."""
    seen = {rules.initial()}
    wave = [rules.initial()]
    while wave:
        sights = [rules.sight(state, seat) for state in wave if rules.actor(state) is seat]
        choices = [sight for sight in sights if len(sight.actions) > 1]
        asked = [sight for sight in choices if _canonical(sight, mirror)]
        _fill(config, found, asked, answer)
        if mirror:
            _reflect(found, [sight for sight in choices if not _canonical(sight, mirror)], mirror)
        following = []
        for state in wave:
            actions = rules.actions(state)
            if rules.actor(state) is seat and len(actions) > 1:
                key = seat, rules.format_state(state)
                actions = tuple(found.policy(key)) if key in found.answers else ()
            for action in actions:
                after = rules.apply(state, action).state
                if after not in seen:
                    seen.add(after)
                    following.append(after)
                if mirror and (image := mirror.state(after)) not in seen:
                    seen.add(image)  # so that both of a pair are known wherever one is
                    following.append(image)
        wave = following


def _canonical(sight: AnySight, mirror: Mirror | None) -> bool:
    """Whether of a position and its mirror image this is the one that is asked."""
    if mirror is None:
        return True
    rules = sight.rules
    return rules.format_position(sight) <= rules.format_position(mirror.sight(sight))


def _reflect(found: Probe, sights: list[AnySight], mirror: Mirror) -> None:
    """Take over the mirrored answers of mirrored positions."""
    for sight in sights:
        rules, image = sight.rules, mirror.sight(sight)
        key = sight.seat, rules.format_position(sight)
        theirs = found.answers.get((sight.seat, rules.format_position(image)))

        def turned(text: str, rules: AnyRules = rules) -> str:
            return rules.format(mirror.action(rules.parse(text)))

        if theirs is not None:
            found.sights[key] = sight
            found.answers[key] = [
                {
                    **each,
                    "action": turned(each["action"]) if each["action"] else None,
                    "policy": {turned(a): p for a, p in each["policy"].items()} if each["policy"] else None,
                    "failures": [],
                    "reflected": True,
                }
                for each in theirs
            ]


def _fill(config: ProbeConfig, found: Probe, sights: list[AnySight], answer: Answerer) -> None:
    """Ask about some positions and note what came back."""
    rules = found.rules
    questions = [
        Ask(sight, rules.format_position(sight), sample)
        for sight in sights
        for sample in range(config.samples)
    ]
    answered = answer(questions)
    for each in questions:
        row = answered.get(each.key)
        if row is None:
            found.missing += 1
        else:
            key = each.sight.seat, each.position
            found.sights[key] = each.sight
            found.answers.setdefault(key, []).append(row)


class _Asking:
    """Asks whoever is probed, and keeps every answer on disk; what is there already is not asked again."""

    def __init__(self, config: ProbeConfig, folder: Folder, tell: Progress, check: ProgramCheck) -> None:
        self._seed, self._tell, self._check = config.seed, tell, check
        run = config.run()
        self._name = run.names[0]
        self._model = run.models().get(self._name)
        self._kept = dict(folder.rows())
        self._log = Log(folder.path, "1", "answers", AT_ONCE if self._model else QUICK)
        self._requests = folder.request_log("probe") if self._model else None
        self._seats = Seats(run, lambda name, seat: folder.bot_log(name, str(seat.value)))
        self.purse = Purse(run, folder)
        self._asker = Asker(run.model, self.purse)
        self.broken_off = self._asker.broken_off

    def ask(self, questions: list[Ask]) -> Mapping[str, Row]:
        missing = [each for each in questions if each.key not in self._kept]
        if missing:
            self._check()
        if missing and self._model:
            asyncio.run(self._asker.work(missing, self._ask_model, self._tell))
        else:
            for each in missing:
                player = self._seats.player(each.sight.rules, self._name, each.sight.seat)
                question = DecisionRequest(each.sight.seat, each.sight, self._rng(each))
                self._keep(each, ask_player(player, question, by_policy=True), Usage())
        return {each.key: self._kept[each.key] for each in questions if each.key in self._kept}

    def _rng(self, each: Ask) -> Random:
        return Random(f"{self._seed} {each.key}")

    async def _ask_model(self, each: Ask, endpoint: Endpoint, _number: int) -> None:
        assert self._model
        assert self._requests
        add, told = self._requests.add, {"question": each.key, "position": each.position}
        player = ModelPlayer(self._model, each.sight.rules, endpoint)
        self._keep(
            each,
            *await player.decide(each.sight, self._rng(each), lambda request: add({**told, **request})),
        )

    def _keep(self, each: Ask, answer: Answer | NoMove, used: Usage) -> None:
        rules = each.sight.rules
        action = policy = None
        if isinstance(answer, Answer):
            action = rules.format(answer.action)
            if answer.policy:
                policy = {rules.format(taken): chance for taken, chance in answer.policy.items() if chance}
        row = {
            "v": VERSION,
            "key": each.key,
            "game": rules.name,
            "seat": each.sight.seat.value,
            "position": each.position,
            "sample": each.sample,
            "action": action,
            "policy": policy,
            "failures": [[failed.failure.value, failed.detail] for failed in answer.failed],
            "usage": [used.prompt, used.completion, used.requests],
        }
        self._log.add(row)
        self._kept[each.key] = row
        spent = self.purse.spent
        cost = f", {spent} spent" if used.requests and spent else ""
        self._tell(f"{rules.name}: {len(self._kept)} answers in all, position {each.position}{cost}")

    def close(self) -> None:
        with closing(self._log), closing(self._seats):
            if self._requests:
                self._requests.close()
