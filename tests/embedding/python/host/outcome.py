"""Builds the outcome of a run. All output of the guest is bounded and validated here."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

# Bytes of all log lines, including an overhead per line so that empty lines are bounded too.
MAX_LOGS = 1 << 20
LOG_LINE_OVERHEAD = 24
MAX_RESULT = 1 << 20
# Nesting depth of a result. A JSON parser may recurse once per level.
MAX_DEPTH = 128
MAX_ERROR_TEXT = 8 << 10

INTERNAL = "the sandbox failed; the cause is in the host's log"
SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r"}


class InvalidResult(Exception):
    """The guest violated its contract: the result is not valid JSON."""


class LogBuffer:
    """The log lines of a run, up to `MAX_LOGS`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.truncated = False
        self._used = 0

    def add(self, text: bytes) -> None:
        available = MAX_LOGS - self._used - LOG_LINE_OVERHEAD
        if self.truncated or available < 0:
            self.truncated = True
            return
        # Bytes that are not UTF-8 become U+FFFD, which is longer.
        valid = text[:available].decode("utf-8", "replace").encode()
        self.truncated = len(text) > available or len(valid) > available
        line = valid[:available].decode("utf-8", "ignore")
        self._used += len(line.encode()) + LOG_LINE_OVERHEAD
        self.lines.append(line)


def result(text: str, replaced: bytes) -> dict[str, Any]:
    """Parses the result, and lists the parts of it that were replaced. A result that is too large becomes an error of the script."""
    size = len(text.encode())
    if size > MAX_RESULT:
        advice = "return less, or print or write it in parts"
        message = f"the result is {size} bytes as JSON; at most {MAX_RESULT} are allowed: {advice}"
        return {"error": {"kind": "result", "message": message}}
    if not is_one_line_and_shallow(text):
        raise InvalidResult("it has control characters or is nested too deeply")
    try:
        parsed = {"result": json.loads(text)}
    except ValueError as error:
        raise InvalidResult(str(error)) from None
    lines = bytes(replaced[:MAX_ERROR_TEXT]).decode("utf-8", "replace").splitlines()
    return {**parsed, "replaced": [one_line(line) for line in lines]} if lines else parsed


def is_one_line_and_shallow(text: str) -> bool:
    """Returns `True` if the JSON has no control characters, so that it stays on one line, and is nested at most `MAX_DEPTH` deep."""
    depth = 0
    in_string = False
    escaped = False
    for character in text:
        if character < " ":
            return False
        if in_string:
            in_string, escaped = escaped or character != '"', not escaped and character == "\\"
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return False
        elif character in "]}":
            depth -= 1
    return True


def failure(kind: str, message: bytes, traceback: bytes) -> tuple[dict[str, Any], list[str]]:
    """Returns the error of a failed script, and the names of its truncated fields."""
    truncated = [name for name, text in (("message", message), ("traceback", traceback)) if len(text) > MAX_ERROR_TEXT]
    line = one_line(message[:MAX_ERROR_TEXT].decode("utf-8", "replace")).encode()
    if len(line) > MAX_ERROR_TEXT and "message" not in truncated:
        truncated.insert(0, "message")
    error = {"kind": kind, "message": line[:MAX_ERROR_TEXT].decode("utf-8", "ignore")}
    if traceback:
        error["traceback"] = traceback[:MAX_ERROR_TEXT].decode("utf-8", "replace")
    return error, truncated


def one_line(text: str) -> str:
    """Escapes control characters, because a script can raise any text."""
    return "".join(escape(character) if unicodedata.category(character) == "Cc" else character for character in text)


def escape(character: str) -> str:
    return character if character == "\t" else SHORT_ESCAPES.get(character, f"\\u{{{ord(character):x}}}")
