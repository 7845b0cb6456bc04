"""An app whose messages say what it does: ends well, kills its process, or sleeps."""

from __future__ import annotations

import os
import sys
import time
from datetime import timedelta

import azure.functions as func

from recoverable import Delayed, Immediate, Message, Recoverability
from recoverable.azure import ServiceBusEndpoint

app = func.FunctionApp()


def work(message: Message) -> None:
    sys.stdout.write(f"RUN {message.text} {message.round}.{message.attempt}\n")
    match message.text:
        case "kill at once":
            os._exit(1)
        case "kill":
            time.sleep(0.5)  # what dies at once lets those that come with it not even begin
            os._exit(1)
        case "sleep":
            time.sleep(3600)
        case _:
            assert message.context.function_name == "work"  # the worker's own


ladder = Recoverability(Immediate(1), Delayed(1, timedelta(seconds=1)))
app.register_functions(ServiceBusEndpoint(work, ladder, queue="jobs", connection="ServiceBus").blueprint())
