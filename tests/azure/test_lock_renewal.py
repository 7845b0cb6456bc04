"""One message a trigger, and a handler that outlives the renewal of its lock: nothing multiplies, and one copy reaches the error queue."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from azure.endpoints import ended, endpoint
from azure.recording import RecordingClient
from azure.triggers import trigger_message
from builders import Boom, recoverability, seconds
from recoverable import Delayed, Failed, Immediate, Message, RateLimit, Recoverability
from recoverable.azure import ServiceBusEndpoint
from recoverable.azure._waiting import warn_once
from recoverable.extensions import Observe
from recoverable.hosting import Deadline, Environment, current_environment
from recoverable_local.testing import ServiceBusWorld, Throttled

QUEUE, ERROR, OUT = "orders", "error", "out"
RENEWAL = 300
DEFAULT = Recoverability(failed=Failed(ERROR))


def ladder(immediate: int, delayed: int) -> Recoverability:
    """Return a ladder with the delays of the default one."""
    return Recoverability(Immediate(immediate), Delayed(delayed, seconds(10)), Failed(ERROR))


class Slow:
    """A handler that sends a message, takes some time, and fails or not.

    Args:
        world: where time passes.
        took: for how many seconds it runs.
        fails: True if it fails.
    """

    def __init__(self, world: ServiceBusWorld, took: float, *, fails: bool = True) -> None:
        self._world, self._took, self._fails, self.runs = world, took, fails, 0

    def __call__(self, message: Message) -> None:
        self.runs += 1
        message.send(OUT, message.text)
        self._world.spend(self._took)
        if self._fails:
            raise Boom("too slow")


@pytest.fixture
def world() -> ServiceBusWorld:
    """Return a world in which an endless copying is noticed."""
    made = ServiceBusWorld(most_invocations=200)
    made.create_queue(OUT)
    return made


def serve(
    world: ServiceBusWorld,
    slow: Slow,
    settings: Recoverability = DEFAULT,
    *,
    deliveries: int = 100,
    sessions: bool = False,
) -> None:
    """Send a message, and serve it on a host with Microsoft's defaults: half an hour for a function, renewal for five minutes."""
    world.create_queue(QUEUE, lock=60, dead_letter_queue=ERROR, max_delivery_count=deliveries, sessions=sessions)
    world.send(QUEUE, "slow", group_id="one" if sessions else None)
    served = ServiceBusEndpoint(slow, settings, queue=QUEUE, connection="ServiceBus", name="orders", sessions=sessions)
    world.serve(QUEUE, served, timeout=1_800, lock_renewal=RENEWAL)
    world.run()


@pytest.mark.parametrize("deliveries", [11, 100])
@pytest.mark.parametrize(("immediate", "delayed", "runs"), [(5, 3, 32), (0, 3, 12), (0, 0, 3)])
def test_one_that_always_fails_too_late_climbs_its_ladder_and_makes_one_error_copy(
    world: ServiceBusWorld, immediate: int, delayed: int, runs: int, deliveries: int
) -> None:
    slow = Slow(world, 400)

    serve(world, slow, ladder(immediate, delayed), deliveries=deliveries)

    assert (slow.runs, len(world.queue(ERROR)), world.queue(OUT)) == (runs, 1, [])


def test_in_a_session_too(world: ServiceBusWorld) -> None:
    slow = Slow(world, 400)

    serve(world, slow, ladder(0, 3), sessions=True)

    assert (slow.runs, len(world.queue(ERROR))) == (12, 1)


def test_one_that_succeeds_a_little_late_runs_once_and_what_it_sent_is_sent(world: ServiceBusWorld) -> None:
    slow = Slow(world, RENEWAL + 10, fails=False)

    serve(world, slow)

    assert (slow.runs, len(world.queue(OUT)), world.queue(ERROR)) == (1, 1, [])


@pytest.mark.parametrize(("took", "runs"), [(RENEWAL - 6, 4), (RENEWAL - 4, 12)])
def test_copies_are_sent_until_five_seconds_before_the_renewal_ends(
    world: ServiceBusWorld, took: float, runs: int
) -> None:
    slow = Slow(world, took)

    serve(world, slow, ladder(0, 3))

    assert (slow.runs, len(world.queue(ERROR))) == (runs, 1)


def test_it_is_not_retried_in_process(world: ServiceBusWorld) -> None:
    slow = Slow(world, RENEWAL + 10)

    serve(world, slow, Recoverability(Immediate(5, in_process=True), Delayed(0), Failed(ERROR)))

    assert (slow.runs, len(world.queue(ERROR))) == (8, 1)


def test_what_it_has_waited_inside_its_invocation_is_time_of_its_lock(world: ServiceBusWorld) -> None:
    def work(message: Message) -> None:
        world.spend(0 if message.text == "opens the circuit" else 150)
        raise Boom

    world.create_queue(QUEUE, lock=60, dead_letter_queue=ERROR, sessions=True)
    limited = ladder(0, 0).replace(rate_limit=RateLimit(1, seconds(200)))
    served = ServiceBusEndpoint(work, limited, queue=QUEUE, connection="ServiceBus", name="orders", sessions=True)
    world.serve(QUEUE, served, timeout=1_800, lock_renewal=RENEWAL)
    world.send(QUEUE, "opens the circuit", group_id="a")
    world.send(QUEUE, "waits", group_id="b", delay=1)
    world.run(for_=400)

    assert [message.headers for message in world.queue(QUEUE) if message.body == "waits"] == [{}]


def test_one_that_waits_while_the_rate_is_limited_waits_by_its_deliveries(world: ServiceBusWorld) -> None:
    slow = Slow(world, 400)

    serve(world, slow, ladder(0, 0).replace(rate_limit=RateLimit(1)))

    assert (slow.runs, len(world.queue(ERROR))) == (3, 1)


def test_one_whose_send_is_not_taken_is_delivered_again_and_makes_no_copy(world: ServiceBusWorld) -> None:
    slow = Slow(world, 400, fails=False)
    world.fail("send_messages", Throttled(), queue=OUT, during=timedelta(days=1))

    serve(world, slow, ladder(0, 0))

    assert (slow.runs, len(world.queue(ERROR))) == (3, 1)


def test_a_copy_is_not_repeated_past_the_end_of_the_lock(world: ServiceBusWorld) -> None:
    slow = Slow(world, RENEWAL - 10)
    world.fail("send_messages", Throttled(), during=seconds(RENEWAL + 10))

    serve(world, slow, ladder(0, 0))

    late = [entry.at for entry in world._journal._entries if entry.what == "invocation failed"]
    assert late == [pytest.approx(RENEWAL - 5, abs=5)]
    assert (slow.runs, len(world.queue(ERROR))) == (2, 1)


def test_the_log_says_why_and_what_to_raise(world: ServiceBusWorld, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "recoverable")
    seen = list[str]()
    observing = Observe(on_immediate_retry=lambda _, message: seen.append(message.text))

    world.send(QUEUE, "slow")
    served = ServiceBusEndpoint(
        Slow(world, 400), ladder(0, 0), queue=QUEUE, connection="ServiceBus", name="orders", extensions=(observing,)
    )
    world.serve(QUEUE, served, timeout=1_800, lock_renewal=RENEWAL)
    world.run()

    first = [record.getMessage() for record in caplog.records if record.name.startswith("recoverable.")][:2]
    assert "host renews it for 0:05:00, and its handler has run for 0:06:40. No copy" in first[0]
    assert "Raise maxAutoLockRenewalDuration in host.json" in first[0]
    assert first[1].startswith("Immediate Retry is going to retry message")
    assert seen == ["slow"] * 3


class Host:
    """A host whose clock a handler moves, in a folder with a host.json.

    Args:
        folder: the folder of the app.
        document: the content of its host.json; None for none.
    """

    def __init__(self, folder: Path, document: dict[str, object] | None) -> None:
        self.settings, self.seconds, self.client = {"AzureWebJobsScriptRoot": str(folder)}, 0.0, RecordingClient()
        if document is not None:
            (folder / "host.json").write_text(json.dumps(document))

    def copies_after(self, took: float, **parts: Any) -> int:
        """Return how many copies leave when a message fails after so many seconds."""

        def fail(_: Message) -> None:
            self.seconds += took
            raise Boom

        called = endpoint(fail, recoverability(0, 0), client=self.client, **parts)
        clock = called._processor.environment.clock
        token = current_environment.set(
            Environment(self.client.as_client(), clock, Deadline, seconds=lambda: self.seconds)
        )
        try:
            ended(called, trigger_message())
        finally:
            current_environment.reset(token)
        return len(self.client.sent)


def bus(**options: object) -> dict[str, object]:
    """Return a host.json with these options of the Service Bus extension."""
    return {"version": "2.0", "extensions": {"serviceBus": options}}


RENEWALS: dict[str, tuple[dict[str, object], timedelta | None, float]] = {
    "the host's default": (bus(), None, 295),
    "as host.json says": (bus(maxAutoLockRenewalDuration="00:10:00"), None, 595),
    "the old layout": (bus(messageHandlerOptions={"maxAutoRenewDuration": "00:02:00"}), None, 115),
    "the old layout of sessions": (bus(sessionHandlerOptions={"maxAutoRenewDuration": "00:02:00"}), None, 115),
    "a flat name beside the old one": (
        bus(messageHandlerOptions={"maxAutoRenewDuration": "00:02:00"}, maxAutoLockRenewalDuration="00:03:00"), None, 175,
    ),
    "none, and the longest lock": (bus(maxAutoLockRenewalDuration="00:00:00"), None, 295),
    "none, and the queue's lock": (bus(maxAutoLockRenewalDuration="00:00:00"), seconds(60), 55),
    "one that is shorter than the lock": (bus(maxAutoLockRenewalDuration="00:00:10"), seconds(60), 55),
    "a short one": (bus(maxAutoLockRenewalDuration="00:00:20"), None, 18),
}  # fmt: skip


@pytest.mark.parametrize(("document", "lock", "until"), RENEWALS.values(), ids=RENEWALS)
def test_copies_are_sent_for_as_long_as_the_host_holds_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, document: dict[str, object], lock: timedelta | None, until: float
) -> None:
    monkeypatch.setenv("AzureWebJobsScriptRoot", str(tmp_path))

    assert Host(tmp_path, document).copies_after(until - 1, lock=lock) == 1
    assert Host(tmp_path, document).copies_after(until + 1, lock=lock) == 0


UNKNOWN: dict[str, dict[str, object] | None] = {
    "no file": None,
    "no end": bus(maxAutoLockRenewalDuration="-00:00:00.0010000"),
    "words": bus(maxAutoLockRenewalDuration="long"),
}


@pytest.mark.parametrize("document", UNKNOWN.values(), ids=UNKNOWN)
def test_where_nothing_says_an_end_copies_are_sent_and_a_warning_says_so_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    document: dict[str, object] | None,
) -> None:
    warn_once.cache_clear()
    monkeypatch.setenv("AzureWebJobsScriptRoot", str(tmp_path))

    assert [Host(tmp_path, document).copies_after(4_000) for _ in range(2)] == [1, 1]
    assert [record.getMessage().count("maxAutoLockRenewalDuration has no end") for record in caplog.records].count(
        1
    ) == 1


def test_a_quick_failure_says_nothing_of_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()
    monkeypatch.setenv("AzureWebJobsScriptRoot", str(tmp_path))

    assert Host(tmp_path, None).copies_after(1) == 1
    assert "maxAutoLockRenewalDuration" not in caplog.text
