"""What waits to be sent never takes more than half of the time kept for settling: else it leaves before the next handler starts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aws.harness import Context
from aws.recording_client import RecordingClient
from aws.records import event, record
from builders import recoverability, seconds
from recoverable import Message
from recoverable.aws import SqsEndpoint
from servers.queues import HEADERS

CALL = 0.05
"""Seconds of a call to SQS."""


class Invocation(RecordingClient):
    """An invocation whose time handlers and calls use up, and SQS.

    Args:
        handler_takes: seconds.
        each_sends: messages of each handler, ten of which take a call.
    """

    def __init__(self, *, handler_takes: float, each_sends: int) -> None:
        super().__init__()
        self.context, self._takes_seconds, self._each_sends = Context(30), handler_takes, each_sends
        self.story: list[str] = []

    def handle(self, message: Message) -> None:
        self.story.append("run")
        self.context.seconds -= self._takes_seconds
        for number in range(self._each_sends):
            message.send("invoices", f"{message.text}/{number}")

    async def handle_async(self, message: Message) -> None:
        self.handle(message)
        await asyncio.sleep(0)

    def send_message_batch(self, **call: Any) -> dict[str, Any]:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        self.context.seconds -= CALL
        self.story.append("send")
        return super().send_message_batch(**call)

    def invoke(self, handler: Callable[[Message], Awaitable[None] | None], messages: int, **settings: Any) -> int:
        """Invoke the endpoint with so many messages; return how many are reported."""
        parts = {"client": self.as_client(), "settle_within": seconds(4), "visibility_timeout": seconds(0), **settings}
        records = [record(str(number), message_id=str(number)) for number in range(messages)]
        return len(SqsEndpoint(handler, recoverability(), **parts)(event(*records), self.context)["batchItemFailures"])

    @property
    def invoices(self) -> dict[str, int]:
        """Return how many messages left, by the text of the incoming one."""
        texts = [each["MessageBody"].partition("/")[0] for each in self.sent if "/" in each["MessageBody"]]
        return {text: texts.count(text) for text in texts}

    @property
    def handed_back(self) -> int:
        """Return how many messages were handed back by a copy."""
        return sum("Recoverable.HeldSince" in each["MessageAttributes"][HEADERS]["StringValue"] for each in self.sent)


def test_no_handler_runs_in_vain_because_no_time_is_left_for_what_it_sent() -> None:
    invocation = Invocation(handler_takes=2.5, each_sends=100)

    reported = invocation.invoke(invocation.handle, messages=10)

    ran = invocation.story.count("run")
    assert (invocation.invoices, reported) == ({str(number): 100 for number in range(ran)}, 0)
    assert (ran, invocation.handed_back) == (9, 1)


@pytest.mark.parametrize(
    ("each_sends", "story"),
    [
        (10, "run run run run send send send send"),  # ten calls would fit twice over
        (210, "run run " + "send " * 42 + "run run " + "send " * 42),
        (410, ("run " + "send " * 41) * 4),
    ],
    ids=["what fits", "what does not", "what one alone sends"],
)
def test_a_group_is_sent_early_only_where_what_waits_would_not_fit(each_sends: int, story: str) -> None:
    invocation = Invocation(handler_takes=0.1, each_sends=each_sends)

    invocation.invoke(invocation.handle, messages=4)

    assert invocation.story == story.split()


def test_coroutines_start_no_more_of_their_group_until_what_waits_is_sent_outside_of_the_loop() -> None:
    invocation = Invocation(handler_takes=0.1, each_sends=210)

    reported = invocation.invoke(invocation.handle_async, messages=6, concurrency=2)

    assert (invocation.invoices, reported) == ({str(number): 210 for number in range(6)}, 0)
    assert invocation.story == [*["run"] * 2, *["send"] * 42] * 3
