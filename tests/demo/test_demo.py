"""The whole demo, as `make demo` runs it."""

from __future__ import annotations

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
