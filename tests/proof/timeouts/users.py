"""Run those who use the timeouts: they store messages, and cancel them by id and by correlation."""

from __future__ import annotations

from builders import seconds
from proof.timeouts.history import Noted
from proof.timeouts.setting import CORRELATION, HOME, Planned, Setting
from recoverable.timeouts import SendFailed, StoreUnavailable, Timeout, Timeouts


class Users:
    """The participants that use the timeouts.

    Args:
        setting: what all share.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting, self._stage = setting, setting.stage

    def write(self, message: Planned) -> None:
        """Store the message until that is answered; and perhaps once more."""
        skew, chance = self._setting.skew(), self._stage.chance
        timeouts, store = self._timeouts(skew), self._setting.open(HOME)
        for _ in range(1 if self._setting.kind.migrating else chance.choice((1, 1, 2, 3))):
            for _ in range(6):
                if self._stored(message, timeouts, store, skew):
                    break
                self._setting.pause()
            self._setting.pause()

    def _stored(self, message: Planned, timeouts: Timeouts, store: Noted, skew: float) -> bool:
        with self._setting.history.asking(self._setting.history.puts[message.number]) as asked:
            try:
                if message.key is None:
                    store.put(timeout_of(message), now=self._setting.clock(skew), again=True)
                else:
                    schedule(timeouts, message)
            except (StoreUnavailable, SendFailed):
                return False
            asked.answer = True
        self._stage.note(f"message {message.number} is accepted")
        return True

    def cancel(self, message: Planned) -> None:
        """Cancel the message until that is answered; and perhaps once more."""
        timeouts, chance = self._timeouts(self._setting.skew()), self._stage.chance
        for _ in range(chance.choice((1, 2))):
            for _ in range(3):
                try:
                    timeouts.cancel(message.id)
                    break
                except StoreUnavailable:
                    self._setting.pause()
            self._setting.pause()

    def cancel_all(self) -> None:
        """Cancel the messages of the correlation, until that is answered."""
        timeouts = self._timeouts(self._setting.skew())
        for _ in range(3):
            try:
                timeouts.cancel_for(CORRELATION)
            except StoreUnavailable:
                self._setting.pause()
            else:
                return

    def _timeouts(self, skew: float) -> Timeouts:
        longest = seconds(self._stage.chance.choice((0, 0, 100)))
        return Timeouts(
            self._setting.open(HOME),
            endpoint="shop",
            client=self._setting.sqs,
            clock=lambda: self._setting.clock(skew),
            longest_native=longest,
        )


def timeout_of(message: Planned) -> Timeout:
    """Return the message as a store has it."""
    return Timeout(message.id, message.to, message.body, correlation=message.correlation)


def schedule(timeouts: Timeouts, message: Planned) -> None:
    """Schedule the message, as users do."""
    made = timeouts.schedule(
        message.to, message.body, at=message.due, key=message.key, correlation=message.correlation or None
    )
    assert made == message.id, made
