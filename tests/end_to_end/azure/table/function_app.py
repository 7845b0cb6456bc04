"""An app with a queue and a function for each row of the table of attempts; what it handles always fails."""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta

import azure.functions as func

from recoverable import Delayed, Immediate, Message, Recoverability
from recoverable.azure import ServiceBusEndpoint

app = func.FunctionApp()


def fail(message: Message) -> None:
    sys.stdout.write(f"RUN {message.queue} {message.text} {message.round}.{message.attempt}\n")
    raise ValueError("always")


for immediate, delayed in json.loads(os.environ["TABLE"]):
    ladder = Recoverability(Immediate(immediate), Delayed(delayed, timedelta(seconds=0.2)))
    row = f"orders-{immediate}-{delayed}"
    app.register_functions(ServiceBusEndpoint(fail, ladder, queue=row, connection="ServiceBus", name=row).blueprint())
