"""Checks the server over HTTP with the package langchain-mcp-adapters: an agent whose model is scripted.

Usage: langchain_client.py PROGRAM
"""

import asyncio
import contextlib
import sys

import harness
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **options):
        return self


class Client:
    def __init__(self, tools):
        self.tools = tools

    async def list_tools(self):
        return [tool.name for tool in self.tools]

    async def call(self, tool, arguments, on_progress):
        """Lets a model call the tool. Returns the message with the result that the next request to the model has."""
        request = AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": "1"}])
        agent = create_agent(Model(messages=iter([request, AIMessage("done")])), self.tools)
        state = await agent.ainvoke({"messages": [("user", "go")]})
        [message] = [message for message in state["messages"] if isinstance(message, ToolMessage)]
        blocks = [{"type": "text", "text": message.content}] if isinstance(message.content, str) else message.content
        structured = (message.artifact or {}).get("structured_content")
        return harness.Result(message.status == "error", [block["type"] for block in blocks], blocks[0]["text"], structured)


@contextlib.asynccontextmanager
async def connect(url):
    client = MultiServerMCPClient({"toolscript": {"transport": "streamable_http", "url": url}})
    async with client.session("toolscript") as session:
        yield Client(await load_mcp_tools(session, handle_tool_errors=True))


asyncio.run(harness.check("langchain-mcp-adapters", sys.argv[1], connect, resumes=True, cancels=False, has_progress=False))
