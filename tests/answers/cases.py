"""Turn tables of answers into cases of a test, and mark those that a reader gets wrong today."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest


def cases(rows: Iterable[tuple[str, Any]], wrong: Mapping[str, Iterable[str]]) -> list[Any]:
    """Return one case for each row.

    Args:
        rows: the rows of a table, each with its name.
        wrong: the names of the rows that the reader gets wrong today, by the reason. Such a case fails once it is right.
    """
    named = dict(rows)
    reasons = {name: reason for reason, names in wrong.items() for name in names}
    assert reasons.keys() <= named.keys(), f"no rows: {sorted(reasons.keys() - named.keys())}"
    return [
        pytest.param(
            row, id=name, marks=[pytest.mark.xfail(strict=True, reason=reasons[name])] if name in reasons else ()
        )
        for name, row in named.items()
    ]
