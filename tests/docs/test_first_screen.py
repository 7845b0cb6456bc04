"""The README's first screen: its handler runs, and each cell of its table is what a run in virtual time gives."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

from docs.pages import README, blocks, page, section
from recoverable import Failed, Message, RateLimit, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld

WAYS = ("a loop over the records", "Powertools' batch processor", "recoverable")
LOOP, POWERTOOLS, OURS = WAYS
GOOD = [f"good {number}" for number in range(9)]
BEGAN = SqsWorld().now


class CannotWork(Exception): ...


class Run:
    """One batch of ten, handled in one of the three ways until nothing is left to do.

    Args:
        way: one of `WAYS`.
        work: what is done for a message, from its body, the number of this run of it, and what a handler of ours sends with.
        bodies: the messages.
        settings: more of `Recoverability`.
    """

    def __init__(self, way: str, work: Callable[[Run, str], None], *bodies: str, **settings: Any) -> None:
        self.way, self.world = way, SqsWorld()
        self.message: Message | None = None
        self.runs, self.times = Counter[str](), list[datetime]()
        self._work = work
        receives = 11 if way == OURS else 5
        self.world.create_queue("orders", visibility_timeout=180, dead_letter_queue="dead", max_receive_count=receives)
        self.world.create_queue("sent")
        responses = {"partial_responses": way != LOOP, "recursive_loop": "Allow", "error_queue": "dead"}
        self.world.serve("orders", self._handler(settings), **responses)  # type: ignore[arg-type]
        for body in bodies:
            self.world.send("orders", body)
        self.world.run()
        self.took = self.times[-1] - BEGAN

    def _handler(self, settings: dict[str, Any]) -> Any:
        def loop(event: Any, context: object) -> None:
            for record in event["Records"]:
                self._one(record["body"])

        def batch(event: Any, context: Any) -> Any:
            processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
            return process_partial_response(event, lambda record: self._one(record.body), processor, context)

        ladder = Recoverability(failed=Failed("dead", unrecoverable=(CannotWork,)), **settings)
        endpoint = SqsEndpoint(lambda message: self._one(message.text, message), ladder)
        return {LOOP: loop, POWERTOOLS: batch, OURS: endpoint}[self.way]

    def _one(self, body: str, message: Message | None = None) -> None:
        self.runs[body] += 1
        self.times += [self.world.now] if body == "bad" else []
        self.message = message
        self._work(self, body)

    def send(self) -> None:
        """Send a message as a handler does in this way: at once by the SDK, or by `message.send`."""
        self.message.send("sent", "x") if self.message else self.world.send("sent", "x")

    @property
    def dead(self) -> list[Any]:
        """Return what is in the dead-letter or error queue."""
        return list(self.world.queue("dead"))


def fails_once(run: Run, body: str) -> None:
    if body == "bad" and run.runs[body] == 1:
        raise ConnectionError("no answer")


def always_fails(run: Run, body: str) -> None:
    if body == "bad":
        raise ConnectionError("no answer")


def can_never_work(run: Run, body: str) -> None:
    if body == "bad":
        raise CannotWork("declined")


def ends_its_process(run: Run, body: str) -> None:
    if body == "bad":
        run.world.kill()


def fails_for_an_hour(run: Run, body: str) -> None:
    if run.world.now - BEGAN < timedelta(hours=1):
        raise ConnectionError("the database is down")


def fails_after_it_has_sent(run: Run, body: str) -> None:
    run.send()
    if run.runs[body] <= 3:
        raise ConnectionError("no answer")


def again(run: Run) -> str:
    seconds = run.took.total_seconds()
    return f"again after {seconds:g} s" if seconds else "again at once"


def times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def why(run: Run) -> str:
    [order] = [each for each in run.dead if each.body == "bad"]
    traced = "always_fails" in order.headers.get("NServiceBus.ExceptionInfo.StackTrace", "")
    return "error queue, exception and trace" if traced and order.exception_type else "dead-letter queue, nothing"


def sent(run: Run) -> str:
    count = len(run.world.queue("sent")) - 1
    return f"{count} messages" if count else "none"


def good_ones_given_up(run: Run) -> str:
    return str(sum(order.body != "bad" for order in run.dead))


LIMIT = {"rate_limit": RateLimit(5)}
ROWS: dict[str, tuple[Callable[[Run, str], None], list[str], Callable[[Run], str]]] = {
    "one fails once": (fails_once, ["bad", *GOOD], again),
    "the nine beside it run": (fails_once, ["bad", *GOOD][::-1], lambda run: times(run.runs[GOOD[0]])),
    "one can never work: it runs": (can_never_work, ["bad", *GOOD], lambda run: times(run.runs["bad"])),
    "one always fails: it runs": (
        always_fails, ["bad", *GOOD], lambda run: f"{run.runs['bad']} times in {run.took.total_seconds():g} s",
    ),
    "good ones beside it given up": (always_fails, ["bad", *GOOD], good_ones_given_up),
    "where it is then, why": (always_fails, ["bad", *GOOD], why),
    "one ends its process: good ones given up": (ends_its_process, [*GOOD, "bad"], good_ones_given_up),
    "all fail for an hour: given up": (fails_for_an_hour, ["bad", *GOOD], lambda run: str(len(run.dead))),
    "what it sent in 3 failed attempts": (fails_after_it_has_sent, ["bad"], sent),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", ROWS)
def test_a_cell_of_the_table_is_what_a_run_gives(row: str, way: str) -> None:
    work, bodies, cell = ROWS[row]
    table = section(README, "## What happens to a message that fails")
    [found] = re.findall(rf"^\| {re.escape(row)} \| (.+) \|$", table, re.MULTILINE)

    run = Run(way, work, *bodies, **(LIMIT if "hour" in row else {}))

    said = found.split(" | ")[WAYS.index(way)]
    assert said.removesuffix(", with a rate limit") == cell(run)


def test_each_row_of_the_table_is_run() -> None:
    table = section(README, "## What happens to a message that fails")

    assert re.findall(r"^\| (\w[^|]*?) \|", table, re.MULTILINE) == list(ROWS)


def test_what_on_call_sees_is_what_the_terminal_shows() -> None:
    [shown] = [block for block in blocks(README, "console") if "errors groups" in block]

    assert [line for line in shown.splitlines() if line not in page("run/error-queue.md").splitlines()] == []


def test_the_handler_runs_as_it_stands() -> None:
    charged: list[str] = []
    names: dict[str, Any] = {"charge": charged.append}
    exec(compile(blocks(README, "python")[0], README, "exec"), names)  # our own page
    world = SqsWorld()
    world.serve("orders", names["handler"])
    world.send("orders", {"card": "visa"})
    world.run()

    assert charged == ["visa"]


def test_it_is_short() -> None:
    handler = [
        line for line in blocks(README, "python")[0].splitlines() if line and not line.startswith(("from", "import"))
    ]

    assert len(handler) <= 8
    assert "docs/pictures/ladder.svg" in page(README)
