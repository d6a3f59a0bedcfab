"""Checks the server over HTTP with the newest official Python package, in both kinds of revisions.

Usage: python_mcp_2.py PROGRAM
"""

import asyncio
import contextlib
import sys

import harness
import mcp


class Client:
    def __init__(self, client):
        self.client = client

    async def list_tools(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, tool, arguments, on_progress):
        async def forward(done, total, message):
            await on_progress((done, total, message))

        result = await self.client.call_tool(tool, arguments, progress_callback=forward if on_progress else None)
        text = result.content[0].text
        return harness.Result(result.is_error, [block.type for block in result.content], text, result.structured_content)


def connect(mode):
    @contextlib.asynccontextmanager
    async def connect(url):
        async with mcp.Client(url, mode=mode) as client:
            yield Client(client)

    return connect


async def main(program):
    await harness.check("mcp 2.x for Python, 2025-11-25", program, connect("legacy"), resumes=True)
    # In the newest revision, a lost connection cancels the request.
    await harness.check("mcp 2.x for Python, 2026-07-28", program, connect("auto"), resumes=False)


asyncio.run(main(sys.argv[1]))
