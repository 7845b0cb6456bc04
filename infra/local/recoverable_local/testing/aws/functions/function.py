"""Run a Lambda function in its warm instances."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from recoverable.hosting import Environment, current_environment
from recoverable_local.testing.aws.broker.stored import Stored
from recoverable_local.testing.aws.coroutines import recorder
from recoverable_local.testing.aws.deadline import VirtualDeadline
from recoverable_local.testing.aws.functions.context import Context
from recoverable_local.testing.engine.background import later
from recoverable_local.testing.engine.instance import Instance
from recoverable_local.testing.engine.invocation import Invocation, ProcessEnded, current_invocation, one_line
from recoverable_local.testing.engine.shared_state import SharedState
from recoverable_local.testing.faults import Fault

log = logging.getLogger("recoverable_local.testing")

Handler = Callable[[dict[str, Any], Any], Any]
RecursiveLoop = Literal["Terminate", "Allow"]


class Clients(NamedTuple):
    """The clients that endpoints get instead of the SDK's: one for SQS, and one for SNS."""

    sqs: Any
    sns: Any


class LambdaSharedState(SharedState):
    """State that all Lambda functions of a world share.

    Args:
        others: as of `SharedState`.
        connect: makes the clients of a process, with connections of their own.
        expire: makes messages visible to others.
    """

    def __init__(
        self, *others: Any, connect: Callable[[], Clients], expire: Callable[[str, Sequence[Stored]], None]
    ) -> None:
        super().__init__(*others)
        self.connect, self.expire = connect, expire


class Function:
    """A Lambda function.

    Args:
        handler: what Lambda calls.
        name: the function's.
        timeout: seconds after which an invocation is killed.
        shared_state: what the functions of the world share.
        enforced: False where it is not killed then, and no answer counts that comes later (Managed Instances).
    """

    def __init__(
        self, handler: Handler, name: str, *, timeout: float, shared_state: LambdaSharedState, enforced: bool = True
    ) -> None:
        self.name, self.timeout, self.enforced = name, timeout, enforced
        self._handler, self._world = handler, shared_state
        self._idle: list[Instance] = []
        self._started = 0

    def invocation(self, queue: str, messages: Sequence[Stored]) -> Invocation:
        """Return a new invocation, in the instance that was used last, or in a new one. Those without messages may be any number."""
        number = self._world.invocations.next_number(limited=bool(messages))
        if not self._idle:
            self._started += 1
        return Invocation(
            number,
            queue,
            [message.id for message in messages],
            self._idle.pop() if self._idle else Instance(self._started, self._world.seconds),
            timeout=self.timeout,
            scheduler=self._world.scheduler,
            expire=lambda: self._world.expire(queue, messages),
            hops=max((message.hops for message in messages), default=0),
            enforced=self.enforced,
        )

    def run(self, invocation: Invocation, event: dict[str, Any], fault: Fault | None) -> tuple[object, str]:
        """Call the handler.

        Args:
            invocation: the invocation.
            event: its event.
            fault: what goes wrong before the handler is called.

        Returns:
            Its answer, and how it failed if it did.
        """
        tokens = current_invocation.set(invocation), current_environment.set(self._environment(invocation))
        invocation.watch()
        try:
            return self._run_with_faults(invocation, event, fault)
        finally:
            invocation.rest()
            current_invocation.reset(tokens[0])
            current_environment.reset(tokens[1])
            if invocation.ended:
                invocation.instance.end()
            else:
                self._idle.append(invocation.instance)

    def _run_with_faults(
        self, invocation: Invocation, event: dict[str, Any], fault: Fault | None
    ) -> tuple[object, str]:
        try:
            invocation.apply_fault(fault)
            answer = self._handler(event, Context(self.name, invocation))
            invocation.apply_fault(self._fault_after(invocation))
        except ProcessEnded:
            pass  # reported below, as for a handler that has swallowed it
        except KeyboardInterrupt:
            raise  # the user stops the test run
        except SystemExit as error:
            invocation.ended = f"exited with {error.code}"
        except Exception as error:  # noqa: BLE001  # Lambda reports it, and the batch comes back
            return None, self._log_failure(invocation, error)
        except BaseException as error:  # noqa: BLE001  # the runtime client catches nothing else, and its process ends
            invocation.ended = self._log_failure(invocation, error)
        return (None, invocation.ended) if invocation.ended else (answer, "")

    def _log_failure(self, invocation: Invocation, error: BaseException) -> str:
        """Log the exception of the handler, and return it as one line."""
        log.warning("Invocation %d of '%s' failed:", invocation.number, self.name, exc_info=error)
        return one_line(error)

    def _fault_after(self, invocation: Invocation) -> Fault | None:
        ids = invocation.message_ids
        return self._world.fault_plan.fault_at("after", "invoke", invocation.queue, ids, invocation.number)

    def _environment(self, invocation: Invocation) -> Environment:
        world, instance = self._world, invocation.instance
        instance.spend = invocation.spend
        clients = instance.kept[Clients] = instance.kept.get(Clients) or world.connect()
        return Environment(
            clients.sqs,
            lambda: world.now() + instance.skew,
            lambda *time: VirtualDeadline(invocation, world.fault_plan, world.journal, world.seconds, *time),
            instance.runner,
            recorder(invocation, world.journal, world.seconds),
            topic_client=clients.sns,
            kept=instance.kept,
            sleep=invocation.spend,
            call_within=lambda _seconds, call: call(),  # the world's own time limit holds
            later=partial(later, world.scheduler, invocation),
            seconds=world.seconds,
        )
