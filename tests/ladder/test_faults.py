"""The fault headers: what an exception says of itself, however odd it is, so that ServiceControl and an operator understand it.

NServiceBus.Core.Tests/Recoverability/FaultMetadataExtractorTests, upstream → here: VerifyExceptionHeadersAreSet, ShouldApplyStaticMetadata →
test_settlements.py (the whole dict) and test_all_that_is_known_is_in_the_fault_headers; ExceptionMessageIsTruncated → test_a_huge_message_is_cut.
When_message_processing_fails.Should_provide_additional_exception_information → test_data_is_in_the_fault_headers.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, NoReturn

import pytest

from builders import NOW, platform
from recoverable._ladder.faults import fault_headers

INFO = "NServiceBus.ExceptionInfo."


def faults(exception: BaseException) -> dict[str, str]:
    """Return the headers about the exception itself, by the rest of their names."""
    every = fault_headers(exception, queue="orders", platform=platform(), now=NOW)
    return {
        name.removeprefix(INFO): text
        for name, text in every.items()
        if name.startswith(INFO) and name != f"{INFO}StackTrace"
    }


def raised(exception: BaseException, cause: BaseException | None = None) -> BaseException:
    """Return the exception with a traceback."""
    try:
        raise exception from cause
    except BaseException as caught:  # noqa: BLE001  # given back
        return caught


class Odd(Exception):
    """An exception with something odd about it."""


ODD = f"{__name__}.Odd"
SAID_NOTHING = f"Could not read Message from exception type '{__name__}.{{}}'."


class WithoutText(Odd):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class WithoutAttributes(Odd):
    """Asking it for anything raises."""

    @property
    def data(self) -> NoReturn:
        raise RuntimeError("no data")

    @property
    def help_link(self) -> NoReturn:
        raise RuntimeError("no link")


class Liar(Odd):
    """It claims to be of another class."""

    @property
    def __class__(self) -> Any:
        return KeyError

    @__class__.setter
    def __class__(self, value: Any) -> None:
        """Do nothing."""


class WithHelp(Odd):
    """It knows where help is."""

    help_link = "https://example.com/odd"


class Outer:
    """Holds a class, whose full name shows it."""

    class Inner(Exception):
        """Inside."""


FAULTS: dict[str, tuple[BaseException, dict[str, str]]] = {
    "a built-in one has a short name": (ValueError("no"), {"ExceptionType": "ValueError", "Message": "no"}),
    "one of ours has its full name": (Odd("odd"), {"ExceptionType": ODD, "Message": "odd"}),
    "one inside a class": (Outer.Inner(), {"ExceptionType": f"{__name__}.Outer.Inner", "Message": ""}),
    "one without text": (
        WithoutText(),
        {"ExceptionType": f"{__name__}.WithoutText", "Message": SAID_NOTHING.format("WithoutText")},
    ),
    "one that cannot be asked": (
        WithoutAttributes("odd"),
        {"ExceptionType": f"{__name__}.WithoutAttributes", "Message": "odd"},
    ),
    "one whose __class__ lies": (Liar("odd"), {"ExceptionType": f"{__name__}.Liar", "Message": "odd"}),
    "one that knows help": (
        WithHelp("odd"),
        {"ExceptionType": f"{__name__}.WithHelp", "Message": "odd", "HelpLink": "https://example.com/odd"},
    ),
    "a syntax error with odd details": (
        SyntaxError("bad", ("file.py", None, None, None)),
        {"ExceptionType": "SyntaxError", "Message": "bad (file.py)"},
    ),
    "a decoding error": (
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        {
            "ExceptionType": "UnicodeDecodeError",
            "Message": "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        },
    ),
    "a process that ends": (SystemExit(3), {"ExceptionType": "SystemExit", "Message": "3"}),
}


@pytest.mark.parametrize(("exception", "expected"), FAULTS.values(), ids=FAULTS)
def test_all_that_is_known_is_in_the_fault_headers(exception: BaseException, expected: dict[str, str]) -> None:
    assert faults(exception) == expected


def test_where_it_was_raised_is_the_source() -> None:
    source = faults(raised(Odd("odd")))["Source"]

    assert source == __name__.partition(".")[0]


def chained(*, suppressed: bool = False) -> BaseException:
    """Return an exception raised while another one was handled."""
    try:
        try:
            raise KeyError("code")
        except KeyError:
            if suppressed:
                raise Odd("odd") from None
            raise Odd("odd")  # noqa: B904  # its context is what is under test
    except Odd as error:
        return error


def circle() -> BaseException:
    """Return two exceptions that caused each other."""
    first, second = Odd("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    return first


INNER: dict[str, tuple[BaseException, str | None]] = {
    "a cause": (raised(Odd(), ValueError("no")), "ValueError"),
    "a context": (chained(), "KeyError"),
    "a suppressed context": (chained(suppressed=True), None),
    "a cause that caused itself": (circle(), "ValueError"),
    "an empty cause": (raised(Odd(), type("Empty", (ValueError,), {"__len__": lambda self: 0})()), f"{__name__}.Empty"),
    "a group": (ExceptionGroup("several", [KeyError("a"), ValueError("b")]), "KeyError"),
    "none": (raised(Odd()), None),
}


@pytest.mark.parametrize(("exception", "inner"), INNER.values(), ids=INNER)
def test_the_inner_exception_is_what_a_traceback_shows(exception: BaseException, inner: str | None) -> None:
    assert faults(exception).get("InnerExceptionType") == inner


class WithData(Odd):
    """It carries data."""

    def __init__(self, data: Any) -> None:
        super().__init__("odd")
        self.data = data


class BrokenMapping(dict[str, str]):
    """Data that cannot be read."""

    def items(self) -> NoReturn:
        raise RuntimeError("no items")


class NoPairs(dict[str, str]):
    """Data whose items are no pairs."""

    def items(self) -> Any:
        return ["Order", "42"]


DATA: dict[str, tuple[Any, dict[str, str]]] = {
    "texts": ({"Order": "42"}, {"Data.Order": "42"}),
    "other keys and values": ({1: 2.5, (3, 4): True}, {"Data.1": "2.5", "Data.(3, 4)": "True"}),
    "no value": ({"Order": None}, {}),
    "a value that cannot be shown": ({"Order": WithoutText(), "Place": "Oslo"}, {"Data.Place": "Oslo"}),
    "a key that cannot be shown": ({WithoutText(): "42", "Place": "Oslo"}, {"Data.Place": "Oslo"}),
    "a mapping of another kind": (MappingProxyType({"Order": "42"}), {"Data.Order": "42"}),
    "a mapping that cannot be read": (BrokenMapping(Order="42"), {}),
    "a mapping whose items are no pairs": (NoPairs(Order="42"), {}),
    "no mapping": ("Order 42", {}),
}


@pytest.mark.parametrize(("data", "expected"), DATA.values(), ids=DATA)
def test_data_is_in_the_fault_headers(data: Any, expected: dict[str, str]) -> None:
    every = faults(WithData(data))

    assert {name: text for name, text in every.items() if name.startswith("Data.")} == expected


def noted(*notes: Any) -> BaseException:
    """Return an exception with notes, of any kind."""
    exception = Odd("odd")
    exception.__notes__ = list(notes)
    return exception


NOTES: dict[str, tuple[BaseException, str | None]] = {
    "some": (noted("while paying", "order 42"), "while paying\norder 42"),
    "one that is no text": (noted(42), "42"),
    "one that cannot be shown": (noted(WithoutText(), "order 42"), "order 42"),
}


@pytest.mark.parametrize(("exception", "expected"), NOTES.values(), ids=NOTES)
def test_notes_are_in_the_fault_headers(exception: BaseException, expected: str | None) -> None:
    assert faults(exception).get("Data.Notes") == expected


def test_notes_that_are_no_list_are_omitted() -> None:
    exception = Odd("odd")
    exception.__notes__ = 42  # type: ignore[assignment]  # what PEP 678 leaves possible

    assert "Data.Notes" not in faults(exception)


def test_a_huge_message_is_cut() -> None:
    assert faults(Odd("x" * 2**15))["Message"] == "x" * 2**14


def test_the_host_id_is_a_guid_that_stays_the_same() -> None:
    first, again, other = (
        fault_headers(Odd(), queue="orders", platform=platform(host=host), now=NOW)["$.diagnostics.hostid"]
        for host in ("place-orders", "place-orders", "ship-orders")
    )

    assert len(first) == 32
    assert first == again != other


def test_an_instance_without_a_name_has_no_header() -> None:
    headers = fault_headers(ValueError(), queue="orders", platform=platform(machine=""), now=NOW)

    assert "NServiceBus.ProcessingMachine" not in headers
