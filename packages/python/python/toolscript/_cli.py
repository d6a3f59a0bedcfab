"""The ``toolscript`` program."""

import os
import signal
import sys
from typing import NoReturn

from ._toolscript import main as run_program


def main() -> NoReturn:
    """Runs the program with the arguments of the process, and exits."""
    # The program handles signals itself. A signal that the parent process ignores stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = run_program(["toolscript", *sys.argv[1:]])
    # Exits without the interpreter's finalization, which would wait for threads that read standard input.
    os._exit(code)
