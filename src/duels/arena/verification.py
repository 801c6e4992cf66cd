"""Verifies a run or probe: repeats every match and answer, and compares it with its log."""

from dataclasses import asdict, dataclass, field
from functools import cache
from math import isclose
from typing import Any

from duels.arena.config import BUILT_IN, Entrant
from duels.arena.folder import Folder
from duels.arena.match_plan import Judge, play_dialogue
from duels.arena.probe import ProbeQuestion, find_answers, iter_probes, make_answer_row
from duels.arena.schemas import ANSWER, MATCH, Row
from duels.core.errors import DuelsError
from duels.core.match import parse_early_end
from duels.core.rules import AnyRules, Seat
from duels.play.step import DecisionRequest, ask_player, run_dialogue
from duels.players import PLAYER_KINDS, make_player
from duels.players.completions import Usage
from duels.players.failures import Answer, BadAnswer, Failure, NoMove
from duels.solving.oracle import Progress, no_progress

_TOLERANCE = 1e-9  # between machines


@dataclass(frozen=True)
class Difference:
    """A field of a row that differs from the repeated match or answer."""

    location: str
    field: str
    logged: Any
    computed: Any

    def __str__(self) -> str:
        return f"{self.location}: {self.field} is {self.logged!r}, but should be {self.computed!r}."


@dataclass
class Verification:
    """The result of verifying a folder."""

    rows: int = 0
    """The number of matches or answers that were repeated."""
    replayed_answers: int = 0
    """Rows of programs and models. Their answers are taken from the log instead of being asked again."""
    damaged: list[str] = field(default_factory=list)
    """The locations of damaged lines."""
    missing: int = 0
    """The number of planned matches or questions that are not in the logs."""
    differences: list[Difference] = field(default_factory=list)

    @property
    def is_valid(self) -> bool:
        return not (self.damaged or self.missing or self.differences)

    def summarize(self, noun: str) -> str:
        count = f"{self.rows} {noun} repeated"
        if not self.is_valid:
            missing = f"{self.missing} missing, " if self.missing else ""
            problems = f"{missing}{len(self.damaged)} damaged lines, {len(self.differences)} differences"
            return f"{count}: {problems}.{self._suggest_repair(noun)}"
        logged = f" Answers of programs and models were taken from the log ({self.replayed_answers} {noun})."
        return f"{count}: all are as logged.{logged * bool(self.replayed_answers)}"

    def _suggest_repair(self, noun: str) -> str:
        if self.missing:
            return f" To add the missing {noun}, run the command that made the folder."
        if self.damaged:
            merge = "duels arena merge FOLDER --out NEW-FOLDER"
            return f" All planned {noun} are there. To leave out the damaged lines: {merge}"
        return ""

    def as_data(self) -> dict[str, Any]:
        return {"valid": self.is_valid, **asdict(self)}


def verify(folder: Folder, progress: Progress = no_progress) -> Verification:
    """Repeat all matches or answers of a folder and return the differences.

    Built-in players are asked again. Programs and models are not: their logged answers are used, and the
    luck-adjusted result of their matches is not compared, because it depends on unlogged policies.
    """
    result = Verification()
    (_verify_answers if folder.is_probe else _verify_matches)(folder, result, progress)
    for _ in folder.iter_requests():
        pass
    result.damaged = list(folder.damaged)
    return result


def _compare(location: str, logged: Row, computed: Row, names: list[str]) -> list[Difference]:
    return [
        Difference(location, name, logged[name], computed[name])
        for name in names
        if not _is_same(logged[name], computed[name])
    ]


def _is_same(one: Any, two: Any) -> bool:
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(_is_same(one[name], two[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(two, list | tuple):
        return len(one) == len(two) and all(map(_is_same, one, two))
    if isinstance(one, float) or isinstance(two, float):
        return isclose(one, two, abs_tol=_TOLERANCE)
    return bool(one == two)


def _find_kind(identity: Row) -> str | None:
    """Return the name of a built-in player from its hash; None for programs and models."""
    if identity["sort"] != BUILT_IN:
        return None
    hashes = {Entrant("", name).make_identity("")["called"]: name for name in PLAYER_KINDS}
    return hashes.get(identity["called"])


class _Diverged(Exception):
    """The repeated match differs from its log."""


def _verify_matches(folder: Folder, result: Verification, progress: Progress) -> None:
    kinds = {name: _find_kind(identity) for name, identity in folder.config["players"].items()}
    get_judge, get_player = cache(Judge), cache(make_player)

    def repeat(row: Row) -> Row:
        plan = folder.find_plan(row)
        assert plan  # else the row counts as damaged
        rules = plan.rules()

        def answer(request: DecisionRequest) -> Answer | NoMove:
            number, seat = len(request.sight.history), request.seat
            if number >= len(row["entries"]):
                raise _Diverged
            if kind := kinds[plan.players[seat - 1]]:
                return ask_player(get_player(kind, rules), request, by_policy=True)
            return _read_answer(row, number, rules, seat)

        return run_dialogue(play_dialogue(plan, get_judge(rules)), answer)

    rows: list[Row] = []
    for log in folder.list_logs():
        for location, row in folder.iter_rows(log):
            rows.append({name: row[name] for name in ("game", "players", "pair")})
            is_built_in = all(kinds[name] for name in row["players"])
            names = [name for name in MATCH if is_built_in or name != "adjusted"]
            result.rows += 1
            result.replayed_answers += not is_built_in
            try:
                computed = repeat(row)
            except (_Diverged, DuelsError):
                computed = {**row, "entries": "another match"}
            result.differences += _compare(location, row, computed, names)
            progress(f"{result.rows} matches, {len(result.differences)} differences, {location}")
    result.missing = folder.count_missing(rows)


def _read_answer(row: Row, number: int, rules: AnyRules, seat: Seat) -> Answer | NoMove:
    """Return the logged answer of a program or model."""
    entry, name = row["entries"][number], row["players"][seat - 1]
    failed = tuple(
        BadAnswer(Failure(kind), detail)
        for failed_seat, at, kind, detail in row["failures"]
        if (failed_seat, at) == (seat.value, number + 1)
    )
    if parse_early_end(entry):
        if not failed:
            raise _Diverged
        return NoMove(name, failed)
    return Answer(rules.parse(entry), None, failed)


def _verify_answers(folder: Folder, result: Verification, progress: Progress) -> None:
    rows, (identity,) = folder.load_rows(), folder.config["player"].values()
    kind, get_player = _find_kind(identity), cache(make_player)
    names = [name for name in ANSWER if name != "usage"]

    def check(questions: list[ProbeQuestion]) -> dict[str, Row]:
        answers = find_answers(folder, rows, questions)
        for question in questions:
            if row := answers.get(question.key):
                result.rows += 1
                result.replayed_answers += not kind
                if kind:
                    player = get_player(kind, question.sight.rules)
                    answer = ask_player(player, question.make_request(folder.config["seed"]), by_policy=True)
                    computed = make_answer_row(question, answer, Usage())
                    result.differences += _compare(folder.find_location(row["key"]), row, computed, names)
                progress(f"{result.rows} answers, {len(result.differences)} differences")
        return answers

    result.missing = sum(probe.missing for probe in iter_probes(folder, check, progress))
