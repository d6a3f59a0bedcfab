"""Runs one script and prints its outcome as a line of JSON.

    python demo.py toolscript.wasm SCRIPT.luau [ARGUMENT …] [--folder DIRECTORY]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from toolscript_host import Box

WEATHER = {"Oslo": {"degrees": -3, "wind": 4.5}, "Lisbon": {"degrees": 17, "wind": 2}}


def weather_today(place: Any) -> dict[str, Any]:
    """Scripts call it as `sdk.weather.today{ city = "Oslo" }`. Whatever is in the argument was written by a model."""
    city = place.get("city") if isinstance(place, dict) else None
    if not isinstance(city, str):
        raise ValueError("name a city, such as { city = 'Oslo' }")
    if city not in WEATHER:
        raise ValueError(f"there is no weather in {city}")
    return WEATHER[city]


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs a script in the toolscript component.")
    parser.add_argument("component", type=Path, help="the file that `toolscript component -o` writes")
    parser.add_argument("script", type=Path)
    parser.add_argument("arguments", nargs="*", help="what the script gets as `...`")
    parser.add_argument("--folder", help="the directory that the script may read and write; without it there is no `io`")
    options = parser.parse_args()
    try:
        outcome = Box(options.component).run(
            options.script.read_bytes(), options.arguments, options.folder, {"weather.today": weather_today}
        )
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(outcome, ensure_ascii=False, separators=(",", ":")))
    return 0 if "result" in outcome else 1


if __name__ == "__main__":
    sys.exit(main())
