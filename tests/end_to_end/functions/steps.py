"""A function that notes the order of the steps it gets, and fails for those that say so."""

from __future__ import annotations

from datetime import timedelta

from recoverable import Delayed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint


def step(message: Message) -> None:
    print(f"\nRUN {message.group_id} {message.text} {message.round}.{message.attempt}", flush=True)  # noqa: T201  # the test reads the function's log, in which the runtime client leaves tracebacks without a line's end
    if message.text.startswith("bad"):
        raise ValueError(message.text)


ladder = Recoverability(Immediate(1), Delayed(1, timedelta(seconds=1)))
# SQS is slow where others use the machine, and so there is time to settle.
handler = SqsEndpoint(step, ladder, settle_within=timedelta(seconds=12))
