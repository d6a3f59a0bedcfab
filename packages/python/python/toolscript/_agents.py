"""The parts that the adapters for agent frameworks share: the tool that runs scripts, its output, and functions with a JSON schema."""

from __future__ import annotations

import inspect
import json
import keyword
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from ._errors import FileError, RunRejected, ScriptError
from ._sandbox import Sandbox
from ._toolscript import Run

NAME = "execute_script"
"""The name of the tool, as in the MCP server."""

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"script": {"type": "string", "description": "Luau source text."}},
    "required": ["script"],
    "additionalProperties": False,
}
"""The JSON schema of the parameters of the tool."""

MAX_OUTPUT = 24 * 1024
"""The number of characters of a result, and of all logs, that a model reads, as in the MCP server."""

TYPES: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}


def missing(framework: str, extra: str, error: ImportError) -> ImportError:
    """Returns the exception for a framework that is not installed."""
    return ImportError(f"toolscript.{extra} needs {framework}: pip install 'toolscript[{extra.replace('_', '-')}]'", name=error.name)


class Outcome(NamedTuple):
    """The outcome of a run for a model."""

    text: str
    """A JSON object with the fields of the MCP server."""
    failed: bool


def run_script(sandbox: Sandbox, script: str) -> Outcome:
    """Runs a script. Does not raise its errors."""
    try:
        return _completed(sandbox.run(script))
    except (ScriptError, RunRejected) as error:
        return _failed(error)


async def arun_script(sandbox: Sandbox, script: str) -> Outcome:
    """Async variant of ``run_script``."""
    try:
        return _completed(await sandbox.arun(script))
    except (ScriptError, RunRejected) as error:
        return _failed(error)


def _completed(run: Run) -> Outcome:
    truncated = set(run.truncated)
    fields = {"result": _shortened(run.result, truncated), **_effects(run, truncated)}
    return Outcome(_json(fields, truncated), failed=False)


def _failed(error: ScriptError | RunRejected) -> Outcome:
    if isinstance(error, RunRejected):
        return Outcome(_json({"error": {"kind": error.code, "message": str(error)}}, set()), failed=True)
    truncated = set(error.truncated)
    details = {"kind": error.kind, "message": error.message}
    if error.traceback:
        details["traceback"] = error.traceback
    return Outcome(_json({"error": details, **_effects(error, truncated)}, truncated), failed=True)


def _effects(run: Run | ScriptError, truncated: set[str]) -> dict[str, Any]:
    logs, size = [], 0
    for line in run.logs:
        size += len(line)
        if size > MAX_OUTPUT:
            truncated.add("logs")
            break
        logs.append(line)
    touched = [{"name": file.name, "op": file.op, **({} if file.bytes is None else {"bytes": file.bytes})} for file in run.files_touched]
    return {"logs": logs, "files_touched": touched}


def _shortened(result: Any, truncated: set[str]) -> Any:
    text = json.dumps(result, ensure_ascii=False, default=_text)
    if len(text) <= MAX_OUTPUT:
        return result
    truncated.add("result")
    return text[:MAX_OUTPUT]


def _json(fields: dict[str, Any], truncated: set[str]) -> str:
    return json.dumps({**fields, **({"truncated": sorted(truncated)} if truncated else {})}, ensure_ascii=False, default=_text)


def _text(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def has_directory(sandbox: Sandbox) -> bool:
    """Returns whether a sandbox has a directory."""
    try:
        sandbox.list()
    except FileError as error:
        return error.code != "no_directory"
    return True


def function_name(tool: str) -> str:
    """Returns the name of a tool as a name in Luau."""
    name = re.sub(r"\W", "_", tool, flags=re.ASCII)
    return f"_{name}" if name[:1].isdigit() else name


def check_names(tools: Iterable[str]) -> None:
    """Raises ``ValueError`` if two tools have the same name in Luau."""
    names: dict[str, str] = {}
    for tool in tools:
        other = names.setdefault(function_name(tool), tool)
        if other != tool:
            raise ValueError(f"the tools '{other}' and '{tool}' have the same name in scripts, '{function_name(tool)}'")


def function(tool: str, description: str, schema: Mapping[str, Any], call: Callable[[dict[str, Any]], Any]) -> Callable[..., Any]:
    """Returns a function for scripts that passes its arguments to ``call`` by name. Parameters and types are those of a JSON schema.

    ``call`` can return a coroutine. Optional arguments that are nil are not passed.
    """
    properties: dict[str, Any] = {
        name: about if isinstance(about, Mapping) else {} for name, about in (schema.get("properties") or {}).items()
    }
    required = set(schema.get("required") or ())
    kinds = inspect.Parameter
    parameters = [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=kinds.empty if name in required else None)
        for name in sorted(properties, key=lambda name: name not in required)
        if name.isidentifier() and not keyword.iskeyword(name)
    ]
    details = [f"- {name}: {text}" for name, about in properties.items() if (text := about.get("description"))]
    takes_table = len(parameters) < len(properties)
    if takes_table:
        # A name that Python does not have can only be passed in a table.
        parameters = [kinds("arguments", kinds.VAR_KEYWORD)]
        details.append(f"Pass one table with: {', '.join(properties)}")
    signature = inspect.Signature(parameters)

    def function(*arguments: Any, **named: Any) -> Any:
        bound = signature.bind(*arguments, **named).arguments
        passed: dict[str, Any] = bound.get("arguments", {}) if takes_table else dict(bound)
        return call({name: value for name, value in passed.items() if value is not None or name in required})

    function.__name__ = function.__qualname__ = function_name(tool)
    function.__doc__ = "\n".join([description.strip(), *details])
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {name: _hint(about) for name, about in properties.items()}
    return function


def _hint(schema: Any) -> Any:
    """Returns a JSON schema as a type hint."""
    if not isinstance(schema, Mapping):
        return Any
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        hint = _hint(options[0])
        for option in options[1:]:
            hint = Any if hint is Any or (other := _hint(option)) is Any else hint | other if hint is not None else other | None
        return hint
    if values := schema.get("enum"):
        return Literal[tuple(values)] if all(isinstance(value, (str, int)) for value in values) else Any
    kind = schema.get("type")
    if kind == "array":
        return list[_hint(schema.get("items"))]  # type: ignore[misc]
    if kind == "object":
        return dict[str, Any]
    return TYPES.get(kind, Any) if isinstance(kind, str) else Any
