"""``toolscript.deepagents``: the protocol beyond its standard tests, and an agent."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest
from deepagents import FilesystemPermission, create_deep_agent
from deepagents.backends import CompositeBackend, StateBackend
from deepagents.backends.protocol import (
    DeleteResult,
    EditResult,
    ExecuteResponse,
    FileDownloadResponse,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    SandboxBackendProtocol,
    WriteResult,
)
from langchain_core.messages import HumanMessage
from scripted import scripted, tool_call, tool_texts

from toolscript import Limits, Sandbox
from toolscript.deepagents import ToolscriptBackend


@pytest.fixture
def backend(tmp_path: Path) -> ToolscriptBackend:
    return ToolscriptBackend(Sandbox(tmp_path / "data", functions={"double": lambda number: number * 2}))


def paths(result: GlobResult | LsResult) -> list[str]:
    assert result.error is None
    entries = result.matches if isinstance(result, GlobResult) else result.entries
    return [entry["path"] for entry in entries or []]


def test_all_methods_of_the_protocol_are_implemented(backend: ToolscriptBackend) -> None:
    assert isinstance(backend, SandboxBackendProtocol)
    for base in SandboxBackendProtocol.__mro__[:2]:
        missing = [name for name in vars(base) if not name.startswith("_") and name not in vars(ToolscriptBackend)]
        assert missing == []
    assert backend.id == backend.id != ToolscriptBackend(backend.sandbox).id


def test_a_sandbox_without_a_directory_is_rejected() -> None:
    with pytest.raises(ValueError, match='needs a sandbox with a directory; create it as Sandbox\\("./data"\\)'):
        ToolscriptBackend(Sandbox())


def test_write_overwrites(backend: ToolscriptBackend) -> None:
    assert backend.write("/a//b.txt", "one") == WriteResult(path="/a//b.txt")
    assert backend.write("/a/b.txt", "two") == WriteResult(path="/a/b.txt")
    assert backend.download_files(["/a/b.txt"]) == [FileDownloadResponse("/a/b.txt", b"two")]
    assert backend.write("a.txt", "x").error == "Error: a.txt: the path must begin with /"
    assert backend.write("/../a.txt", "x").error == "Error: path cannot contain '..' traversal"


def test_pages_of_a_file(backend: ToolscriptBackend) -> None:
    backend.write("/a.txt", "1\n2\n3\n")
    page = backend.read("/a.txt", offset=1, limit=1)
    assert page.file_data == {"content": "2", "encoding": "utf-8"}
    assert (page.start_line, page.end_line, page.total_lines, page.next_offset) == (2, 2, 3, 2)
    assert backend.read("/a.txt", offset=2).next_offset is None
    assert backend.read("/a.txt", offset=-5, limit=1).start_line == 1
    assert backend.read("/a.txt", offset=3).error == "a.txt: the offset is past the end; the file has 3 lines"
    backend.write("/empty.txt", "")
    assert backend.read("/empty.txt") == ReadResult(file_data={"content": "", "encoding": "utf-8"})
    assert backend.read("/missing.txt") == ReadResult(error="File '/missing.txt' not found")
    backend.upload_files([("/a.bin", b"\0\xff")])
    assert backend.read("/a.bin") == ReadResult(file_data={"content": base64.b64encode(b"\0\xff").decode(), "encoding": "base64"})


@pytest.mark.parametrize("limit", [0, -1])
def test_a_read_of_no_lines_still_reports_what_the_file_is(backend: ToolscriptBackend, limit: int) -> None:
    backend.upload_files([("/a.txt", b"1\n2\n"), ("/empty.txt", b""), ("/a.bin", b"\0\xff")])
    assert backend.read("/a.txt", limit=limit) == ReadResult(file_data={"content": "", "encoding": "utf-8"}, no_lines_requested=True)
    assert backend.read("/a.txt", offset=9, limit=limit).no_lines_requested
    for path in ("/missing.txt", "/a.bin", "/empty.txt", "/"):
        assert backend.read(path, limit=limit) == backend.read(path)


def test_all_line_endings_are_read_and_edited_alike(backend: ToolscriptBackend) -> None:
    backend.upload_files([("/windows.txt", b"1\r\n2\r\n3\r\n"), ("/mixed.txt", b"1\n2\r\n3\r\n"), ("/unix.txt", b"1\n2\n3\n")])
    for path in ("/windows.txt", "/mixed.txt", "/unix.txt"):
        page = backend.read(path)
        assert page.file_data == {"content": "1\n2\n3", "encoding": "utf-8"}
        for old, new in (("2\n3\n", "two\n3\n"), ("two\r\n3\r\n", "2\r\n3\r\n"), ("2\n3\n", "two\n3\n")):
            assert backend.edit(path, old, new) == EditResult(path=path, occurrences=1)
    assert [response.content for response in backend.download_files(["/windows.txt", "/mixed.txt", "/unix.txt"])] == [
        b"1\r\ntwo\r\n3\r\n",
        b"1\ntwo\r\n3\r\n",
        b"1\ntwo\n3\n",
    ]
    assert backend.edit("/unix.txt", "4\r\n", "5").error == "Error: String not found in file: unix.txt: the text to replace is not in the file"
    found = backend.grep("two", path="/windows.txt", context_lines=1).matches
    assert found == [{"path": "/windows.txt", "line": 2, "text": "two", "context_before": [{"line": 1, "text": "1"}], "context_after": [{"line": 3, "text": "3"}]}]


def test_edits(backend: ToolscriptBackend) -> None:
    backend.write("/a.txt", "x x")
    assert backend.edit("/a.txt", "x", "y").error == (
        "Error: String appears multiple times: a.txt: the text to replace occurs 2 times; include more of the surrounding text, or replace all"
    )
    assert backend.edit("/a.txt", "z", "y").error == "Error: String not found in file: a.txt: the text to replace is not in the file"
    assert backend.edit("/a.txt", "x", "y", replace_all=True) == EditResult(path="/a.txt", occurrences=2)


def test_delete(backend: ToolscriptBackend) -> None:
    backend.write("/a/b/c.txt", "x")
    assert backend.delete("/a") == DeleteResult(path="/a")
    assert backend.delete("/a") == DeleteResult(error="Error: File '/a' not found")
    assert backend.delete("/").error == "Error: the io directory can't be deleted"


def test_ls(backend: ToolscriptBackend) -> None:
    backend.write("/a/b.txt", "xyz")
    listed = backend.ls("/")
    assert listed.entries is not None
    assert (listed.entries[0]["path"], listed.entries[0]["is_dir"]) == ("/a", True)
    (entry,) = backend.ls("/a/").entries or []
    assert (entry["path"], entry["is_dir"], entry["size"]) == ("/a/b.txt", False, 3)
    assert entry["modified_at"].endswith("+00:00")
    assert backend.ls("/missing") == LsResult(error="Path '/missing': path_not_found")
    assert backend.ls("/a/b.txt") == LsResult(error="Path '/a/b.txt': not_a_directory")
    assert backend.ls("/.env") == LsResult(error="Path '/.env': permission_denied")
    assert backend.ls("a") == LsResult(error="a: the path must begin with /")


def test_permissions_of_an_agent_distinguish_files_from_directories(backend: ToolscriptBackend) -> None:
    """A rule for the files in a directory must not prevent the deletion of a file, which contains none."""
    backend.write("/plan.txt", "x")
    backend.write("/plans/secret.txt", "x")
    model = scripted(tool_call("delete", file_path="/box/plan.txt"), tool_call("delete", file_path="/box/plans"))
    rules = [FilesystemPermission(operations=["write"], paths=["/box/*/secret.txt"], mode="deny")]
    # deepagents accepts no rules for a backend that can execute commands, unless it has a part of the paths only.
    routed = CompositeBackend(default=StateBackend(), routes={"/box/": backend})
    agent = create_deep_agent(model, backend=routed, permissions=rules)
    deleted, denied = tool_texts(agent.invoke({"messages": [HumanMessage("Go.")]}))
    assert (deleted, paths(backend.ls("/"))) == ("Deleted /box/plan.txt", ["/plans"])
    assert "denied" in denied


def test_errors_have_one_prefix_for_a_model(backend: ToolscriptBackend) -> None:
    backend.write("/a.txt", "x")
    calls = [
        tool_call("ls", path="/missing"),
        tool_call("read_file", file_path="/missing"),
        tool_call("edit_file", file_path="/a.txt", old_string="y", new_string="z"),
        tool_call("read_file", file_path="/a.txt", offset=5),
    ]
    answer = create_deep_agent(scripted(*calls), backend=backend).invoke({"messages": [HumanMessage("Go.")]})
    assert tool_texts(answer) == [
        "Error: Path '/missing': path_not_found",
        "Error: File '/missing' not found",
        "Error: String not found in file: a.txt: the text to replace is not in the file",
        "Error: a.txt: the offset is past the end; the file has 1 line",
    ]


def test_glob_follows_the_protocol(backend: ToolscriptBackend) -> None:
    for path in ("/top.py", "/src/app/main.py", "/.dot/ci.yml", "/.hidden", "/src/a.yml", "/src/b[1].txt"):
        backend.write(path, "x")
    assert paths(backend.glob("*.py")) == ["/src/app/main.py", "/top.py"]
    assert paths(backend.glob("/*.py")) == ["/top.py"]
    assert paths(backend.glob("src/**/*.py")) == paths(backend.glob("**/*.py", path="/src")) == ["/src/app/main.py"]
    assert paths(backend.glob("*.yml")) == ["/.dot/ci.yml", "/src/a.yml"]
    assert paths(backend.glob("**/*.yml")) == ["/src/a.yml"]
    assert paths(backend.glob(".hid*")) == ["/.hidden"]
    assert "/.hidden" not in paths(backend.glob("*"))
    assert "/src" not in paths(backend.glob("*"))
    assert paths(backend.glob("{top,main}.py")) == ["/src/app/main.py", "/top.py"]
    assert paths(backend.glob("?[!x]p.py")) == ["/top.py"]
    assert backend.glob("*", path="/missing") == GlobResult(matches=[])
    assert backend.glob("../*") == GlobResult(error="path cannot contain '..' traversal")
    assert backend.glob("*.py/") == backend.glob("src/") == GlobResult(matches=[])


def test_grep_with_context_and_a_maximum(backend: ToolscriptBackend) -> None:
    backend.write("/a.txt", "1\nx.y\n3\nx.y\n")
    backend.write("/b.py", "x.y\nxzy\n")
    found = backend.grep("x.y", path="/a.txt", context_lines=1, max_count=1)
    assert found.truncated
    assert found.matches == [
        {"path": "/a.txt", "line": 2, "text": "x.y", "context_before": [{"line": 1, "text": "1"}], "context_after": [{"line": 3, "text": "3"}]}
    ]
    assert backend.grep("x.y", max_count=3).truncated is False
    assert backend.grep("x.y", glob="*.py") == GrepResult(matches=[{"path": "/b.py", "line": 1, "text": "x.y"}])
    assert backend.grep("x", path="/missing") == GrepResult(matches=[])
    backend.sandbox.run("io.open('empty/x', 'w'):close() os.remove('empty/x')")
    assert paths(backend.ls("/empty")) == []
    assert backend.grep("x", path="/empty") == GrepResult(matches=[])
    with pytest.raises(ValueError, match="context_lines must be non-negative"):
        backend.grep("x", context_lines=-1)


def test_error_codes_of_uploads_and_downloads(tmp_path: Path, backend: ToolscriptBackend) -> None:
    backend.write("/directory/a.txt", "a")
    (tmp_path / "data" / ".env").write_text("SECRET=1")
    (tmp_path / "data" / "link").symlink_to("/etc/passwd")
    codes = {response.path: response.error for response in backend.download_files(["/no", "/directory", "/.env", "/link", "a"])}
    assert codes == {
        "/no": "file_not_found",
        "/directory": "is_directory",
        "/.env": "permission_denied",
        "/link": "invalid_path",
        "a": "invalid_path",
    }
    assert backend.upload_files([("/b.txt", b"b"), ("b.txt", b"b"), ("/.env", b"")]) == [
        FileUploadResponse("/b.txt"),
        FileUploadResponse("b.txt", "invalid_path"),
        FileUploadResponse("/.env", "permission_denied"),
    ]


def test_execute(tmp_path: Path, backend: ToolscriptBackend) -> None:
    assert backend.execute("luau -e 'print(sdk.double(4))'") == ExecuteResponse("8\n", 0)
    failed = backend.execute("cat /etc/passwd; rm -rf /")
    assert failed.exit_code == 2
    assert failed.output.startswith("error: unknown command 'cat'; use luau FILE")
    quick = ToolscriptBackend(Sandbox(tmp_path, limits=Limits(timeout=0.1)))
    stopped = quick.execute("luau -e 'while true do end'", timeout=600)
    assert (stopped.exit_code, stopped.output) == (3, "error: timeout: the script ran longer than 0.1 s\n")
    assert quick.execute("luau -e 'return 1'", timeout=0) == ExecuteResponse("1\n", 0)


def test_async_methods_return_the_same(backend: ToolscriptBackend) -> None:
    async def operations() -> None:
        assert await backend.awrite("/a.txt", "one\ntwo") == WriteResult(path="/a.txt")
        assert await backend.aedit("/a.txt", "one", "1") == EditResult(path="/a.txt", occurrences=1)
        assert await backend.aread("/a.txt", 1, 1) == backend.read("/a.txt", 1, 1)
        assert (await backend.aread("/a.txt", limit=0)).no_lines_requested
        assert await backend.als("/") == backend.ls("/")
        assert await backend.agrep("two", context_lines=1) == backend.grep("two", context_lines=1)
        assert await backend.aglob("*.txt") == backend.glob("*.txt")
        assert await backend.aupload_files([("/b.txt", b"b"), ("b", b"")]) == backend.upload_files([("/b.txt", b"b"), ("b", b"")])
        assert await backend.adownload_files(["/b.txt", "/no"]) == backend.download_files(["/b.txt", "/no"])
        assert await backend.aexecute("luau -e 'return sdk.double(2)'", timeout=5) == ExecuteResponse("4\n", 0)
        assert await backend.adelete("/b.txt") == DeleteResult(path="/b.txt")
        assert await backend.adelete("/b.txt") == DeleteResult(error="Error: File '/b.txt' not found")

    asyncio.run(operations())


def test_an_agent(backend: ToolscriptBackend) -> None:
    model = scripted(
        tool_call("write_file", file_path="/a.txt", content="one\ntwo\n"),
        tool_call("read_file", file_path="/a.txt"),
        tool_call("execute", command="luau -e 'return sdk.double(#io.list())'"),
        tool_call("ls", path="/"),
    )
    agent = create_deep_agent(model, backend=backend, system_prompt=backend.instructions)
    written, read, executed, listed = tool_texts(agent.invoke({"messages": [HumanMessage("Go.")]}))
    assert written == "Updated file /a.txt"
    assert "two" in read
    assert executed.startswith("2\n")
    assert "/a.txt" in listed
    assert "execute" in {tool.name for tool in model.bound[0]}
    assert "- sdk.double(number: any): any" in backend.instructions
