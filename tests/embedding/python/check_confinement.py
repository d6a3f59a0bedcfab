"""Tries to leave the io directory through symlinks, FIFOs, '..' and absolute paths."""

from __future__ import annotations

import os

from expect import expect, expect_raises, temporary_io_dir
from toolscript_host import Sandbox
from wasi_host import WasiSandbox

TRY_EVERY_OPERATION = """
    local answers = {}
    local function try(call, ...)
        local ok, message = pcall(call, ...)
        table.insert(answers, ok and "DONE" or message)
    end
    for _, mode in { "r", "w", "a", "r+", "w+", "a+" } do try(io.open, (...), mode) end
    try(os.remove, (...))
    try(os.rename, (...), "renamed")
    try(os.rename, "inside", (...))
    try(io.list, (...))
    return answers
"""


def check_confinement(sandbox: Sandbox | WasiSandbox) -> str:
    attempts = 0

    def expect_rejected(path: str, message: str, list_message: str | None = None) -> None:
        nonlocal attempts
        result = sandbox.run(TRY_EVERY_OPERATION, [path], io_dir)["result"]
        expect(result, [message] * 9 + [list_message or message], f"operations on {path}")
        attempts += len(result)

    with temporary_io_dir() as io_dir:
        io_dir.mkdir()
        outside = io_dir.parent
        (outside / "secret").write_text("secret")
        (outside / "home").mkdir()
        (outside / "home/secret").write_text("secret")
        (io_dir / "inside").write_text("inside")
        (io_dir / "link").symlink_to(outside / "secret")
        (io_dir / "relative").symlink_to("../secret")
        (io_dir / "to-inside").symlink_to("inside")
        (io_dir / "nowhere").symlink_to("../made")
        (io_dir / "home").symlink_to("../home")
        os.mkfifo(io_dir / "fifo")
        for name in ("link", "relative", "to-inside", "nowhere", "home", "home/secret"):
            expect_rejected(name, f"{name}: symbolic links are not followed")
        expect_rejected("fifo", "fifo: not a regular file", "fifo: Not a directory")
        for path in ("..", "../secret", "a/../../secret", "inside/.."):
            expect_rejected(path, "path cannot contain '..' traversal")
        for path in ("/", "/etc/passwd", str(outside / "secret")):
            expect_rejected(path, "path must be relative")
        expect_rejected(".toolscript-tmp/x", "path cannot contain '.toolscript-tmp', a reserved name")
        names = sandbox.run("return io.list()", io_dir=io_dir)["result"]
        expect(names, ["fifo", "home", "inside", "link", "nowhere", "relative", "to-inside"], "symlinks are listed by name")
        expect((outside / "secret").read_text() + (outside / "home/secret").read_text(), "secretsecret", "files outside are unchanged")
        expect(sorted(path.name for path in outside.iterdir()), ["files", "home", "secret"], "no file was created outside")
        expect((io_dir / "inside").read_text(), "inside", "target of a symlink is unchanged")
        expect_raises(OSError, lambda: sandbox.run("return io.list()", io_dir=io_dir / "home"), "io directory that is a symlink")
        expect_raises(OSError, lambda: sandbox.run("return io.list()", io_dir=""), "io directory that is an empty path")
    return f"confinement: {attempts} calls through symlinks, FIFOs, '..' and absolute paths were rejected"
