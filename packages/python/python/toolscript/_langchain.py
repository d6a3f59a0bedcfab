"""Executes the calls of LangChain tools by scripts."""

from __future__ import annotations

import contextvars
import dataclasses
import inspect
import json
import typing
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.errors import GraphBubbleUp

from . import _agents
from ._errors import FunctionError

is_async: contextvars.ContextVar[bool] = contextvars.ContextVar("toolscript_is_async", default=False)
"""Whether tools are called with ``ainvoke``."""

current: contextvars.ContextVar[ScriptCall] = contextvars.ContextVar("toolscript_script_call")
"""The call of ``execute_script`` that executes tool calls."""


class ScriptCall:
    """A call of ``execute_script``, which executes the tool calls of the script."""

    def __init__(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> None:
        self._request = request
        self._handler = handler
        self._calls = 0
        self._interrupt: GraphBubbleUp | None = None
        self._token: contextvars.Token[ScriptCall] | None = None

    def __enter__(self) -> ScriptCall:
        self._token = current.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            current.reset(self._token)

    def call(self, tool: BaseTool, arguments: dict[str, Any]) -> Any:
        """Calls a tool. Returns its result, or a coroutine in an async agent."""
        self._calls += 1
        identifier = f"{self._request.tool_call['id']}.{self._calls}"
        request = dataclasses.replace(
            self._request,
            tool_call={"name": tool.name, "args": arguments, "id": identifier, "type": "tool_call"},
            tool=tool,
            runtime=dataclasses.replace(self._request.runtime, tool_call_id=identifier),
        )
        try:
            result = self._handler(request)
        except GraphBubbleUp as interrupt:
            self._interrupt = interrupt
            raise
        return self._wait(tool, result) if inspect.isawaitable(result) else value_of(tool, result)

    async def _wait(self, tool: BaseTool, result: Awaitable[Any]) -> Any:
        try:
            return value_of(tool, await result)
        except GraphBubbleUp as interrupt:
            self._interrupt = interrupt
            raise

    def finish(self, outcome: _agents.Outcome) -> ToolMessage:
        """Returns the message for the model. Raises the interrupt of a tool, also if the script caught it."""
        if self._interrupt is not None:
            raise self._interrupt
        status: typing.Literal["error", "success"] = "error" if outcome.failed else "success"
        return ToolMessage(outcome.text, name=_agents.NAME, tool_call_id=self._request.tool_call["id"], status=status)


def call_current(tool: BaseTool, arguments: dict[str, Any]) -> Any:
    """Calls a tool for the script that runs in this context."""
    return current.get().call(tool, arguments)


def function(tool: BaseTool, call: Callable[[dict[str, Any]], Any]) -> Callable[..., Any]:
    """Returns a function for scripts with the parameters of a tool."""
    definition = convert_to_openai_tool(tool)["function"]
    return _agents.function(tool.name, tool.description, definition.get("parameters", {}), call)


def invoke(tool: BaseTool, arguments: dict[str, Any]) -> Any:
    """Calls a tool without an agent."""
    return tool.ainvoke(arguments) if is_async.get() else tool.invoke(arguments)


def value_of(tool: BaseTool, result: Any) -> Any:
    """Returns the result of a tool as a value for a script. Messages have text, so other results than strings are decoded."""
    if not isinstance(result, ToolMessage):
        raise FunctionError("the tool changes the state of the agent, which a script can't do")
    if result.status == "error":
        raise FunctionError(result.text)
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    if not isinstance(result.content, str) or typing.get_type_hints(function or tool._run).get("return") is str:
        return result.content
    try:
        return json.loads(result.content)
    except ValueError:
        return result.content
