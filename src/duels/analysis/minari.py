"""Writes matches as a Minari dataset: an episode is a match as one of its seats saw it."""

import warnings
from collections.abc import Iterator
from itertools import chain
from typing import Any

from duels.analysis.encoding import ObservationEncoder
from duels.analysis.export import Export, ProgressCallback, build_rows, play_matches
from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.games import all_games

with require_extra("minari"):
    import gymnasium
    import minari
    import numpy as np
    from gymnasium import spaces
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_dataset import parse_dataset_id


def export_minari(
    run: Export, dataset_id: str, progress: ProgressCallback = lambda done, games: None, jobs: int = 1
) -> None:
    """Play the matches of `run` and keep them as the Minari dataset `dataset_id`, which must be new."""
    try:
        parse_dataset_id(dataset_id)
    except (ValueError, TypeError):  # the second where an id has no version
        raise DuelsError(
            f"Minari refuses {dataset_id}: an id is a name with a version, such as duels/chain-club-v0."
        ) from None
    if dataset_id in minari.list_local_datasets():
        raise DuelsError(f"There is a Minari dataset {dataset_id} already; name another.")
    matches = play_matches(run, 0, progress, jobs)
    episodes = list(chain.from_iterable(_episodes(run, match) for match in matches))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about authors and the like, which are for others to add
        minari.create_dataset_from_buffers(
            dataset_id,
            [EpisodeBuffer(id=number, **episode) for number, episode in enumerate(episodes)],
            env=_environment(run),
            observation_space=spaces.Box(0, 1, (ObservationEncoder(run.rules).size,), np.int8),
            action_space=spaces.Discrete(len(run.rules.all_actions())),
            algorithm_name=" against ".join(run.players),
            description=f"{run.rules} from seed {run.seed}, every decision graded.",
            requirements=["duels"],
        )


def _environment(run: Export) -> Any:
    """The environment that the matches were played in: from the first seat, against the second player.

    Gymnasium finds it by its name, as it does again for whoever recovers it from the dataset; None for a game
    that has no name there.
    """
    if run.rules.game not in all_games():
        return None
    name = f"duels.envs.gymnasium:duels/{run.rules.name.title()}"
    how: dict[str, Any] = {"opponent": run.players[1], "dtype": "int8", **run.rules.options()}
    return gymnasium.make(name, **how)


def _episodes(run: Export, match: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The match as each seat saw it, in the order of their first decisions."""
    rows = build_rows(run, match)
    for seat in dict.fromkeys(row["seat"] for row in rows):
        mine = [row for row in rows if row["seat"] == seat]
        last = mine[-1]
        cut = last["ending"] == "cut off"
        others = len(mine) - 1
        yield {
            "observations": np.array(
                [*(row["observation"] for row in mine), last["final_observation"]], np.int8
            ),
            "actions": np.array([row["action_number"] for row in mine], np.int64),
            "rewards": [row["reward"] for row in mine],
            "terminations": [False] * others + [not cut],
            "truncations": [False] * others + [cut],
            "infos": {
                "action_mask": np.array(
                    [*(row["action_mask"] for row in mine), last["final_action_mask"]], np.int8
                ),
                "value": _with_end([row["value"] for row in mine], np.float64),
                "regret": _with_end([row["regret"] for row in mine], np.float64),
                "values": _with_end([row["values"] for row in mine], np.float64),
                "policy": _with_end([row["policy"] for row in mine], np.float64),
            },
        }


def _with_end(steps: list[Any], kind: Any) -> Any:
    """An array of what was told at every step, with zeros for the end, of which nothing is told."""
    told = np.array(steps, kind)
    return np.concatenate([told, np.zeros_like(told[:1])])
