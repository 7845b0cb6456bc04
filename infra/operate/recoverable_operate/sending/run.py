"""Send chosen messages back: journal the intent, send, journal the answer, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from recoverable_operate.failed import FailedMessage, key_of
from recoverable_operate.journal import INTENT, SENT, Entry, Journal, written
from recoverable_operate.port import Clock, Copy, ErrorQueue, OperateError, Stop
from recoverable_operate.redrive import copy_changes
from recoverable_operate.sending.pace import Pace
from recoverable_operate.sending.settings import Outcome, Settings, count_reasons
from recoverable_operate.sweep import Plan

BATCH = 10
"""Messages that are sent together."""

MOST_ALONG = 100
"""Chosen messages that are held at most while a look goes on."""


class Redrive:
    """One run that sends messages back.

    Args:
        queue: the error queue.
        journal: the journal.
        settings: how messages are sent.
        clock: tells the time, and waits.
        stop: ends it between two batches.
        progress: called after each batch.
    """

    def __init__(
        self,
        queue: ErrorQueue,
        journal: Journal,
        settings: Settings,
        *,
        clock: Clock,
        stop: Stop,
        progress: Callable[[Outcome], None] = lambda _: None,
    ) -> None:
        self._queue, self._journal, self._settings = queue, journal, settings
        self._clock, self._stop, self._progress = clock, stop, progress
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
                self._progress(self.outcome)
                if self._must_stop():
                    return self.outcome
                self._queue.keep()
        self.outcome.stopped = "interrupted" if self._stop.requested else self._queue.missed()
        return self.outcome

    def run_along(self, plan: Plan, choosing: Iterator[object]) -> Outcome:
        """Send what is chosen while the look goes on, as soon as there are ten for each queue: so little is held at a time.

        Args:
            plan: what is chosen.
            choosing: looks on, and chooses.
        """
        settled = 0
        for _ in choosing:
            if plan.chosen - settled >= min(BATCH * len(plan.targets), MOST_ALONG) > 0:
                settled = plan.chosen
                if self.run().stopped:
                    return self.outcome
        return self.run()

    def run_groups(self, plan: Plan, more: Callable[[Plan], None]) -> Outcome:
        """Send what is chosen. On a FIFO queue look again, for a group shows its next messages when its first are gone.

        Args:
            plan: what is chosen.
            more: looks again, and chooses.
        """
        chosen = 0
        while plan.chosen > chosen:
            chosen = plan.chosen
            self.run()
            if self._queue.ordered and self.outcome.complete and not self._stop.requested:
                more(plan)
        return self.outcome

    def _parts(self, messages: list[FailedMessage]) -> list[list[FailedMessage]]:
        """Return the messages in the parts that are sent together; the canaries are a part of their own."""
        room = self._settings.canary - len(self._canaries) if self._canaries is not None else 0
        return [part for part in (messages[:room], messages[room:]) if part]

    def _settle(self, to: str, messages: list[FailedMessage]) -> None:
        keys = {each.broker_id: key_of(each, self._queue.address) for each in messages}
        known = self._journal.find(list(keys.values()))
        states = {name: known[key].state for name, key in keys.items() if key in known}
        finished = [each for each in messages if states.get(each.broker_id) == SENT]
        unsent = [each for each in messages if states.get(each.broker_id) != SENT]
        self.outcome.doubled += [each.id for each in unsent if states.get(each.broker_id) == INTENT]
        sent = self._send(to, unsent, keys) if unsent else []
        deleted = self._delete([*finished, *sent])
        self.outcome.finished += sum(each.broker_id in deleted for each in finished)
        self.outcome.sent += sum(each.broker_id in deleted for each in sent)

    def _send(self, to: str, messages: list[FailedMessage], keys: Mapping[str, str]) -> list[FailedMessage]:
        """Send the copies of messages, and return those that the broker has confirmed."""
        now = written(self._clock.now())
        self._journal.intend(
            Entry(keys[each.broker_id], each.id, self._queue.address, to, INTENT, now) for each in messages
        )
        result = self._queue.send(to, [self._copy_of(each) for each in messages], self._settings.delay)
        answers: dict[str, str | None] = {keys[each]: SENT for each in result.sent}
        self._journal.answer(answers | {keys[each]: None for each in result.refused}, self._clock.now())
        answered = {*result.sent, *result.refused}
        count_reasons(self.outcome.refused, result.refused.values())
        self.outcome.doubtful += [each.id for each in messages if each.broker_id not in answered]
        if result.unanswered:
            self.outcome.stopped = f"{to}: {result.unanswered}"
        confirmed = set(result.sent)
        sent = [each for each in messages if each.broker_id in confirmed]
        if self._canaries is not None:
            self._canaries |= {self._id_of_copy(each) for each in sent}
        return sent

    def _copy_of(self, message: FailedMessage) -> Copy:
        new_id = self._settings.new_id or message.new_id
        return Copy(message, copy_changes(message, new_id=new_id), self._settings.new_body)

    def _id_of_copy(self, message: FailedMessage) -> str:
        return self._settings.new_id or message.new_id or message.id

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
        came_back = self._pace.watch(self._canaries, self._settings.canary_wait + self._settings.delay)
        self._canaries = None
        self.outcome.came_back += came_back
        if came_back or self._stop.requested:
            self.outcome.stopped = "a canary came back" if came_back else "interrupted"
        return self.outcome.stopped is not None
