"""A function whose messages say what it does: ends well, kills its process, sleeps, or hangs in C code."""

from __future__ import annotations

import ctypes
import os
import time
from datetime import timedelta

from recoverable import Delayed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint

LIBC = ctypes.PyDLL(None)  # which keeps the interpreter's lock while it waits


def work(message: Message) -> None:
    print(f"\nRUN {message.text} {message.round}.{message.attempt}", flush=True)  # noqa: T201  # the test reads the function's log, in which the runtime client leaves tracebacks without a line's end
    match message.text.split()[-1]:
        case "kill":
            os._exit(1)
        case "sleep":
            time.sleep(60)
        case "hang":
            lock = ctypes.create_string_buffer(64)
            LIBC.pthread_mutex_lock(lock)
            LIBC.pthread_mutex_lock(lock)  # waits for itself: one long step inside C, which no signal interrupts
        case _:
            assert message.context.get_remaining_time_in_millis() > 0  # the runtime client's own


ladder = Recoverability(Immediate(0), Delayed(1, timedelta(seconds=1)))
handler = SqsEndpoint(work, ladder, settle_within=timedelta(seconds=float(os.environ["SETTLE_WITHIN"])))
