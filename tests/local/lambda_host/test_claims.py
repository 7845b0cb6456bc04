"""What the host prints of a message is what became of it, whatever ends its function's process."""

from __future__ import annotations

from datetime import timedelta

import pytest

from local.claims import untrue_lines
from local.lambda_host.conftest import Start
from recoverable_local.lambda_host import Ended, Invoked
from recoverable_local.lambda_host.formatting import lines_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("lambda_host")]

SCRIPTS = [
    [], ["fail"], ["fail"] * 4, ["die"], ["die", "die"], ["fail", "die"], ["die", "fail", "fail"], ["fail", "fail", "die"], [], ["fail"],
]  # fmt: skip


def test_each_line_is_what_became_of_its_message_under_kills(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    running = start(
        function={"Handler": "laddered.handler"}, queue={"VisibilityTimeout": 120}, event={"BatchSize": 10},
        settings={"redeliver_after": timedelta(seconds=1), "concurrency": 1},
    )  # fmt: skip
    for script in SCRIPTS:
        running.host.send("orders", {"do": script})
    errors, orders = (running.host.queue(name) for name in ("errors", "orders"))
    running.until(lambda: errors.depth().total and not orders.depth().total)
    running.until(lambda: len(running.all(Ended)) == len(running.all(Invoked)))

    untrue = untrue_lines(running.entries, Invoked, lambda entry: entry.message_ids, lines_of, capsys)

    assert untrue == []
