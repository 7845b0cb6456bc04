"""Events that are none of one queue, and records that repeat each other or claim absurd dates."""

from __future__ import annotations

from typing import Any

import pytest

from aws.harness import ladder
from aws.recording_client import RecordingClient
from aws.records import ARN, event, record
from aws.shapes import ID
from builders import Clock
from recoverable import Message
from recoverable.aws import SqsEndpoint

HOUR_LATER = "2026-03-14 16:09:26:535897 Z"
A_YEAR_AND_MORE = "2027-03-14 15:09:26:535898 Z"


class Seen:
    """A handler that remembers the broker's handles, and fails for those named."""

    def __init__(self, *fails: str) -> None:
        self.handles: list[str] = []
        self._fails = fails

    def __call__(self, message: Message) -> None:
        self.handles.append(message.native["receiptHandle"])
        if self.handles[-1] in self._fails:
            raise ValueError(message.id)


@pytest.mark.parametrize(
    "no_event",
    [
        {},
        {"Records": []},
        {"key1": "value1"},
        event(record(), record(arn=ARN + "-too")),
        event(record(), {"s3": {"bucket": "b"}}),
    ],
)
def test_an_event_that_is_none_of_one_queue_ends_the_invocation_before_any_handler_or_call(
    no_event: dict[str, Any],
) -> None:
    client, handler = RecordingClient(), Seen()
    endpoint = SqsEndpoint(handler, ladder("error"), client=client.as_client())

    with pytest.raises(ValueError, match="no SQS event"):
        endpoint(no_event, None)

    assert (handler.handles, client.sent, client.deleted) == ([], [], [])


def test_a_message_that_comes_twice_in_one_batch_comes_back_when_one_of_the_two_does() -> None:
    twice = [{**record(), "receiptHandle": handle} for handle in ("first", "second")]
    handler, client = Seen("second"), RecordingClient()

    answer = SqsEndpoint(handler, ladder("error", immediate=1), client=client.as_client())(event(*twice), None)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "native-1"}]}
    assert handler.handles == ["first", "second"]


def test_a_message_that_comes_twice_in_one_batch_is_copied_only_for_the_delivery_that_failed() -> None:
    twice = [{**record(), "receiptHandle": handle} for handle in ("first", "second")]
    client = RecordingClient()

    answer = SqsEndpoint(Seen("second"), ladder("error"), client=client.as_client())(event(*twice), None)

    assert (answer, len(client.sent), client.deleted) == ({"batchItemFailures": []}, 1, ["second"])


def test_records_that_claim_to_be_the_same_message_are_each_settled_by_themselves() -> None:
    batch = [record(message_id=f"native-{number}", headers={ID: "same"}) for number in range(3)]
    client = RecordingClient()
    endpoint = SqsEndpoint(Seen("handle-of-native-1"), ladder("error", immediate=1), client=client.as_client())

    assert endpoint(event(*batch), None) == {"batchItemFailures": [{"itemIdentifier": "native-1"}]}


def test_a_message_that_claims_the_id_of_its_neighbour_does_not_complete_it() -> None:
    batch = [record(message_id="native-1", headers={ID: "native-2"}), record(message_id="native-2")]
    client = RecordingClient()
    endpoint = SqsEndpoint(Seen("handle-of-native-2"), ladder("error", immediate=1), client=client.as_client())

    assert endpoint(event(*batch), None) == {"batchItemFailures": [{"itemIdentifier": "native-2"}]}


@pytest.mark.parametrize(
    "due",
    [
        "9999-12-31 23:59:59:999999 Z",
        A_YEAR_AND_MORE,
        "2026-03-14 15:09:26:535897 Z",
        "0001-01-01 00:00:00:000000 Z",
        "tomorrow",
    ],
)
def test_a_message_due_in_the_past_or_beyond_any_delay_is_due_now(due: str) -> None:
    client, handler = RecordingClient(), Seen()
    endpoint = SqsEndpoint(handler, ladder("error"), client=client.as_client(), clock=Clock())

    answer = endpoint(event(record(headers={"Recoverable.DueAt": due})), None)

    assert (answer, handler.handles, client.sent) == ({"batchItemFailures": []}, ["handle-of-native-1"], [])


def test_a_message_that_is_not_yet_due_waits_as_long_as_sqs_can_and_keeps_its_date() -> None:
    client, handler = RecordingClient(), Seen()
    endpoint = SqsEndpoint(handler, ladder("error"), client=client.as_client(), clock=Clock())

    endpoint(event(record(headers={"Recoverable.DueAt": HOUR_LATER, "NServiceBus.FLRetries": "2"})), None)

    (copy,) = client.sent
    assert (handler.handles, copy["DelaySeconds"]) == ([], 900)
    assert f'"Recoverable.DueAt": "{HOUR_LATER}"' in str(copy)
    assert '"NServiceBus.FLRetries": "2"' in str(copy)


@pytest.mark.parametrize("moment", ["9999-12-31 23:59:59:999999 Z", "0001-01-01 00:00:00:000000 Z"])
@pytest.mark.parametrize(
    "name", ["NServiceBus.Retries.Timestamp", "Recoverable.FirstDelayedRetry", "Recoverable.HeldSince"]
)
def test_absurd_dates_of_retries_and_deferrals_break_nothing(name: str, moment: str) -> None:
    client = RecordingClient()
    settings = ladder("error", delayed=2, delay=10)
    endpoint = SqsEndpoint(Seen("handle-of-native-1"), settings, client=client.as_client(), clock=Clock())

    answer = endpoint(event(record(headers={name: moment, "NServiceBus.Retries": "1"})), None)

    assert (answer, len(client.sent), client.deleted) == ({"batchItemFailures": []}, 1, ["handle-of-native-1"])
