"""Check what is promised of timeouts, from what was asked, what was answered, and what SQS got."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from builders import seconds
from proof.timeouts.cast import Cast
from proof.timeouts.history import Asked, History, Sending
from proof.timeouts.kinds import Kind
from proof.timeouts.setting import HOME, Planned
from proof.timeouts.stage import Stage
from proof.timeouts.table import Tables
from recoverable.timeouts._dynamodb_items import due_key, kept_key

A_MOMENT = seconds(0.001)
"""Time that rounding may take from a delay."""


class Judge:
    """Checks a schedule, while it is played and afterwards.

    Args:
        kind: its kind.
        stage: the stage.
        history: what was asked, answered and sent.
        cast: who played.
        planned: the messages.
    """

    def __init__(self, kind: Kind, stage: Stage, history: History, cast: Cast, planned: list[Planned]) -> None:
        self._kind, self._stage, self._history = kind, stage, history
        self._cast, self._planned = cast, planned
        self._passed: list[str] = []

    @property
    def copies(self) -> int:
        """Return how many more messages came than one of each."""
        return sum(len(sent) - 1 for sent in self._history.sent.values() if sent)

    def wanted(self) -> set[int]:
        """Return the messages that must come: accepted, and not cancelled since, not even perhaps."""
        return {message.number for message in self._planned if self._must_come(message.number)}

    def problems(self) -> list[str]:
        """Return the promises that are broken."""
        return [
            *(f"CRASHED: {crash}" for crash in self._stage.crashes),
            *self._passed,
            *(f"LOST: message {n} never came" for n in sorted(self.wanted()) if not self._history.sent[n]),
            *(problem for message in self._planned for problem in self._problems_of(message)),
        ]

    def watch(self, tables: Tables) -> Callable[[str, Any], None]:
        """Return a check of each state of a shard that is written: its watermark passes nothing that waits."""

        def check(table: str, item: Any) -> None:
            if table == HOME and not self._kind.migrating and "watermark" in item:
                watermark = int(item["watermark"]["N"])
                for message in self._planned:
                    if int(message.id[:16]) < watermark and self._is_passed(tables, message):
                        self._passed.append(f"PASSED: message {message.number} waits, and nobody looks there")

        return check

    def _is_passed(self, tables: Tables, message: Planned) -> bool:
        """True if a message that was accepted waits, and nothing points to it."""
        row, pointer = (found(tables, key_of(message.id)) for key_of in (due_key, kept_key))
        puts = self._history.puts[message.number]
        accepted = bool(puts) and all(put.answer for put in puts)
        return accepted and waits(row) and not waits(pointer)

    def _problems_of(self, message: Planned) -> Iterator[str]:
        sent = self._history.sent[message.number]
        for sending in sent:
            if sending.at + seconds(sending.delay + max(sending.skew, 0)) < message.due - A_MOMENT:
                yield f"EARLY: message {message.number} came {message.due - sending.at} too early, but for {sending.delay} s"
        if any(
            self._came_though(message.number, cancel, sending)
            for cancel in self._true_cancels(message.number)
            for sending in sent
        ):
            yield f"CANCELLED: message {message.number} came although it was cancelled"
        if len(sent) > (most := self._most(message.number)):
            yield f"TWICE: message {message.number} came {len(sent)} times, and {most} are explained"

    def _must_come(self, number: int) -> bool:
        puts = [put for put in self._history.puts[number] if put.answer]
        return any(not self._perhaps_cancelled(number, put) for put in puts)

    def _perhaps_cancelled(self, number: int, put: Asked) -> bool:
        """True if a cancel that did not end before it may have cancelled it; one without an answer has not, if another was told so."""
        return any(
            cancel.ended > put.begun and (cancel.answer or not self._is_denied(number, cancel))
            for cancel in self._history.cancels[number]
            if cancel.answer is not False
        )

    def _is_denied(self, number: int, cancel: Asked) -> bool:
        """True if a later cancel was told that it is not cancelled, and nobody stored it anew in between."""
        return any(
            later.answer is False
            and later.begun > cancel.ended
            and not any(put.overlaps(cancel.begun, later.ended) for put in self._history.puts[number])
            for later in self._history.cancels[number]
        )

    def _true_cancels(self, number: int) -> list[Asked]:
        """Return the cancels that promise that it does not come; an abort takes nothing back from where it was moved to."""
        if self._cast.aborted or (self._kind.migrating and len(self._history.puts[number]) > 1):
            return []
        return [cancel for cancel in self._history.cancels[number] if cancel.answer]

    def _came_though(self, number: int, cancel: Asked, sending: Sending) -> bool:
        """True if it came before or after it was cancelled, and was not stored in between."""
        first, last = min(cancel.begun, sending.tick), max(cancel.ended, sending.tick)
        return not any(put.overlaps(first, last) for put in self._history.puts[number])

    def _most(self, number: int) -> int:
        """Return how often it may come: once, once more for each mishap of a sender, as often as SQS was asked to delay it, and as it was moved and stored again."""
        native = sum(sending.who.startswith("writer") for sending in self._history.sent[number])
        again = len(self._history.puts[number]) - 1 if self._kind.migrating else 0
        return 1 + self._cast.mishaps.total() + self._cast.aborted + max(native - 1, 0) + again


def found(tables: Tables, key: Any) -> Any:
    """Return the item of that key."""
    return tables.find(HOME, (key["pk"], key["sk"]))


def waits(item: Any) -> bool:
    """True if the item is there, and not done with."""
    return item is not None and "expires" not in item
