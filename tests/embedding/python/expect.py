"""Assertions and temporary directories for the checks."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]
EXAMPLE = REPOSITORY / "examples/embed-component"
SCRIPTS = REPOSITORY / "tests/scripts"


class CheckFailed(Exception):
    """An expectation was not met."""


def expect(actual: Any, expected: Any, what: str) -> None:
    # Compared as JSON, because 1, 1.0 and True are equal in Python.
    actual_text, expected_text = json.dumps(actual), json.dumps(expected)
    if actual_text != expected_text:
        raise CheckFailed(f"{what}\n  expected: {expected_text[:2000]}\n  actual:   {actual_text[:2000]}")


def expect_raises(error: type[BaseException], call: Callable[[], Any], what: str) -> BaseException:
    """Expects the call to raise this error, and returns it."""
    try:
        call()
    except error as raised:
        return raised
    raise CheckFailed(f"{what}: nothing was raised")


@contextmanager
def temporary_io_dir() -> Iterator[Path]:
    """Yields the path of an io directory that does not exist yet, inside a temporary directory."""
    with tempfile.TemporaryDirectory() as outside:
        yield Path(outside, "files")
