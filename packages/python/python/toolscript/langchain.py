"""A tool and a middleware for agents of `LangChain <https://pypi.org/project/langchain/>`_ whose scripts call LangChain tools.

>>> from langchain.agents import create_agent
>>> from toolscript.langchain import ToolscriptMiddleware
>>> agent = create_agent(model, tools=[get_weather, send_mail], middleware=[ToolscriptMiddleware()])

The model sees one tool, ``execute_script``, and its scripts call ``sdk.get_weather{city = "Oslo"}``.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from . import _agents
from ._sandbox import Sandbox

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse, ToolCallRequest
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import BaseTool, StructuredTool
    from langgraph.types import Command

    from . import _langchain as calls
except ImportError as error:
    raise _agents.missing("langchain", "langchain", error) from error


def create_script_tool(sandbox: Sandbox | None = None, *, tools: Sequence[BaseTool] = (), name: str = _agents.NAME) -> BaseTool:
    """Returns a tool that runs scripts in a sandbox.

    :param sandbox: the sandbox, by default one without files.
    :param tools: tools that scripts call as ``sdk.name(...)``. They are added to the sandbox. A tool with injected arguments, such as the
        state of an agent, needs ``ToolscriptMiddleware`` instead.
    """
    sandbox = Sandbox() if sandbox is None else sandbox
    _agents.check_names(tool.name for tool in tools)
    for tool in tools:
        sandbox.add(calls.function(tool, functools.partial(calls.invoke, tool)))

    def execute_script(script: str) -> str:
        token = calls.is_async.set(False)
        try:
            return _agents.run_script(sandbox, script).text
        finally:
            calls.is_async.reset(token)

    async def aexecute_script(script: str) -> str:
        token = calls.is_async.set(True)
        try:
            return (await _agents.arun_script(sandbox, script)).text
        finally:
            calls.is_async.reset(token)

    return StructuredTool(
        name=name, description=sandbox.description(), args_schema=_agents.PARAMETERS, func=execute_script, coroutine=aexecute_script
    )


class ToolscriptMiddleware(AgentMiddleware[Any, Any, Any]):
    """Replaces the tools of an agent by ``execute_script``, whose scripts call them as ``sdk.name(...)``.

    Tool calls of scripts pass the middleware that follows this one, receive injected arguments and can interrupt the graph. A resumed
    script starts again. Middleware that looks at the messages of the model, such as ``HumanInTheLoopMiddleware``, does not see these calls:
    list the tools that it guards in ``visible``, and also tools that return a ``Command``, which a script can't use.

    :param sandbox: the sandbox, by default one without files. The tools are added to it, so use one sandbox for one agent.
    :param tools: more tools for scripts.
    :param visible: names of tools that the model calls itself. Scripts can't call them.
    """

    def __init__(self, sandbox: Sandbox | None = None, *, tools: Sequence[BaseTool] = (), visible: Iterable[str] = ()) -> None:
        self.sandbox = Sandbox() if sandbox is None else sandbox
        self._visible = {_agents.NAME, *visible}
        self._known: dict[str, BaseTool] = {}
        self._adding = threading.Lock()
        self._tool = create_script_tool(self.sandbox)
        self.tools = [self._tool, *tools]
        self._add(tools)

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]) -> ModelResponse[Any]:
        return handler(self._hide(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        return await handler(self._hide(request))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        script = request.tool_call["args"].get("script")
        if request.tool_call["name"] != _agents.NAME or not isinstance(script, str):
            return handler(request)
        with self._start(request, handler) as call:
            return call.finish(_agents.run_script(self.sandbox, script))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        script = request.tool_call["args"].get("script")
        if request.tool_call["name"] != _agents.NAME or not isinstance(script, str):
            return await handler(request)
        with self._start(request, handler) as call:
            return call.finish(await _agents.arun_script(self.sandbox, script))

    def _start(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> calls.ScriptCall:
        # After a restart, a script can run before the model is called.
        self._add(request.runtime.tools)
        return calls.ScriptCall(request, handler)

    def _hide(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        tools = [tool for tool in request.tools if isinstance(tool, BaseTool)]
        self._add(tools)
        shown = [tool for tool in request.tools if not isinstance(tool, BaseTool) or tool.name in self._visible - {_agents.NAME}]
        return request.override(tools=[self._tool.model_copy(update={"description": self.sandbox.description()}), *shown])

    def _add(self, tools: Iterable[BaseTool]) -> None:
        with self._adding:
            tools = [tool for tool in tools if tool.name not in self._visible]
            _agents.check_names([*self._known, *(tool.name for tool in tools)])
            for tool in tools:
                if self._known.get(tool.name) is not tool:
                    self.sandbox.add(calls.function(tool, functools.partial(calls.call_current, tool)))
                    self._known[tool.name] = tool
