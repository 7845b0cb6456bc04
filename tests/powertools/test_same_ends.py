"""One batch behind the processor ends as it does behind the endpoint: the same runs, copies, deletions and response."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from aws.harness import NearTheEnd, ladder
from aws.recording_client import RecordingClient
from aws.records import Record, event, record
from builders import NOW, Clock, seconds, written
from powertools.entry_points import ENDPOINT, PROCESSOR, Context, Shop, function
from servers.queues import HEADERS

INFO = "NServiceBus.ExceptionInfo."
VARIES = (f"{INFO}StackTrace", f"{INFO}Data.Handler start time", f"{INFO}Data.Handler failure time")


class End(NamedTuple):
    """The result of one invocation: the response or the exit status, the copies, the deletions, the runs."""

    answer: Any
    copies: list[dict[str, Any]]
    deleted: list[str]
    runs: list[tuple[str, int, int]]


def end(entry_point: str, context: Any, *records: Record, **settings: Any) -> End:
    """Invoke a function of that entry point: one immediate retry, one delayed retry of 10 s."""
    shop, client = Shop(), RecordingClient()
    recoverability = ladder("error", immediate=1, delayed=1, delay=10)
    handler = function(entry_point, shop, recoverability, client=client.as_client(), clock=Clock(), **settings)
    try:
        answer = handler(event(*records), context)
    except SystemExit as exit_:
        answer = exit_.code
    return End(answer, [copy(entry) for entry in client.sent], client.deleted, shop.runs)


def copy(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the headers and the delay of a copy, without what differs between endpoint and processor: where the handler stands, and its times."""
    headers = json.loads(entry["MessageAttributes"][HEADERS]["StringValue"])
    return {
        **{name: text for name, text in headers.items() if name not in VARIES},
        "delay": entry["DelaySeconds"],
        "body": entry["MessageBody"],
    }


def again(body: str, number: int, deliveries: int = 2) -> Record:
    """Return a record that was delivered before."""
    return record(body, message_id=f"native-{number}", deliveries=deliveries)


NOT_YET_DUE = record("passes", headers={"Recoverable.DueAt": written(NOW + timedelta(hours=1))})
SECOND_ROUND = record("fails", deliveries=2, headers={"NServiceBus.Retries": "1"})
BATCHES: dict[str, tuple[Any, list[Record]]] = {
    "fresh and again": (Context(), [record("fails"), again("fails", 2), again("passes", 3)]),
    "not yet due": (Context(), [NOT_YET_DUE]),
    "without a recorded outcome": (Context(), [again("passes", 2, deliveries=5), record("passes")]),
    "in the second round": (Context(), [SECOND_ROUND]),
    "no time left": (Context(0.0), [record("passes"), record("fails", message_id="native-2")]),
    "exits": (Context(), [record("exits"), again("passes", 2)]),
    "no context": (None, [record("fails", deliveries=2)]),
}


@pytest.mark.parametrize("batch", BATCHES)
def test_a_batch_ends_as_it_does_behind_the_endpoint(batch: str) -> None:
    context, records = BATCHES[batch]

    assert end(PROCESSOR, context, *records) == end(ENDPOINT, context, *records)


def test_a_copy_that_is_not_yet_due_goes_on_waiting_and_its_handler_does_not_run() -> None:
    ended = end(PROCESSOR, Context(), NOT_YET_DUE)

    assert (ended.runs, [copy["delay"] for copy in ended.copies]) == ([], [900])


def test_a_message_without_a_recorded_outcome_takes_its_next_round_and_its_handler_does_not_run() -> None:
    ended = end(PROCESSOR, Context(), again("passes", 2, deliveries=5))

    assert (ended.runs, [copy["NServiceBus.Retries"] for copy in ended.copies]) == ([], ["1"])


def test_an_exit_is_a_failed_attempt_and_goes_on_after_settling() -> None:
    ended = end(PROCESSOR, Context(), record("exits", deliveries=2))

    assert (ended.answer, [copy["NServiceBus.Retries"] for copy in ended.copies]) == (3, ["1"])


def test_a_handler_that_runs_longer_than_it_may_is_stopped_and_has_failed() -> None:
    hangs, limit = record("hangs", deliveries=2), {"handler_timeout": seconds(0.05)}

    ended = end(PROCESSOR, Context(), hangs, **limit)

    assert [copy["NServiceBus.Retries"] for copy in ended.copies] == ["1"]
    assert ended == end(ENDPOINT, Context(), hangs, **limit)


def test_what_the_invocation_has_no_time_to_finish_is_handed_back_and_was_no_attempt() -> None:
    batch = record("passes"), record("hangs", message_id="native-2")

    ended = end(PROCESSOR, NearTheEnd(), *batch)

    assert [(copy["body"], copy["delay"]) for copy in ended.copies] == [("hangs", 0)]
    assert ended == end(ENDPOINT, NearTheEnd(), *batch)
