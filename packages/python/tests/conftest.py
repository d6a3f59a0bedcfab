"""Fixtures of the tests."""

from __future__ import annotations

import importlib.util
import signal
from pathlib import Path

import pytest

from toolscript import Sandbox

# The tests of the adapters need the frameworks, in the versions of adapters/requirements.txt.
collect_ignore = [] if importlib.util.find_spec("deepagents") else ["adapters"]


# Programs that the tests start inherit this. A shell that starts the tests in the background ignores the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    """A sandbox with an empty directory."""
    return Sandbox(tmp_path / "data")
