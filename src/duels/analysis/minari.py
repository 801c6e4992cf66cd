"""Export of matches as a Minari dataset; an episode is a match from one seat's view."""

import warnings
from collections.abc import Iterator
from itertools import chain
from typing import Any

from duels.analysis.encoding import ObservationEncoder
from duels.analysis.export import Export, ProgressCallback, build_rows, play_matches
from duels.core.errors import DuelsError, require_extra
from duels.games import all_games

with require_extra("minari"):
    import gymnasium
    import minari
    import numpy as np
    from gymnasium import spaces
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_dataset import parse_dataset_id

_GRADES = ("value", "regret", "values", "policy")  # in the infos of an episode


def export_minari(
    run: Export, dataset_id: str, progress: ProgressCallback = lambda done, games: None, jobs: int = 1
) -> None:
    """Play the matches of `run` and save them as a new Minari dataset.

    Raises DuelsError if the id is invalid or in use.
    """
    try:
        parse_dataset_id(dataset_id)
    except (ValueError, TypeError):  # TypeError if the id has no version
        raise DuelsError(
            f"{dataset_id} is not a valid Minari id: use a name with a version, such as duels/chain-club-v0."
        ) from None
    if dataset_id in minari.list_local_datasets():
        raise DuelsError(f"The Minari dataset {dataset_id} already exists; choose another id.")
    matches = play_matches(run, 0, progress, jobs)
    episodes = list(chain.from_iterable(_make_episodes(run, match) for match in matches))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about missing authors and other metadata
        minari.create_dataset_from_buffers(
            dataset_id,
            [EpisodeBuffer(id=number, **episode) for number, episode in enumerate(episodes)],
            env=_make_environment(run),
            observation_space=spaces.Box(0, 1, (ObservationEncoder(run.rules).size,), np.int8),
            action_space=spaces.Discrete(len(run.rules.all_actions())),
            algorithm_name=" against ".join(run.players),
            description=f"{run.rules} from seed {run.seed}, every decision graded.",
            requirements=["duels"],
        )


def _make_environment(run: Export) -> Any:
    """Make the first seat's environment against the second player; None if the game is not registered.

    The environment is made by name, so that users can recover it from the dataset.
    """
    if run.rules.game not in all_games():
        return None
    name = f"duels.envs.gymnasium:duels/{run.rules.name.title()}"
    settings: dict[str, Any] = {"opponent": run.players[1], "dtype": "int8", **run.rules.options()}
    return gymnasium.make(name, **settings)


def _make_episodes(run: Export, match: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an episode for each seat, in the order of their first decisions."""
    rows = build_rows(run, match)
    for seat in dict.fromkeys(row["seat"] for row in rows):
        own = [row for row in rows if row["seat"] == seat]
        last = own[-1]
        is_cut_off = last["ending"] == "cut off"
        others = len(own) - 1
        yield {
            "observations": np.array(
                [*(row["observation"] for row in own), last["final_observation"]], np.int8
            ),
            "actions": np.array([row["action_number"] for row in own], np.int64),
            "rewards": [row["reward"] for row in own],
            "terminations": [False] * others + [not is_cut_off],
            "truncations": [False] * others + [is_cut_off],
            "infos": {
                "action_mask": np.array(
                    [*(row["action_mask"] for row in own), last["final_action_mask"]], np.int8
                ),
                **{name: _append_zeros([row[name] for row in own]) for name in _GRADES},
            },
        }


def _append_zeros(steps: list[Any]) -> Any:
    array = np.array(steps, np.float64)
    return np.concatenate([array, np.zeros_like(array[:1])])
