"""Checks the server over HTTP with the package openai-agents.

Usage: openai_agents.py PROGRAM
"""

import asyncio
import contextlib
import sys

import harness
from agents.mcp import MCPServerStreamableHttp


class Client:
    def __init__(self, server):
        self.server = server

    async def list_tools(self):
        return [tool.name for tool in await self.server.list_tools()]

    async def call(self, tool, arguments, on_progress):
        result = await self.server.call_tool(tool, arguments)
        content = [block.model_dump() for block in result.content]
        is_error = getattr(result, "is_error", None)
        return harness.Result(is_error, [block["type"] for block in content], content[0]["text"])


@contextlib.asynccontextmanager
async def connect(url):
    async with MCPServerStreamableHttp({"url": url}, client_session_timeout_seconds=harness.CHECK_TIMEOUT) as server:
        yield Client(server)


asyncio.run(harness.check("openai-agents", sys.argv[1], connect, resumes=False, has_progress=False))
