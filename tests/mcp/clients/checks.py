"""Checks for the official Python MCP client, used over both transports. The client validates results against the output schema."""

import asyncio
import warnings

from mcp import Client

# The library warns about logging, which the newest revision keeps only for older clients.
warnings.simplefilter("ignore")

# The client mode for each revision: `legacy` starts with a handshake, `auto` asks the server which revisions it supports.
REVISIONS = {"2025-11-25": "legacy", "2026-07-28": "auto"}

# Seconds. Shorter than the timeout of a script, so that a check cannot pass only because a script timed out.
CHECK_TIMEOUT = 20

# Ends only when another script creates the file, which happens after the line and the progress were received.
WAITING_SCRIPT = """
print("hello")
progress(1, 2, "half")
repeat until pcall(io.open, "received.txt")
io.open("a.txt", "w"):write("text"):close()
return { answer = 42 }
"""

ENDLESS_SCRIPT = """
local file = io.open("ticks.txt", "w")
print("ticking")
while true do
    file:write("."):flush()
end
"""


async def check(server, revision):
    """Runs all checks. The server is a URL, or the parameters of a program to start."""
    received = asyncio.Queue()

    async def on_log(message):
        received.put_nowait(message.data)

    mode = REVISIONS[revision]
    async with Client(server, mode=mode, logging_callback=on_log, log_level="info") as client:
        assert client.protocol_version == revision, client.protocol_version
        # The newest revision sends the level with each request instead.
        if mode == "legacy":
            await client.set_logging_level("info")
        for part in (check_tools, check_notifications, check_failure, check_resources, check_files, check_cancellation):
            await asyncio.wait_for(part(client, received), CHECK_TIMEOUT)


async def check_tools(client, received):
    tools = await client.list_tools()
    names = ["execute_script", "read_file", "write_file", "edit_file", "list_files", "glob_files", "grep_files"]
    assert [tool.name for tool in tools.tools] == names, tools


async def check_notifications(client, received):
    async def on_progress(done, total, message):
        received.put_nowait((done, total, message))

    call = start(client, WAITING_SCRIPT, progress_callback=on_progress)
    assert {await received.get(), await received.get()} == {"hello", (1.0, 2.0, "half")}
    assert not call.done(), call
    await execute(client, "io.open('received.txt', 'w'):close()")

    result = await call
    assert not result.is_error, result
    assert result.structured_content["result"] == {"answer": 42}, result
    assert result.structured_content["logs"] == ["hello"], result
    assert {"name": "a.txt", "op": "write", "bytes": 4} in result.structured_content["files_touched"], result
    assert received.empty(), received


async def check_failure(client, received):
    failed = await execute(client, "error('too bad')")
    assert failed.is_error and failed.content[0].text == "Script execution error: script:1: too bad", failed


async def check_resources(client, received):
    resources = await client.list_resources()
    assert [str(resource.uri) for resource in resources.resources] == ["io:///a.txt", "io:///received.txt"], resources
    contents = await client.read_resource("io:///a.txt")
    assert contents.contents[0].text == "text", contents


async def check_files(client, received):
    """Calls each file tool. The client validates the structured results."""
    texts = []
    for name, arguments in [
        ("write_file", {"path": "notes/b.txt", "content": "one\ntwo\n", "mode": "overwrite"}),
        ("read_file", {"path": "notes/b.txt", "offset": 2}),
        ("edit_file", {"path": "notes/b.txt", "old": "two", "new": "2"}),
        ("grep_files", {"pattern": "^[0-9]$", "regex": True, "glob": "*.txt"}),
        ("glob_files", {"pattern": "**/b.*"}),
        ("list_files", {"path": "notes"}),
    ]:
        result = await client.call_tool(name, arguments)
        assert not result.is_error and result.structured_content, result
        texts.append(result.content[0].text)
    # The last two contain the time of the last change.
    texts[4:] = [text.split(" (")[0] for text in texts[4:]]
    assert texts == [
        "8 bytes written to notes/b.txt",
        "     2\ttwo\n",
        "replaced 1 time in notes/b.txt",
        "notes/b.txt:2: 2",
        "notes/b.txt",
        "b.txt",
    ], texts

    await execute(client, "io.open('dot.gif', 'w'):write('GIF89a\\0'):close()")
    image = await client.call_tool("read_file", {"path": "dot.gif"})
    assert (image.content[0].type, image.content[0].mime_type) == ("image", "image/gif"), image
    missing = await client.call_tool("read_file", {"path": "none"})
    assert missing.is_error and missing.content[0].text == "none: No such file or directory", missing


async def check_cancellation(client, received):
    call = start(client, ENDLESS_SCRIPT)
    assert await received.get() == "ticking"
    call.cancel()
    await asyncio.wait([call])
    assert call.cancelled(), call

    # The client receives nothing more about a cancelled call, but the file of the script grows until the script is stopped.
    before, now = None, await count_ticks(client)
    while now != before:
        await asyncio.sleep(0.5)
        before, now = now, await count_ticks(client)


async def count_ticks(client):
    result = await execute(client, "return io.open('ticks.txt'):seek('end')")
    return result.structured_content["result"]


def start(client, script, **options):
    return asyncio.create_task(execute(client, script, **options))


async def execute(client, script, **options):
    return await client.call_tool("execute_script", {"script": script}, **options)
