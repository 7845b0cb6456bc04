"""`recoverable errors` on an error queue with sessions."""

from __future__ import annotations

import json

from operate.azure.conftest import ERROR, NewBus
from operate.azure.test_service_bus import allowing

DONE, PARTLY, NOTHING = 0, 1, 3


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


def test_sessions_that_others_hold_are_named_and_left(new_bus: NewBus) -> None:
    bus = new_bus(requires_session=True)
    for session in ("held", "free"):
        bus.send_failed(session, headers=allowing(bus, "sessions"), session_id=session)

    with bus.receiver(ERROR, session_id="held"):
        ran = bus.run("retry", "--allow", "sessions", "--yes")

    assert (ran.status, bus.bodies("sessions"), bus.bodies()) == (PARTLY, ["free"], ["held"])
    assert "Not all was looked at: other receivers hold these sessions, which are not read: held.\n" in ran.err


def test_a_held_session_is_named_once_nobody_else_has_messages(new_bus: NewBus) -> None:
    bus = new_bus(requires_session=True)
    bus.send_failed(headers=allowing(bus), session_id="held\x1b[2J")

    with bus.receiver(ERROR, session_id="held\x1b[2J"):
        ran = bus.run("list")

    assert (ran.status, "which are not read: held\\x1b[2J.\n" in ran.err) == (PARTLY, True)


def test_a_session_with_a_state_and_no_messages_is_not_called_held(new_bus: NewBus) -> None:
    bus = new_bus(requires_session=True)
    bus.send_failed(headers=allowing(bus), session_id="free")
    bus.send_failed(headers=allowing(bus), session_id="state")
    with bus.receiver(ERROR, session_id="state") as receiver:
        receiver.session.set_state("kept")
        receiver.complete_message(receiver.receive_messages(1)[0])

    ran = bus.run("list", "--json")

    assert (ran.status, len(ran.out.splitlines()), "hold these" in ran.err) == (DONE, 1, False)
