"""Beats: which messages each call concerns, and when there is none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from recoverable import Message
from recoverable._sqs.beats import Beats

HOUR = 3_600


class Hiding:
    """What a heartbeat works with: its calls are recorded, and a test says when time passes.

    Args:
        number: how many messages there are.
        seconds: for how long each is hidden at a time.
    """

    def __init__(self, number: int, seconds: int = 120) -> None:
        self.messages = [Message("", id=str(n)) for n in range(number)]
        self.calls: list[tuple[int, list[str]]] = []
        self.gone: list[Message] = []
        self.fails = False
        self.during_call: Callable[[], object] = lambda: None
        self.planned: list[tuple[float, Callable[[], None]]] = []
        self.slept = 0
        self.now = datetime(2026, 3, 4, tzinfo=UTC)
        self.beats = Beats(seconds, self.hide, later=self.later, sleep=self.sleep, clock=lambda: self.now)

    def begin(self) -> None:
        self.beats.begin(self.messages)

    def hide(self, messages: list[Message], seconds: int) -> tuple[list[Message], bool]:
        self.calls.append((seconds, [each.id for each in messages]))
        self.during_call()
        return [each for each in messages if each in self.gone], self.fails

    def later(self, seconds: float, function: Callable[[], None]) -> Callable[[], None]:
        planned = (seconds, function)
        self.planned.append(planned)
        return lambda: self.planned.remove(planned) if planned in self.planned else None

    def sleep(self, _seconds: float) -> None:
        self.slept += 1
        self.during_call = lambda: None
        self.beats._calling = ()  # the call that is under way ends meanwhile

    def pass_time(self) -> None:
        """Let the time of the next beat come."""
        seconds, function = self.planned.pop()
        self.now += timedelta(seconds=seconds)
        function()

    def concerned(self) -> list[list[str]]:
        """Return which messages each call concerned."""
        return [ids for _, ids in self.calls]


def test_each_call_concerns_ten_messages_at_most() -> None:
    hiding = Hiding(23)

    hiding.begin()

    assert [len(ids) for ids in hiding.concerned()] == [10, 10, 3]


def test_a_beat_comes_after_a_quarter_of_the_time_for_which_messages_are_hidden() -> None:
    hiding = Hiding(1, seconds=120)

    hiding.begin()
    hiding.pass_time()

    assert (hiding.calls, [seconds for seconds, _ in hiding.planned]) == ([(120, ["0"])] * 2, [30])


def test_a_message_that_is_settled_is_hidden_no_more() -> None:
    hiding = Hiding(3)
    hiding.begin()

    hiding.beats.release([hiding.messages[1]])
    hiding.pass_time()

    assert hiding.concerned() == [["0", "1", "2"], ["0", "2"]]


def test_what_sqs_does_not_hide_any_more_is_left_alone() -> None:
    hiding = Hiding(3)
    hiding.gone = [hiding.messages[0]]

    hiding.begin()
    hiding.pass_time()

    assert hiding.concerned() == [["0", "1", "2"], ["1", "2"]]


def test_after_a_call_that_failed_as_a_whole_the_others_wait_for_the_next_beat() -> None:
    hiding = Hiding(23)
    hiding.fails = True

    hiding.begin()
    hiding.fails = False
    hiding.pass_time()

    assert [len(ids) for ids in hiding.concerned()] == [10, 10, 10, 3]


def test_settling_waits_for_a_call_that_is_under_way_for_that_message() -> None:
    hiding = Hiding(2)
    hiding.during_call = lambda: hiding.beats.release([hiding.messages[0]])

    hiding.begin()

    assert hiding.slept == 1


def test_settling_does_not_wait_for_a_call_that_is_for_others() -> None:
    hiding = Hiding(11)
    hiding.during_call = lambda: hiding.beats.release([hiding.messages[10]])

    hiding.begin()

    assert (hiding.slept, hiding.concerned()) == (0, [[str(n) for n in range(10)]])


def test_once_all_is_ended_no_beat_follows() -> None:
    hiding = Hiding(2)
    hiding.begin()

    hiding.beats.close()

    assert hiding.planned == []


def test_a_heartbeat_that_ends_during_a_beat_waits_for_its_call_and_plans_no_other() -> None:
    hiding = Hiding(2)
    hiding.during_call = hiding.beats.close

    hiding.begin()

    assert (hiding.slept, hiding.planned) == (1, [])


def test_nothing_is_hidden_for_more_than_twelve_hours_in_all() -> None:
    hiding = Hiding(1, seconds=5 * HOUR)
    hiding.begin()

    while hiding.planned:
        hiding.pass_time()

    assert max(beat * 5 * HOUR / 4 + seconds for beat, (seconds, _) in enumerate(hiding.calls)) == 12 * HOUR
