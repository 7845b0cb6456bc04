"""When copies become due while the rate is limited, and what they then ask for."""

from __future__ import annotations

from datetime import timedelta

from aws.harness import Mapping, ladder, sqs_endpoint
from aws.recording_client import RecordingClient
from aws.records import event, record
from builders import NOW, Clock, seconds
from recoverable import Message, RateLimit
from recoverable._rate_limit.state import EPOCH, Open
from recoverable._rate_limit.store import MemoryCircuit
from recoverable.aws import SqsEndpoint
from servers.queues import HEADERS, Queue

AN_HOUR_OF_OUTAGE = Open(NOW - timedelta(hours=1), NOW + seconds(20))
IS_DUE = '{"Recoverable.DueAt": "2026-03-14 15:00:00:000000 Z"}'


def test_a_copy_that_is_due_is_the_probe_and_ends_the_limit(orders: Queue, error: Queue) -> None:
    runs: list[str] = []
    clock = Clock()

    def bank(message: Message) -> None:
        runs.append(message.text)
        if message.text == "bad":
            raise ConnectionError("no answer")

    settings = ladder(error, immediate=1).__replace__(rate_limit=RateLimit(1, wait=seconds(60)))
    mapping = Mapping(orders, sqs_endpoint(bank, settings, clock=clock))
    orders.send("bad")
    mapping.poll()
    clock.advance(seconds(61))
    orders.send("due", attributes={HEADERS: {"DataType": "String", "StringValue": IS_DUE}})

    mapping.poll()

    assert runs == ["bad", "due"]


def test_what_is_deferred_together_becomes_due_on_a_grid() -> None:
    circuit, client = MemoryCircuit(), RecordingClient()
    circuit.compare_and_set(circuit.read(), AN_HOUR_OF_OUTAGE)
    settings = ladder("error").__replace__(rate_limit=RateLimit(1, store=circuit))
    endpoint = SqsEndpoint(lambda _message: None, settings, client=client.as_client(), clock=Clock())
    endpoint(event(*(record(message_id=f"native-{number}", deliveries=2) for number in range(30))), None)
    dues = [NOW + seconds(copy["DelaySeconds"]) - EPOCH for copy in client.sent]

    assert {due % seconds(10) < seconds(1) for due in dues} == {True}
    assert len(set(dues)) > 1
