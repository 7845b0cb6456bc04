"""Check which messages are deleted and which come back, by the function's answer."""

from __future__ import annotations

from typing import Any

import pytest

from local.testing.hosts.aws.hosts import Serve

NAMES = ["a", "b"]
TOGETHER = {"batch_size": 2, "window": 1}


def failures(*identifiers: object) -> dict[str, Any]:
    """Return the answer that reports these."""
    return {"batchItemFailures": [{"itemIdentifier": one} for one in identifiers]}


ANSWERS: dict[str, tuple[object, list[str]]] = {
    "nothing": (None, []),
    "an empty object": ({}, []),
    "no failures": (failures(), []),
    "failures that are null": ({"batchItemFailures": None}, []),
    "another key": ({"failures": ["<a>"]}, []),
    "one failure": (failures("<a>"), ["a"]),
    "one failure twice": (failures("<a>", "<a>"), ["a"]),
    "all failures": (failures("<b>", "<a>"), NAMES),
    "an empty identifier": (failures("<a>", ""), NAMES),
    "an identifier that is null": (failures(None), NAMES),
    "an identifier that is a number": (failures(1), NAMES),
    "an identifier that is a list": (failures([]), NAMES),
    "an identifier of no message": (failures("<a>", "somebody else's"), NAMES),
    "an item with another key": ({"batchItemFailures": [{"messageId": "<a>"}]}, NAMES),
    "an item that is a text": ({"batchItemFailures": ["<a>"]}, NAMES),
    "failures that are an object": ({"batchItemFailures": {"itemIdentifier": "<a>"}}, NAMES),
    "failures that are a text": ({"batchItemFailures": ""}, NAMES),
    "a text": ("done", NAMES),
    "an empty text": ("", NAMES),
    "a list": ([], NAMES),
    "a number": (0, NAMES),
}

ODD_ANSWERS: dict[str, list[str]] = {
    "an object": NAMES,
    "bytes of JSON": [],
    "other bytes": NAMES,
    "a Decimal": [],
    "a set": NAMES,
}


def outcome(*came_back: str) -> list[tuple[str, int]]:
    """Return the deliveries when these messages come back once."""
    return sorted([("a", 1), ("b", 1), *((name, 2) for name in came_back)])


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_says_what_comes_back(serve: Serve, case: str) -> None:
    answer, came_back = ANSWERS[case]
    orders = serve(**TOGETHER)
    orders.send({"name": "a", "does": "answer", "answer": answer}, "b")
    orders.run()
    assert sorted(orders.received()) == outcome(*came_back)


@pytest.mark.parametrize("case", ODD_ANSWERS)
def test_an_answer_that_is_no_json_is_written_as_the_runtime_writes_it(serve: Serve, case: str) -> None:
    orders = serve(**TOGETHER)
    orders.send({"name": "a", "does": "answer oddly", "answer": case}, "b")
    orders.run()
    assert sorted(orders.received()) == outcome(*ODD_ANSWERS[case])


def test_without_partial_responses_the_answer_is_not_looked_at(serve: Serve) -> None:
    orders = serve(partial_responses=False)
    orders.send({"name": "a", "does": "fail"}, "b")
    orders.run()
    orders.send({"name": "c", "does": "answer", "answer": "nonsense"})
    orders.run()
    assert orders.received() == [("a", 1), ("b", 1), ("c", 1)]
