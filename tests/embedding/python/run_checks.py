"""Runs all checks of the component in Python. Use the script `run`, which sets the module path."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from pathlib import Path

from check_command_line import check_command_line
from check_confinement import check_confinement
from check_example import check_example
from check_fixtures import SKIPPED, check_outcomes, check_skipped, check_stopped
from check_functions import check_functions
from check_limits import check_limits
from check_quotas import check_quotas
from check_wasi import check_wasi
from expect import CheckFailed, expect
from toolscript_host import Sandbox
from wasi_host import WasiSandbox


def count_descriptors() -> int:
    # Objects of the package hold descriptors until they are collected.
    gc.collect()
    return len(os.listdir("/dev/fd"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks the component and the WASI command with hosts in Python.")
    parser.add_argument("component", type=Path, help="the file that `toolscript component -o` writes")
    parser.add_argument("wasi", type=Path, help="the file that `toolscript component --wasi -o` writes")
    parser.add_argument("core", type=Path, help="the file that `toolscript component --core -o` writes")
    options = parser.parse_args()
    sandbox = Sandbox(options.component)
    sandbox.run("return 1")
    wasi_sandbox = WasiSandbox(options.wasi)
    wasi_sandbox.run("return 1")
    descriptors = count_descriptors()
    try:
        check_skipped()
        print(check_example({"toolscript.wasm": options.component, "toolscript-wasi.wasm": options.wasi}))
        print(check_outcomes(sandbox))
        print(check_stopped(sandbox))
        print(check_limits(sandbox))
        print(check_confinement(sandbox))
        print(check_quotas(sandbox))
        print(check_functions(sandbox))
        print(check_wasi(wasi_sandbox))
        print(check_outcomes(wasi_sandbox))
        print(check_stopped(wasi_sandbox))
        print(check_confinement(wasi_sandbox))
        print(check_quotas(wasi_sandbox))
        print(check_command_line(options.core))
        expect(count_descriptors(), descriptors, "number of open descriptors after all runs")
    except CheckFailed as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1
    print(f"all checks passed; skipped for the component: {', '.join(SKIPPED)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
