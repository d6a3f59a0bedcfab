"""The server over stdio through the protocol's own Python client, which checks results against the output schema.

Usage: stdio.py PROGRAM
"""

import asyncio
import sys
import tempfile
import warnings

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

# The newest revision has no logging; the one that this client speaks does.
warnings.simplefilter("ignore")

SCRIPT = """
print("hello")
progress(1, 2, "half")
io.open("a.txt", "w"):write("text"):close()
return { answer = 42 }
"""


async def check(session, lines, progress):
    tools = await session.list_tools()
    assert [tool.name for tool in tools.tools] == ["execute_script"], tools

    async def on_progress(done, total, message):
        progress.append((done, total, message))

    await session.set_logging_level("info")
    result = await session.call_tool("execute_script", {"script": SCRIPT}, progress_callback=on_progress)
    assert not result.is_error, result
    assert result.structured_content["result"] == {"answer": 42}, result
    assert result.structured_content["files_touched"] == [{"name": "a.txt", "op": "write", "bytes": 4}], result
    assert (lines, progress) == (["hello"], [(1.0, 2.0, "half")]), (lines, progress)

    failed = await session.call_tool("execute_script", {"script": "error('too bad')"})
    assert failed.is_error and failed.content[0].text == "Script execution error: script:1: too bad", failed

    resources = await session.list_resources()
    assert [str(resource.uri) for resource in resources.resources] == ["io:///a.txt"], resources
    contents = await session.read_resource("io:///a.txt")
    assert contents.contents[0].text == "text", contents


async def main(program):
    lines, progress = [], []

    async def on_line(message):
        lines.append(message.data)

    with tempfile.TemporaryDirectory() as folder:
        server = StdioServerParameters(command=program, args=["serve"], cwd=folder)
        async with stdio_client(server) as (read, write):
            async with ClientSession(read, write, logging_callback=on_line) as session:
                await session.initialize()
                await asyncio.wait_for(check(session, lines, progress), 60)
    print("the Python client is content")


asyncio.run(main(sys.argv[1]))
