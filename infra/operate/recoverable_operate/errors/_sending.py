"""Send chosen messages back, at a rate, canaries first: journal the intent, send, journal the answer, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from recoverable_operate.errors._journal import INTENT, SENT, Entry, Journal, written
from recoverable_operate.errors._message import FailedMessage, key_of
from recoverable_operate.errors._queue import BATCH, Clock, Copy, ErrorQueue, OperateError, Stop
from recoverable_operate.errors._redrive import copy_changes
from recoverable_operate.errors._sweep import Plan


@dataclass(frozen=True, slots=True)
class Settings:
    """How messages are sent back.

    Args:
        rate: messages a second; 0 for as fast as the broker takes them.
        delay: how long each copy is hidden; None for as long as its queue says.
        canary: how many are sent first; 0 for none.
        canary_wait: how long to wait for one of them to come back.
        edits: messages that an operator has edited, by the broker's id of the original.
    """

    rate: float = 50.0
    delay: timedelta | None = None
    canary: int = 0
    canary_wait: timedelta = timedelta(minutes=5)
    edits: Mapping[str, FailedMessage] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome:
    """The outcome of a run for the chosen messages.

    Args:
        sent: how many were sent and deleted.
        finished: how many an earlier run had sent; they were only deleted.
        doubled: ids of messages that an earlier run may have sent, and that are sent again.
        refused: how many the broker refused, by the reason; they stay.
        doubtful: ids of messages about which the broker gave no answer; they stay, and may have been sent.
        undeleted: how many were sent and not deleted, by the reason; the next run deletes them.
        came_back: ids of canaries that came back.
        returned: how many others came back; they stay.
        missing: lines of a file whose message was not found, which is not sent.
        stopped: why it ended early; None when it did not.
    """

    sent: int = 0
    finished: int = 0
    doubled: list[str] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    doubtful: list[str] = field(default_factory=list)
    undeleted: dict[str, int] = field(default_factory=dict)
    came_back: list[str] = field(default_factory=list)
    returned: int = 0
    missing: list[str] = field(default_factory=list)
    stopped: str | None = None

    @property
    def settled(self) -> int:
        """Return how many messages were dealt with."""
        return (
            self.sent + self.finished + sum(self.refused.values()) + sum(self.undeleted.values()) + len(self.doubtful)
        )

    @property
    def complete(self) -> bool:
        """True if each chosen message was sent and deleted."""
        wrong = self.refused, self.doubtful, self.undeleted, self.came_back, self.returned, self.missing, self.stopped
        return not any(wrong)


def count_reasons(counts: dict[str, int], reasons: Iterable[str]) -> None:
    """Count each reason."""
    for why in reasons:
        counts[why] = counts.get(why, 0) + 1


SLICE = 5
"""Seconds of a wait after which what is held is looked after, and canaries are looked for."""


class Pace:
    """The waits of one run. Each ends as soon as the operator stops it.

    Args:
        queue: the error queue, which holds messages meanwhile.
        rate: messages a second; 0 for as fast as the broker takes them.
        clock: tells the time, and waits.
        stop: ends a wait.
    """

    def __init__(self, queue: ErrorQueue, rate: float, *, clock: Clock, stop: Stop) -> None:
        self._queue, self._rate, self._clock, self._stop = queue, rate, clock, stop
        self._due = clock.now()

    def wait_for(self, count: int) -> None:
        """Wait until so many messages may be sent."""
        if not self._rate:
            return
        self._wait((self._due - self._clock.now()).total_seconds())
        self._due = max(self._due, self._clock.now()) + timedelta(seconds=count / self._rate)

    def watch(self, ids: set[str], wait: timedelta) -> list[str]:
        """Wait until one of these messages has come to the error queue, or so long. Return those that came."""
        end, came = self._clock.now() + wait, list[str]()
        while not came and not self._stop.requested:
            came = [each.id for each in self._queue.arrivals() if each.id in ids]
            if not came and not self._wait_until(end):
                break
        return came

    def _wait_until(self, end: datetime) -> bool:
        """Wait for a slice. Return False when the end is reached."""
        remaining = (end - self._clock.now()).total_seconds()
        self._wait(min(SLICE, remaining))
        return remaining > 0

    def _wait(self, seconds: float) -> None:
        while seconds > 0 and not self._stop.requested:
            self._clock.sleep(min(SLICE, seconds))
            seconds -= SLICE
            self._queue.keep()


MOST_ALONG = 100
"""Chosen messages that are held at most while a look goes on."""


class Redrive:
    """One run that sends messages back.

    Args:
        queue: the error queue.
        journal: the journal.
        settings: how messages are sent.
        plan: what is chosen.
        clock: tells the time, and waits.
        stop: ends it between two batches.
    """

    def __init__(
        self, queue: ErrorQueue, journal: Journal, settings: Settings, plan: Plan, *, clock: Clock, stop: Stop
    ) -> None:
        self._queue, self._journal, self._settings, self._plan = queue, journal, settings, plan
        self._clock, self._stop = clock, stop
        self._pace = Pace(queue, settings.rate, clock=clock, stop=stop)
        self._canaries: set[str] | None = set() if settings.canary else None
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Send and delete what is chosen, until all is done or the operator stops it."""
        for to, messages in self._queue.take():
            for part in self._parts(messages):
                self._pace.wait_for(len(part))
                if self._stop.requested:
                    self.outcome.stopped = "interrupted"
                    return self.outcome
                self._settle(to, part)
                if self._must_stop():
                    return self.outcome
                self._queue.keep()
        self.outcome.stopped = "interrupted" if self._stop.requested else self._queue.missed()
        return self.outcome

    def run_along(self, choosing: Iterator[object]) -> Outcome:
        """Send what is chosen while the look goes on, as soon as there are ten for each queue: so little is held at a time.

        Args:
            choosing: looks on, and chooses.
        """
        plan, settled = self._plan, 0
        for _ in choosing:
            if plan.chosen - settled >= min(BATCH * len(plan.targets), MOST_ALONG) > 0:
                settled = plan.chosen
                if self.run().stopped:
                    break
        else:
            self.run()
        self.outcome.returned = plan.came_back
        return self.outcome

    def run_groups(self, more: Callable[[Plan], None]) -> Outcome:
        """Send what is chosen. On a FIFO queue look again, because a group shows its next messages when its first are gone.

        Each look finds only what none before it has found, and ends where more is chosen than the queue held at first: so this ends.

        Args:
            more: looks again, and chooses.
        """
        plan, seen = self._plan, -1
        while plan.seen > seen:
            seen = plan.seen
            self.run()
            if self._queue.ordered and self.outcome.complete and not plan.full and not self._stop.requested:
                more(plan)
        self.outcome.returned = plan.came_back
        return self.outcome

    def _parts(self, messages: list[FailedMessage]) -> list[list[FailedMessage]]:
        """Return the messages in the parts that are sent together; the canaries are a part of their own."""
        room = self._settings.canary - len(self._canaries) if self._canaries is not None else 0
        return [part for part in (messages[:room], messages[room:]) if part]

    def run_without_originals(self, to: str, messages: Sequence[FailedMessage]) -> None:
        """Send messages that are no longer in the error queue, once by the journal."""
        for start in range(0, len(messages), BATCH):
            if self.outcome.stopped or self._stop.requested:
                self.outcome.stopped = self.outcome.stopped or "interrupted"
                return
            part = messages[start : start + BATCH]
            self._pace.wait_for(len(part))
            finished, sent = self._send_once(to, part)
            self.outcome.finished += len(finished)
            self.outcome.sent += len(sent)

    def _settle(self, to: str, messages: list[FailedMessage]) -> None:
        finished, sent = self._send_once(to, [self._settings.edits.get(each.broker_id, each) for each in messages])
        deleted = self._delete([*finished, *sent])
        self.outcome.finished += sum(each.broker_id in deleted for each in finished)
        self.outcome.sent += sum(each.broker_id in deleted for each in sent)

    def _send_once(self, to: str, messages: Sequence[FailedMessage]) -> tuple[list[FailedMessage], list[FailedMessage]]:
        """Send what the journal does not know as sent. Return what an earlier run had sent, and what the broker has confirmed now."""
        keys = {each.broker_id: key_of(each, self._queue.address) for each in messages}
        known = self._journal.find(list(keys.values()))
        states = {name: known[key].state for name, key in keys.items() if key in known}
        finished = [each for each in messages if states.get(each.broker_id) == SENT]
        unsent = [each for each in messages if states.get(each.broker_id) != SENT]
        self.outcome.doubled += [each.id for each in unsent if each.broker_id in states]
        return finished, self._send(to, unsent, keys) if unsent else []

    def _send(self, to: str, messages: list[FailedMessage], keys: Mapping[str, str]) -> list[FailedMessage]:
        """Send the copies of messages, and return those that the broker has confirmed."""
        now = written(self._clock.now())
        self._journal.intend(
            Entry(keys[each.broker_id], each.id, self._queue.address, to, INTENT, now) for each in messages
        )
        result = self._queue.send(to, [Copy(each, copy_changes(each)) for each in messages], self._settings.delay)
        answers: dict[str, str | None] = {keys[each]: SENT for each in result.sent}
        self._journal.answer(answers | {keys[each]: None for each in result.refused}, self._clock.now())
        answered = {*result.sent, *result.refused}
        count_reasons(self.outcome.refused, result.refused.values())
        self.outcome.doubtful += [each.id for each in messages if each.broker_id not in answered]
        if result.unanswered:
            self.outcome.stopped = f"{to}: {result.unanswered}"
        confirmed = set(result.sent)
        sent = [each for each in messages if each.broker_id in confirmed]
        self._plan.sent.add(
            (each.new_id or each.id, each.redrives) for each in messages if each.broker_id not in result.refused
        )
        if self._canaries is not None:
            self._canaries |= {each.new_id or each.id for each in sent}
        return sent

    def _delete(self, messages: Sequence[FailedMessage]) -> set[str]:
        """Delete originals, and return the broker ids of those that are deleted."""
        if not messages:
            return set()
        try:
            failed = self._queue.delete(messages)
        except OperateError as error:
            failed = {each.broker_id: str(error) for each in messages}
            self.outcome.stopped = str(error)
        count_reasons(self.outcome.undeleted, failed.values())
        return {each.broker_id for each in messages} - failed.keys()

    def _must_stop(self) -> bool:
        """True if no more is to be sent. Wait for the canaries, if all of them are sent."""
        if self.outcome.stopped:
            return True
        if self._canaries is None or len(self._canaries) < self._settings.canary:
            return False
        came_back = self._pace.watch(
            self._canaries, self._settings.canary_wait + (self._settings.delay or timedelta(0))
        )
        self._canaries = None
        self.outcome.came_back += came_back
        if came_back or self._stop.requested:
            self.outcome.stopped = "a canary came back" if came_back else "interrupted"
        return self.outcome.stopped is not None
