"""Checks the server over stdio with the official Python client.

Usage: stdio.py PROGRAM
"""

import sys

# Keeps bytecode files out of this directory.
sys.dont_write_bytecode = True

import asyncio
import tempfile

from mcp import StdioServerParameters

import checks


async def main(program):
    for revision in checks.REVISIONS:
        with tempfile.TemporaryDirectory() as directory:
            await checks.check(StdioServerParameters(command=program, args=["serve"], cwd=directory), revision)
        print(f"Python client over stdio, revision {revision}: passed")


asyncio.run(main(sys.argv[1]))
