"""What frameworks without an adapter read: tool schemas in transformers, and the example for SkyRL."""

from typing import Any

import pytest

from duels.integrations.trl import MatchEnvironment
from duels.players.prompt import PLAY_TOOL
from tests.integrations.test_page import SNIPPETS

pytestmark = pytest.mark.slow


def test_transformers_describes_the_tool_as_our_prompt_does() -> None:
    utils = pytest.importorskip("transformers.utils")
    schema = utils.get_json_schema(MatchEnvironment().play)["function"]
    ours = PLAY_TOOL["function"]
    assert (schema["name"], schema["description"]) == (ours["name"], ours["description"])
    assert schema["parameters"]["properties"]["action"]["type"] == "string"
    assert schema["parameters"]["required"] == ours["parameters"]["required"]


def test_the_rewards_of_skyrl_add_up_to_that_of_the_match() -> None:
    pytest.importorskip("skyrl_gym")
    (snippet,) = (snippet for snippet in SNIPPETS if "skyrl_gym" in snippet)
    names: dict[str, Any] = {}
    exec(compile(snippet, "docs/models.md", "exec"), names)
    env, total, done = (
        names["MatchEnv"](extras={"task": names["make_rows"]("lights", matches=2)[1]}),
        0.0,
        False,
    )
    while not done:
        step = env.step(f'{{"action": "{env.seat.actions[-1]}"}}')
        total, done = total + step["reward"], step["done"]
    assert total == pytest.approx(env.seat.reward)
