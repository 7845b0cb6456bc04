"""What the host prints of a message is what became of it, whatever ends its worker's process."""

from __future__ import annotations

import pytest

from local.claims import untrue_lines
from local.functions_host.conftest import Start
from recoverable_local.functions_host import Ended, Invoked
from recoverable_local.functions_host.formatting import lines_of
from recoverable_local.service_bus import Depth

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("functions_host")]

LADDERED = """
from datetime import timedelta
from recoverable import Delayed, Failed, Immediate, Recoverability
from recoverable.azure import ServiceBusEndpoint

def follow(message):
    script, run = json.loads(message.text)["do"], 2 * message.round + message.attempt
    match script[run - 1] if run <= len(script) else "succeed":
        case "fail":
            raise ValueError("no such card")
        case "die":
            os._exit(7)

ladder = Recoverability(Immediate(1), Delayed(1, timedelta(seconds=1)), Failed("error"))
app.register_functions(ServiceBusEndpoint(follow, ladder, queue="orders", connection="ServiceBus").blueprint())
"""

SCRIPTS = [
    [], ["fail"], ["fail"] * 4, ["die"], ["die", "die"], ["fail", "die"], ["die", "fail", "fail"], ["fail", "fail", "die"], [], ["fail"],
]  # fmt: skip


def test_each_line_is_what_became_of_its_message_under_kills(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    running = start(LADDERED)
    running.host.send("orders", *({"do": script} for script in SCRIPTS))
    error, orders = (running.host.queue(name) for name in ("error", "orders"))
    running.until(lambda: error.depth() != Depth() and orders.depth() == Depth())
    running.until(lambda: len(running.all(Ended)) == len(running.all(Invoked)))

    untrue = untrue_lines(
        running.entries, Invoked, lambda entry: [each.message_id for each in entry.messages], lines_of, capsys
    )

    assert untrue == []
