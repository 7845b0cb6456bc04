"""The page about writing an extension: its example is one that is not ours, and does what the page says."""

from __future__ import annotations

from typing import Any

import pytest

from builders import Boom
from docs.pages import blocks, page
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.hosting import Batch, Extension, Part
from recoverable_local.testing import SqsWorld

PAGE = "internals/extensions.md"


def audit() -> Any:
    """Return the page's extension."""
    names: dict[str, Any] = {}
    (code,) = blocks(PAGE, "python")
    exec(compile(code, PAGE, "exec"), names)  # our own page
    return names["Audit"]("audit")


@pytest.mark.parametrize("batch_size", [1, 10])
def test_each_message_that_was_handled_is_audited_and_no_other(sqs_world: SqsWorld, batch_size: int) -> None:
    def handle(message: Message) -> None:
        if message.text == "2":
            raise Boom

    ladder = Recoverability(Immediate(0), Delayed(0), Failed("error"))
    sqs_world.create_queue("audit")
    sqs_world.serve("orders", SqsEndpoint(handle, ladder, extensions=(audit(),)), batch_size=batch_size)
    sent = [sqs_world.send("orders", str(number)) for number in range(25)]
    sqs_world.run()

    audited = [seen.json()["id"] for seen in sqs_world.queue("audit")]
    assert sorted(audited) == sorted(each for n, each in enumerate(sent) if n != 2)
    assert [seen.body for seen in sqs_world.queue("error")] == ["2"]


@pytest.mark.parametrize("base", [Extension, Part])
def test_the_page_names_each_method(base: type) -> None:
    methods = {name for name in vars(base) if not name.startswith("_")}

    assert methods == {name for name in methods if f"| `{name}" in page(PAGE)}


def test_what_the_page_says_of_a_batch_is_there() -> None:
    assert {"queue", "clock", "redact", "client_for", "messages", "time_left", "change_visibility"} <= set(
        Batch._fields
    )
