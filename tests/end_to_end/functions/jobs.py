"""A function whose messages say what it does: ends well, kills its process, sleeps, or computes without end."""

from __future__ import annotations

import os
import time
from datetime import timedelta

from recoverable import Delayed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint


def work(message: Message) -> None:
    print(f"\nRUN {message.text} {message.round}.{message.attempt}", flush=True)  # noqa: T201  # the test reads the function's log, in which the runtime client leaves tracebacks without a line's end
    match message.text:
        case "kill":
            os._exit(1)
        case "sleep":
            time.sleep(60)
        case "compute":
            sum(range(10**12))  # one long step inside C, which no signal interrupts
        case _:
            assert message.context.get_remaining_time_in_millis() > 0  # the runtime client's own


ladder = Recoverability(Immediate(1), Delayed(1, timedelta(seconds=1)))
handler = SqsEndpoint(work, ladder, settle_within=timedelta(seconds=6))
