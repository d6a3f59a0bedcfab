"""Checks fuel, and the limits on logs and results."""

from __future__ import annotations

from expect import CheckFailed, expect, temporary_io_dir
from toolscript_host import Sandbox

ENDLESS_SCRIPTS = (
    "print('started') while true do end",
    "print('started') while true do pcall(function() while true do end end) end",
    "print('started') pcall(function() while true do end end) return 'caught'",
    # A call to the host costs fuel too.
    "print('started') while true do os.clock() end",
)


def check_limits(sandbox: Sandbox) -> str:
    for source in ENDLESS_SCRIPTS:
        outcome = sandbox.run(source, fuel=50_000_000)
        expect(outcome["error"], {"kind": "fuel", "message": "the script used up its fuel (50000000)"}, source)
        expect(outcome["logs"], ["started"], source)
    with temporary_io_dir() as io_dir:
        # `upper` uses up the fuel in one call, so the guest has no chance to flush its buffers.
        source = "local large = ('x'):rep(1e7) local f = io.open('f', 'w') f:write('1') f:write('2') return #large:upper()"
        outcome = sandbox.run(source, io_dir=io_dir, fuel=100_000_000)
        expect(outcome["files_touched"], [{"name": "f", "op": "write", "bytes": 1, "cut": True}], "report of a truncated file")
    outcome = sandbox.run("print(('x'):rep(2^20 + 1)) print(1)")
    expect((len(outcome["logs"]), outcome["truncated"]), (1, ["logs"]), "truncated logs")
    expect(sandbox.run("return env")["result"], None, "no environment values")
    outcome = sandbox.run("return env.NAME, table.isfrozen(env), env.PATH", environment={"NAME": "value", "EMPTY": ""})
    expect(outcome["result"], ["value", True, None], "environment values")
    try:
        sandbox.run("return 1", environment={"NAME": "x" * (256 << 10)})
    except ValueError as error:
        expect(str(error), "the environment values are 262212 bytes; at most 262144 are allowed", "environment values that are too large")
    else:
        raise CheckFailed("environment values that are too large were accepted")
    expect(sandbox.run("return ('x'):rep(2^20)")["error"]["kind"], "result", "result that is too large")
    return "fuel stops endless loops, even inside pcall; logs and results are limited"
