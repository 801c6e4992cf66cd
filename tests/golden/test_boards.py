"""Golden boards, and the contract of every board of every game."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest

from duels.core.drawing import TextDrawing
from duels.core.match import AnyMatch, Match
from duels.core.narration import PlayerNames
from duels.core.rules import AnyRules, AnySight, Seat
from duels.core.svg import COLOURS, MIN_TEXT_SIZE, WIDTH, stylesheet
from duels.games import GAMES, find_game
from tests.golden.boards import BOARDS, FOLDER, Board
from tests.support import all_matches, all_rules, play_randomly

OTHER_SIZES: list[tuple[str, dict[str, int]]] = [
    ("lights", {"lights": 1}),
    ("lights", {"lights": 30}),
    ("leap", {"goal": 49}),
    ("leap", {"goal": 1}),
    ("chain", {"cells": 9}),
    ("chain", {"cells": 16}),
    ("hunt", {"cells": 1}),
    ("hunt", {"cells": 15}),
    ("flip", {"side": 4, "values": 4, "copies": 4, "target": 15}),
    ("flip", {"side": 9, "values": 9, "copies": 9}),
]
EVERY_SIZE = [*all_rules(), *(find_game(name).rules(**options) for name, options in OTHER_SIZES)]
Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""
RULES = pytest.mark.parametrize("rules", EVERY_SIZE, ids=repr)


def draw(sight: AnySight, targets: bool = True) -> ElementTree.Element:
    return ElementTree.fromstring(sight.rules.game.drawing(sight.rules).draw(sight, targets=targets))


def targets_of(svg: ElementTree.Element) -> list[ElementTree.Element]:
    return [part for part in svg.iter() if "target" in part.get("class", "").split()]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.path.stem)
def test_boards_equal_the_golden_files(board: Board) -> None:
    assert board.draw() == board.path.read_text(encoding="utf-8"), "`make golden` shows how"


def test_every_game_has_golden_boards() -> None:
    assert {board.game for board in BOARDS} == set(GAMES)
    assert {path.name for path in FOLDER.glob("*.svg")} == {board.path.name for board in BOARDS}


@RULES
def test_every_board_of_a_match_meets_the_contract(rules: AnyRules) -> None:
    match = play_randomly(Match.start(rules), Random(5), 40, resign=True)
    for step in [Match.start(rules), *match.steps()][:: max(1, len(match.turns) // 12)]:
        for seat in Seat:
            sight = step.sight(seat)
            check_drawn(sight)
            check_targets(sight)


def check_drawn(sight: AnySight) -> None:
    for targets in (False, True):
        svg = draw(sight, targets)
        assert svg.tag == "{http://www.w3.org/2000/svg}svg"
        left, top, width, height = map(float, svg.attrib["viewBox"].split())
        assert (left, top, width) == (0, 0, WIDTH)
        assert height > 0
        assert svg.get("role") == ("group" if targets else "img")
        assert svg.attrib["aria-label"].endswith(".")
        for part in svg.iter():
            assert not part.tag.endswith("style")
            assert not {"style", "id"} & part.attrib.keys()
            for colour in ("fill", "stroke"):
                assert part.get(colour, "none") in {"none", *COLOURS.values()}
        keys = [part.attrib["data-key"] for part in svg.iter() if "data-key" in part.attrib]
        assert len(keys) == len(set(keys))


def check_targets(sight: AnySight) -> None:
    rules = sight.rules
    drawing = rules.game.drawing(rules)
    svg = draw(sight)
    parts = targets_of(svg)
    placed = [rules.format(action) for action in sight.actions if drawing.is_on_board(action)]
    assert sorted(part.attrib["data-action"] for part in parts) == sorted(placed)
    assert not targets_of(draw(sight, targets=False))
    cells = {part.get("data-cell") for part in svg.iter()}
    for part in parts:
        assert part.get("role") == "button"
        assert part.get("tabindex") == "-1"
        assert part.get("aria-label")
        assert set(part.attrib["data-cells"].split()) <= cells
    # Targets do not overlap. Actions that share cells are chosen by different modes, one action for each.
    modes = [(part.get("data-mode"), frozenset(part.attrib["data-cells"].split())) for part in parts]
    by_cells = [mode for mode in modes if mode[0]]
    assert len(set(by_cells)) == len(by_cells)
    pressed = [box for part in parts if not part.get("data-mode") for box in hit_boxes(part)]
    check_apart(pressed)
    check_readable(words_of(svg), pressed)


def hit_boxes(part: ElementTree.Element) -> list[Box]:
    boxes = [rect for rect in part.iter() if rect.get("class") == "hit"]
    assert len(boxes) == 1
    x, y, width, height = (float(boxes[0].attrib[name]) for name in ("x", "y", "width", "height"))
    return [(x, y, x + width, y + height)]


def check_apart(boxes: list[Box]) -> None:
    for n, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:n]:
            wide = min(right, other[2]) - max(left, other[0])
            high = min(bottom, other[3]) - max(top, other[1])
            assert min(wide, high) < 0.2, "two targets overlap"


def words_of(part: ElementTree.Element, dx: float = 0, dy: float = 0) -> Iterator[tuple[str, Box]]:
    """Return the words on a board that are not buttons, with the places of their letters."""
    if moved := re.match(r"translate\((\S+) (\S+)\)", part.get("transform", "")):
        dx, dy = dx + float(moved[1]), dy + float(moved[2])
    if part.tag.endswith("text"):
        words, size = part.text or "", float(part.attrib["font-size"])
        x, y = float(part.attrib["x"]) + dx, float(part.attrib["y"]) + dy
        width = len(words) * size / 2
        left = x - {"start": 0, "middle": width / 2, "end": width}[part.attrib["text-anchor"]]
        yield words, (left, y - 0.72 * size, left + width, y)
    for inside in part:
        if "target" not in inside.get("class", "").split():
            yield from words_of(inside, dx, dy)


def check_readable(words: Iterable[tuple[str, Box]], pressed: list[Box]) -> None:
    """A target's frame never crosses a text: it goes around it or stays outside."""
    for text, (left, top, right, bottom) in words:
        for box in pressed:
            apart = box[0] >= right or box[2] <= left or box[1] >= bottom or box[3] <= top
            around = box[0] <= left and box[2] >= right and box[1] <= top and box[3] >= bottom
            assert apart or around, f"a frame crosses '{text}'"


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.path.stem)
def test_letters_are_readable_on_a_phone(board: Board) -> None:
    """12 of 360 pixels."""
    for part in ElementTree.fromstring(board.draw()).iter():
        assert float(part.get("font-size", MIN_TEXT_SIZE)) >= 12 * WIDTH / 360


@pytest.mark.parametrize("rules", all_rules(), ids=repr)
@pytest.mark.parametrize("reader", [None, *Seat])
def test_boards_use_names_and_address_the_reader(rules: AnyRules, reader: Seat | None) -> None:
    names = PlayerNames("Ann <&'", "Bob <&'", reader)
    drawing = rules.game.drawing(rules)
    match = play_randomly(Match.start(rules), Random(7), 40)
    ended = drawing.draw_open(*map(match.sight, Seat), names=names)
    for drawn in (ended, drawing.draw(match.sight(reader or Seat.ONE), targets=True, names=names)):
        for part in ElementTree.fromstring(drawn).iter():
            texts = {
                part.get("aria-label", ""),
                part.get("data-veiled", ""),
                part.text or "",
                part.tail or "",
            }
            assert not [each for each in texts if "Player" in each]
            values = [value for key, value in part.attrib.items() if key not in ("aria-label", "data-veiled")]
            assert not [value for value in values if "Ann" in value or "Bob" in value]
            if reader:
                own = names.one if reader is Seat.ONE else names.two
                assert not [each for each in texts if own in each]


@pytest.mark.parametrize(
    ("reader", "title", "named"),
    [
        (None, "Ann's token was revealed here", "Bob named 3"),
        (Seat.ONE, "Your token was revealed here", "Bob named 3"),
        (Seat.TWO, "Ann's token was revealed here", "You named 3"),
    ],
)
def test_titles_begin_with_a_name_or_you(reader: Seat | None, title: str, named: str) -> None:
    captured = Board("hunt", "", "move 3; observe 5; move 2; observe 3").match
    drawing = captured.rules.game.drawing(captured.rules)
    drawn = drawing.draw_open(*map(captured.sight, Seat), names=PlayerNames("Ann", "Bob", reader))
    assert f"<title>{title}</title>" in drawn
    assert f"<title>{named}</title>" in drawn


def test_long_names_are_truncated_with_the_full_name_as_title() -> None:
    rules = find_game("flip").rules()
    long = PlayerNames("Wilhelmina Maximiliane", "Bob")
    drawn = rules.game.drawing(rules).draw(rules.sight(rules.initial(), Seat.TWO), names=long)
    assert "<title>Wilhelmina Maximiliane</title>Wilhelm" in drawn
    assert ">Bob</text>" in drawn


@pytest.mark.parametrize("game", GAMES)
def test_targets_of_the_books_games_are_wide_enough_for_a_finger(game: str) -> None:
    """44 of 360 pixels."""
    for seed in range(3):
        match = play_randomly(Match.start(find_game(game).rules()), Random(seed), 30)
        for step in match.steps():
            if isinstance(step.actor, Seat):
                for part in targets_of(draw(step.sight(step.actor))):
                    for left, top, right, bottom in hit_boxes(part) if not part.get("data-mode") else ():
                        assert min(right - left, bottom - top) >= 44 * WIDTH / 360 - 0.3
                        assert left >= -1
                        assert right <= WIDTH + 1


@pytest.mark.parametrize(
    ("name", "options", "turns"), [("hunt", {"cells": 3}, 4), ("hunt", {"cells": 2, "max_turns": 2}, 6)]
)
def test_indistinguishable_matches_have_the_same_board(
    name: str, options: dict[str, int], turns: int
) -> None:
    rules = find_game(name).rules(**options)
    drawing = rules.game.drawing(rules)
    drawings: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    counts: dict[tuple[Any, ...], int] = defaultdict(int)
    for length in range(turns + 1):
        for match in all_matches(Match.start(rules), length):
            for seat in Seat:
                key = (seat, tuple(match.events_seen_by(seat)))
                counts[key] += 1
                drawings[key].add(drawing.draw(match.sight(seat), targets=True))
    assert max(counts.values()) > 1
    assert {len(drawn) for drawn in drawings.values()} == {1}


def test_flip_draws_a_tile_that_was_turned_back_like_any_other() -> None:
    turned_back = Board("flip", "", "D4+D5; 2,5; keep D4").draw()
    (tile,) = (part for part in ElementTree.fromstring(turned_back).iter() if part.get("data-cell") == "D5")
    assert tile.get("aria-label") == "D5: face down"
    assert not "".join(tile.itertext()).strip()


@pytest.mark.parametrize(("last", "full"), [("", False), ("; B4; 1", True), ("; B4; 4", True)])
def test_the_dial_of_flip_is_full_from_the_target_on(last: str, full: bool) -> None:
    """An arc that ends where it begins would not be seen."""
    twenty = "A1; 5; A2; 1; A3; 5; A4; 1; A5; 5; B1; 1; B2; 5; B3; 1"
    ended = ElementTree.fromstring(Board("flip", "", f"{twenty}{last}").draw())
    (dial,) = (part for part in ended.iter() if part.get("data-key") == "dial-1")
    (ring,) = (part for part in dial if part.get("class") == "s-p1" and part.get("stroke-width") == "10")
    assert ring.tag.endswith("circle") == full


def test_hunt_shows_the_captured_token_only_to_its_captor() -> None:
    captured = Board("hunt", "", "move 3; observe 5; move 2; observe 3").match
    tokens = {
        seat: {
            key for part in draw(captured.sight(seat)).iter() if "token" in (key := part.get("data-key", ""))
        }
        for seat in Seat
    }
    assert tokens == {Seat.ONE: {"token-1"}, Seat.TWO: {"token-1", "token-2"}}


def test_the_stylesheet_has_every_colour() -> None:
    css = stylesheet()
    usual = css.partition("@media (prefers-contrast")[0]
    light = dict(re.findall(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}),", usual))
    assert light == COLOURS
    for name in COLOURS:
        assert f".f-{name} {{ fill: var(--{name}); }} .s-{name} {{ stroke: var(--{name}); }}" in css


def test_the_default_drawing_accepts_the_same_keywords() -> None:
    match: AnyMatch = Match.start(find_game("chain").rules())
    drawing: TextDrawing[Any, Any] = TextDrawing(find_game("chain").words(match.rules))
    svg = ElementTree.fromstring(drawing.draw(match.sight(Seat.ONE), targets=True))
    assert svg.get("role") == "group"
    assert not targets_of(svg)
    assert not any(drawing.is_on_board(action) for action in match.actions)
