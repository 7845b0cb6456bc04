"""What an instance remembers of the last failure of a message, and how the error copy of a later delivery says it."""

from __future__ import annotations

import pytest

from builders import NOW, NOW_WRITTEN, Boom, delivery, platform, recoverability
from recoverable import UnreportedFailure
from recoverable._ladder.decision import give_up
from recoverable._ladder.last_failure import LastFailure, remembered_headers
from recoverable._ladder.settlement import Forward

INFO = "NServiceBus.ExceptionInfo."
FAILED = {
    f"{INFO}ExceptionType": "shop.Declined",
    f"{INFO}Message": "do not honour",
    f"{INFO}StackTrace": "shop.Declined: do not honour\n   at shop.pay() in /shop.py:line 7",
    f"{INFO}Source": "shop",
    "NServiceBus.TimeOfFailure": "2026-03-14 15:00:00:000000 Z",
}


def raised(error: Exception, calls: int = 1) -> Exception:
    """Return an exception with a traceback of so many frames."""

    def dive(depth: int) -> None:
        if depth > 1:
            dive(depth - 1)
        raise error

    try:
        dive(calls)
    except Exception as caught:  # noqa: BLE001  # as it was raised
        return caught
    raise AssertionError


def said(last: LastFailure | None, *, deliveries: int) -> dict[str, str | None]:
    """Return what the error copy of an `UnreportedFailure` says of what failed."""
    given_up = delivery(deliveries=deliveries, unreported=True)
    given_up.last_failure = last
    error = UnreportedFailure("nobody knows")
    moved = give_up(given_up, error, recoverability=recoverability(), platform=platform(), now=NOW)
    assert isinstance(moved, Forward)
    return {name: text for name, text in moved.changes.items() if name in FAILED or name.startswith(INFO)}


def test_where_this_instance_settled_each_delivery_since_the_failure_is_the_copy_s_own() -> None:
    assert said(LastFailure(FAILED, delivery=26, settled=30), deliveries=30) == FAILED


def test_where_a_delivery_since_is_not_known_the_failure_is_the_inner_exception() -> None:
    assert said(LastFailure(FAILED, delivery=1, settled=3), deliveries=27) == {
        f"{INFO}ExceptionType": "recoverable.UnreportedFailure",
        f"{INFO}InnerExceptionType": "shop.Declined",
        f"{INFO}Message": "nobody knows; before that, at delivery 1 of 27: shop.Declined: do not honour",
        f"{INFO}StackTrace": "recoverable.UnreportedFailure: nobody knows ---> shop.Declined: do not honour\n"
        "   at shop.pay() in /shop.py:line 7\n   --- End of inner exception stack trace ---",
        "NServiceBus.TimeOfFailure": NOW_WRITTEN,
    }


def test_without_a_failure_the_copy_says_that_nobody_knows() -> None:
    assert said(None, deliveries=9)[f"{INFO}Message"] == "nobody knows"


def test_a_short_failure_is_remembered_whole() -> None:
    found = remembered_headers(raised(Boom("it broke")), now=NOW, redact=None)

    assert found.pop(f"{INFO}StackTrace").startswith(f"builders.Boom: it broke\n   at {__name__}.dive() in ")
    assert found == {
        f"{INFO}ExceptionType": "builders.Boom",
        f"{INFO}Message": "it broke",
        f"{INFO}Source": __name__.partition(".")[0],
        "NServiceBus.TimeOfFailure": NOW_WRITTEN,
    }


@pytest.mark.parametrize("calls", [1, 200])
def test_of_a_long_one_a_thousand_characters_and_4_kb_of_the_frames_of_the_last_calls(calls: int) -> None:
    found = remembered_headers(raised(Boom("m" * 20_000), calls), now=NOW, redact=None)

    trace = found[f"{INFO}StackTrace"]
    assert found[f"{INFO}Message"] == "m" * 1_000
    assert len(trace) <= 4_096
    assert trace.partition("\n")[2].startswith(f"   at {__name__}.dive() in ")


def test_texts_pass_the_redactor_before_they_are_cut() -> None:
    error = raised(Boom(f"{'m' * 990}card 4111 1111"))

    found = remembered_headers(error, now=NOW, redact=lambda text: text.replace("card 4111 1111", "card"))

    assert found[f"{INFO}Message"] == f"{'m' * 990}card"
    assert "4111" not in found[f"{INFO}StackTrace"]
