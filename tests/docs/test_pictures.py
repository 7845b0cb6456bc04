"""The pictures: their data is what a run gives, and each is drawn from its data, byte for byte."""

from __future__ import annotations

import json

from pictures import FOLDER, as_json, draw, ladder


def test_the_ladder_is_that_of_a_run() -> None:
    assert (FOLDER / "ladder.json").read_text(encoding="utf-8") == as_json(ladder())


def test_the_ladder_is_drawn_from_its_data() -> None:
    [rounds] = json.loads((FOLDER / "ladder.json").read_text(encoding="utf-8")).values()

    assert (FOLDER / "ladder.svg").read_text(encoding="utf-8") == draw(rounds)
