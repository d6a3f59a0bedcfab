"""``toolscript.langchain``: the tool and the middleware in agents."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain.tools import InjectedState, ToolRuntime, tool
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from scripted import script, scripted, tool_call, tool_texts

from toolscript import Sandbox
from toolscript.langchain import ToolscriptMiddleware, create_script_tool

QUESTION: Any = {"messages": [("user", "Go.")]}


@tool
def add(a: int, b: int = 1) -> int:
    """Adds numbers."""
    return a + b


@tool
async def shout(text: str) -> str:
    """Returns a text in capital letters."""
    await asyncio.sleep(0)
    return text.upper()


@tool
def fail(reason: str) -> str:
    """Fails."""
    raise ValueError(reason)


def result_of(state: dict[str, Any]) -> Any:
    (text,) = tool_texts(state)
    return json.loads(text)["result"]


def test_the_tool_runs_scripts_with_tools() -> None:
    script_tool = create_script_tool(tools=[add, fail])
    assert script_tool.name == "execute_script"
    assert "\n- sdk.add(a: number, b: number?): any: Adds numbers." in script_tool.description
    assert json.loads(script_tool.invoke({"script": "print(1) return sdk.add(1, 2) + sdk.add({ a = 1 })"})) == {
        "result": 5,
        "logs": ["1"],
        "files_touched": [],
    }
    failed = json.loads(script_tool.invoke({"script": "sdk.fail('no')"}))
    assert failed["error"]["kind"] == "runtime"
    assert failed["error"]["message"] == "script:1: fail: ValueError: no"


def test_the_tool_is_async() -> None:
    script_tool = create_script_tool(tools=[add, shout])
    text = asyncio.run(script_tool.ainvoke({"script": "return sdk.all({ { sdk.shout, 'a' }, { sdk.add, 1 } })"}))
    assert json.loads(text)["result"] == ["A", 2]


def test_large_results_and_logs_are_truncated() -> None:
    text = create_script_tool().invoke({"script": "print(('l'):rep(30000)) return ('r'):rep(30000)"})
    outcome = json.loads(text)
    assert outcome["truncated"] == ["logs", "result"]
    assert (outcome["logs"], len(outcome["result"])) == ([], 24 * 1024)


def test_the_middleware_hides_tools_from_the_model() -> None:
    model = script("return sdk.add(20, 1) * 2")
    agent = create_agent(model, tools=[add, fail], middleware=[ToolscriptMiddleware(visible=["fail"])])
    assert result_of(agent.invoke(QUESTION)) == 42
    (first, _) = model.bound
    assert [tool.name for tool in first] == ["execute_script", "fail"]
    assert "sdk.add(a: number, b: number?)" in first[0].description
    assert "sdk.fail" not in first[0].description


def test_visible_tools_are_called_by_the_model_only() -> None:
    agent = create_agent(
        scripted(tool_call("add", a=2), tool_call("execute_script", script="return sdk and sdk.add")),
        tools=[add],
        middleware=[ToolscriptMiddleware(visible=["add"])],
    )
    direct, scripted_text = tool_texts(agent.invoke(QUESTION))
    assert direct == "3"
    assert json.loads(scripted_text)["result"] is None


def test_an_async_agent_calls_sync_and_async_tools() -> None:
    agent = create_agent(script("return { sdk.add(1), sdk.shout('b') }"), tools=[add, shout], middleware=[ToolscriptMiddleware()])
    assert result_of(asyncio.run(agent.ainvoke(QUESTION))) == [2, "B"]


def test_results_keep_their_types() -> None:
    @tool
    def text() -> str:
        """Returns a text that looks like a number."""
        return "12"

    @tool
    def table() -> dict[str, Any]:
        """Returns a table."""
        return {"list": [1, None, "ü"], "flag": True}

    agent = create_agent(script("return { sdk.text(), sdk.table(), sdk.add(1) }"), tools=[text, table, add], middleware=[ToolscriptMiddleware()])
    assert result_of(agent.invoke(QUESTION)) == ["12", {"list": [1, None, "ü"], "flag": True}, 2]


def test_tools_receive_state_and_runtime() -> None:
    @tool
    def inspect(name: str, state: Annotated[dict[str, Any], InjectedState], runtime: ToolRuntime) -> list[Any]:
        """Returns injected values."""
        return [name, len(state["messages"]), runtime.tool_call_id]

    model = script("return sdk.inspect('x')")
    agent = create_agent(model, tools=[inspect], middleware=[ToolscriptMiddleware()])
    assert result_of(agent.invoke(QUESTION)) == ["x", 2, "execute_script.1"]
    assert "sdk.inspect(name: string)" in model.bound[0][0].description


def test_errors_of_tools_can_be_caught() -> None:
    agent = create_agent(script("return tostring(select(2, pcall(sdk.fail, 'no')))"), tools=[fail], middleware=[ToolscriptMiddleware()])
    assert result_of(agent.invoke(QUESTION)) == "fail: ValueError: no"


def test_a_failed_script_is_an_error_message() -> None:
    agent = create_agent(script("return nil + 1"), middleware=[ToolscriptMiddleware(tools=[add])])
    message = agent.invoke(QUESTION)["messages"][-2]
    assert isinstance(message, ToolMessage)
    assert (message.status, message.tool_call_id) == ("error", "execute_script")
    assert json.loads(str(message.text))["error"]["kind"] == "runtime"


def test_other_middleware_sees_the_calls_of_scripts() -> None:
    attempts: list[int] = []

    @tool
    def flaky() -> int:
        """Works the second time."""
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionError("try again")
        return len(attempts)

    retry = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    agent = create_agent(script("return sdk.flaky()"), tools=[flaky], middleware=[ToolscriptMiddleware(), retry])
    assert result_of(agent.invoke(QUESTION)) == 2


@pytest.mark.parametrize("source", ["return sdk.approve('pay')", "return select(2, pcall(sdk.approve, 'pay'))"])
def test_a_tool_can_interrupt_the_agent(source: str) -> None:
    @tool
    def approve(action: str) -> str:
        """Asks a person."""
        return f"{action}: {interrupt(action)}"

    agent = create_agent(script(source), tools=[approve], middleware=[ToolscriptMiddleware()], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    paused = agent.invoke(QUESTION, config)
    assert [request.value for request in paused["__interrupt__"]] == ["pay"]
    assert result_of(agent.invoke(Command(resume="yes"), config)) == "pay: yes"


def test_a_tool_that_changes_the_state_is_rejected() -> None:
    @tool
    def remember(runtime: ToolRuntime) -> Command[Any]:
        """Changes the state."""
        return Command(update={"messages": [ToolMessage("x", tool_call_id=str(runtime.tool_call_id))]})

    agent = create_agent(script("return tostring(select(2, pcall(sdk.remember)))"), tools=[remember], middleware=[ToolscriptMiddleware()])
    assert result_of(agent.invoke(QUESTION)) == "remember: the tool changes the state of the agent, which a script can't do"


def test_tool_names_become_names_in_luau() -> None:
    @tool("get-weather")
    def weather(city: str) -> str:
        """Returns the weather."""
        return f"fine in {city}"

    names: list[BaseTool] = [weather]
    assert json.loads(create_script_tool(tools=names).invoke({"script": "return sdk.get_weather('Oslo')"}))["result"] == "fine in Oslo"


def test_tools_with_the_same_name_in_luau_are_rejected() -> None:
    names: list[BaseTool] = []
    for name in ("a-b", "a_b"):

        @tool(name)
        def one(text: str) -> str:
            """Returns a text."""
            return text

        names.append(one)
    with pytest.raises(ValueError, match="the tools 'a-b' and 'a_b' have the same name in scripts, 'a_b'"):
        create_script_tool(tools=names)


def test_parameters_that_are_no_names_in_python_are_passed_in_a_table() -> None:
    schema = {"type": "object", "properties": {"from": {"type": "string", "description": "The start."}}, "required": ["from"]}
    route = StructuredTool(name="route", description="Finds a route.", args_schema=schema, func=lambda **arguments: sorted(arguments.items()))
    script_tool = create_script_tool(tools=[route])
    text = script_tool.invoke({"script": "return { sdk.route({ from = 'Oslo' }), sdk.docs('route') }"})
    value, docs = json.loads(text)["result"]
    assert value == [["from", "Oslo"]]
    assert docs.endswith("Finds a route.\n- from: The start.\nPass one table with: from")


def test_a_nested_agent_leaves_the_outer_script_alone() -> None:
    @tool
    def ask() -> str:
        """Asks another agent."""
        inner = create_agent(script("return sdk.add(1)"), tools=[add], middleware=[ToolscriptMiddleware()])
        return json.dumps(result_of(inner.invoke(QUESTION)))

    @tool
    def name(runtime: ToolRuntime) -> str:
        """Returns the identifier of the call."""
        return str(runtime.tool_call_id)

    agent = create_agent(script("return { sdk.ask(), sdk.name() }"), tools=[ask, name], middleware=[ToolscriptMiddleware()])
    assert result_of(agent.invoke(QUESTION)) == ["2", "execute_script.2"]


def test_files_of_the_sandbox(box: Sandbox) -> None:
    agent = create_agent(script("io.open('a.txt', 'w'):write('x'):close()"), middleware=[ToolscriptMiddleware(box)])
    (text,) = tool_texts(agent.invoke(QUESTION))
    assert json.loads(text)["files_touched"] == [{"name": "a.txt", "op": "write", "bytes": 1}]
    assert box.read_text("a.txt") == "x"
