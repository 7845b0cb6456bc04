"""Run `make fuzz`: a coverage-guided search over records, headers and wrapped bodies; it ends at the first input that breaks a promise."""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any

atheris: Any = import_module("atheris")  # not among the requirements: the target installs it where it runs

with atheris.instrument_imports(include=["recoverable"]):
    from proof.fuzz_inputs import Record, Source, records
    from recoverable import Delayed, Failed, Immediate, Message, Recoverability
    from recoverable.aws import SqsEndpoint
    from recoverable_local.testing.aws.broker.checks import check_batch_size, check_entry
    from recoverable_local.testing.aws.broker.queues import Settings
    from recoverable_local.testing.aws.broker.refusals import Refusal

ROUNDS = 2
"""Number of times that the copies of an input are handled."""


class Client:
    """Stands in for SQS: refuses what SQS refuses, and confirms what the input says."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.meta = SimpleNamespace(endpoint_url="http://127.0.0.1:1")
        self.sent: list[tuple[str, Record]] = []
        self.deleted: list[str] = []
        self.refused: Refusal | None = None

    def send_message_batch(self, QueueUrl: str, Entries: list[Record]) -> Any:  # noqa: N803  # boto3's names
        queue = QueueUrl.rpartition("/")[2]
        self._check(Entries, Settings(name=queue))
        taken = [entry for entry in Entries if self._source.chance()]
        self.sent += [(queue, entry) for entry in taken]
        return confirmed(taken)

    def delete_message_batch(self, QueueUrl: str, Entries: list[Record]) -> Any:  # noqa: N803
        self.deleted += [entry["ReceiptHandle"] for entry in Entries]
        return confirmed(Entries)

    def change_message_visibility_batch(self, QueueUrl: str, Entries: list[Record]) -> Any:  # noqa: N803
        return confirmed(Entries)

    def _check(self, entries: list[Record], queue: Settings) -> None:
        try:
            check_batch_size(entries)
            for entry in entries:
                check_entry(entry, queue)
        except Refusal as refusal:
            self.refused = refusal
            raise


class Watch(logging.Handler):
    """Fails when the log says that no copy can be made: the message would come back until the redrive policy takes it."""

    def emit(self, record: logging.LogRecord) -> None:
        assert "can be made" not in record.getMessage(), record.getMessage()


def confirmed(entries: list[Record]) -> Any:
    """Return SQS's answer that confirms all entries."""
    return {"Successful": [{"Id": entry["Id"]} for entry in entries]}


class Handler:
    """Reads all of a message, and fails when the input says so."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.succeeded: list[str] = []

    def __call__(self, message: Message) -> None:
        assert message.attempt >= 1, message
        assert message.round >= 0, message
        said = (message.text, dict(message.headers), message.sent_at)
        if self._source.chance():
            raise ValueError(said)
        self.succeeded.append(message.native["receiptHandle"])


def one_input(data: bytes) -> None:
    """Handle a batch, and then the copies that were made of it."""
    source = Source(atheris.FuzzedDataProvider(data))
    ladder = Recoverability(Immediate(source.number(2)), Delayed(source.number(2)), Failed("errors"))
    counter: Any = "header" if source.chance() else "native"
    batch = records(source)
    for _ in range(ROUNDS):
        client = handle(batch, ladder, counter, source)
        batch = [as_record(entry, n) for n, (queue, entry) in enumerate(client.sent) if queue == "jobs"]
        if not batch:
            break


def handle(batch: list[Record], ladder: Recoverability, counter: Any, source: Source) -> Client:
    """Run one invocation, and check that each record was processed, copied, or reported."""
    client, handler = Client(source), Handler(source)
    endpoint = SqsEndpoint(handler, ladder, client=client, counter=counter)  # type: ignore[arg-type]  # as far as it is used
    answer = endpoint({"Records": batch})
    assert client.refused is None, client.refused.message
    reported = {failure["itemIdentifier"].replace("id", "receipt") for failure in answer["batchItemFailures"]}
    copied = set(client.deleted) - set(handler.succeeded)
    ends = sorted([*reported, *copied, *handler.succeeded])
    assert ends == sorted(one["receiptHandle"] for one in batch), ends
    assert len(copied) <= len(client.sent), (copied, client.sent)
    return client


def as_record(entry: Record, number: int) -> Record:
    """Return a copy as the record that Lambda gets."""
    return {
        "messageId": f"id-{number}",
        "receiptHandle": f"receipt-{number}",
        "body": entry["MessageBody"],
        "attributes": {"ApproximateReceiveCount": "1"},
        "messageAttributes": {name: received(value) for name, value in entry["MessageAttributes"].items()},
        "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:jobs",
    }


def received(value: Record) -> Record:
    """Return an attribute in Lambda's spelling; the bytes in these inputs are always the same."""
    if "BinaryValue" in value:
        return {"dataType": value["DataType"], "binaryValue": "eA=="}
    return {"dataType": value["DataType"], "stringValue": value["StringValue"]}


if __name__ == "__main__":
    logging.getLogger("recoverable").setLevel(logging.CRITICAL)
    logging.getLogger("recoverable.settlement").setLevel(logging.WARNING)
    logging.getLogger("recoverable.settlement").addHandler(Watch())
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
