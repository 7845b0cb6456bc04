"""What happened to each order so far: what was seen and heard in, trails out. Pure, and the same for both clouds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from recoverable_local.demo.orders import Order

PLACED = "✔"
FAILED = "✘"
WORDLESS = "☠"
STORED = " stored"
GIVEN_UP = "→ error queue"


@dataclass(frozen=True, slots=True)
class Given:
    """The host gave orders to the function."""

    invocation: str
    orders: frozenset[Order]


@dataclass(frozen=True, slots=True)
class Heard:
    """The function logged what became of an order.

    Args:
        order: The order.
        logger: Whose line it is: the shop's own, when the order is placed, or one of the retry log's.
        delay: Until the delayed retry, in seconds.
        stored: Whether the delay is longer than the broker is to delay it, so that the order waits in a table.
        attempted: Whether the handler ran; it does not when deliveries that ended without a word have used up the round.
    """

    order: Order
    logger: str
    delay: float = 0
    stored: bool = False
    attempted: bool = True


@dataclass(frozen=True, slots=True)
class Over:
    """An invocation is over; it died when its process did."""

    invocation: str
    died: bool


Happening = Given | Heard | Over


@dataclass(frozen=True, slots=True)
class Trail:
    """The steps of one order, and whether it is at its end."""

    steps: tuple[str, ...] = ()
    placed: bool = False
    given_up: bool = False

    def then(self, *steps: str, **ends: bool) -> Trail:
        """The trail with more steps."""
        return replace(self, steps=self.steps + steps, **ends)

    @property
    def ended(self) -> bool:
        """Whether nothing more is to come."""
        return self.placed or self.given_up


@dataclass(frozen=True, slots=True)
class Story:
    """All trails, by order.

    Args:
        trails: What happened to each.
        silent: The orders of each running invocation of which nothing was heard yet.
    """

    trails: Mapping[Order, Trail]
    silent: Mapping[str, frozenset[Order]]


def beginning(orders: Iterable[Order]) -> Story:
    """The story before anything happened."""
    return Story({order: Trail() for order in orders}, {})


def told(story: Story, happening: Happening) -> Story:
    """The story with one more happening."""
    match happening:
        case Given(invocation, orders):
            return replace(story, silent={**story.silent, invocation: orders})
        case Heard(order):
            silent = {running: orders - {order} for running, orders in story.silent.items()}
            return Story({**story.trails, order: stepped(story.trails[order], happening)}, silent)
        case Over(invocation, died):
            return over(story, invocation, dead=story.silent.get(invocation, frozenset()) if died else ())
        case _:
            assert_never(happening)


def over(story: Story, invocation: str, *, dead: Iterable[Order]) -> Story:
    """The story without an invocation that is over, and with the step of those that died in it unheard."""
    trails = {order: story.trails[order].then(WORDLESS) for order in dead}
    silent = {running: orders for running, orders in story.silent.items() if running != invocation}
    return Story({**story.trails, **trails}, silent)


def stepped(trail: Trail, heard: Heard) -> Trail:
    """The trail with the step that was heard of."""
    failed = (FAILED,) if heard.attempted else ()
    match heard.logger:
        case "shop":
            return trail.then(PLACED, placed=True)
        case "recoverable.immediate_retry":
            return trail.then(*failed)
        case "recoverable.delayed_retry":
            return trail.then(*failed, f"⏱ {heard.delay:g}s{STORED if heard.stored else ''}")
        case "recoverable.move_to_error":
            return trail.then(*failed, GIVEN_UP, given_up=True)
        case _:
            return trail
