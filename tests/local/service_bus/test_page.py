"""The page about the namespace: its example runs as it stands."""

from __future__ import annotations

import pytest

from docs.pages import blocks

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links


def test_the_example_runs() -> None:
    (example,) = blocks("service-bus-emulator.md", "python")

    exec(compile(example, "service-bus-emulator.md", "exec"), {})
