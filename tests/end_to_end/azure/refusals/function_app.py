"""A queue with sessions whose delayed retries keep their order, and a batch whose policy names a queue that does not exist for one message."""

from __future__ import annotations

import sys
from datetime import timedelta

import azure.functions as func

from recoverable import (
    Action,
    Delayed,
    ErrorContext,
    Failed,
    Immediate,
    Message,
    MoveToError,
    Recoverability,
    default_policy,
)
from recoverable.azure import ServiceBusEndpoint

IN_ORDER = Recoverability(Immediate(1), Delayed(1, timedelta(seconds=1)), Failed("error"))


def handle(message: Message) -> None:
    """Say that it runs, and fail unless the message is good."""
    sys.stdout.write(f"RUN {message.text} {message.round}.{message.attempt}\n")
    if not message.text.startswith("good"):
        raise ValueError(message.text)


def policy(settings: Recoverability, context: ErrorContext) -> Action:
    """Name a queue that does not exist for one message."""
    return MoveToError("missing") if context.message.text == "refused" else default_policy(settings, context)


GIVES_UP = Recoverability(Immediate(0), Delayed(0), Failed("error"), policy=policy)

app = func.FunctionApp()
for endpoint in (
    ServiceBusEndpoint(
        handle, IN_ORDER, queue="sessions", connection="ServiceBus", name="in_order", sessions="ordered"
    ),
    ServiceBusEndpoint(
        handle,
        GIVES_UP,
        queue="batches",
        connection="ServiceBus",
        name="in_batches",
        batch=True,
        lock=timedelta(minutes=1),
    ),
):
    app.register_functions(endpoint.blueprint())
