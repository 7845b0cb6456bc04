"""A Lambda function: its warm instances, and what an invocation of it comes to."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Literal

from recoverable.environment import Environment, current_environment
from recoverable_local.testing.aws.attempts import VirtualDeadline
from recoverable_local.testing.aws.broker.queues import Settings
from recoverable_local.testing.aws.broker.stored import Stored
from recoverable_local.testing.aws.functions.context import Context
from recoverable_local.testing.aws.functions.records import to_record
from recoverable_local.testing.engine.instance import Instance
from recoverable_local.testing.engine.invocation import Invocation, ProcessEnded, current_invocation
from recoverable_local.testing.engine.surroundings import Surroundings
from recoverable_local.testing.faults import Fault

log = logging.getLogger("recoverable_local.testing")

Handler = Callable[[dict[str, Any], Any], Any]
RecursiveLoop = Literal["Terminate", "Allow"]


class LambdaSurroundings(Surroundings):
    """What every Lambda function of a world shares.

    Args:
        others: as of `Surroundings`.
        client: what endpoints get instead of the SDK's.
        expire: makes messages visible to others.
    """

    def __init__(self, *others: Any, client: object, expire: Callable[[str, Sequence[Stored]], None]) -> None:
        super().__init__(*others)
        self.client, self.expire = client, expire


class Function:
    """A Lambda function.

    Args:
        handler: what Lambda calls.
        name: the function's.
        timeout: seconds after which an invocation is killed.
        surroundings: the world.
    """

    def __init__(self, handler: Handler, name: str, *, timeout: float, surroundings: LambdaSurroundings) -> None:
        self.name = name
        self._handler, self._timeout, self._world = handler, timeout, surroundings
        self._idle: list[Instance] = []
        self._started = 0

    def invocation(self, queue: str, messages: Sequence[Stored]) -> Invocation:
        """A new invocation, in the instance that was last at work or else in a new one."""
        number = self._world.invocations.next_number()
        if not self._idle:
            self._started += 1
        return Invocation(
            number,
            queue,
            [message.id for message in messages],
            self._idle.pop() if self._idle else Instance(self._started, self._world.seconds),
            timeout=self._timeout,
            scheduler=self._world.scheduler,
            expire=lambda: self._world.expire(queue, messages),
            hops=max(message.hops for message in messages),
        )

    def run(
        self, invocation: Invocation, batch: Sequence[Stored], queue: Settings, fault: Fault | None
    ) -> tuple[object, str]:
        """Call the handler on the batch.

        Args:
            invocation: the invocation.
            batch: its messages.
            queue: where they came from.
            fault: what goes wrong before the handler is called.

        Returns:
            Its answer, and how it failed if it did.
        """
        tokens = current_invocation.set(invocation), current_environment.set(self._endpoint_world(invocation))
        try:
            return self._answered(invocation, batch, queue, fault)
        finally:
            current_invocation.reset(tokens[0])
            current_environment.reset(tokens[1])
            if invocation.ended:
                invocation.instance.end()
            else:
                self._idle.append(invocation.instance)

    def _answered(
        self, invocation: Invocation, batch: Sequence[Stored], queue: Settings, fault: Fault | None
    ) -> tuple[object, str]:
        event = {"Records": [to_record(message, queue, self._world.start) for message in batch]}
        try:
            invocation.suffer(fault)
            answer = self._handler(event, Context(self.name, invocation))
            invocation.suffer(self._fault_after(invocation))
        except ProcessEnded:
            pass  # said below, as for a handler that has swallowed it
        except KeyboardInterrupt:
            raise  # somebody wants the test to stop
        except SystemExit as error:
            invocation.ended = f"exited with {error.code}"
        except Exception as error:  # noqa: BLE001  # Lambda reports it, and the batch comes back
            return None, self._failed(invocation, error)
        except BaseException as error:  # noqa: BLE001  # the runtime client catches nothing else, and its process ends
            invocation.ended = self._failed(invocation, error)
        return (None, invocation.ended) if invocation.ended else (answer, "")

    def _failed(self, invocation: Invocation, error: BaseException) -> str:
        """Log what the handler has raised, and say it in one line."""
        log.warning("Invocation %d of '%s' failed:", invocation.number, self.name, exc_info=error)
        return f"{type(error).__name__}: {error}"

    def _fault_after(self, invocation: Invocation) -> Fault | None:
        ids = invocation.message_ids
        return self._world.misfortune.at("after", "invoke", invocation.queue, ids, invocation.number)

    def _endpoint_world(self, invocation: Invocation) -> Environment:
        world, instance = self._world, invocation.instance
        instance.spend = invocation.spend
        return Environment(
            world.client,
            lambda: world.now() + instance.skew,
            lambda: VirtualDeadline(invocation, world.misfortune, world.journal, world.seconds),
            instance.runner,
            kept=instance.kept,
        )
