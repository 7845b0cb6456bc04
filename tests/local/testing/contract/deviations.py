"""List the known deviations of servers from AWS: behaviour × server, and what they do instead."""

from __future__ import annotations

import re
from collections.abc import Mapping

DEVIATIONS: Mapping[tuple[str, str], str] = {
    ("a delayed message of a fifo batch is refused alone", "moto"): "refuses the whole batch",
    ("one bad message of a batch is refused alone", "ministack"): "takes a delay of 901 s",
    ("one bad visibility timeout of a batch is refused alone", "ministack"): "takes more than 12 hours",
    ("a dead letter queue tells whose it is", "ministack"): "has no ListDeadLetterSourceQueues",
    ("a dead letter queue of the other kind is refused for one that is: standard", "moto"): "takes it",
    ("a dead letter queue of the other kind is refused for one that is: standard", "ministack"): "takes it",
    ("a dead letter queue of the other kind is refused for one that is: fifo", "moto"): "takes it",
    ("a dead letter queue of the other kind is refused for one that is: fifo", "ministack"): "takes it",
    ("a duplicate is taken for the message it repeats", "moto"): "gives the duplicate an id of its own",
    ("a duplicate is known after the deletion of the message", "moto"): "forgets it with the message",
    ("an expired receipt handle deletes nothing", "moto"): "deletes the message",
    ("an expired receipt handle deletes nothing", "ministack"): "deletes the message",
    ("a message is refused that has: eleven attributes", "moto"): "takes it",
    ("a message is refused that has: eleven attributes", "ministack"): "takes it",
    ("a message is refused that has: a delay of 901 s", "ministack"): "takes it",
    ("a message is refused that has: a negative delay", "moto"): "takes it",
    ("a message is refused that has: a negative delay", "ministack"): "takes it",
    ("a message is refused that has: no text", "moto"): "takes it",
    ("a message is refused that has: a NUL in the text", "moto"): "takes it",
    ("a message is refused that has: U+FFFE in the text", "moto"): "takes it",
    ("a message is refused that has: an attribute without a value", "moto"): "takes it",
    ("a message is refused that has: an attribute without a value", "ministack"): "takes it",
    ("a message is refused that has: an attribute of an unknown type", "ministack"): "takes it",
    ("a message is refused that has: an attribute in Amazon's name", "moto"): "takes it",
    ("a message is refused that has: an attribute in Amazon's name", "ministack"): "takes it",
    ("a message is refused that has: an attribute with a space in its name", "ministack"): "takes it",
    ("a message is refused that has: a number that is none", "moto"): "takes it",
    ("a message is refused that has: a number that is none", "ministack"): "takes it",
    ("a message is refused that has: text and attributes of more than 1 MiB", "moto"): "takes it",
    ("a message is refused that has: text and attributes of more than 1 MiB", "ministack"): "takes it",
    ("a message is refused that has: a deduplication id on a standard queue", "moto"): "takes it",
    ("a message is refused that has: a deduplication id on a standard queue", "ministack"): "takes it",
    ("a visibility timeout of more than 12 hours is refused", "ministack"): "takes it",
    ("12 hours count from the receive", "ministack"): "counts from the call",
    ("an old receipt handle changes what another has received since", "ministack"): "calls it ReceiptHandleIsInvalid",
    ("an expired receipt handle of a fifo queue hides nothing", "moto"): "hides the message",
    ("an expired receipt handle of a fifo queue hides nothing", "ministack"): "hides the message",
    ("the visibility of a deleted message cannot be changed", "moto"): "calls it ReceiptHandleIsInvalid",
    ("the visibility of a deleted message cannot be changed", "ministack"): "calls it ReceiptHandleIsInvalid",
}


def behaviour_of(test: str) -> str:
    """Return the behaviour that a test's name states, without the server: its sentence, and the case if it has cases."""
    name, _, parameters = test.removeprefix("test_").partition("[")
    case = re.sub(r"\b(SqsWorld|moto|ministack|given)\b-?|\]$", "", parameters).strip("-")
    sentence = name.replace("_", " ")
    return f"{sentence}: {case}" if case else sentence


def table() -> str:
    """Return the deviations as a Markdown table."""
    servers = sorted({server for _, server in DEVIATIONS})
    behaviours = list(dict.fromkeys(behaviour for behaviour, _ in DEVIATIONS))
    head = [["What SQS does", *servers], ["---"] * (len(servers) + 1)]
    body = [[name, *(DEVIATIONS.get((name, server), "the same") for server in servers)] for name in behaviours]
    return "\n".join(f"| {' | '.join(row)} |" for row in head + body)
