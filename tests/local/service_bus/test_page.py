"""The page about the namespace: its example runs as it stands."""

from __future__ import annotations

from docs.pages import blocks


def test_the_example_runs() -> None:
    (example,) = blocks("service-bus-emulator.md", "python")

    exec(compile(example, "service-bus-emulator.md", "exec"), {})
