"""An agent of the OpenAI Agents SDK whose scripts call its tools. A scripted model stands in for a real one.

    pip install 'toolscript[openai-agents]'
    python openai_agents_agent.py
"""

from __future__ import annotations

from agents import Agent, Runner, ToolCallOutputItem, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from toolscript.openai_agents import create_script_tool


@function_tool
def get_weather(city: str, units: str = "C") -> dict[str, float | str]:
    """Returns the weather of a city."""
    return {"city": city, "degrees": {"Oslo": -3}.get(city, 24), "units": units}


SCRIPT = """
local degrees = {}
for _, city in { "Oslo", "Cairo" } do
    table.insert(degrees, sdk.get_weather({ city = city }).degrees)
end
return degrees
"""

set_tracing_disabled(True)
model = ScriptedModel(
    [
        {"output": [function_call("execute_script", {"script": SCRIPT}, call_id="1")]},
        {"output": [assistant_message("Oslo has -3, Cairo 24 degrees.")]},
    ]
)
agent = Agent("assistant", model=model, tools=[create_script_tool(tools=[get_weather])])
result = Runner.run_sync(agent, "Compare Oslo and Cairo.")
for item in result.new_items:
    if isinstance(item, ToolCallOutputItem):
        print("The script returns:", item.output)
print(result.final_output)

# Output:
# The script returns: {"result": [-3, 24], "logs": [], "files_touched": []}
# Oslo has -3, Cairo 24 degrees.
