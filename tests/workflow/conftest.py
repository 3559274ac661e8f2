"""Checkouts to run the workflow in, for the tests of this folder."""

from tests.checkouts import checkout, finished, finished_copy

__all__ = ["checkout", "finished", "finished_copy"]
