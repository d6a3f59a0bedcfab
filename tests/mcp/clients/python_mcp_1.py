"""Checks the server with the newest 1.x of the official Python package, over HTTP and stdio.

Usage: python_mcp_1.py PROGRAM
"""

import asyncio
import contextlib
import sys
import tempfile

import harness
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


class Client:
    def __init__(self, session):
        self.session = session

    async def list_tools(self):
        return [tool.name for tool in (await self.session.list_tools()).tools]

    async def call(self, tool, arguments, on_progress):
        async def forward(done, total, message):
            await on_progress((done, total, message))

        result = await self.session.call_tool(tool, arguments, progress_callback=forward if on_progress else None)
        text = result.content[0].text
        return harness.Result(result.isError, [block.type for block in result.content], text, result.structuredContent)


@contextlib.asynccontextmanager
async def connect(url):
    async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        yield Client(session)


async def check_stdio(program):
    """Closes the connection while a script runs. This client fails on a response after it closed the input."""
    with tempfile.TemporaryDirectory() as directory:
        parameters = StdioServerParameters(command=program, args=["serve"], cwd=directory)
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            client = Client(session)
            await harness.check_failure(client, None, None)
            received = asyncio.Queue()
            call = asyncio.create_task(harness.execute(client, "progress(1, 2, 'half') while true do end", received.put))
            assert await received.get() == (1.0, 2.0, "half")
            call.cancel()
            await asyncio.wait([call])


async def main(program):
    await harness.check("mcp 1.x for Python over HTTP", program, connect, resumes=True, cancels=False)
    await asyncio.wait_for(check_stdio(program), harness.CHECK_TIMEOUT)
    print("mcp 1.x for Python over stdio: all checks passed")


asyncio.run(main(sys.argv[1]))
