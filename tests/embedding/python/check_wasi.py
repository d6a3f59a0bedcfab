"""Checks what is specific to the WASI component."""

from __future__ import annotations

from expect import expect, expect_raises
from wasi_host import WasiSandbox


def check_wasi(sandbox: WasiSandbox) -> str:
    expect([name for name in sandbox.imports() if not name.startswith("wasi:")], [], "imports that are not part of WASI")
    expect(sandbox.run("return io == nil, sdk == nil")["result"], [True, True], "globals of a run without options")
    error = expect_raises(ValueError, lambda: sandbox.run("x" * ((1 << 20) + 1)), "script that is too large")
    expect(str(error), "error: the script is larger than 1048576 bytes", "script that is too large")
    expect(sandbox.run("return #(...)", ["x" * 50_000])["result"], 50_000, "long argument")
    error = expect_raises(ValueError, lambda: sandbox.run("return 1", ["x" * 60_000]), "arguments that are too large")
    expect(str(error), "the arguments are 60008 bytes; at most 57344 are allowed", "arguments that are too large")
    return f"the WASI component imports {len(sandbox.imports())} WASI interfaces and nothing else"
