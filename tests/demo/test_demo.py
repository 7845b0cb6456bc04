"""The whole demo, as `make demo` runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from recoverable.cli import main


@pytest.mark.slow
@pytest.mark.xdist_group("demo")
def test_every_order_ends_where_it_must(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["demo", "aws"])

    assert (status, capsys.readouterr().out.splitlines()[-1]) == (
        0,
        "8 orders sent, 4 placed, 4 in the error queue, none lost.",
    )


def test_without_the_example_shop_it_says_where_that_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    status = main(["demo", "aws"])

    told = "recoverable demo aws: There is no template 'template.yaml'; give its path with --template."
    assert (status, capsys.readouterr().err) == (
        2,
        f"{told} The example shop is in the project's repository.\n",
    )
