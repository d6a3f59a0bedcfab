"""The server over stdio through the protocol's own Python client.

Usage: stdio.py PROGRAM
"""

import sys

# Nothing is to be written into this folder.
sys.dont_write_bytecode = True

import asyncio
import tempfile

from mcp import StdioServerParameters

import checks


async def main(program):
    for revision in checks.REVISIONS:
        with tempfile.TemporaryDirectory() as folder:
            await checks.check(StdioServerParameters(command=program, args=["serve"], cwd=folder), revision)
        print(f"the Python client is content over stdio, by {revision}")


asyncio.run(main(sys.argv[1]))
