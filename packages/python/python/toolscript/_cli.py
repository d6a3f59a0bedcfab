"""The ``toolscript`` program."""

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from ._toolscript import main as run_program


def main() -> NoReturn:
    """Runs the program with the arguments of the process, and exits."""
    # The program handles signals itself. A signal that the parent process ignores stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = run_program(["toolscript", *sys.argv[1:]], start())
    # Exits without the interpreter's finalization, which would wait for threads that read standard input.
    os._exit(code)


def start() -> list[str]:
    """Returns the command that starts this program, for ``toolscript install``."""
    program = Path(sys.argv[0]).absolute()
    if program.name == "__main__.py":
        return [sys.executable, "-m", "toolscript"]
    # The environment of uvx is a directory in the cache of uv, which can be deleted at any time.
    if {"archive-v0", "environments-v2"} & set(program.parts):
        return ["uvx", "toolscript"]
    return [str(program)]
