"""Checks the server over HTTP with the package pydantic-ai: the tools, and an agent whose model is a function.

Usage: pydantic_ai_client.py PROGRAM
"""

import asyncio
import contextlib
import json
import sys

import harness
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


class Client:
    def __init__(self, toolset):
        self.toolset = toolset

    async def list_tools(self):
        return [tool.name for tool in await self.toolset.list_tools()]

    async def call(self, tool, arguments, on_progress):
        """Lets a model call the tool. Returns the part of the next request to the model that has the result."""
        parts = []

        def respond(messages, info):
            returned = [part for part in messages[-1].parts if part.part_kind in ("tool-return", "retry-prompt")]
            parts.extend(returned)
            return ModelResponse([TextPart("done") if returned else ToolCallPart(tool, arguments)])

        await Agent(FunctionModel(respond), toolsets=[self.toolset]).run("go")
        [part] = parts
        content = part.content if isinstance(part.content, str) else json.dumps(part.content)
        is_error = part.part_kind == "retry-prompt" or part.outcome != "success"
        return harness.Result(is_error, ["text"], content)


@contextlib.asynccontextmanager
async def connect(url):
    async with MCPToolset(url) as toolset:
        yield Client(toolset)


asyncio.run(harness.check("pydantic-ai", sys.argv[1], connect, resumes=False, has_progress=False))
