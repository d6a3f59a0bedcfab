"""A deep agent with the files and the scripts of a sandbox. A scripted model stands in for a real one.

    pip install 'toolscript[deepagents]'
    python deepagents_agent.py
"""

from __future__ import annotations

import tempfile
from typing import Any

from deepagents import create_deep_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from toolscript import Sandbox
from toolscript.deepagents import ToolscriptBackend


class ScriptedModel(GenericFakeChatModel):
    """Answers with the given messages, whatever the tools are."""

    def bind_tools(self, tools: Any, **options: Any) -> ScriptedModel:
        return self


def call(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": name}])


SCRIPT = """
local total = 0
for line in io.lines("sales.csv") do
    total += tonumber(line:match(",(%d+)"))
end
print("total", total)
"""

with tempfile.TemporaryDirectory() as directory:
    backend = ToolscriptBackend(Sandbox(directory))
    model = ScriptedModel(
        messages=iter(
            [
                call("write_file", file_path="/sales.csv", content="Oslo,3\nCairo,4\n"),
                call("write_file", file_path="/total.luau", content=SCRIPT),
                call("execute", command="luau total.luau"),
                call("grep", pattern="Cairo"),
                AIMessage("You sold 7."),
            ]
        )
    )
    agent = create_deep_agent(model, backend=backend, system_prompt=backend.instructions)
    answer = agent.invoke({"messages": [HumanMessage("Sum up my sales.")]})
    for message in answer["messages"]:
        if isinstance(message, ToolMessage):
            print(f"{message.name}: {message.text.strip()}")
    print(answer["messages"][-1].text)

# Output:
# write_file: Updated file /sales.csv
# write_file: Updated file /total.luau
# execute: total	7
#
# [Command succeeded with exit code 0]
# grep: /sales.csv
# You sold 7.
