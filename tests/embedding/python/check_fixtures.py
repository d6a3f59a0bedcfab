"""Compares the outcomes of the script fixtures with those of the Rust host."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from expect import SCRIPTS, expect, temporary_io_dir
from toolscript_host import Sandbox
from wasi_host import WasiSandbox

DIRECTORIES = ("language", "results", "errors", "io")

# Fixtures that do not apply to the component, with the reason. All fixtures apply to the WASI component.
SKIPPED = {
    "io/write_limit_of_a_large_block": "passes 5 MiB in one write; wasmtime uses 48 bytes per byte, limits a call to 128 MiB of them, and "
    "the package cannot raise that limit",
    "stopped/memory_in_a_coroutine": "the guest reports a runtime error, because the script raised the message again; the Rust host knows "
    "that an allocation failed, and the package does not report that",
}


def check_skipped() -> None:
    for name in SKIPPED:
        expect((SCRIPTS / f"{name}.luau").is_file(), True, f"the skipped fixture {name} exists")


def check_outcomes(sandbox: Sandbox | WasiSandbox) -> str:
    counts: dict[str, int] = {}
    for directory in DIRECTORIES:
        for path in sorted((SCRIPTS / directory).glob("*.luau")):
            name = f"{directory}/{path.stem}"
            if is_skipped(sandbox, name):
                continue
            outcome, _ = run_fixture(sandbox, path, with_files=directory == "io")
            expect(outcome, json.loads(path.with_suffix(".json").read_bytes()), name)
            counts[directory] = counts.get(directory, 0) + 1
    expect(sorted(counts), sorted(DIRECTORIES), "directories with fixtures")
    summary = ", ".join(f"{count} {directory}" for directory, count in counts.items())
    return f"fixtures with the same outcome as in the Rust host: {summary}"


def check_stopped(sandbox: Sandbox | WasiSandbox) -> str:
    """Runs the hostile scripts, which a limit must stop."""
    count = 0
    for path in sorted((SCRIPTS / "stopped").glob("*.luau")):
        name = f"stopped/{path.stem}"
        if is_skipped(sandbox, name):
            continue
        outcome, settings = run_fixture(sandbox, path, with_files=False)
        error = outcome.get("error", {"kind": "none", "message": ""})
        expect((outcome["logs"][:1], error["kind"]), (["started"], settings["error"]), f"{name}: {error['message']}")
        expect(settings.get("message", "") in error["message"], True, f"{name}: {error['message']}")
        count += 1
    return f"hostile scripts stopped with the expected error: {count}"


def is_skipped(sandbox: Sandbox | WasiSandbox, name: str) -> bool:
    return isinstance(sandbox, Sandbox) and name in SKIPPED


def run_fixture(sandbox: Sandbox | WasiSandbox, path: Path, with_files: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    source = path.read_bytes()
    settings = read_settings(source)
    options = {name: settings[name] for name in ("fuel", "max_bytes", "max_files", "errors") if name in settings}
    with temporary_io_dir() as io_dir:
        for name, content in settings.get("files", {}).items():
            io_dir.mkdir(exist_ok=True)
            (io_dir / name).write_text(content)
        outcome = sandbox.run(source, settings.get("arguments", []), io_dir if with_files else None, **options)
    return outcome, settings


def read_settings(source: bytes) -> dict[str, Any]:
    """Parses the settings of a fixture: TOML in comments that start with `--# `."""
    lines = source.decode("utf-8", "replace").splitlines()
    return tomllib.loads("\n".join(line[4:] for line in lines if line.startswith("--# ")))
