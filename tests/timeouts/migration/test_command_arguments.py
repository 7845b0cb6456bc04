"""Test the arguments of `recoverable timeouts`: addresses, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from recoverable_operate._cli import main
from recoverable_operate._migration.command import is_same_store
from waiting.moving import waiting


def test_a_store_is_not_moved_onto_itself(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(source.removeprefix("sqlite:"))
    link = path.with_name("link.sqlite")
    link.symlink_to(path)

    assert main(["timeouts", "migrate", source, f"sqlite:{link}", "--really"]) == 2
    assert "link.sqlite is the source itself; write another store" in capsys.readouterr().err
    assert waiting(source) == 3


ARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/timeouts"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("dynamodb:timeouts", "dynamodb:timeouts", True),
        ("dynamodb:timeouts", f"dynamodb:{ARN}", True),
        ("dynamodb:timeouts", "dynamodb:other", False),
        (f"dynamodb:{ARN}", f"dynamodb:{ARN.replace('west', 'north')}", False),
        ("dynamodb:timeouts", "sqlite:timeouts", False),
        ("sqlite:a/../timeouts", "sqlite:timeouts", True),
        ("sqlite:timeouts", "sqs", False),
    ],
)
def test_a_table_is_known_by_its_name_and_its_arn(one: str, other: str, *, same: bool) -> None:
    assert (is_same_store(one, other), is_same_store(other, one)) == (same, same)


def test_a_store_that_is_not_installed_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("recoverable_operate._migration.command.entry_points", lambda **_: ())
    with pytest.raises(SystemExit):
        main(["timeouts", "migrate", "dynamodb:timeouts", "sqlite:timeouts"])

    assert "sqlite:FILE needs recoverable_local: pip install recoverable-local" in capsys.readouterr().err


WRONG = [
    (["preview", "redis:x"], "'redis:x' is no store; write dynamodb:TABLE or sqlite:FILE"),
    (["preview", "sqlite:/nowhere/x"], "there is no file '/nowhere/x'; write sqlite:FILE with one"),
    (["migrate", "{source}", "sqlite:/nowhere/x"], "unable to open database file"),
    (["migrate", "{source}"], "`migrate` takes a source and a target"),
    (["preview", "{source}", "sqs"], "the other verbs a source alone"),
    (["migrate", "{source}", "service-bus:NOWHERE"], "the environment has no NOWHERE, and it is no host name"),
    (
        ["migrate", "{source}", "service-bus:key=secret"],
        "this is no connection string of Service Bus, which begins with Endpoint=sb://",
    ),
    (["preview", "{source}", "--cutoff", "tomorrow"], "'tomorrow' is no time; write '2030-01-31 23:59:59', in UTC"),
    (["move", "{source}"], "invalid choice: 'move'"),
]


@pytest.mark.parametrize(("written", "why"), WRONG, ids=[why for _, why in WRONG])
def test_what_is_written_wrongly_is_refused(
    source: str, capsys: pytest.CaptureFixture[str], written: list[str], why: str
) -> None:
    try:
        status: object = main(["timeouts", *(word.format(source=source) for word in written)])
    except SystemExit as end:
        status = end.code

    assert (status, why in capsys.readouterr().err) == (2, True)
    assert waiting(source) == 3
