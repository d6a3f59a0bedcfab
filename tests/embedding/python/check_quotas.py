"""Checks the quotas on bytes, files, handles and names."""

from __future__ import annotations

import os

from expect import expect, temporary_io_dir
from toolscript_host import Sandbox
from wasi_host import WasiSandbox


def check_quotas(sandbox: Sandbox | WasiSandbox) -> str:
    check_bytes(sandbox)
    check_handles(sandbox)
    check_directories(sandbox)
    check_touched_names(sandbox)
    return "quotas: bytes, directories, 64 handles, names"


def check_bytes(sandbox: Sandbox | WasiSandbox) -> None:
    with temporary_io_dir() as io_dir:
        script = """
            local f = io.open("a", "w")
            f:write(("x"):rep(600)):flush()
            f:seek("set", 0)
            f:write(("y"):rep(400)):flush()
            return pcall(function() f:write("z"):flush() end)
        """
        outcome = sandbox.run(script, io_dir=io_dir, max_bytes=1000)
        expected = [False, "script:6: I/O write limit exceeded (1000 bytes)"]
        expect(outcome["result"], expected, "overwritten bytes count again")
        expect(os.path.getsize(io_dir / "a"), 600, "size of the file at the limit")


def check_handles(sandbox: Sandbox | WasiSandbox) -> None:
    with temporary_io_dir() as io_dir:
        script = """
            local all = {}
            for number = 1, 64 do all[number] = io.open("f" .. number, "w") end
            local ok, message = pcall(io.open, "one-more", "w")
            all[7]:close()
            return ok, message, (pcall(io.open, "one-more", "w"))
        """
        result = sandbox.run(script, io_dir=io_dir)["result"]
        expect(result, [False, "too many open files (max 64)", True], "open handles")
        expect(len(list(io_dir.iterdir())), 65, "number of created files")


def check_directories(sandbox: Sandbox | WasiSandbox) -> None:
    with temporary_io_dir() as io_dir:
        result = sandbox.run("return pcall(io.open, 'a/b/c/d', 'w')", io_dir=io_dir, max_files=2)["result"]
        expect(result, [False, "too many folders created (max 2)"], "created directories")
        expect(list(io_dir.glob("*")), [], "no directory is created if the quota does not cover all of them")


def check_touched_names(sandbox: Sandbox | WasiSandbox) -> None:
    """Files that were opened before the quota on names was used up are still reported."""
    with temporary_io_dir() as io_dir:
        io_dir.mkdir()
        for number in range(1, 6):
            (io_dir / f"old{number}").write_text("old")
        script = """
            local open = {}
            for number = 1, 5 do open[number] = io.open("old" .. number, "r+") end
            local long, count = ("n"):rep(250), 0
            while pcall(function() io.open(long .. count, "w"):close() end) do count += 1 end
            for _, file in open do file:write("new"):close() end
            return select(2, pcall(io.open, long .. count, "w"))
        """
        outcome = sandbox.run(script, io_dir=io_dir)
        message = "too many files touched (max 20000, with 1048576 bytes of names)"
        expect(outcome["result"], message, "names of touched files")
        reported = [file for file in outcome["files_touched"] if file["name"].startswith("old")]
        expected = [{"name": f"old{number}", "op": "write", "bytes": 3} for number in range(1, 6)]
        expect(reported, expected, "files that were open when the quota on names was used up")
