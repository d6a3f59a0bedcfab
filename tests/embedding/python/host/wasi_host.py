"""A Python host for the WASI component, which implements `io` itself and needs only a directory.

    sandbox = WasiSandbox("toolscript-wasi.wasm")
    sandbox.run("return 1 + 1")     # {"result": 2, "logs": [], "files_touched": []}
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

from toolscript_host import DEFAULT_BYTES, DEFAULT_FILES, DEFAULT_FUEL, new_engine, trap_error

# Limits the heap of WebAssembly exceptions. The module declares the limit of its own memory.
EXCEPTIONS_MEMORY = 68 << 20

# Bytes of all arguments, plus an overhead for each. The WASI adapter inside the component traps above this.
MAX_ARGUMENTS = 56 << 10
ARGUMENT_OVERHEAD = 8


class WasiSandbox:
    """The compiled component."""

    def __init__(self, component: str | os.PathLike[str]) -> None:
        self._engine = new_engine()
        self._component = Component.from_file(self._engine, component)
        # The only export is the interface `wasi:cli/run`, in some version.
        (self._interface,) = self._component.type.exports(self._engine)
        self._linker = Linker(self._engine)
        self._linker.add_wasip2()

    def imports(self) -> list[str]:
        """Returns the interfaces that the component imports."""
        return list(self._component.type.imports(self._engine))

    def run(
        self,
        script: str | bytes,
        arguments: Sequence[str] = (),
        io_dir: str | os.PathLike[str] | None = None,
        *,
        fuel: int = DEFAULT_FUEL,
        max_bytes: int = DEFAULT_BYTES,
        max_files: int = DEFAULT_FILES,
        errors: str = "raise",
        protect_names: bool = True,
    ) -> dict[str, Any]:
        """Runs a script in a fresh instance and returns the outcome that `toolscript run --json` prints."""
        size = sum(len(argument.encode()) + ARGUMENT_OVERHEAD for argument in arguments)
        if size > MAX_ARGUMENTS:
            raise ValueError(f"the arguments are {size} bytes; at most {MAX_ARGUMENTS} are allowed")
        options = [f"--max-bytes={max_bytes}", f"--max-files={max_files}", f"--errors={errors}"]
        if not protect_names:
            options.append("--unprotected-names")
        with tempfile.TemporaryDirectory() as temporary:
            streams = {name: Path(temporary, name) for name in ("input", "output", "error")}
            streams["input"].write_bytes(script.encode() if isinstance(script, str) else script)
            trap = self._call([*options, "-", "--", *arguments], io_dir, streams, fuel)
            output = streams["output"].read_bytes()
            # A run writes its outcome last. A run that trapped has only written its log lines.
            if trap is None and output:
                return json.loads(output)
            stderr = streams["error"].read_text("utf-8", "replace")
            if trap is None:
                raise ValueError(stderr.strip())
            return {"error": trap_error(trap, fuel), "logs": stderr.splitlines(), "files_touched": []}

    def _call(
        self, arguments: list[str], io_dir: str | os.PathLike[str] | None, streams: dict[str, Path], fuel: int
    ) -> WasmtimeError | None:
        """Calls `run`. Returns the trap that ended it, or `None`."""
        wasi = WasiConfig()
        wasi.argv = ["toolscript", *arguments]
        wasi.stdin_file = str(streams["input"])
        wasi.stdout_file = str(streams["output"])
        wasi.stderr_file = str(streams["error"])
        if io_dir is not None:
            os.makedirs(io_dir, exist_ok=True)
            if os.path.islink(io_dir):
                raise OSError("the io directory is a symlink")
            wasi.preopen_dir(os.fspath(io_dir), "/")
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
            # The exit code only says that the script failed. The outcome has the error.
            pass
        except WasmtimeError as error:
            return error
        finally:
            store.close()
        return None
