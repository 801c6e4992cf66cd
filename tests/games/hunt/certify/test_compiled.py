"""Compiled code that runs for seconds lets other threads report progress."""

from importlib import import_module

import pytest

numba = pytest.importorskip("numba")


@pytest.mark.parametrize(
    "name",
    [
        "duels.games.hunt.certify.controller",
        "duels.games.hunt.certify.interpolation",
        "duels.games.hunt.certify.pair_values",
        "duels.games.hunt.certify.certificate",
        "duels.games.hunt.certify.opening",
        "tools.hunt.self_play",
    ],
)
def test_compiled_code_releases_the_gil(name: str) -> None:
    module = import_module(name)
    cached_njit = [
        part for part in vars(module).values() if isinstance(part, numba.core.dispatcher.Dispatcher)
    ]
    assert cached_njit
    assert all(part.targetoptions.get("nogil") for part in cached_njit)
