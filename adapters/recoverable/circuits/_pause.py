"""Disable the function's trigger while the rate is limited, so that nothing is delivered and nothing paid for.

The decision is `next_step`; `PauseStore` makes the calls to AWS.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from recoverable._errors import StoreUnavailable
from recoverable._frozen import Frozen
from recoverable._limits import checked_delay, checked_queue
from recoverable._observe.log import log_safely
from recoverable._rate_limit.state import CLOSED, Open
from recoverable._sqs.answers import CONDITION_FAILED, code_of, unavailable
from recoverable._sqs.clients import client as process_client
from recoverable._sqs.clients import given_client
from recoverable._sqs.queues import queue_from_arn
from recoverable.headers import read_date, write_date
from recoverable.hosting import now, utc_clock

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any, Literal, TypeAlias

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient

    from recoverable._rate_limit.state import Circuit
    from recoverable.circuits._dynamodb import DynamoDbCircuit

    Mark: TypeAlias = str
    Step: TypeAlias = Literal["pause", "resume", "forget", "none"]
    Trigger: TypeAlias = Literal["running", "resumed", "paused", "changing", "left alone"]

log = logging.getLogger("recoverable.rate_limit")

PAUSED_AT = "paused_at"
TIMEOUT = 1.0
"""Seconds for one call: a pause makes four, mostly within the 3 s that an invocation keeps for settling."""

LONGEST = timedelta(hours=24)
"""The longest pause. After it messages are deferred instead, so that failing messages go on with their retries and are
seen."""

KEEP_MARK = timedelta(minutes=15, seconds=TIMEOUT)
"""How long a mark stays though the trigger runs: whoever set it may still be about to disable the trigger. That is the
longest invocation (Lambda quotas, function timeout) and the call that it may be making."""


class PauseTrigger:
    """A pause of the function's trigger while the rate is limited: `RateLimit(..., on_started=pause.start, on_ended=pause.stop)`.

    It disables the event source mapping, and sets a mark that it was us: a mapping that an operator disabled stays
    disabled.

    Args:
        circuit: the circuit, which the function and the probe share; its table holds the mark too.
        queue_arn: the ARN of the queue that triggers the function.
        function: the function's name, with its alias where several have a mapping.
        longest: how long a pause may last, up to 365 days; after that the messages of the queue are deferred instead.
        store: the calls to AWS; made from the other settings unless given.
        clock: returns the time.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a blank name, or no ARN of a queue.
    """

    def __init__(
        self,
        circuit: DynamoDbCircuit,
        *,
        queue_arn: str,
        function: str,
        longest: timedelta = LONGEST,
        store: PauseStore | None = None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        queue_from_arn(checked_queue("PauseTrigger(queue_arn)", queue_arn))
        checked_queue("PauseTrigger(function)", function)
        self.circuit, self.clock = circuit, utc_clock(clock)
        self.store = store or PauseStore(circuit, queue_arn=queue_arn, function=function)
        self._longest = checked_delay("PauseTrigger(longest)", longest)

    def start(self) -> None:
        """Pause the trigger. If AWS cannot do it now, the probe does it later."""
        now = self.clock()
        self._try(Open(now, now))

    def stop(self) -> None:
        """Let the trigger run again. If AWS cannot do it now, the probe does it later."""
        self._try(CLOSED)

    def repair(self) -> Trigger:
        """Bring the trigger to the state that the circuit wants, whatever was left half done, and return its state.

        Raises:
            StoreUnavailable: the circuit cannot be read, or AWS gave an error or no answer: the trigger may not have
                changed.
        """
        circuit = self.circuit.read().circuit
        mark, mapping = self.store.read_mark(), self.store.read_mapping()
        step = next_step(circuit, mark, mapping.state, self.clock(), self._longest)
        if step == "forget":  # only here: whoever starts or stops a pause may meet another who does
            self.store.remove_mark(mark or "")
        return self._take(step, mark, mapping)

    def _try(self, circuit: Circuit) -> None:
        try:
            mark, mapping = self.store.read_mark(), self.store.read_mapping()
            self._take(next_step(circuit, mark, mapping.state, self.clock(), self._longest), mark, mapping)
        except StoreUnavailable as error:
            text = "The trigger cannot be changed now: %s. As a result, the probe changes it within a minute or two."
            log_safely(log.warning, text, error)

    def _take(self, step: Step, mark: Mark | None, mapping: Mapping) -> Trigger:
        """Change the mapping if the step says so, and return the trigger's state."""
        match step:
            case "pause":
                self.store.set_mark(self.clock())  # first, for without it a disabled mapping is its operator's
                self.store.disable(mapping)
                log_safely(log.warning, "The trigger is paused: its event source mapping is disabled.")
                return "paused"
            case "resume":  # the mark stays until the mapping is seen to run: a crash here must leave a trace
                self.store.enable(mapping)
                log_safely(log.info, "The trigger runs again: its event source mapping is enabled.")
                return "resumed"
            case "forget" | "none":
                return trigger_state(mark, mapping.state)


def next_step(circuit: Circuit, mark: Mark | None, state: str, now: datetime, longest: timedelta) -> Step:
    """Return what must be done with the trigger.

    Args:
        circuit: the circuit.
        mark: the mark that we paused it, if there is one.
        state: the mapping's state, in Lambda's words.
        now: the time.
        longest: how long a pause may last.
    """
    # a start far in the future was written by no clock of ours
    wants_pause = isinstance(circuit, Open) and abs(now - circuit.since) < longest
    if wants_pause:
        return "pause" if state == "Enabled" else "none"
    if mark is None:
        return "none"
    if state == "Disabled":
        return "resume"
    return "forget" if state == "Enabled" and is_old(mark, now) else "none"


def is_old(mark: Mark, now: datetime) -> bool:
    """True if nobody can still be about to disable the trigger under this mark. One that is no date was not set by us."""
    paused_at = read_date({PAUSED_AT: mark}, PAUSED_AT)
    return paused_at is None or abs(now - paused_at) > KEEP_MARK


def trigger_state(mark: Mark | None, state: str) -> Trigger:
    """Return the state of a trigger that needs no change. One that is disabled without our mark was disabled by its operator."""
    if state == "Enabled":
        return "running"
    if state not in {"Disabled", "Disabling"}:
        return "changing"
    return "left alone" if mark is None else "paused"


def function_in(name: str) -> list[str]:
    """Return the name in a function's name or ARN, and the alias where it has one."""
    return name.rpartition(":function:")[2].split(":")


class Mapping(Frozen):
    """An event source mapping.

    Args:
        uuid: its id.
        state: Enabled, Disabling, ... in Lambda's words (GetEventSourceMapping, `State`).
    """

    uuid: str
    state: str


class PauseStore:
    """The part of AWS that pausing needs.

    Args:
        circuit: the circuit; its table holds the mark.
        queue_arn: the ARN of the queue.
        function: the function's name.
        dynamodb: a boto3 client, instead of one of our own.
        lambda_: the same for Lambda.
    """

    def __init__(
        self,
        circuit: DynamoDbCircuit,
        *,
        queue_arn: str,
        function: str,
        dynamodb: DynamoDBClient | None = None,
        lambda_: LambdaClient | None = None,
    ) -> None:
        self._table, self._key = circuit.table, {"circuit": {"S": f"{circuit.name} (paused)"}}
        self.queue_arn, self._function = queue_arn, function_in(function)
        self._clients: dict[str, Any] = {"DynamoDB": given_client(dynamodb), "Lambda": given_client(lambda_)}

    def read_mark(self) -> Mark | None:
        """Return the mark that we paused the trigger; None when there is none."""
        answer = self._call("DynamoDB", "get_item", TableName=self._table, Key=self._key, ConsistentRead=True)
        item = answer.get("Item")
        return None if item is None else str(item.get(PAUSED_AT, {}).get("S", ""))

    def set_mark(self, now: datetime) -> None:
        """Set the mark that we paused the trigger."""
        item = {**self._key, PAUSED_AT: {"S": write_date(now)}}
        self._call("DynamoDB", "put_item", TableName=self._table, Item=item)

    def remove_mark(self, mark: Mark) -> None:
        """Remove the mark if it is still the one that was read: another pause may have started."""
        still = {"ConditionExpression": f"{PAUSED_AT} = :seen", "ExpressionAttributeValues": {":seen": {"S": mark}}}
        try:
            self._call("DynamoDB", "delete_item", TableName=self._table, Key=self._key, **still)
        except StoreUnavailable as error:
            if code_of(error.__cause__) != CONDITION_FAILED:
                raise

    def read_mapping(self) -> Mapping:
        """Return the event source mapping from the queue to the function, or to the one alias of it that has one.

        Raises:
            StoreUnavailable: there is none, or there are several: who pauses one of them pauses nothing.
        """
        answer = self._call("Lambda", "list_event_source_mappings", EventSourceArn=self.queue_arn)
        found = {
            ":".join(mapped): Mapping(each["UUID"], each["State"])
            for each in answer["EventSourceMappings"]
            if (mapped := function_in(each["FunctionArn"]))[: len(self._function)] == self._function
        }
        if len(found) == 1:
            return next(iter(found.values()))
        name, several = ":".join(self._function), f"{len(found)} event source mappings ({', '.join(sorted(found))})"
        advice = "; write PauseTrigger(function=...) with the alias of the one to pause" if found else ""
        raise StoreUnavailable(
            f"the function {name} has {several if found else 'no event source mapping'} for {self.queue_arn}{advice}"
        )

    def enable(self, mapping: Mapping) -> None:
        """Enable the mapping: it delivers."""
        self._call("Lambda", "update_event_source_mapping", UUID=mapping.uuid, Enabled=True)

    def disable(self, mapping: Mapping) -> None:
        """Disable the mapping: it delivers nothing more, but for what it has received already."""
        self._call("Lambda", "update_event_source_mapping", UUID=mapping.uuid, Enabled=False)

    def _call(self, service: str, method: str, **request: Any) -> Any:
        """Make one call and return its answer.

        Raises:
            StoreUnavailable: AWS gave an error, or no answer.
        """
        try:
            region = queue_from_arn(self.queue_arn).region
            client = self._clients[service] or process_client(service.lower(), region, TIMEOUT)
            return getattr(client, method)(**request)
        except Exception as error:
            raise unavailable(error, service) from error
