"""Test that the examples of the page about the Functions host run unchanged."""

from __future__ import annotations

import json

import pytest

from docs.pages import blocks

PAGE = "use/local.md"


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
def test_the_example_runs() -> None:
    example, _ = blocks(PAGE, "python")

    exec(compile(example, PAGE, "exec"), {})


def test_the_emulator_s_configuration_is_json() -> None:
    (configuration,) = blocks(PAGE, "json")

    [namespace] = json.loads(configuration)["UserConfig"]["Namespaces"]
    assert [queue["Name"] for queue in namespace["Queues"]] == ["error", "orders"]
