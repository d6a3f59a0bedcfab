"""Runs one script and prints its outcome as a line of JSON.

    python demo.py toolscript.wasm SCRIPT.luau [ARGUMENT …] [--io-dir DIRECTORY]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from toolscript_host import Sandbox

WEATHER = {"Oslo": {"degrees": -3, "wind": 4.5}, "Lisbon": {"degrees": 17, "wind": 2}}


def weather_today(query: Any) -> dict[str, Any]:
    """Returns the weather of a city. Scripts call it as `sdk.weather.today{ city = "Oslo" }`."""
    # The argument comes from an LLM-written script, so it can be anything.
    city = query.get("city") if isinstance(query, dict) else None
    if not isinstance(city, str):
        raise ValueError("the argument must have a city, such as { city = 'Oslo' }")
    if city not in WEATHER:
        raise ValueError(f"no weather data for {city}")
    return WEATHER[city]


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs a script in the toolscript component.")
    parser.add_argument("component", type=Path, help="the file that `toolscript component -o` writes")
    parser.add_argument("script", type=Path, help="the Luau script to run")
    parser.add_argument("arguments", nargs="*", help="arguments that the script receives as `...`")
    parser.add_argument("--io-dir", help="the directory that the script can access; without it, scripts have no `io`")
    options = parser.parse_args()
    try:
        outcome = Sandbox(options.component).run(
            options.script.read_bytes(), options.arguments, options.io_dir, {"weather.today": weather_today}
        )
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(outcome, ensure_ascii=False, separators=(",", ":")))
    return 0 if "result" in outcome else 1


if __name__ == "__main__":
    sys.exit(main())
