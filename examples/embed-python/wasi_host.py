"""A host in Python for the WASI flavour of the component, which brings its own `io`: all that it needs is a directory.

    command = Command("toolscript-wasi.wasm")
    command.run("return 1 + 1")     # {"result": 2, "logs": [], "files_touched": []}
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wasmtime import ExitTrap, Store, WasiConfig, WasmtimeError
from wasmtime.component import Component, Linker

from toolscript_host import DEFAULT_BYTES, DEFAULT_FILES, DEFAULT_FUEL, explain, new_engine

# The exceptions of WebAssembly have a heap of their own; the module's own memory has its limit written in it.
EXCEPTIONS_MEMORY = 68 << 20

# Bytes of all arguments, with eight for each: what makes a component of the module has room for no more, and traps.
MAX_ARGUMENTS = 56 << 10


class Command:
    """The component, compiled once."""

    def __init__(self, component: str | os.PathLike[str]) -> None:
        self._engine = new_engine()
        self._component = Component.from_file(self._engine, component)
        # One export: the interface `wasi:cli/run`, of some version.
        (self._interface,) = self._component.type.exports(self._engine)
        self._linker = Linker(self._engine)
        self._linker.add_wasip2()

    def imports(self) -> list[str]:
        """The interfaces that the component wants: all of WASI."""
        return list(self._component.type.imports(self._engine))

    def run(
        self,
        script: str | bytes,
        arguments: Sequence[str] = (),
        folder: str | os.PathLike[str] | None = None,
        *,
        fuel: int = DEFAULT_FUEL,
        max_bytes: int = DEFAULT_BYTES,
        max_files: int = DEFAULT_FILES,
        errors: str = "raise",
    ) -> dict[str, Any]:
        """Runs a script in a fresh instance; the outcome is what `toolscript run --json` prints."""
        size = sum(len(argument.encode()) + 8 for argument in arguments)
        if size > MAX_ARGUMENTS:
            raise ValueError(f"the arguments are {size} bytes; at most {MAX_ARGUMENTS} are allowed")
        options = [f"--max-bytes={max_bytes}", f"--max-files={max_files}", f"--errors={errors}"]
        with tempfile.TemporaryDirectory() as place:
            streams = {name: Path(place, name) for name in ("input", "output", "error")}
            streams["input"].write_bytes(script.encode() if isinstance(script, str) else script)
            stopped = self._call([*options, "-", "--", *arguments], folder, streams, fuel)
            output = streams["output"].read_bytes()
            # The outcome is the last thing that a run writes. One that was stopped has left its lines.
            if stopped is None and output:
                return json.loads(output)
            said = streams["error"].read_text("utf-8", "replace")
            if stopped is None:
                raise ValueError(said.strip())
            return {"error": explain(stopped, fuel), "logs": said.splitlines(), "files_touched": []}

    def _call(
        self, arguments: list[str], folder: str | os.PathLike[str] | None, streams: dict[str, Path], fuel: int
    ) -> WasmtimeError | None:
        """Calls `run`; what stopped it, if it did not come to its end."""
        wasi = WasiConfig()
        wasi.argv = ["toolscript", *arguments]
        wasi.stdin_file = str(streams["input"])
        wasi.stdout_file = str(streams["output"])
        wasi.stderr_file = str(streams["error"])
        if folder is not None:
            os.makedirs(folder, exist_ok=True)
            if os.path.islink(folder):
                raise OSError("the folder is a symbolic link")
            wasi.preopen_dir(os.fspath(folder), "/")
        store = Store(self._engine)
        try:
            store.set_wasi(wasi)
            store.set_fuel(fuel)
            store.set_limits(memory_size=EXCEPTIONS_MEMORY)
            instance = self._linker.instantiate(store, self._component)
            interface = instance.get_export_index(store, self._interface)
            run = instance.get_func(store, instance.get_export_index(store, "run", interface))
            run(store)
        except ExitTrap:
            # It says only that something went wrong; the outcome says what.
            pass
        except WasmtimeError as error:
            return error
        finally:
            store.close()
        return None
