"""Code on the pages about environments runs, and their tables are right."""

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest

from duels.envs.gymnasium import DuelEnv
from duels.games import GAMES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "environments"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}
ELSEWHERE = {"jax.md"}  # `make jax-test` runs its pieces
TORCH = "open_spiel.python.pytorch"  # `make trainers-test` runs the piece that imports it
SLOW = 'exploitability_bounds(table, "hunt")'  # takes half a minute
PIECES = [
    pytest.param(piece, id=f"{name}-{number}", marks=[pytest.mark.slow] * (SLOW in piece))
    for name, page in PAGES.items()
    if name not in ELSEWHERE
    for number, piece in enumerate(
        re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL), start=1
    )
    if TORCH not in piece
]


class Untrained:
    """Replaces sb3-contrib's learner, which is too large to install here (`make examples` has it)."""

    def __init__(self, policy: str, env: Any, seed: int, **arguments: int) -> None:
        env.reset(seed=seed)
        self.env = env

    def learn(self, steps: int) -> "Untrained":
        assert steps
        self.env.step(self.env.unwrapped.action_masks().argmax())
        return self

    def predict(self, observation: Any, action_masks: Any, deterministic: bool) -> tuple[Any, None]:
        assert observation[0] in self.env.observation_space
        assert deterministic
        return action_masks.argmax(axis=-1), None


def adapted(game: str, num_envs: int, **arguments: Any) -> Any:
    """Replaces the adapter to Stable-Baselines3 by one of its games."""
    assert num_envs > 1
    return DuelEnv(game, **arguments)


def test_every_code_block_is_tested() -> None:
    counts = [
        page.count("```python") - page.count(TORCH) for name, page in PAGES.items() if name not in ELSEWHERE
    ]
    assert len(PIECES) == sum(counts) >= 14


@pytest.mark.parametrize("piece", PIECES)
def test_every_code_block_runs(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learners = ModuleType("sb3_contrib")
    learners.MaskablePPO = Untrained  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, learners.__name__, learners)
    adapter = ModuleType("duels.envs.stable_baselines3")
    adapter.DuelVecEnv = adapted  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, adapter.__name__, adapter)
    monitors = ModuleType("stable_baselines3.common.vec_env")
    monitors.VecMonitor = lambda envs: envs  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, monitors.__name__, monitors)
    # Their value iteration imports it for simultaneous moves alone; it needs more than is installed here.
    solver = ModuleType("open_spiel.python.algorithms.lp_solver")
    monkeypatch.setitem(sys.modules, solver.__name__, solver)
    exec(compile(piece, "docs", "exec"), {})


def test_the_page_lists_the_sizes_of_observations() -> None:
    sizes = dict(re.findall(r"^\| (\w+) \| (\d+) \|", PAGES["reference.md"], flags=re.MULTILINE))
    assert sizes == {name: str(game.encoding(game.rules()).size) for name, game in GAMES.items()}


def test_the_page_lists_the_options() -> None:
    rows = re.findall(r"^\| (\w+) \| `(\w+)` \| (\w+) \|", PAGES["reference.md"], flags=re.MULTILINE)
    assert rows == [
        (name, option.name, "none" if option.default is None else str(option.default))
        for name, game in GAMES.items()
        for option in fields(cast(Any, game.rules()))
    ]


def test_the_pages_of_environments_are_current() -> None:
    done = subprocess.run([sys.executable, FOLDER / "build.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_page_describes_the_short_form_of_chain() -> None:
    import duels

    sentence = re.search(
        r"A good short form is `([^`]*)`: .*?random play has an\s+exploitability of (\d\.\d+)\.",
        PAGES["grading.md"],
        re.S,
    )
    assert sentence
    settings: dict[str, Any] = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", sentence[1])}
    assert f"{duels.exploitability('random', 'chain', **settings):.2f}" == sentence[2]
    assert duels.exploitability("perfect", "chain", **settings) == 0
    assert f"Random play has {sentence[2]}." in PAGES["trainers.md"]
    for script in (FOLDER / "trainers").glob("*.py"):
        assert f"SHORT = {json.dumps(settings)}\n" in script.read_text(encoding="utf-8")


def test_the_page_gives_openspiels_counts() -> None:
    import pyspiel
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.policy import UniformRandomPolicy

    import duels.envs.openspiel

    listed, _ = PAGES["openspiel.md"].split("## Learners")
    forms = re.findall(r"`(duels_\w+\([^`]*\))`", listed)
    assert duels.exploitability("random", "chain", cells=3, run=3, max_boards=1) == 0  # as the page warns
    assert len(forms) == len(GAMES)
    for settings in forms:
        rules = pyspiel.load_game(settings).rules
        # A short form in which every way of playing is perfect would teach nothing.
        assert duels.exploitability("random", rules.name, **rules.options()) > 0.05, settings
    game = pyspiel.load_game("duels_hunt(cells=2,max_turns=3)")
    points = exploitability.exploitability(game, UniformRandomPolicy(game))
    assert points == pytest.approx(exploitability.nash_conv(game, UniformRandomPolicy(game)) / 2)
    ours = duels.exploitability("random", "hunt", cells=2, max_turns=3)
    assert points / 2 == pytest.approx(ours)


SHELL_PAGES = ["README.md", *(f"docs/environments/{name}" for name in PAGES)]


@pytest.mark.parametrize("page", [*SHELL_PAGES, "docs/performance.md"])
def test_brackets_are_quoted_for_the_shell(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert not re.findall(r"pip install [^'`\n]*\[", text)


@pytest.mark.parametrize("page", SHELL_PAGES)
def test_the_page_installs_from_a_clone(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"'(\.|duels)\[(\w+)\]'", text)
    assert {name for _, name in named} <= set(extras["optional-dependencies"])
    assert "pip install '.[" not in text  # it would put a copy in the place of what `make` has installed
    # The package is on no index, so its name works only once it is installed.
    assert [name for place, name in named if place == "duels"] == ["rl"] * text.count(
        "once `duels` is installed"
    )
