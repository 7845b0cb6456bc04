"""The watch over one invocation's handlers: who is settled beside a handler that does not end, and who is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from builders import delivery
from flow.invocations import invocation
from recoverable import Message
from recoverable._flow.invocation import Invocation
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import COMPLETE, Forward
from recoverable.aws._managed import Watch


class Recorded(Watch):
    """A watch that records what it settles and holds."""

    def __init__(self, batch: Any) -> None:
        hiding: Any = None
        super().__init__(batch, hiding)
        self.settled: list[list[str]] = []
        self.held: list[str] = []

    def _hold(self, at_work: list[Delivery]) -> None:
        self.held += ids(at_work)

    def _settle(self, deliveries: list[Delivery]) -> None:
        self.settled.append(ids(self.claim(deliveries)))


class Watched:
    """A watch over five messages, "0" to "4"."""

    def __init__(self) -> None:
        self.deliveries = [delivery(id=str(number)) for number in range(5)]
        messages = [each.message for each in self.deliveries]
        self.rest, self.invocation = iter(messages), invocation()
        environment = SimpleNamespace(sleep=lambda _: None)
        self.watch = Recorded(
            SimpleNamespace(messages=messages, invocation=self.invocation, hosted=None, environment=environment)
        )

    @property
    def handed_back(self) -> list[str]:
        """Return the messages that were handed back without being run."""
        return ids([each for each in self.deliveries if isinstance(self.invocation.settlement_of(each), Forward)])

    def run(self, complete: int, then: Callable[[], object] | None = None) -> None:
        """Run handlers until so many have completed; call a function while the next one is at work, unless there is none to call."""

        def run_handlers(group: Iterator[Message], running: Invocation) -> None:
            for _number, each in zip(range(complete), group, strict=False):
                running.settlements[each] = COMPLETE
            if then is not None and next(group, None) is not None:
                then()

        self.watch.run(run_handlers, self.rest, self.invocation)


def ids(deliveries: list[Delivery]) -> list[str]:
    """Return the messages' ids."""
    return [each.message.id for each in deliveries]


def test_what_has_ended_is_settled_before_what_has_not_begun_is_handed_back() -> None:
    watched = Watched()

    watched.run(2, watched.watch.take_over)

    assert (watched.watch.settled, watched.handed_back, watched.watch.held) == (
        [["0", "1"], ["3", "4"]],
        ["3", "4"],
        ["2"],
    )


def test_what_ended_before_others_had_to_send_first_is_settled_too() -> None:
    watched = Watched()

    watched.run(1)  # it stops there, so that what it sent leaves
    watched.run(1, watched.watch.take_over)

    assert (watched.watch.settled, watched.watch.held) == ([["0", "1"], ["3", "4"]], ["2"])


def test_what_was_settled_before_is_not_settled_again() -> None:
    watched = Watched()
    watched.run(1)
    watched.watch.claim(watched.deliveries[:1])

    watched.run(1, watched.watch.take_over)

    assert watched.watch.settled == [["1"], ["3", "4"]]


def test_what_was_settled_beside_a_handler_is_not_settled_after_it() -> None:
    watched = Watched()
    watched.run(2, watched.watch.take_over)

    assert ids(watched.watch.claim(watched.deliveries)) == ["2"]


def test_no_handler_begins_once_others_settle_for_the_invocation() -> None:
    watched = Watched()

    watched.run(2, watched.watch.take_over)
    watched.run(5)

    assert [watched.invocation.settlement_of(each) is COMPLETE for each in watched.deliveries] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_while_no_handler_is_at_work_nothing_is_settled_beside_one() -> None:
    watched = Watched()
    watched.run(2)

    watched.watch.take_over()

    assert (watched.watch.settled, watched.watch.held) == ([], [])
