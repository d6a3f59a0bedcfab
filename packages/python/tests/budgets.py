"""Measures the overhead of the package, and exits with 1 if a budget is exceeded.

Each figure is the best of several rounds, so that other programs on the machine matter less.
"""

from __future__ import annotations

import subprocess
import sys
import time

from toolscript import Limits, Sandbox

FIRST_RESULT_MS = 150
RUN_US = 60
CALL_US = 15

ROUNDS = 5
RUNS = 1000
CALLS = 10_000

FIRST_RESULT = """
import time
start = time.process_time()
from toolscript import Sandbox
assert Sandbox().run("return 1").result == 1
print(time.process_time() - start)
"""


def first_result() -> float:
    """Returns the CPU time from the import to the first result, in milliseconds."""
    rounds = [subprocess.run([sys.executable, "-c", FIRST_RESULT], check=True, capture_output=True, text=True) for _ in range(ROUNDS)]
    return min(float(done.stdout) for done in rounds) * 1000


def run_overhead() -> float:
    """Returns the time of a warm run in microseconds, without the time that the library itself reports."""
    box = Sandbox()

    def measure() -> float:
        inside = 0
        start = time.perf_counter()
        for _ in range(RUNS):
            inside += box.run("return 1").receipt.microseconds
        return (time.perf_counter() - start) * 1e6 / RUNS - inside / RUNS

    measure()
    return min(measure() for _ in range(ROUNDS))


def call_overhead() -> float:
    """Returns the time of a call from a script in microseconds, without the time of the same call in Python."""

    def identity(value: object) -> object:
        return value

    box = Sandbox(functions=[identity], limits=Limits(api_calls=CALLS))
    script = f"for i = 1, {CALLS} do sdk.identity(i) end"

    def measure() -> float:
        start = time.perf_counter()
        for number in range(CALLS):
            identity(number)
        plain = time.perf_counter() - start
        start = time.perf_counter()
        box.run(script)
        return (time.perf_counter() - start - plain) * 1e6 / CALLS

    return min(measure() for _ in range(ROUNDS))


def main() -> int:
    budgets = [
        ("import to first result, CPU time", first_result(), FIRST_RESULT_MS, "ms"),
        ("warm run above the library", run_overhead(), RUN_US, "µs"),
        ("call of a function above a plain call", call_overhead(), CALL_US, "µs"),
    ]
    for name, measured, budget, unit in budgets:
        print(f"{name}: {measured:.1f} {unit} (at most {budget} {unit})")
    return int(any(measured > budget for _, measured, budget, _ in budgets))


if __name__ == "__main__":
    sys.exit(main())
