"""Minari datasets: one episode per seat."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duels.analysis.export import Export, build_rows, play_matches
from duels.core.errors import DuelsError
from duels.games import GAMES

minari = pytest.importorskip("minari")


@pytest.mark.parametrize(
    ("game", "options"), [("lights", {}), ("chain", {"max_boards": 1}), ("hunt", {"max_turns": 4})]
)
def test_an_episode_holds_one_seats_observations(
    game: str, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from duels.analysis.minari import export_minari

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    run = Export(GAMES[game].rules(**options), ("club", "random"), "s", 3)
    export_minari(run, "duels/test-v0")
    dataset = minari.load_dataset("duels/test-v0")
    assert dataset.total_episodes == 6
    rows = [
        row for match in play_matches(run, 0, lambda done, games: None, 1) for row in build_rows(run, match)
    ]
    seats = list(dict.fromkeys((row["number"], row["seat"]) for row in rows))
    for episode, (number, seat) in zip(dataset.iterate_episodes(), seats, strict=True):
        seat_rows = [row for row in rows if (row["number"], row["seat"]) == (number, seat)]
        assert episode.actions.tolist() == [row["action_number"] for row in seat_rows]
        observations = [*(row["observation"] for row in seat_rows), seat_rows[-1]["final_observation"]]
        assert episode.observations.tolist() == observations
        assert episode.rewards.tolist() == [0.0] * (len(seat_rows) - 1) + [seat_rows[-1]["reward"]]
        cut = seat_rows[-1]["ending"] == "cut off"
        assert (episode.terminations[-1], episode.truncations[-1]) == (not cut, cut)
        assert not episode.terminations[:-1].any()
        masks = [*(row["action_mask"] for row in seat_rows), seat_rows[-1]["final_action_mask"]]
        assert episode.infos["action_mask"].tolist() == masks
        assert any(masks[-1]) == cut
        assert np.isnan(episode.infos["values"][0]).tolist() == [v is None for v in seat_rows[0]["values"]]
    env = dataset.recover_environment()
    assert env.unwrapped.rules == run.rules
    assert (env.observation_space, env.action_space) == (dataset.observation_space, dataset.action_space)
    first = next(
        episode for episode, (_, seat) in zip(dataset.iterate_episodes(), seats, strict=True) if seat == 1
    )
    assert env.reset(seed=1)[0].tolist() == first.observations[0].tolist()
    with pytest.raises(DuelsError, match="already"):
        export_minari(run, "duels/test-v0")


@pytest.mark.parametrize("wrong", ["two words", "chain-club", "duels/leap-v", "duels/", "a/b/c-v0/"])
def test_rejects_invalid_minari_ids(wrong: str) -> None:
    from duels.analysis.minari import export_minari

    with pytest.raises(DuelsError, match=f"^{wrong} is not a valid Minari id: use a name with a version"):
        export_minari(Export(GAMES["lights"].rules(), ("random", "random"), "s", 1), wrong)
