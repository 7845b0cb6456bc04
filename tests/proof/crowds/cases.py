"""The crowds that once gave up healthy messages, or ran a handler too often, although nothing went wrong but in handlers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SMALL: Mapping[str, Mapping[str, Any]] = {
    "a killer, one too long, six good (0, 0)": {"bodies": ["kills", "too long"] + ["ok"] * 6},
    "a killer, one too long, six good (1, 0)": {"bodies": ["kills", "too long"] + ["ok"] * 6, "immediate": 1},
    "a killer, one too long, six good (2, 0)": {"bodies": ["kills", "too long"] + ["ok"] * 6, "immediate": 2},
    "two killers, one too long, six good (5, 0)": {
        "bodies": ["kills", "kills", "too long"] + ["ok"] * 6,
        "immediate": 5,
    },
    "two killers, one too long, six good (5, 3)": {
        "bodies": ["kills", "kills", "too long"] + ["ok"] * 6,
        "immediate": 5,
        "delayed": 3,
    },
    "two killers, eight good (0, 0)": {"bodies": ["kills"] * 2 + ["ok"] * 8},
    "three killers, seven good (1, 0)": {"bodies": ["kills"] * 3 + ["ok"] * 7, "immediate": 1},
    "one too long, nine that fail (0, 0)": {"bodies": ["too long"] + ["fails"] * 9},
    "one too long, nine that fail (0, 3)": {"bodies": ["too long"] + ["fails"] * 9, "delayed": 3},
    "one too long, nine that fail (5, 3)": {"bodies": ["too long"] + ["fails"] * 9, "immediate": 5, "delayed": 3},
}
"""Batches of ten; in brackets immediate and delayed retries."""

LARGE: Mapping[str, Mapping[str, Any]] = {
    "2,000 that take 0.1 s, one batch (0, 0)": {"bodies": ["takes 0.1"] * 2_000, "batch_size": 2_000, "call_time": 0.02},
    "300 that take 0.5 s, one batch (0, 0)": {"bodies": ["takes 0.5"] * 300, "batch_size": 300, "call_time": 0.05},
    "900 quick, then 100 that take 2 s (0, 0)": {
        "bodies": ["ok"] * 900 + ["takes 2"] * 100, "batch_size": 1_000, "call_time": 0.02,
    },
    "1,800 good, 200 killers, ten at a time (0, 0)": {"bodies": ["ok"] * 1_800 + ["kills"] * 200, "concurrency": 10},
    "1,800 good, 200 killers, ten at a time (1, 0)": {"bodies": ["ok"] * 1_800 + ["kills"] * 200, "immediate": 1, "concurrency": 10},
    "1,800 good, 200 killers, ten at a time (5, 3)": {"bodies": ["ok"] * 1_800 + ["kills"] * 200, "immediate": 5, "delayed": 3, "concurrency": 10},
}  # fmt: skip
"""Large batches, and a queue in which killers keep arriving."""

GRANTING: Mapping[str, Any] = {"bodies": ["fails"] * 20, "immediate": 2, "granted": 7, "delayed": 1}
"""Messages whose policy grants them more immediate retries than `maxReceiveCount` has receives."""

OVERLAPPING: Mapping[str, Any] = {
    "bodies": ["too long"] + ["ok"] * 9, "concurrency": 10, "visibility": 30, "window": 20,
}  # fmt: skip
"""A batch that waits for so long that its visibility timeout ends while it runs, and another begins beside it."""
