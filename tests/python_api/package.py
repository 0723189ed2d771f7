"""Puts the Python package of this build on the path, with a home of its own."""

import os
import pathlib
import sys
import tempfile

BUILD = pathlib.Path(os.environ["PASSNET_BINARY_DIR"])
SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(BUILD / "python"), str(SOURCE / "tests")]
from tiers import FULL  # noqa: E402, F401

os.environ.setdefault("OMP_NUM_THREADS", "2")


def new_directory(test) -> pathlib.Path:
    """A directory that goes with the test."""
    scratch = tempfile.TemporaryDirectory(prefix="passnet-python-api-")
    (test.addClassCleanup if isinstance(test, type) else test.addCleanup)(scratch.cleanup)
    return pathlib.Path(scratch.name)
