"""Draw the pictures of the pages: data from runs in virtual time, kept as JSON, and SVG drawn from it, byte for byte the same.

    python infra/site/pictures.py

A picture is light or dark as its reader's system is.
"""

from __future__ import annotations

import json
from pathlib import Path

from recoverable import Failed, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#3d4450}.line{stroke:#9aa4b2}.retry{fill:#d9822b}.end{fill:#c23030}"
    "@media(prefers-color-scheme:dark){text{fill:#d3d8de}.line{stroke:#5f6b7c}.retry{fill:#ec9a3c}.end{fill:#e76a6e}}"
)
LEFT, SCALE, BASE = 60, 11, 90
"""Where 0 s is, how wide a second is, and how far from the top the line of time runs."""


def ladder() -> list[list[float]]:
    """Return the attempts of a message that always fails, with the default settings: for each round its second and their number."""

    def fail(_message: Message) -> None:
        raise ConnectionError("no answer")

    world = SqsWorld()
    world.serve("orders", SqsEndpoint(fail, Recoverability(failed=Failed("orders-error"))))
    order = world.send("orders", {"id": 1})
    world.run()
    rounds: dict[float, float] = {}
    for event in world.timeline(order):
        if event.what == "attempted":
            second = event.at.total_seconds()
            rounds[second] = rounds.get(second, 0) + 1
    return [[second, count] for second, count in rounds.items()]


def draw(rounds: list[list[float]]) -> str:
    """Return the picture of a message's rounds of attempts over time."""
    end = LEFT + SCALE * rounds[-1][0]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {end + 170:g} 130" role="img" aria-label="Attempts over time">',
        f"<style>{STYLE}</style>",
        f'<text x="4" y="{BASE + 4}">orders</text>',
        f'<path class="line" d="M{LEFT - 6} {BASE}H{end + 96:g}" fill="none" stroke-width="2"/>',
    ]
    for number, (second, count) in enumerate(rounds):
        x = LEFT + SCALE * second
        parts += [f'<circle class="retry" cx="{x:g}" cy="{BASE - 12 * up:g}" r="5"/>' for up in range(int(count))]
        parts.append(f'<text x="{x:g}" y="{BASE + 24}" text-anchor="middle">{second:g} s</text>')
        if number:
            before = rounds[number - 1][0]
            middle = LEFT + SCALE * (second + before) / 2
            parts.append(f'<text x="{middle:g}" y="{BASE - 8}" text-anchor="middle">{second - before:g} s</text>')
    parts += [
        f'<text x="{LEFT:g}" y="{BASE - 72}">{int(rounds[0][1])} attempts</text>',
        f'<circle class="end" cx="{end + 96:g}" cy="{BASE}" r="7"/>',
        f'<text x="{end + 96:g}" y="{BASE + 24}" text-anchor="middle">orders-error</text>',
        f'<text x="{end + 96:g}" y="{BASE - 18}" text-anchor="middle">the reason on it</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def as_json(rounds: list[list[float]]) -> str:
    """Return the data as it is kept."""
    return json.dumps({"round starts after s, attempts": rounds}) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "ladder.json").write_text(as_json(ladder()), encoding="utf-8")
    [data] = json.loads((FOLDER / "ladder.json").read_text(encoding="utf-8")).values()
    (FOLDER / "ladder.svg").write_text(draw(data), encoding="utf-8")
