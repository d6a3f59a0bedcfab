"""The functions that a script calls as `sdk.…`: Python callables with JSON arguments and results."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

# Bytes of the arguments of all calls in one batch.
MAX_ARGUMENTS = 8 << 20
# Bytes of the results of all calls in one batch. The guest must have memory for them.
MAX_RESULT = 8 << 20
# Bytes of an error message, and of a function name.
MAX_ERROR = 8 << 10
MAX_NAME = 1024

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# Members of `sdk` that are built in.
RESERVED = {"all", "docs", "search"}

Function = Callable[..., Any]


class Functions:
    """The functions of one run, with a limit on the number of calls.

    Arguments are passed by position: JSON as `json.loads` returns it, a buffer as `bytes`. An empty table becomes an empty list, because
    Luau does not distinguish empty lists from empty objects. The return value is serialized as JSON; `bytes` are passed unchanged.
    """

    def __init__(self, functions: Mapping[str, Function], max_calls: int) -> None:
        check_names(functions)
        self._functions = dict(functions)
        self._max_calls = max_calls
        self._calls_left = max_calls

    def names(self) -> list[str]:
        return sorted(self._functions)

    def call(self, calls: list[tuple[str, list[str | bytes]]]) -> str | list[bytes | str | Exception]:
        """Makes the calls one after the other. Returns a result or an exception for each, or a message if the batch was rejected."""
        if len(calls) > self._calls_left:
            return f"too many function calls (max {self._max_calls})"
        decoded: list[tuple[str, list[Any]]] = []
        size = 0
        for name, arguments in calls:
            if len(name.encode()) > MAX_NAME:
                return "the name of the function is too long, or not UTF-8"
            size += sum(len(value.encode()) if isinstance(value, str) else len(value) for value in arguments)
            if size > MAX_ARGUMENTS:
                return f"{name}: the arguments are more than {MAX_ARGUMENTS} bytes"
            try:
                decoded.append((name, [decode(value) for value in arguments]))
            except (ValueError, RecursionError):
                return f"{name}: an argument is not JSON"
        self._calls_left -= len(calls)
        available = MAX_RESULT
        results: list[bytes | str | Exception] = []
        for name, arguments in decoded:
            result = self._call_one(name, arguments)
            if not isinstance(result, Exception):
                size = len(result) if isinstance(result, bytes) else len(result.encode())
                if size > available:
                    result = Exception(f"the response is {size} bytes; at most {MAX_RESULT} are allowed at once")
                else:
                    available -= size
            results.append(result)
        return results

    def _call_one(self, name: str, arguments: list[Any]) -> bytes | str | Exception:
        function = self._functions.get(name)
        if function is None:
            return Exception(f"there is no function '{name}'")
        try:
            result = function(*arguments)
        except Exception as error:
            # Only the message: a traceback would expose details of the host.
            return Exception(truncate(f"{name}: {error}"))
        if isinstance(result, bytes):
            return result
        try:
            text = json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            text.encode("utf-8")
            return text
        except (TypeError, ValueError, RecursionError):
            return Exception(f"{name}: the result can't be written as JSON")

    def search(self, query: str) -> str:
        """Returns the functions whose name or documentation contains all words of the query, as JSON."""
        words = query[:MAX_NAME].lower().split()
        docs = {name: inspect.getdoc(function) or "" for name, function in self._functions.items()}
        matches = [name for name in self.names() if words and all(word in f"{name} {docs[name]}".lower() for word in words)]
        return json.dumps([{"name": name, "summary": docs[name].partition("\n")[0]} for name in matches], ensure_ascii=False)

    def docs(self, name: str) -> str:
        """Returns the docstring of a function. Raises `LookupError` with a message for the script if there is none."""
        function = self._functions.get(name)
        if function is None:
            raise LookupError(truncate(f"there is no function '{name[:MAX_NAME]}'"))
        text = inspect.getdoc(function)
        if text is None:
            raise LookupError(f"{name}: there is no documentation")
        return text


def check_names(functions: Mapping[str, Function]) -> None:
    """Checks that the names are identifiers joined by dots, and that no name is a prefix of another."""
    for name in functions:
        parts = name.split(".")
        if not all(IDENTIFIER.fullmatch(part) for part in parts):
            raise ValueError(f"invalid function name '{name}': use letters, digits and underscores, joined by dots")
        if parts[0] in RESERVED:
            raise ValueError(f"invalid function name '{name}': sdk.all, sdk.docs and sdk.search are reserved")
        for count in range(1, len(parts)):
            prefix = ".".join(parts[:count])
            if prefix in functions:
                raise ValueError(f"invalid function name '{name}': it conflicts with '{prefix}'")


def decode(value: str | bytes) -> Any:
    return value if isinstance(value, bytes) else json.loads(value, parse_constant=reject_constant)


def reject_constant(name: str) -> Any:
    """Rejects NaN and Infinity, which `json.loads` accepts although they are not JSON."""
    raise ValueError(name)


def truncate(text: str) -> str:
    """Truncates an error message to `MAX_ERROR` bytes of valid UTF-8."""
    return text.encode("utf-8", "replace")[:MAX_ERROR].decode("utf-8", "ignore")
