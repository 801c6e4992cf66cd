"""The examples in JAX's docstrings run and print what they show."""

import doctest
from importlib import import_module

import pytest

pytest.importorskip("jax", reason="make jax-test installs it")

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["duels.envs.jax", "duels.envs.jax.env"])
def test_examples_print_what_they_show(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted
    assert not result.failed
