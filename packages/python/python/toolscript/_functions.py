"""Describes Python functions for scripts: their parameters, types and documentation."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
import types
import typing
from typing import Any

SIMPLE_TYPES: dict[Any, str] = {
    Any: "any",
    object: "any",
    None: "nil",
    type(None): "nil",
    str: "string",
    bytes: "string",
    bytearray: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    dict: "{ [string]: any }",
    list: "{ any }",
    tuple: "{ any }",
    set: "{ any }",
}

SEQUENCES = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Set)
MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class Description:
    """A function, its name and its parameters."""

    def __init__(self, function: collections.abc.Callable[..., Any], name: str | None) -> None:
        if not callable(function):
            raise TypeError(f"a function must be callable, not {type(function).__name__}")
        name = name or getattr(function, "__name__", None)
        if not name or not name.replace(".", "_").isidentifier():
            raise ValueError(f"the function {function!r} needs a name, such as functions={{'name': function}}")
        self.name = name
        self.callable = function
        self.is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))
        parameters = _parameters(function)
        by_name = [parameter for parameter in parameters if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)]
        positional = [parameter for parameter in parameters if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
        named = [parameter for parameter in parameters if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)]
        self.keywords = {parameter.name for parameter in by_name}
        self.required = [parameter.name for parameter in named if parameter.default is parameter.empty]
        self.takes_any_keyword = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        if any(parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is parameter.empty for parameter in parameters):
            # A required parameter without a name can't be in a table.
            self.keywords, self.takes_any_keyword = set(), False
        hints = _hints(function)
        self.empty_table = _empty_table(positional, self.required, hints)
        documentation = inspect.getdoc(function) or ""
        self.summary = documentation.strip().split("\n", 1)[0]
        self.docs = "\n".join(part for part in (_signature(name, parameters, hints), _usage(name, by_name), documentation) if part)


def _parameters(function: collections.abc.Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        # Some built-in functions have no signature.
        return [inspect.Parameter("arguments", inspect.Parameter.VAR_POSITIONAL)]


def _hints(function: collections.abc.Callable[..., Any]) -> dict[str, Any]:
    target = function if inspect.isroutine(function) else getattr(function, "__call__", function)
    try:
        return typing.get_type_hints(target)
    except Exception:
        # An annotation can refer to a name that is not defined at run time.
        return {}


def _empty_table(positional: list[inspect.Parameter], required: list[str], hints: dict[str, Any]) -> str:
    """Returns the meaning of an empty table as the only argument. It is neither a list nor a dict in Luau."""
    if not positional:
        return "list" if required else "nothing"
    hint = hints.get(positional[0].name)
    origin = typing.get_origin(hint) or hint
    if origin in MAPPINGS or (isinstance(origin, type) and (typing.is_typeddict(origin) or dataclasses.is_dataclass(origin))):
        return "dict"
    if required or origin in SEQUENCES:
        return "list"
    return "nothing"


def _signature(name: str, parameters: list[inspect.Parameter], hints: dict[str, Any]) -> str:
    shown: list[str] = []
    for parameter in parameters:
        hint = hints.get(parameter.name, Any)
        if parameter.kind is parameter.VAR_POSITIONAL:
            shown.append(f"...{luau_type(hint)}")
        elif parameter.kind is not parameter.VAR_KEYWORD:
            optional = "" if parameter.default is parameter.empty else "?"
            kind = luau_type(hint)
            shown.append(f"{parameter.name}: {kind.removesuffix('?') + optional if optional else kind}")
    return f"sdk.{name}({', '.join(shown)}): {luau_type(hints.get('return', Any))}"


def _usage(name: str, by_name: list[inspect.Parameter]) -> str:
    if not by_name:
        return ""
    fields = ", ".join(f"{parameter.name} = …" for parameter in by_name)
    return f"Arguments can also be one table: sdk.{name}({{ {fields} }})"


def luau_type(hint: Any, depth: int = 0) -> str:
    """Returns a type hint as a type of Luau."""
    if depth > 4:
        return "any"
    try:
        if hint in SIMPLE_TYPES:
            return SIMPLE_TYPES[hint]
    except TypeError:
        return "any"
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return luau_type(arguments[0], depth)
    if origin is typing.Literal:
        return " | ".join(f'"{value}"' if isinstance(value, str) else str(value).lower() for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return _union([luau_type(argument, depth) for argument in arguments])
    if origin in SEQUENCES and arguments:
        return f"{{ {luau_type(arguments[0], depth + 1)} }}"
    if origin in MAPPINGS and len(arguments) == 2:
        return f"{{ [string]: {luau_type(arguments[1], depth + 1)} }}"
    if isinstance(hint, type):
        return _class_type(hint, depth)
    return "any"


def _union(members: list[str]) -> str:
    unique = list(dict.fromkeys(member for member in members if member != "nil"))
    if "any" in unique or not unique:
        return "any"
    text = " | ".join(unique)
    if "nil" not in members:
        return text
    return f"{text}?" if len(unique) == 1 else f"({text})?"


def _class_type(hint: type, depth: int) -> str:
    if issubclass(hint, enum.Enum):
        return " | ".join(f'"{member.value}"' if isinstance(member.value, str) else "number" for member in hint) or "any"
    if issubclass(hint, MAPPINGS) and not typing.is_typeddict(hint):
        return "{ [string]: any }"
    fields: dict[str, Any] = {}
    if typing.is_typeddict(hint) or dataclasses.is_dataclass(hint) or hasattr(hint, "model_fields"):
        fields = _hints(hint) or getattr(hint, "__annotations__", {})
    optional: frozenset[str] = getattr(hint, "__optional_keys__", frozenset())
    if not fields:
        return "any"
    shown = []
    for name, field in fields.items():
        kind = luau_type(field, depth + 1)
        shown.append(f"{name}: {kind.removesuffix('?') + '?' if name in optional else kind}")
    return f"{{ {', '.join(shown)} }}"
