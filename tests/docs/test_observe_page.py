"""docs/run/watch.md, held against the code: the metrics are those that are told, the callbacks and facts are those that there are."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path

from recoverable import Facts
from recoverable.extensions import Observe
from recoverable.extensions._metrics import METRICS

PAGE = (Path(__file__).parents[2] / "docs" / "run/watch.md").read_text(encoding="utf-8")


def test_the_table_of_metrics_is_the_list_in_the_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(recoverable\.\w+)` \| ([^|]+) \| [^|]+ \|$", PAGE, re.MULTILINE)

    assert rows == [(metric.name, metric.instrument, metric.meaning) for metric in METRICS]


def test_each_setting_and_each_fact_is_on_the_page() -> None:
    missing = [
        name
        for name in (*signature(Observe).parameters, *signature(Facts).parameters)
        if f"`{name}`" not in PAGE and f"`{name}=" not in PAGE
    ]

    assert missing == []
