"""A host for the WASI command: files and fuel, no functions. Run it with the component, the directory and the text of a script."""

import sys

from wasmtime import Config, Engine, ExitTrap, Store, WasiConfig
from wasmtime.component import Component, Linker

FUEL = 20_000_000_000  # about one unit per instruction
MEMORY = 68 << 20  # The component declares the same limit.


def main(path: str, directory: str, script: str) -> None:
    config = Config()
    config.consume_fuel = True
    config.wasm_exceptions = True  # Luau raises errors as WebAssembly exceptions.
    config.max_wasm_stack = 2 << 20  # Scripts reach Luau's own depth limits first.
    engine = Engine(config)
    component = Component.from_file(engine, path)
    wasi = WasiConfig()
    wasi.argv = ["toolscript", "-e", script]
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    wasi.preopen_dir(directory, "/")
    with Linker(engine) as linker, Store(engine) as store:
        linker.add_wasip2()
        store.set_wasi(wasi)
        store.set_fuel(FUEL)
        store.set_limits(memory_size=MEMORY)
        instance = linker.instantiate(store, component)
        # The only export is `wasi:cli/run`, in some version.
        (interface,) = component.type.exports(engine)
        run = instance.get_export_index(store, "run", instance.get_export_index(store, interface))
        try:
            instance.get_func(store, run)(store)
        except ExitTrap as exit:
            sys.exit(exit.code)


if __name__ == "__main__":
    main(*sys.argv[1:])
