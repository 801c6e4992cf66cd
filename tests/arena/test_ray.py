"""Runs on Ray: a local cluster of two nodes, one of whose workers is killed; run by `make ray-test`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duels.arena.config import Config
from duels.arena.pool import play_batch
from duels.arena.run import run
from duels.core.errors import DuelsError
from tests.arena.test_run import rows_of
from tests.arena.test_workers import KILLER
from tests.players.test_program import BOTS, PYTHON

pytestmark = pytest.mark.slow
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def test_rows_equal_those_of_a_local_run(cluster: Any, tmp_path: Path) -> None:
    config = Config(("random", "club", "best"), ("lights", "leap"), 40, "7")
    run(config, tmp_path / "ray", on="ray")
    run(config, tmp_path / "here")
    assert rows_of(tmp_path / "ray") == rows_of(tmp_path / "here")
    assert sorted((tmp_path / "ray" / "log-ray.jsonl").read_text().splitlines()) == sorted(
        (tmp_path / "here" / "log-1.jsonl").read_text().splitlines()
    )


def test_matches_of_a_dead_worker_are_repeated(cluster: Any, tmp_path: Path) -> None:
    bot = tmp_path / "killer.py"
    bot.write_text(KILLER)
    config = Config(("random", f"killer=cmd:{PYTHON} {bot} {tmp_path / 'done'}"), ("lights",), 60)
    run(config, tmp_path / "run", on="ray")
    assert (tmp_path / "done").exists()
    assert len(rows_of(tmp_path / "run")) == 60


def test_programs_run_in_the_folder_of_the_caller(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers start where `ray start` was called, so a relative path would not be found there."""
    (tmp_path / "bots").mkdir()
    program = (BOTS / "bot.py").read_text().replace("random.choice(question[", "min(question[")
    (tmp_path / "bots" / "mine.py").write_text(program)
    monkeypatch.chdir(tmp_path)
    config = Config(("random", f"mine=cmd:{PYTHON} bots/mine.py"), ("lights",), 60)
    run(config, tmp_path / "ray", on="ray")
    run(config, tmp_path / "here")
    assert rows_of(tmp_path / "ray") == rows_of(tmp_path / "here")
    assert not any(row["failures"] for row in rows_of(tmp_path / "ray"))


def test_a_node_without_the_folder_is_named(cluster: Any, tmp_path: Path) -> None:
    """A node that does not share the folder cannot run the programs."""
    config = Config(("random", f"mine=cmd:{PYTHON} mine.py"), ("lights",), 2)
    plans = list(config.plan_matches("lights", "random", "mine", range(1)))
    with pytest.raises(ray.exceptions.RayTaskError, match="Share the folder with every node"):
        ray.get(ray.remote(play_batch).remote(config, plans, str(tmp_path / "gone")))


def test_a_run_on_a_cluster_raises_clear_errors(cluster: Any, tmp_path: Path) -> None:
    config = Config(("random", "cmd:no-such-bot"), ("lights",), 2)
    with pytest.raises(DuelsError, match="'no-such-bot' cannot be started"):
        run(config, tmp_path / "run", on="ray")
    with pytest.raises(DuelsError, match="not 'slurm'"):
        run(Config(("random", "club"), ("lights",), 2), tmp_path / "other", on="slurm")
