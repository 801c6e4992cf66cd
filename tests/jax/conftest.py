"""The tables of these tests are kept in a folder of their own, not in the user's."""

from tests.envs.conftest import _tables_of_our_own

__all__ = ["_tables_of_our_own"]
