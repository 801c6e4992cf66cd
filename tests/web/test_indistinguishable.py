"""A seat is sent the same bytes for any two matches that it cannot tell apart."""

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from random import Random
from typing import Any

import duels_liarsdice
import pytest

from duels.core.match import AnyMatch, Match
from duels.core.rules import AnyRules, Seat
from duels.games import find_game
from duels.web.decisions import MoveRequest, decide_move, decide_offer, render_record
from duels.web.match_state import MatchState, make_play_entries
from duels.web.pages import MatchPage, Pages
from duels.web.request_errors import RequestError
from duels.web.store import Change, Entry, EntryKind
from duels.web.views import make_json_view, make_page_view
from tests.support import all_matches, play_randomly
from tests.web.serving import header_of

PAGES = Pages()
SEATED = (Entry(EntryKind.SIT, "Ann", Seat.ONE), Entry(EntryKind.SIT, "Bob", Seat.TWO))


class StateWithEvents(MatchState):
    """A match, with the events sent to a page at each seat while it was played."""

    def __init__(self, id: str, header: str) -> None:
        super().__init__(id, header)
        self.events: dict[Seat, list[tuple[int, str]]] = {seat: [] for seat in Seat}
        self._pages = {seat: MatchPage(PAGES) for seat in Seat}

    def add(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            super().add([entry])
            for seat, events in self.events.items():
                if not events or events[-1][0] != self.count_events(seat):
                    event = self._pages[seat].update(make_page_view(self, seat))
                    events.append((self.count_events(seat), event))


def make_state(match: AnyMatch, more: tuple[Entry, ...] = (), **headers: str) -> StateWithEvents:
    """Return the server's state of a match."""
    state = StateWithEvents("the-match", header_of(match.rules, started="2026-01-02 03:04 UTC", **headers))
    state.add((*SEATED, *make_play_entries(match), *more))
    return state


def collect_output(state: StateWithEvents, seat: Seat) -> tuple[Hashable, ...]:
    """Return all possible output for this seat: data, page, events, record, and every refusal."""
    view = make_json_view(state, seat)
    requests = [
        *(action["action"] for action in view["actions"][:1]),
        *("resign", "banana", "1", "4", "move 1", "observe 1", "tunnel 2", "A1"),
    ]
    last = state.count_events(seat)
    answers = [
        _answer(decide_move, state, seat, MoveRequest(number, action))
        for action in requests
        for number in (last, last - 1, 0, last + 1)
    ]
    answers += [
        _answer(decide_offer, state, seat, kind, answer, state.count_events(seat))
        for kind in ("takeback", "rematch", "x")
        for answer in ("", "yes", "no")
    ]
    parts = (json.dumps(view), page_of(state, seat), render_record(state, seat), *answers)
    return (*parts, *state.events[seat])


def page_of(state: MatchState, seat: Seat) -> str:
    """Return the initial page."""
    view = make_page_view(state, seat)
    return PAGES.render(
        "match.html", **view, card=state.rules.game.card(), guide=(), state=MatchPage(PAGES).update(view)
    )


def _answer(decide: Callable[..., Change | None], *arguments: Any) -> str:
    """Return the status and message of a response."""
    try:
        decide(*arguments)
        return "204"
    except RequestError as refused:
        return f"{refused.status} {refused}"


def observations(match: AnyMatch, seat: Seat) -> Hashable:
    """Return a seat's observations, in order, and its legal actions."""
    sight = match.sight(seat)
    return (tuple(sight.events), sight.actions, sight.outcome, sight.actor)


def check(states: Iterable[tuple[AnyMatch, StateWithEvents]]) -> int:
    """Compare all matches that a seat cannot tell apart. Return the number of compared matches."""
    alike: dict[Hashable, list[tuple[AnyMatch, StateWithEvents]]] = defaultdict(list)
    for match, state in states:
        for seat in Seat:
            if not match.over:  # after the end there are no secrets
                alike[seat, observations(match, seat)].append((match, state))
    compared = 0
    for (seat, _), group in alike.items():  # type: ignore[misc]
        first = None
        for match, state in group if len(group) > 1 else []:
            everything = collect_output(state, seat)
            first = first or everything
            assert everything == first, (
                f"{seat.label} can tell {[str(e.text) for e in make_play_entries(match)]} by this"
            )
            compared += 1
    return compared


def prefixes(rules: AnyRules, most: int) -> list[AnyMatch]:
    """Yield every match with at most so many entries."""
    return [match for length in range(most + 1) for match in all_matches(Match.start(rules), length)]


def unfinished(matches: Iterable[AnyMatch]) -> list[AnyMatch]:
    """Yield each unfinished match once."""
    once = {
        tuple(entry.text for entry in make_play_entries(match)): match for match in matches if not match.over
    }
    return list(once.values())


def test_hunt_on_two_cells() -> None:
    matches = unfinished(prefixes(find_game("hunt").rules(cells=2), 6))
    assert 2 * len(matches) == 242
    assert check((match, make_state(match)) for match in matches) == 237  # the others are certain to a seat


@pytest.mark.slow
def test_hunt_on_three_cells() -> None:
    matches = unfinished(prefixes(find_game("hunt").rules(cells=3), 6))
    assert 2 * len(matches) == 2682
    assert check((match, make_state(match)) for match in matches) == 2675


def test_hunt_as_in_the_book_by_sampling() -> None:
    """Each sampled match against others that one seat cannot tell from it."""
    rules = find_game("hunt").rules()
    rng = Random(7)
    pairs = 0
    while pairs < 60:
        match = play_randomly(Match.start(rules), rng, rng.randrange(1, 9))
        seat = rng.choice(list(Seat))
        other = another(match, seat, rng)
        if match.over or other is None:
            continue
        assert observations(match, seat) == observations(other, seat)
        assert collect_output(make_state(match), seat) == collect_output(make_state(other, seed="8"), seat)
        pairs += 1


def another(match: AnyMatch, seat: Seat, rng: Random) -> AnyMatch | None:
    """Return a match with another secret action of the other seat and the same observations of this one."""
    copy: AnyMatch = Match.start(match.rules)
    for turn in match.turns:
        hidden = turn.hidden_from(seat) and copy.actions
        action = rng.choice(copy.actions) if hidden else turn.action
        if copy.actor is not turn.actor or action not in copy.actions:
            return None
        copy = copy.play(turn.actor, action)
    if copy.over or observations(copy, seat) != observations(match, seat):
        return None
    # The other may be thinking still, or have moved in secret already.
    if isinstance(copy.actor, Seat) and copy.actor is not seat:
        ahead = copy.play(copy.actor, rng.choice(copy.actions))
        if not ahead.over and observations(ahead, seat) == observations(copy, seat) and rng.random() < 0.5:
            return ahead
    return copy


@pytest.mark.parametrize(
    ("options", "most"),
    [
        pytest.param({"side": 2, "values": 2, "copies": 2, "target": 3}, 3, id="small"),
        pytest.param({}, 2, id="book", marks=pytest.mark.slow),
    ],
)
def test_hidden_tiles_of_flip_change_nothing(options: dict[str, int], most: int) -> None:
    """The board was dealt from the seed: under another seed the same has been seen."""
    matches = unfinished(prefixes(find_game("flip").rules(**options), most))
    pairs = [(match, make_state(match, seed=seed)) for match in matches for seed in ("7", "another")]
    assert check(pairs) >= 4 * len(matches)


def test_in_flip_as_in_the_book_by_sampling() -> None:
    rng = Random(3)
    for _ in range(15):
        match = play_randomly(Match.start(find_game("flip").rules()), rng, rng.randrange(0, 16))
        if not match.over:
            assert check([(match, make_state(match, seed=str(seed))) for seed in range(2)]) == 4


def test_a_game_from_outside_with_chance_and_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duels.games.find_game", lambda name: duels_liarsdice.GAME)
    matches = unfinished(prefixes(duels_liarsdice.GAME.rules(sides=2), 5))
    assert check((match, make_state(match)) for match in matches) > 100


def test_offers_reveal_no_hidden_entries() -> None:
    """A takeback of a secret movement, or of the turn before: the other learns which when it has agreed."""
    rules = find_game("hunt").rules()
    start = Match.start(rules).play_text("move 1", "observe 3", "move 6", "observe 4")
    moved = start.play_text("move 2")
    offer = Entry(EntryKind.OFFER, "takeback 4", Seat.ONE)
    before = Entry(EntryKind.OFFER, "takeback 1", Seat.ONE)
    ahead, thinking = make_state(moved, (offer,)), make_state(start, (before,))
    assert collect_output(ahead, Seat.TWO) == collect_output(thinking, Seat.TWO)
    withdrawn = Entry(EntryKind.REFUSE, "takeback", Seat.ONE)
    ahead, back = make_state(moved, (offer, withdrawn)), make_state(start, (before, withdrawn))
    assert collect_output(ahead, Seat.TWO) == collect_output(back, Seat.TWO)
    hidden = make_state(start, (before, Entry(EntryKind.PLAY, "move 2", Seat.ONE)))
    assert collect_output(hidden, Seat.TWO) == collect_output(thinking, Seat.TWO), (
        "it does not lapse where that would be noticed"
    )


def test_a_page_that_counts_entries_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check finds a view that reveals the length of the record."""
    monkeypatch.setattr(MatchState, "count_events", lambda self, viewer: self.number)
    matches = unfinished(prefixes(find_game("hunt").rules(cells=2), 3))
    with pytest.raises(AssertionError, match="can tell"):
        check((match, make_state(match)) for match in matches)
