"""What a run ended in. Whatever the guest says is measured, cut or refused before anybody else reads it."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

MAX_LOGS = 1 << 20
# What an empty line costs: the host's own bookkeeping for it.
LOG_LINE_OVERHEAD = 24
MAX_RESULT = 1 << 20
# Nesting of a result: a reader may recurse once for each level.
MAX_DEPTH = 128
MAX_ERROR_TEXT = 8 << 10

INTERNAL = "the sandbox failed; the cause is in the host's log"
SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r"}


class InvalidResult(Exception):
    """The guest returned what is not the JSON that its contract promises."""


class LogBook:
    """The lines of a run, up to its limit."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.cut = False
        self._used = 0

    def line(self, text: bytes) -> None:
        room = MAX_LOGS - self._used - LOG_LINE_OVERHEAD
        if self.cut or room < 0:
            self.cut = True
            return
        # What is not UTF-8 becomes U+FFFD, which is longer.
        kept = text[:room].decode("utf-8", "replace").encode()
        self.cut = len(text) > room or len(kept) > room
        line = kept[:room].decode("utf-8", "ignore")
        self._used += len(line.encode()) + LOG_LINE_OVERHEAD
        self.lines.append(line)


def result(text: str) -> dict[str, Any]:
    """The result, if it is small enough; a larger one is the script's error."""
    size = len(text.encode())
    if size > MAX_RESULT:
        advice = "return less, or print or write it in parts"
        message = f"the result is {size} bytes as JSON; at most {MAX_RESULT} are allowed: {advice}"
        return {"error": {"kind": "result", "message": message}}
    if not is_one_line_and_shallow(text):
        raise InvalidResult("it has control characters or is nested too deeply")
    try:
        return {"result": json.loads(text)}
    except ValueError as error:
        raise InvalidResult(str(error)) from None


def is_one_line_and_shallow(text: str) -> bool:
    """Keeps a decoder that recurses from a deep value, and a line of JSON from an early end."""
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
    """The error of a script that failed, and which of its texts were cut."""
    truncated = [name for name, text in (("message", message), ("traceback", traceback)) if len(text) > MAX_ERROR_TEXT]
    line = one_line(message[:MAX_ERROR_TEXT].decode("utf-8", "replace")).encode()
    if len(line) > MAX_ERROR_TEXT and "message" not in truncated:
        truncated.insert(0, "message")
    error = {"kind": kind, "message": line[:MAX_ERROR_TEXT].decode("utf-8", "ignore")}
    if traceback:
        error["traceback"] = traceback[:MAX_ERROR_TEXT].decode("utf-8", "replace")
    return error, truncated


def one_line(text: str) -> str:
    """A script may raise any text; what would break the line is shown as an escape."""
    return "".join(escape(character) if unicodedata.category(character) == "Cc" else character for character in text)


def escape(character: str) -> str:
    return character if character == "\t" else SHORT_ESCAPES.get(character, f"\\u{{{ord(character):x}}}")
