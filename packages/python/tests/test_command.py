"""The ``toolscript`` program that the package installs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

COMMAND = [str(Path(sys.executable).with_name("toolscript"))]


def toolscript(*arguments: str, cwd: Path, input: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], cwd=cwd, input=input, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("arguments", "output", "code"),
    [
        (["run", "-e", "return 6 * 7"], "42\n", 0),
        (["run", "-e", "return ...", "a", "--flag"], '["a","--flag"]\n', 0),
        (["run", "-e", "error('no', 0)"], "", 1),
        (["run", "--timeout", "0.05", "-e", "while true do end"], "", 3),
        (["run", "--no-such-flag"], "", 2),
        (["--version"], "toolscript 0.1.0\n", 0),
    ],
)
def test_output_and_exit_codes(tmp_path: Path, arguments: list[str], output: str, code: int) -> None:
    done = toolscript(*arguments, cwd=tmp_path)
    assert (done.stdout, done.returncode) == (output, code), done.stderr


def test_a_script_from_standard_input(tmp_path: Path) -> None:
    assert toolscript("run", "-", cwd=tmp_path, input="return 'piped'").stdout == '"piped"\n'


def test_a_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    process = subprocess.Popen([*COMMAND, "docs", "io.open"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (0, "")


def test_ctrl_c_stops_the_script_and_reports_its_files(tmp_path: Path) -> None:
    script = "io.open('a.txt', 'w'):write('so far'):close() print('started') while true do end"
    process = subprocess.Popen([*COMMAND, "run", "-e", script], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.splitlines()[0] == "error: cancelled: the run was cancelled"
    assert "write a.txt (6 bytes)" in errors
    assert "Traceback" not in errors


def test_serve_speaks_mcp_over_stdio(tmp_path: Path) -> None:
    process = subprocess.Popen([*COMMAND, "serve"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def request(identifier: int, method: str, params: dict[str, Any]) -> Any:
        stdin.write(json.dumps({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}) + "\n")
        stdin.flush()
        while True:
            message = json.loads(stdout.readline())
            if message.get("id") == identifier:
                return message["result"]

    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    assert request(1, "initialize", client)["serverInfo"]["name"] == "toolscript"
    stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    result = request(2, "tools/call", {"name": "execute_script", "arguments": {"script": "return 6 * 7"}})
    assert "42" in result["content"][0]["text"]
    stdin.close()
    assert process.wait() == 0
    stdout.close()


def test_serve_ends_at_sigint(tmp_path: Path) -> None:
    process = subprocess.Popen([*COMMAND, "serve"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}) + "\n")
    process.stdin.flush()
    assert "toolscript" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0
    process.stdin.close()
    process.stdout.close()


@pytest.mark.parametrize(
    ("program", "start"),
    [
        (COMMAND, COMMAND),
        ([sys.executable, "-m", "toolscript"], [sys.executable, "-m", "toolscript"]),
        (["cache/archive-v0/environment/bin/toolscript"], ["uvx", "toolscript"]),
    ],
)
def test_install_prints_the_command_that_starts_the_program(tmp_path: Path, program: list[str], start: list[str]) -> None:
    link = tmp_path / "cache/archive-v0/environment/bin/toolscript"
    link.parent.mkdir(parents=True)
    link.symlink_to(COMMAND[0])
    done = subprocess.run([*program, "install", "claude", "--io-dir", "files"], cwd=tmp_path, capture_output=True, text=True, env={"PATH": ""})
    entry = json.loads(done.stdout)["mcpServers"]["toolscript"]
    assert [entry["command"], *entry["args"]] == [*start, "serve", "--io-dir", str(tmp_path / "files")], done.stderr
