"""The functions that a script calls as `sdk.…`: Python callables with JSON arguments and results."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from json_values import JsonValue, decode, encode

# Bytes of the arguments of all calls in one batch.
MAX_ARGUMENTS = 8 << 20
# Bytes of the results of all calls in one batch. The guest must have memory for them.
MAX_RESULT = 8 << 20
# Bytes of an error message, and of a function name.
MAX_ERROR = 8 << 10
MAX_NAME = 1024

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# Members of `sdk` that are built in.
RESERVED = {"all", "docs", "response", "search"}

Function = Callable[..., Any]


class CallLimitReached(Exception):
    """The script made more calls than the run allows. Ends the run, so that the script cannot catch it and continue."""


class FunctionError(Exception):
    """An error with data that the script can read, as `err.status`, `err.body`, `err.headers` and `err.retry_after`.

    A function may also raise any other exception, of which the script sees the message. The body is serialized as JSON, or passed as
    `bytes`.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.body = body
        fields = {"status": status, "headers": headers and dict(headers), "retry_after": retry_after}
        self.details = {name: value for name, value in fields.items() if value is not None}


@dataclass
class Reply:
    """The response of a function: JSON, or bytes."""

    body: JsonValue | bytes


@dataclass
class Failure:
    """The error of a function: its message, its body as in `Reply`, and its details as JSON."""

    message: str
    body: JsonValue | bytes | None = None
    details: JsonValue | None = None


class Functions:
    """The functions of one run, with a limit on the number of calls.

    Arguments are passed by position: JSON as `json.loads` returns it, a buffer and a string that is not UTF-8 as `bytes`, also inside
    tables. An empty table becomes an empty list, because Luau does not distinguish empty lists from empty objects. The return value is
    serialized as JSON; `bytes` are passed unchanged, also inside lists and dictionaries.
    """

    def __init__(self, functions: Mapping[str, Function], max_calls: int) -> None:
        check_names(functions)
        self._functions = dict(functions)
        self._max_calls = max_calls
        self._calls_left = max_calls

    def names(self) -> list[str]:
        return sorted(self._functions)

    def call(self, calls: list[tuple[str, list[JsonValue | bytes]]]) -> str | list[Reply | Failure]:
        """Makes the calls one after the other. Returns a reply or a failure for each, or a message if the batch was rejected."""
        if len(calls) > self._calls_left:
            advice = "if this is a loop over pages, check that the cursor ends"
            raise CallLimitReached(f"{self._max_calls:,} function calls were made, the limit; {advice}")
        decoded: list[tuple[str, list[Any]]] = []
        size = 0
        for name, arguments in calls:
            if len(name.encode()) > MAX_NAME:
                return "the name of the function is too long, or not UTF-8"
            size += sum(size_of(value) for value in arguments)
            if size > MAX_ARGUMENTS:
                return f"{name}: the arguments are more than {MAX_ARGUMENTS} bytes"
            try:
                decoded.append((name, [decode(value) for value in arguments]))
            except (ValueError, RecursionError):
                return f"{name}: an argument is not JSON"
        self._calls_left -= len(calls)
        available = MAX_RESULT
        results: list[Reply | Failure] = []
        for name, arguments in decoded:
            result = self._call_one(name, arguments)
            details = result.details if isinstance(result, Failure) else None
            size = size_of(result.body) + size_of(details)
            if size <= available:
                available -= size
            elif isinstance(result, Failure):
                result = Failure(result.message)
            else:
                result = Failure(f"the response is {size} bytes; at most {MAX_RESULT} are allowed at once")
            results.append(result)
        return results

    def _call_one(self, name: str, arguments: list[Any]) -> Reply | Failure:
        function = self._functions.get(name)
        if function is None:
            return Failure(f"there is no function '{name}'")
        try:
            result = function(*arguments)
        except Exception as error:
            return failure(name, error)
        try:
            return Reply(encode(result))
        except (TypeError, ValueError, RecursionError):
            return Failure(f"{name}: the result can't be written as JSON")

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
            raise ValueError(f"invalid function name '{name}': sdk.all, sdk.docs, sdk.response and sdk.search are reserved")
        for count in range(1, len(parts)):
            prefix = ".".join(parts[:count])
            if prefix in functions:
                raise ValueError(f"invalid function name '{name}': it conflicts with '{prefix}'")


def failure(name: str, error: Exception) -> Failure:
    """Returns the failure for an exception of a function. Only the message: a traceback would expose details of the host."""
    message = truncate(f"{name}: {error}")
    if not isinstance(error, FunctionError):
        return Failure(message)
    try:
        body = None if error.body is None else encode(error.body)
        details = JsonValue(json.dumps(error.details, allow_nan=False)) if error.details else None
        return Failure(message, body, details)
    except (TypeError, ValueError, RecursionError):
        return Failure(message)


def size_of(value: JsonValue | bytes | None) -> int:
    return 0 if value is None else len(value) if isinstance(value, bytes) else value.size()


def truncate(text: str) -> str:
    """Truncates an error message to `MAX_ERROR` bytes of valid UTF-8."""
    return text.encode("utf-8", "replace")[:MAX_ERROR].decode("utf-8", "ignore")
