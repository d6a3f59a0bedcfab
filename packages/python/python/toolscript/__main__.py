"""Runs the ``toolscript`` program: ``python -m toolscript``."""

from ._cli import main

if __name__ == "__main__":
    main()
