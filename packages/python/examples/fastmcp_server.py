"""A FastMCP server in code mode, whose clients write Luau. A client in the same process stands in for a model.

    pip install 'toolscript[fastmcp]'
    python fastmcp_server.py
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastmcp import Client, FastMCP

from toolscript.fastmcp import ToolscriptCodeMode

server = FastMCP("weather", transforms=[ToolscriptCodeMode()])


@server.tool
def get_weather(city: str) -> dict[str, Any]:
    """Returns the weather of a city."""
    return {"city": city, "degrees": {"Oslo": -3}.get(city, 24)}


SCRIPT = """
local sum = 0
for _, city in { "Oslo", "Cairo" } do
    sum += call_tool("get_weather", { city = city }).degrees
end
return { average = sum / 2 }
"""


async def main() -> None:
    async with Client(server) as client:
        print("The model sees:", *sorted(tool.name for tool in await client.list_tools()))
        result = await client.call_tool("execute", {"code": SCRIPT})
        print("The script returns:", result.structured_content)


asyncio.run(main())

# Output:
# The model sees: execute get_schema search
# The script returns: {'average': 10.5}
