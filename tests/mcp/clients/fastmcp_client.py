"""Checks the server over HTTP with the package fastmcp.

Usage: fastmcp_client.py PROGRAM
"""

import asyncio
import contextlib
import sys

import fastmcp
import harness


class Client:
    def __init__(self, client):
        self.client = client

    async def list_tools(self):
        return [tool.name for tool in await self.client.list_tools()]

    async def call(self, tool, arguments, on_progress):
        async def forward(done, total, message):
            await on_progress((done, total, message))

        handler = forward if on_progress else None
        result = await self.client.call_tool(tool, arguments, progress_handler=handler, raise_on_error=False)
        text = result.content[0].text
        return harness.Result(result.is_error, [block.type for block in result.content], text, result.structured_content)


@contextlib.asynccontextmanager
async def connect(url):
    async with fastmcp.Client(url, mode="legacy") as client:
        yield Client(client)


asyncio.run(harness.check("fastmcp", sys.argv[1], connect, resumes=True))
