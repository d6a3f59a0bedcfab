"""The description of a tool that runs scripts."""

from __future__ import annotations

from toolscript import Limits, Sandbox


def test_the_description_has_limits_and_functions() -> None:
    def get_weather(city: str, units: str = "C") -> dict[str, float]:
        """Returns the weather of a city.

        More is in sdk.docs.
        """
        return {}

    text = Sandbox(limits=Limits(timeout=2, api_calls=7), functions=[get_weather]).description()
    assert "Limits: 2 s, 64 MiB of memory" in text
    assert "Functions, at most 7 calls" in text
    assert "\n- sdk.get_weather(city: string, units: string?): { [string]: number }: Returns the weather of a city.\n" in text
    assert "More is in sdk.docs" not in text
    assert "Not available: network (except through sdk)" in text


def test_the_description_without_functions(box: Sandbox) -> None:
    assert "sdk" not in Sandbox().description()
    assert "File access is disabled." in Sandbox().description()
    assert "A run can write 50 MiB and create 10000 files." in box.description()


def test_the_description_names_24_functions() -> None:
    box = Sandbox(functions={f"f{number}": lambda: 0 for number in range(30)})
    assert box.description().count("\n- sdk.f") == 24
    assert "\n- 6 more; sdk.search(words) finds them\n" in box.description()
