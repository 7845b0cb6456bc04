"""List where a message's copy goes when its queue refuses it. Pure functions."""

from __future__ import annotations

from typing import NamedTuple

from recoverable._ladder.delivery import Delivery
from recoverable._ladder.faults import FAILED_QUEUE
from recoverable._ladder.refused_sends import deferral_after_refusal
from recoverable._ladder.settlement import Forward
from recoverable._limits import NO_DELAY
from recoverable.azure._copies import stays
from recoverable.headers import MESSAGE_ID, REFUSED_SENDS


class Way(NamedTuple):
    """A forwarding to try.

    Args:
        forward: the forwarding.
        bare: True if the copy lacks the headers that say why, which helps only where the copy broke a limit.
    """

    forward: Forward
    bare: bool = False

    @property
    def waits(self) -> bool:
        """True if the copy waits in the message's own queue until it is sent on."""
        return bool(self.forward.changes.get(REFUSED_SENDS))


def is_deferral(delivery: Delivery) -> bool:
    """True if the message waits without an attempt: where its copy cannot be sent, its handler can run instead."""
    return delivery.error is None and not delivery.unreported and not delivery.given_up


def ways(delivery: Delivery, forward: Forward, *, error_queue: str, batch: bool) -> list[Way]:
    """Return the forwardings to try in turn, each where the one before was refused.

    A copy for the error queue goes to the configured one where the policy's refuses it, without the headers that say why, and at last without any of ours, where it breaks a
    limit, and at last to the message's own queue, from which it is sent on. A retry in a batch that breaks a limit goes to the error queue
    without headers of ours, because its neighbours would otherwise run again. A message delivered by itself is redelivered.

    Args:
        delivery: the original.
        forward: the settlement.
        error_queue: the configured error queue.
        batch: True if its neighbours are redelivered with it.
    """
    named = {MESSAGE_ID: delivery.message.id, FAILED_QUEUE: delivery.message.queue}
    bare = [Way(Forward(error_queue, NO_DELAY, changes), bare=True) for changes in (named, {})]
    if is_deferral(delivery):
        return [Way(forward)]
    if stays(delivery, forward):
        return [Way(forward), *bare] if batch else [Way(forward)]
    configured = (
        [] if forward.to.lower() == error_queue.lower() else [Way(Forward(error_queue, NO_DELAY, forward.changes))]
    )
    return [Way(forward), *configured, *bare, Way(deferral_after_refusal(delivery, forward))]
