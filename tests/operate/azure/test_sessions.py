"""`recoverable errors` on an error queue with sessions."""

from __future__ import annotations

import json

from operate.azure.conftest import ERROR, NewBus
from operate.azure.test_service_bus import allowing

DONE, PARTLY = 0, 1


def test_all_sessions_are_listed(new_bus: NewBus) -> None:
    bus = new_bus(requires_session=True)
    for number in range(4):
        bus.send_failed(headers=allowing(bus, id=str(number)), session_id=f"s{number % 2}")

    ran = bus.run("list", "--json")

    found = sorted((row["id"], row["groupId"]) for row in map(json.loads, ran.out.splitlines()))
    assert (ran.status, found) == (DONE, [("0", "s0"), ("1", "s1"), ("2", "s0"), ("3", "s1")])


def test_messages_go_back_into_their_sessions(new_bus: NewBus) -> None:
    bus = new_bus(requires_session=True)
    for number in range(6):
        kind = "BankDown" if number < 4 else "CardDeclined"
        headers = allowing(bus, "sessions", id=str(number), type=kind)
        bus.send_failed(str(number), headers=headers, session_id=f"s{number % 2}")

    ran = bus.run("retry", "--type", "BankDown", "--allow", "sessions", "--yes")

    sent = [(each.body, each.session_id) for each in bus.seen("sessions")]
    assert (ran.status, sorted(sent), bus.bodies()) == (
        DONE, [(b"0", "s0"), (b"1", "s1"), (b"2", "s0"), (b"3", "s1")], ["4", "5"]
    )  # fmt: skip


def test_a_session_that_another_holds_is_left(new_bus: NewBus) -> None:
    bus = new_bus(requires_session=True)
    for session in ("held", "free"):
        bus.send_failed(session, headers=allowing(bus, "sessions"), session_id=session)

    with bus.receiver(ERROR, session_id="held"):
        ran = bus.run("retry", "--allow", "sessions", "--yes")

    assert (ran.status, bus.bodies("sessions"), bus.bodies()) == (DONE, ["free"], ["held"])
    assert "Sessions that others hold are not seen." in ran.err
