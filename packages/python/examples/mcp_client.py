"""A client of the MCP SDK with the server of this package. A call in the program stands in for a model.

    pip install 'toolscript[mcp]'
    python mcp_client.py
"""

from __future__ import annotations

import asyncio
import tempfile

from mcp import Client

from toolscript.mcp import server_parameters


async def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        async with Client(server_parameters(io_dir=directory)) as client:
            print("The model sees:", *sorted(tool.name for tool in (await client.list_tools()).tools))
            script = "io.open('a.txt', 'w'):write('hello'):close() return io.list()"
            result = await client.call_tool("execute_script", {"script": script})
            print("The script returns:", result.structured_content)


asyncio.run(main())

# Output:
# The model sees: edit_file execute_script glob_files grep_files list_files read_file write_file
# The script returns: {'files_touched': [{'bytes': 5, 'name': 'a.txt', 'op': 'write'}], 'logs': [], 'result': ['a.txt']}
