"""The crowds of message groups whose delays were once skipped, or in which a killer once took other groups along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proof.fifo.crowd import Outage

HOUR = 3_600.0
TEN_GROUPS = [["kills"], *([["ok"]] * 9)]

CASES: Mapping[str, Mapping[str, Any]] = {
    "a visibility change refused once (0, 1), 1 h": {"groups": [["fails"]], "delayed": 1, "delay": HOUR, "refused": (1,)},
    "a visibility change refused twice (0, 1), 1 h": {"groups": [["fails"]], "delayed": 1, "delay": HOUR, "refused": (1, 2)},
    "three minutes without an invocation (0, 2), 1 h": {
        "groups": [["fails"]], "delayed": 2, "delay": HOUR, "outages": (Outage(HOUR, 190.0),),
    },
    "a killer alone (0, 3), 1 h": {"groups": [["kills"]], "delayed": 3, "delay": HOUR},
    "a killer alone (5, 3), 1 h": {"groups": [["kills"]], "immediate": 5, "delayed": 3, "delay": HOUR},
    "a killer, nine good, batches of ten (5, 3), 10 s": {
        "groups": TEN_GROUPS, "immediate": 5, "delayed": 3, "batch_size": 10,
    },
    "a killer, nine good, batches of ten (0, 3), 1 h": {
        "groups": TEN_GROUPS, "delayed": 3, "delay": HOUR, "batch_size": 10,
    },
    "a killer, nine good, batches of ten (0, 0)": {"groups": TEN_GROUPS, "batch_size": 10},
    "three killers, seven good, batches of ten (1, 1), 1 h": {
        "groups": [["kills"]] * 3 + [["ok"]] * 7, "immediate": 1, "delayed": 1, "delay": HOUR, "batch_size": 10,
    },
}  # fmt: skip
"""In brackets immediate and delayed retries, then the first delay."""
