"""Run one invocation of a function and settle its messages, as the Service Bus extension does."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, assert_never
from uuid import uuid4

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusReceiver

from recoverable.headers import MESSAGE_ID
from recoverable_local.decisions import FactsFile
from recoverable_local.functions_host.app.triggers import Trigger
from recoverable_local.functions_host.extension.link import Link
from recoverable_local.functions_host.extension.metadata import batch_metadata, body_of, data_of, message_metadata
from recoverable_local.functions_host.extension.outputs import Outputs
from recoverable_local.functions_host.journal import Delivered, Ended, Invoked, Journal, Settled, Trouble
from recoverable_local.functions_host.worker.outcomes import Outcome, Raised, Returned
from recoverable_local.functions_host.worker.rpc import to_metadata, to_rpc
from recoverable_local.functions_host.worker.workers import Workers
from recoverable_local.outcomes import Died, TimedOut
from recoverable_operate.errors import id_text

Messages = Sequence[ServiceBusReceivedMessage]
Settle = Callable[[ServiceBusReceiver, ServiceBusReceivedMessage], Awaitable[None]]

_SETTLING: Mapping[Settled, tuple[str, Settle]] = {
    "completed": ("complete", ServiceBusReceiver.complete_message),
    "abandoned": ("abandon", ServiceBusReceiver.abandon_message),
}


@dataclass(frozen=True, slots=True)
class Invocations:
    """The invocations of one function.

    Args:
        trigger: The function's trigger.
        workers: The worker process that runs it.
        journal: Records the start and the end of each invocation.
        facts: The file with the decisions of the endpoints.
        auto_complete: True if a message is completed when the function returned.
        outputs: Sends what the function gave to its output bindings.
    """

    trigger: Trigger
    workers: Workers
    journal: Journal
    facts: FactsFile
    auto_complete: bool
    outputs: Outputs

    async def run(self, link: Link, messages: Messages) -> None:
        """Run the function on messages, and settle them.

        When it returned, they are completed if `auto_complete` is set. After every other outcome they are abandoned, also without it.
        """
        id_, begun = str(uuid4()), time.monotonic()
        name, delivered = self.trigger.function, tuple(map(_delivered, messages))
        self.journal(Invoked(name, id_, delivered))
        outcome = await self._outcome(messages, id_)
        duration = timedelta(seconds=time.monotonic() - begun)
        settled, left = await self._settle(link, messages, outcome)
        self.facts.pass_on(self.journal)
        self.facts.ends_of(id_)
        self.journal(Ended(name, id_, delivered, duration, outcome, settled, left))

    async def _outcome(self, messages: Messages, id_: str) -> Outcome:
        try:
            data, metadata = self._trigger_input(messages)
            as_sent = to_rpc(data), to_metadata(metadata)
        except Exception as error:  # noqa: BLE001  # wire data is hostile, and one message must not stop the rest
            return Raised(f"the message cannot be passed to the function: {error}")
        outcome = await self.workers.invoke(self.trigger.function, *as_sent, id=id_)
        return await self._with_outputs(outcome) if isinstance(outcome, Returned) else outcome

    async def _with_outputs(self, returned: Returned) -> Outcome:
        try:
            await self.outputs.send(returned.outputs)
        except Exception as error:  # noqa: BLE001  # whatever the SDK raises, the host fails the invocation
            return Raised(f"an output binding failed: {type(error).__name__}: {error}")
        return returned

    def _trigger_input(self, messages: Messages) -> tuple[object, dict[str, Any]]:
        if self.trigger.many:
            bodies = [body_of(message) for message in messages]
            given: object = bodies if self.trigger.binary else [body.decode() for body in bodies]
            return given, batch_metadata(messages)
        text = not self.trigger.binary
        return data_of(messages[0], text=text), message_metadata(messages[0], text=text)

    async def _settle(self, link: Link, messages: Messages, outcome: Outcome) -> tuple[Settled, tuple[int, ...]]:
        match outcome:
            case Returned() if not self.auto_complete:
                return "left", ()
            case Returned():
                return await self._settle_each(link, messages, "completed")
            case Raised() | TimedOut() | Died():
                return await self._settle_each(link, messages, "abandoned")
            case _:
                assert_never(outcome)

    async def _settle_each(self, link: Link, messages: Messages, settled: Settled) -> tuple[Settled, tuple[int, ...]]:
        left = [each for each in messages if not await self._settle_one(link, each, *_SETTLING[settled])]
        numbers = tuple(each.sequence_number or 0 for each in left)
        return ("left", ()) if len(left) == len(messages) else (settled, numbers)

    async def _settle_one(self, link: Link, message: ServiceBusReceivedMessage, verb: str, settle: Settle) -> bool:
        try:
            await link.run(lambda receiver: settle(receiver, message))
        except Exception as error:  # noqa: BLE001  # whatever the SDK raises, the host continues
            then = "the message comes back when its lock ends"
            self.journal(Trouble(f"to {verb} a message", f"{type(error).__name__}: {error}", then))
            return False
        return True


def _delivered(message: ServiceBusReceivedMessage) -> Delivered:
    count, properties = (message.delivery_count or 0) + 1, message.application_properties or {}
    named = properties.get(MESSAGE_ID.encode()) or message.message_id
    return Delivered(id_text(named) or "", message.sequence_number or 0, count)
