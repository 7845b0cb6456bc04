"""Count the deliveries of the messages that a redrive passes over, for abandoning each of them counts one more. Pure."""

from __future__ import annotations

from recoverable_operate.errors._message import ACTIVE, FailedMessage
from recoverable_operate.errors._queue import OperateError

DELIVERIES_LEFT = 2
"""Deliveries that must be left to a message that is only passed over."""


class Passed:
    """The messages before the last chosen one that are not chosen themselves.

    Args:
        max_delivery_count: the queue's MaxDeliveryCount, which a connection with the right Listen alone cannot read.
    """

    def __init__(self, max_delivery_count: int) -> None:
        self._max_delivery_count = max_delivery_count
        self._since_chosen, self._current, self._most = 0, 0, 0

    def see(self, message: FailedMessage) -> None:
        """Note a message; it counts once a later one is chosen, unless it is chosen itself."""
        self._since_chosen = max(self._since_chosen, self._current)
        self._current = message.receives if message.state == ACTIVE else 0

    def choose(self) -> None:
        """Note that the message just seen is chosen."""
        self._most, self._since_chosen, self._current = max(self._most, self._since_chosen), 0, 0

    def check(self) -> None:
        """Refuse if one of them might be dead-lettered for being passed over.

        Raises:
            OperateError: it might.
        """
        if self._max_delivery_count - self._most < DELIVERIES_LEFT:
            raise OperateError(
                f"a message before the chosen ones was delivered {self._most} times, and passing it over counts one more "
                f"of the {self._max_delivery_count} that MaxDeliveryCount is taken to be; choose it too, "
                "or give --max-delivery-count if the queue has more"
            )
