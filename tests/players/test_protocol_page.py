"""docs/protocol.md shows valid messages and names every class of failure."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from duels.core.match import Match
from duels.core.rules import Seat
from duels.games import find_game
from duels.players import protocol
from duels.players.failures import Failure
from tests.support import COMMAND, environment

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
SHOWN = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]


def test_the_page_shows_the_real_messages() -> None:
    hello, ready, choose, action, policy = SHOWN
    rules = find_game("chain").rules(max_boards=50)
    assert hello == protocol.make_hello(rules, 10_000)
    assert protocol.parse_ready(json.dumps(ready)) == ready
    sight = Match.start(rules).play_text(*choose["history"]).sight(Seat.TWO)
    assert choose == protocol.make_request(sight, 12, 10_000, match="3f0c")
    for answer in (action, policy):
        reply = protocol.parse_reply_to(json.dumps(answer), 12)
        assert reply is not None
        chosen, odds = protocol.parse_move(reply, sight)
        assert chosen in sight.actions or sum((odds or {}).values()) == 1


def test_the_page_explains_every_key_and_class() -> None:
    for key in {**SHOWN[2], "card": "", "error": ""}:
        assert f"`{key}`" in PAGE
    for failure in Failure:
        if failure is not Failure.CUT_OFF:  # an answer of a program has no limit of length but the flood's
            assert f"| `{failure.value}` |" in PAGE


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_page_says_who_can_read_a_key(tmp_path: Path) -> None:
    """A program's environment lacks the key. It can read that of `duels`, and the page says so."""
    bot = tmp_path / "bot.sh"
    bot.write_text('env > "$0.own"; tr "\\0" "\\n" < /proc/$PPID/environ > "$0.parent"\n')
    variables = {**environment(tmp_path), "OPENAI_API_KEY": "sk-the-key"}
    command = [*COMMAND, "play", "lights", "--seat1", f"cmd:sh {bot}", "--seat2", "random"]
    subprocess.run(command, env=variables, capture_output=True, check=False, timeout=60)
    assert "sk-the-key" not in (tmp_path / "bot.sh.own").read_text()
    assert "sk-the-key" in (tmp_path / "bot.sh.parent").read_text()
    assert "read the\nenvironment of `duels` (`/proc` on Linux)" in PAGE
    assert "A program that looks for the key can still find it." in PAGE
