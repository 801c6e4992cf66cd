"""The examples in JAX's docstrings run and print what they show."""

import doctest
from importlib import import_module

import pytest

pytest.importorskip("jax", reason="make jax-test installs it")

pytestmark = pytest.mark.slow


def test_examples_print_what_they_show() -> None:
    result = doctest.testmod(import_module("duels.envs.jax"))
    assert result.attempted
    assert not result.failed
