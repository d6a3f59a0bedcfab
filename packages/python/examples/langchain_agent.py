"""A LangChain agent whose scripts call its tools. A scripted model stands in for a real one.

    pip install 'toolscript[langchain]'
    python langchain_agent.py
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

from toolscript.langchain import ToolscriptMiddleware


class ScriptedModel(GenericFakeChatModel):
    """Answers with the given messages, and shows the tools that it can call."""

    def bind_tools(self, tools: Any, **options: Any) -> ScriptedModel:
        print("The model sees:", *(tool.name for tool in tools))
        return self


@tool
def list_cities() -> list[str]:
    """Returns the names of all cities."""
    return ["Oslo", "Cairo", "Lima"]


@tool
def get_weather(city: str, units: str = "C") -> dict[str, Any]:
    """Returns the weather of a city."""
    return {"city": city, "degrees": {"Oslo": -3, "Cairo": 24}.get(city, 19), "units": units}


# One call of the model instead of four.
SCRIPT = """
local warmest
for _, city in sdk.list_cities() do
    local weather = sdk.get_weather(city)
    if not warmest or weather.degrees > warmest.degrees then
        warmest = weather
    end
end
return warmest.city
"""

call = AIMessage("", tool_calls=[{"name": "execute_script", "args": {"script": SCRIPT}, "id": "1"}])
model = ScriptedModel(messages=iter([call, AIMessage("It is warmest in Cairo.")]))
agent = create_agent(model, tools=[list_cities, get_weather], middleware=[ToolscriptMiddleware()])
answer = agent.invoke({"messages": [HumanMessage("Where is it warmest?")]})
print("The script returns:", answer["messages"][-2].text)
print(answer["messages"][-1].text)

# Output:
# The model sees: execute_script
# The model sees: execute_script
# The script returns: {"result": "Cairo", "logs": [], "files_touched": []}
# It is warmest in Cairo.
