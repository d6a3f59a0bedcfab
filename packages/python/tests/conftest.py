"""Fixtures of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolscript import Sandbox


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    """A sandbox with an empty directory."""
    return Sandbox(tmp_path / "data")
