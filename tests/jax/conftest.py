"""A separate folder for the tables of these tests."""

from tests.envs.conftest import _tables_of_our_own

__all__ = ["_tables_of_our_own"]
