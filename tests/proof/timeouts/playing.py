"""Play a schedule: all of it is drawn from the kind's name and a number, so that it can be played again."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from unittest.mock import patch

from builders import seconds
from proof.timeouts.cast import Cast
from proof.timeouts.history import History
from proof.timeouts.kinds import Kind
from proof.timeouts.promises import Judge
from proof.timeouts.services import QUEUES, URL, Stores
from proof.timeouts.setting import CORRELATION, Planned, Setting
from proof.timeouts.stage import Stage
from proof.timeouts.table import Tables
from recoverable.timeouts._scheduling import unique_token
from recoverable.timeouts._timeout import new_id

START = datetime(2100, 1, 1, tzinfo=UTC)
DUE_IN = (0, 30, 60, 60, 90, 120, 150, 200, 240, 300, 400, 600, 900, 3000, -30, -300)
OVERDUE = (-300, -90, -61, -30, 0, 30)
FRACTIONS = (0, 0, 0.5, -0.000001)
LARGE = 1_000
"""Bytes of a row that has no room for more, so that a large message need not be large."""


@dataclass(frozen=True)
class Outcome:
    """The result of a schedule.

    Args:
        problems: the promises that were broken; each begins with the promise.
        copies: how many messages came more often than once, and how often.
        mishaps: how much went wrong for those who send.
        left: how many objects were left in the bucket.
        story: what happened.
    """

    problems: list[str]
    copies: int
    mishaps: int
    left: int
    story: list[str]


def play(kind: Kind, number: int, *, tables: Tables | None = None, told: bool = False) -> Outcome:
    """Play a schedule, and check its promises.

    Args:
        kind: its kind.
        number: which of these.
        tables: DynamoDB's; None for some in memory, of whose batches some may be left, and whose scans have small pages.
        told: whether its story is kept.
    """
    seed = f"{kind.name} {number}"
    draw = Random(f"odds {seed}")
    stage = Stage(seed, START, odds_of(draw), told=told)
    history = History(stage)
    planned = [message(draw, n) for n in range(draw.randint(1, 4))]
    stores = Stores(stage, kind.store, tables)
    cast = Cast(Setting(stage, kind, stores, history, planned))
    judge = Judge(kind, stage, history, cast, planned)
    stores.tables.watch = judge.watch(stores.tables)
    with quiet(), patch("recoverable.timeouts._dynamodb_store.MAX_ROW", LARGE):
        cast.enter()
        stage.run(seconds(draw.choice((130, 200, 300, 700))))
        stage.note("all is calm")
        cast.settle(judge.wanted(), max(each.due for each in planned) + seconds(300))
        stores.close()
    problems = judge.problems()
    return Outcome(problems, judge.copies, cast.mishaps.total(), len(stores.bucket.objects), stage.story)


def odds_of(draw: Random) -> Mapping[str, float]:
    """Draw how probable each mishap is at a call; in one schedule of five nothing goes wrong."""
    if draw.random() < 0.2:
        return {}
    odds = {
        "killed": draw.choice((0, 0.005, 0.02)),
        "refused": draw.choice((0, 0.01, 0.05)),
        "answer lost": draw.choice((0, 0.01, 0.05)),
        "made twice": draw.choice((0, 0, 0.05)),
        "stalled": draw.choice((0, 0, 0.01, 0.03)),
    }
    return {wrong: probable for wrong, probable in odds.items() if probable}


def message(draw: Random, number: int) -> Planned:
    """Draw a message: some are due already, some are large, and some are stored past what users call."""
    to = URL + draw.choice(QUEUES)
    key = str(number) if draw.random() < 0.5 else None
    due_in = draw.choice(DUE_IN if key or draw.random() < 0.5 else OVERDUE)
    due = START + seconds(due_in) + seconds(draw.choice(FRACTIONS))
    timeout_id = new_id(due, unique_token(to, key if key is not None else f"put {number}"), 1)
    body = f"{number} " + "x" * (LARGE if draw.random() < 0.3 else 0)
    correlation = CORRELATION if draw.random() < 0.4 else ""
    return Planned(number, timeout_id, to, due, body, key, correlation)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence what thousands of failures would log."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
