"""Test the command `recoverable timeouts`: it is a dry run unless --really is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from recoverable.timeouts import StoreUnavailable
from recoverable_local.service_bus import Queue, ServiceBusNamespace
from recoverable_local.timeouts import SqliteStore
from recoverable_operate._cli import main
from recoverable_operate._migration.command import hint
from waiting.moving import held, waiting
from waiting.rows import scan


def test_a_preview_lists_what_waits(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeouts", "preview", source]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "        1  bank → orders",
        "        2  shop → orders",
        "due from 2100-03-14 15:09:26 to 2100-03-14 17:09:26; 0 held by a migration",
        "3 wait",
    ]


def test_without_really_nothing_is_changed(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = f"sqlite:{tmp_path / 'other.sqlite'}"

    assert main(["timeouts", "migrate", source, target]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        f"3 would be moved to {target}",
        "Nothing was changed; add --really.",
    ]
    assert (waiting(source), waiting(target)) == (3, 0)


def test_with_really_it_is_moved_and_its_progress_shown(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = f"sqlite:{tmp_path / 'other.sqlite'}"
    status = main(["timeouts", "migrate", source, target, "--endpoint", "shop", "--really"])
    told = capsys.readouterr()

    assert (status, told.out.splitlines()[-1]) == (0, f"2 moved to {target}")
    assert told.err == "2 read, 2 moved, 0 skipped\n"
    assert (waiting(source), waiting(target)) == (1, 2)


def test_it_moves_to_the_namespace_that_a_setting_names(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ServiceBusNamespace([Queue("orders")]) as namespace:
        monkeypatch.setenv("ServiceBus", namespace.connection_string)
        status = main(
            ["timeouts", "migrate", source, "service-bus:ServiceBus", "--cutoff", "2100-03-14 16:00:00", "--really"]
        )
        moved = namespace.queue("orders").depth().scheduled

    assert (status, moved, waiting(source)) == (0, 2, 1)
    assert capsys.readouterr().out.splitlines()[-1] == "2 moved to Service Bus"


def test_a_namespace_that_is_not_there_leaves_all_where_it_is(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ServiceBusNamespace([Queue("orders")]) as gone:
        monkeypatch.setenv("ServiceBus", gone.connection_string)

    assert main(["timeouts", "migrate", source, "service-bus:ServiceBus", "--really"]) == 2
    told = capsys.readouterr()
    assert told.err.splitlines()[-2:] == [
        "recoverable timeouts: Service Bus failed: orders: ServiceBusConnectionError",
        "Timeouts that were moved stay moved. Run the same command again to go on.",
    ]
    assert told.out.splitlines()[-2:] == [
        "skipped: 3, because Service Bus took no more, so the dispatcher sees it again",
        "0 moved to Service Bus",
    ]
    assert held(source) == 0


def test_what_is_refused_is_named(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ServiceBusNamespace([Queue("other")]) as namespace:
        monkeypatch.setenv("ServiceBus", namespace.connection_string)
        status = main(["timeouts", "migrate", source, "service-bus:ServiceBus", "--really"])
    named = [line.partition(": ") for line in capsys.readouterr().err.splitlines()]

    why = "Service Bus did not take it (orders: MessagingEntityNotFoundError), so the dispatcher sees it again"
    assert (status, held(source)) == (1, 0)
    assert [reason for _, _, reason in named] == [why] * 3 + [""]
    assert all(timeout_id.startswith("4108") for timeout_id, _, _ in named[:3])


def test_an_interruption_says_how_to_go_on(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SqliteStore, "release_from_migration", interrupted)

    assert main(["timeouts", "abort", source, "--really"]) == 130
    assert capsys.readouterr().err.splitlines() == [
        "recoverable timeouts: interrupted",
        "Timeouts that were moved stay moved. Run the same command again to go on.",
    ]


@pytest.mark.parametrize(
    ("said", "hint_"),
    [
        ("DynamoDB: NoRegionError", "; set the region in AWS_DEFAULT_REGION or your AWS profile"),
        ("DynamoDB: ... (ResourceNotFoundException) ...", "; there is no such table in this account and region"),
        ("DynamoDB: EndpointConnectionError", ""),
    ],
)
def test_it_says_what_to_do_about_what_aws_says(said: str, hint_: str) -> None:
    assert hint(StoreUnavailable(said)) == hint_


def test_what_is_held_is_shown_again_by_an_abort(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = source.removeprefix("sqlite:")
    store = SqliteStore(path)
    rows = scan(store)
    assert [store.hold_for_migration(row) for row in rows] == [True] * 3
    store.close()

    assert main(["timeouts", "abort", source, "--really"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 released to the dispatcher"
