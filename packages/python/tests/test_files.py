"""File operations and commands."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from toolscript import BinaryFile, Engine, FileError, Limits, Sandbox, TextPage


def test_the_operations(box: Sandbox) -> None:
    written = box.write("notes/a.txt", "one\ntwo\nthree\n")
    assert (written.name, written.bytes) == ("notes/a.txt", 14)
    page = box.read("notes/a.txt", offset=2, limit=1)
    assert isinstance(page, TextPage)
    assert (page.text, page.first_line, page.lines, page.total_lines, page.next_line) == ("two\n", 2, 1, 3, 3)
    assert page.numbered == "     2\ttwo\n"
    assert box.read_text(Path("notes") / "a.txt") == "one\ntwo\nthree\n"
    edited = box.edit("notes/a.txt", "two", "2")
    assert (edited.name, edited.count, edited.bytes) == ("notes/a.txt", 1, 12)
    box.write("notes/a.txt", b"four\n", mode="append")
    assert [(info.name, info.kind, info.bytes) for info in box.list("notes")] == [("a.txt", "file", 17)]
    assert [(info.name, info.kind) for info in box.list()] == [("notes", "directory")]
    assert [info.name for info in box.glob("**/*.txt").entries] == ["notes/a.txt"]
    assert [info.name for info in box.glob("**", files_only=True).entries] == ["notes/a.txt"]
    found = box.grep("four", context=1)
    assert [(match.name, match.line, match.text, match.before) for match in found.matches] == [("notes/a.txt", 4, "four", [(3, "three")])]
    assert [match.line for match in box.grep("^t.*e$", regex=True, glob="*.txt").matches] == [3]
    assert box.grep("o", max_matches=1).truncated
    assert box.remove("notes/a.txt") == "notes/a.txt"
    deleted = box.delete("notes")
    assert (deleted.name, deleted.files, deleted.directories) == ("notes", 0, 1)


def test_binary_files(box: Sandbox) -> None:
    box.write("a.png", b"\x89PNG\r\n\x1a\n\x00")
    box.write("a.bin", b"\x00\xff")
    image, binary = box.read("a.png"), box.read("a.bin")
    assert isinstance(image, BinaryFile) and isinstance(binary, BinaryFile)
    assert (image.mime_type, binary.mime_type, binary.data) == ("image/png", None, b"\x00\xff")


def test_several_files_at_once(box: Sandbox) -> None:
    written, rejected = box.upload({"a.txt": b"a", "../b.txt": b"b"})
    assert not isinstance(written, FileError) and written.bytes == 1
    assert isinstance(rejected, FileError) and rejected.code == "invalid_path"
    contents, missing = box.download(["a.txt", "c.txt"])
    assert contents == b"a"
    assert isinstance(missing, FileError) and missing.code == "file_not_found"


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("missing.txt", "file_not_found", "missing.txt: No such file or directory"),
        ("../x", "invalid_path", ""),
        ("/etc/passwd", "invalid_path", ""),
        ("directory", "is_directory", "directory: Is a directory"),
        ("link", "invalid_path", "link: symbolic links are not followed"),
        (".env", "permission_denied", ""),
    ],
)
def test_errors_have_codes(tmp_path: Path, path: str, code: str, message: str) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / ".env").write_text("SECRET=1")
    with pytest.raises(FileError) as raised:
        Sandbox(tmp_path).read_bytes(path)
    assert raised.value.code == code
    assert str(raised.value).startswith(message)


def test_more_errors(box: Sandbox) -> None:
    box.write("a.txt", "x x")
    with pytest.raises(FileError) as raised:
        box.write("a.txt", "b")
    assert (raised.value.code, raised.value.errno) == ("file_exists", 17)
    with pytest.raises(FileError) as raised:
        box.edit("a.txt", "x", "y")
    assert raised.value.code == "invalid_argument"
    with pytest.raises(ValueError, match="mode must be 'create', 'overwrite' or 'append'"):
        box.write("a.txt", "b", mode="truncate")  # type: ignore[arg-type]
    with pytest.raises(FileError, match='this sandbox has no directory; create it as Sandbox\\("./data"\\)') as raised:
        Sandbox().read("a.txt")
    assert raised.value.code == "no_directory"


def test_limits_of_writes(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, max_bytes="1KiB")
    with pytest.raises(FileError) as raised:
        box.write("a.txt", "x" * 1025)
    assert raised.value.code == "limit_exceeded"
    box = Sandbox(tmp_path, disk_quota="16KiB")
    box.write("b.txt", "x" * 8000)
    with pytest.raises(FileError) as raised:
        box.write("c.txt", "x" * 8000)
    assert raised.value.code == "limit_exceeded"


def test_scripts_and_operations_share_the_working_directory(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, working_directory="desk")
    run = box.run("io.open('a.txt', 'w'):write('x'):close() return io.exists('~/desk/a.txt')")
    assert run.result is True
    assert run.files_touched[0].name == "desk/a.txt"
    assert box.read_text("a.txt") == "x"
    assert (tmp_path / "desk" / "a.txt").read_text() == "x"


def test_io_errors_can_be_returned(tmp_path: Path) -> None:
    assert Sandbox(tmp_path, io_errors="return").run("return (select(3, io.open('missing')))").result == 2


def test_commands(box: Sandbox) -> None:
    box.add(lambda text: text.upper(), name="shout")
    box.write("main.luau", "print(sdk.shout(env.PLACE), ...) return 7")
    done = box.execute("luau main.luau a 'b c'", env={"PLACE": "Oslo"})
    assert (done.exit_code, done.stdout, done.stderr) == (0, "OSLO\ta\tb c\n7\n", "")
    assert done.receipt is not None
    failed = box.exec("print(1) error('no', 0)", arguments=["x"])
    assert (failed.exit_code, failed.stdout) == (1, "1\n")
    assert failed.stderr.startswith("error: runtime: no\n")
    assert failed.output == failed.stdout + failed.stderr
    assert box.exec("while true do end", timeout=0.05).exit_code == 3
    usage = box.execute("ls")
    assert (usage.exit_code, usage.receipt) == (2, None)


def test_async_operations(box: Sandbox) -> None:
    async def operations() -> None:
        await box.awrite("a.txt", "one")
        await box.aedit("a.txt", "one", "two")
        page = await box.aread("a.txt")
        assert isinstance(page, TextPage) and page.text == "two"
        assert await box.aread_text("a.txt") == "two"
        assert [info.name for info in await box.alist()] == ["a.txt"]
        assert len((await box.aglob("*")).entries) == 1
        assert len((await box.agrep("two")).matches) == 1
        assert (await box.adownload(["a.txt"])) == [b"two"]
        await box.aupload([("b.txt", "b")])
        assert (await box.aexecute("luau -e 'return 1'")).stdout == "1\n"
        assert (await box.aexec("return 2")).stdout == "2\n"
        await box.aremove("a.txt")
        await box.adelete("b.txt")
        with pytest.raises(FileError) as raised:
            await box.aread_bytes("a.txt")
        assert raised.value.code == "file_not_found"

    asyncio.run(operations())


def test_sandboxes_can_share_an_engine(tmp_path: Path) -> None:
    engine = Engine(concurrency=2)
    one, other = Sandbox(tmp_path / "one", engine=engine), Sandbox(tmp_path / "other", engine=engine, limits=Limits(timeout=1))
    one.write("a", "1")
    other.write("a", "2")
    assert (one.read_text("a"), other.read_text("a")) == ("1", "2")
    assert other.limits.timeout == 1
