"""A Pydantic AI agent whose scripts call its tools. A function stands in for a model.

    pip install 'toolscript[pydantic-ai]'
    python pydantic_ai_agent.py
"""

from __future__ import annotations

from pydantic_ai import Agent, FunctionToolset, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from toolscript.pydantic_ai import ToolscriptToolset

toolset = FunctionToolset[None]()


@toolset.tool_plain
async def get_weather(city: str) -> dict[str, float | str]:
    """Returns the weather of a city."""
    return {"city": city, "degrees": {"Oslo": -3.0}.get(city, 24.0)}


SCRIPT = """
local weather = sdk.all({ { sdk.get_weather, "Oslo" }, { sdk.get_weather, "Cairo" } })
return weather[2].degrees - weather[1].degrees
"""


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    if len(messages) == 1:
        print("The model sees:", *(tool.name for tool in info.function_tools))
        return ModelResponse([ToolCallPart("execute_script", {"script": SCRIPT})])
    print("The script returns:", messages[-1].parts[0].content)  # type: ignore[union-attr]
    return ModelResponse([TextPart("Cairo is 27 degrees warmer.")])


agent = Agent(FunctionModel(answer), toolsets=[ToolscriptToolset(toolset)])
print(agent.run_sync("How much warmer is Cairo than Oslo?").output)

# Output:
# The model sees: execute_script
# The script returns: {"result": 27, "logs": [], "files_touched": []}
# Cairo is 27 degrees warmer.
