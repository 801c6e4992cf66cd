"""Names that imitate somebody else, and names that must not change."""

import pytest

from duels.players import PLAYER_KINDS
from duels.web.visitor_names import MAX_NAME_LENGTH, clean_name
from tests.web.serving import Visitor, pair

SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
FAMILY = "👨\u200d👩\u200d👧"
PRETENDERS = (
    *("You", "you", "YOU", "y o u", "You.", "Y\u200bou", "\u202eYou", "Ｙｏｕ", "Yоu", "Υou", "Yóu", "𝒀𝒐𝒖"),
    *("Player 1", "player  2", "Player\u00a02", "Player2", "Player-1", "PIayer 1", "Player ②", "P layer l"),
    *("casual", "Casual", "human", "best", "PERFECT", "cаsuаl", "Chance", "a friend", "Y⃝ou", "Your"),
    *("X", "o", "Х", "0", "Your turn", "your opponent", "Yоur move", "You win", "Player 1️⃣"),
    *("You've", "you’ve", "You're", "You'll win"),
)


@pytest.mark.parametrize("name", PRETENDERS)
def test_a_reserved_word_gets_a_number(name: str) -> None:
    clean = clean_name(name)
    assert clean.endswith(" (2)")
    assert clean_name(clean) == clean, "a rematch keeps it"


@pytest.mark.parametrize("player", PLAYER_KINDS)
def test_names_of_bots_are_reserved(player: str) -> None:
    assert clean_name(player.title()) == f"{player.title()} (2)"


@pytest.mark.parametrize(
    ("name", "other", "clean"),
    [
        ("Ann", "Ann", "Ann (2)"),
        ("ann", "Ann", "ann (2)"),
        ("Аnn", "Ann", "Аnn (2)"),
        ("Ann", "Bob", "Ann"),
        ("You", "You (2)", "You (3)"),
        ("A" * 30, "A" * 30, "A" * 26 + " (2)"),
        (FAMILY, FAMILY, f"{FAMILY} (2)"),
        ("😀", "🎉", "😀"),
        ("❤", "❤️", "❤ (2)"),
        ("", "", ""),
        ("\u200b\u2066\u3164", "Ann", ""),
        ("Ann\u200b\u202e\u2069", "", "Ann"),
        (" B\n o\t\x1b[2Jb ", "", "B o [2Jb"),
        ("Юлия", "Ann", "Юлия"),
        ("की", "के", "की"),
        ("José", "", "José"),
        ("Young", "", "Young"),
        ("D'You", "", "D'You"),
        ("O'Neill", "", "O'Neill"),
        ("Xo", "", "Xo"),
        ("Z" + "\u0335" * 20 + "oe", "", "Z\u0335\u0335\u0335oe"),
        ("a" + "\u0316\u200b" * 9, "", "a\u0316\u0316\u0316"),
        ("שָּׁלוֹם", "", "שָּׁלוֹם"),
        ("Ann\U000e0067\U000e0062", "", "Ann"),
    ],
)
def test_names_are_cleaned_and_unique_in_a_match(name: str, other: str, clean: str) -> None:
    assert clean_name(name, (other,)) == clean


@pytest.mark.parametrize(
    "emoji", [FAMILY, "🕵🏽\u200d♂️", "🇩🇪", "👍🏿", "❤️\u200d🔥", "🐦\u200d⬛", "1️⃣", "#⃣", SCOTLAND]
)
def test_joined_emoji_are_not_split(emoji: str) -> None:
    assert clean_name(f"Ann {emoji}!") == f"Ann {emoji}!"
    for length in range(MAX_NAME_LENGTH + 2):
        clean = clean_name("A" * length + emoji + "B")
        rest = clean.removeprefix("A" * min(length, MAX_NAME_LENGTH))
        assert rest in ("", emoji, f"{emoji}B")
        assert len(clean) <= MAX_NAME_LENGTH


def test_a_friend_called_you_does_not_speak_for_the_reader(base: str) -> None:
    ann, _, match = pair(base, "lights", name="Bob", first="you")
    assert [player["name"] for player in ann.see(match)["players"]] == ["Bob (2)", "Bob"]
    ann, bob = Visitor(base), Visitor(base)
    match = ann.start("chain", "friend", name="Ann", first="you")
    link = ann.see(match)["invite"]["link"]
    assert bob.post(link[link.index("/j/") :], name="Yo\u200bu").status_code == 200
    assert bob.act(match, "3").status_code == 204
    view = ann.see(match)
    assert view["log"][0]["who"] == "You (2)"
    assert "You (2)" in view["log"][0]["text"] or view["log"][0]["told_next"]
    bob.act(match, "resign")
    bob.offer(match, "rematch")
    ann.offer(match, "rematch", "yes")
    rematch = ann.see(f"/m/{ann.see(match)['rematch']}")
    assert {player["name"] for player in rematch["players"]} == {"Ann", "You (2)"}
