"""Functions of the host's that a script calls as `sdk.…`: Python callables, with JSON in and out."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

# Bytes of arguments, all calls that are made at once together.
MAX_ARGUMENTS = 8 << 20
# Bytes that the answers to one call may have: the guest must have room for them.
MAX_ANSWER = 8 << 20
MAX_ERROR = 8 << 10
MAX_NAME = 1024

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# Names that `sdk` has for itself.
RESERVED = {"all", "docs", "search"}

Function = Callable[..., Any]


class Functions:
    """The functions of one run, and how often they may still be called.

    A script's arguments become the callable's, in order: JSON as `json.loads` gives it, a buffer as `bytes`. An empty table is an
    empty list, as Luau can't tell. What the callable returns is written as JSON, or passed on as it is if it is `bytes`.
    """

    def __init__(self, functions: Mapping[str, Function], max_calls: int) -> None:
        check_names(functions)
        self._functions = dict(functions)
        self._max_calls = max_calls
        self._calls_left = max_calls

    def names(self) -> list[str]:
        return sorted(self._functions)

    def call(self, calls: list[tuple[str, list[str | bytes]]]) -> str | list[bytes | str | Exception]:
        """Makes the calls, one after the other; for each the answer or what it raised. A text says why none was made."""
        if len(calls) > self._calls_left:
            return f"too many function calls (max {self._max_calls})"
        taken: list[tuple[str, list[Any]]] = []
        size = 0
        for name, arguments in calls:
            if len(name.encode()) > MAX_NAME:
                return "the name of the function is too long, or not UTF-8"
            size += sum(len(value.encode()) if isinstance(value, str) else len(value) for value in arguments)
            if size > MAX_ARGUMENTS:
                return f"{name}: the arguments are more than {MAX_ARGUMENTS} bytes"
            try:
                taken.append((name, [decode(value) for value in arguments]))
            except (ValueError, RecursionError):
                return f"{name}: an argument is not JSON"
        self._calls_left -= len(calls)
        room = MAX_ANSWER
        answers: list[bytes | str | Exception] = []
        for name, arguments in taken:
            answer = self._answer(name, arguments)
            if not isinstance(answer, Exception):
                size = len(answer) if isinstance(answer, bytes) else len(answer.encode())
                if size > room:
                    answer = Exception(f"the response is {size} bytes; at most {MAX_ANSWER} are allowed at once")
                else:
                    room -= size
            answers.append(answer)
        return answers

    def _answer(self, name: str, arguments: list[Any]) -> bytes | str | Exception:
        function = self._functions.get(name)
        if function is None:
            return Exception(f"there is no function '{name}'")
        try:
            result = function(*arguments)
        except Exception as error:
            # Only the text: a traceback would tell of the host.
            return Exception(shortened(f"{name}: {error}"))
        if isinstance(result, bytes):
            return result
        try:
            text = json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            text.encode("utf-8")
            return text
        except (TypeError, ValueError, RecursionError):
            return Exception(f"{name}: the result can't be written as JSON")


    def search(self, query: str) -> str:
        """Functions with all of these words in their names or their documentation, as JSON."""
        words = query[:MAX_NAME].lower().split()
        known = {name: inspect.getdoc(function) or "" for name, function in self._functions.items()}
        found = [name for name in self.names() if words and all(word in f"{name} {known[name]}".lower() for word in words)]
        return json.dumps([{"name": name, "summary": known[name].partition("\n")[0]} for name in found], ensure_ascii=False)

    def docs(self, name: str) -> str:
        """What a callable says of itself; raises with what the script is told if there is nothing."""
        function = self._functions.get(name)
        if function is None:
            raise LookupError(shortened(f"there is no function '{name[:MAX_NAME]}'"))
        text = inspect.getdoc(function)
        if text is None:
            raise LookupError(f"{name}: there is no documentation")
        return text


def check_names(functions: Mapping[str, Function]) -> None:
    """Names are identifiers joined by dots, none of which is another's beginning."""
    for name in functions:
        words = name.split(".")
        if not all(IDENTIFIER.fullmatch(word) for word in words):
            raise ValueError(f"the function '{name}': a name is made of letters, digits and underscores, joined by dots")
        if words[0] in RESERVED:
            raise ValueError(f"the function '{name}': sdk has such a member of its own")
        for count in range(1, len(words)):
            if ".".join(words[:count]) in functions:
                raise ValueError(f"the function '{name}': there is '{'.'.join(words[:count])}' already")


def decode(value: str | bytes) -> Any:
    return value if isinstance(value, bytes) else json.loads(value, parse_constant=refuse_constant)


def refuse_constant(name: str) -> Any:
    """Python would read NaN and Infinity, which are not JSON."""
    raise ValueError(name)


def shortened(text: str) -> str:
    """At most so many bytes, and UTF-8 whatever an exception says."""
    return text.encode("utf-8", "replace")[:MAX_ERROR].decode("utf-8", "ignore")
