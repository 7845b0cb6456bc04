"""The stack trace as .NET writes it, in which ServiceControl finds the frames that it groups failures by."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import pytest

from builders import NOW, Boom, platform
from recoverable import Message
from recoverable._ladder.faults import MAX_CAUSES, MAX_STACK_TRACE, absolute, fault_headers

HERE = __file__
FRAME = re.compile(
    r"^[ \t]*\w+[ \t]+(?P<frame>(?P<type>[^ \t]+)\.(?P<method>[^ \t]+?)[ \t]*(?P<params>\([ \t]*\)))"
    r"([ \t]+\w+[ \t]+(?P<file>([a-z]:|/).+?):\w+[ \t]+(?P<line>[0-9]+)[^\w\s]?)?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
"""The part of ServiceControl's pattern for frames that .NET's own, without parameters, match (StackTraceParser)."""


def trace(exception: BaseException) -> str:
    """Return the stack trace of the exception."""
    headers = fault_headers(exception, queue="orders", platform=platform(), now=NOW)
    return headers["NServiceBus.ExceptionInfo.StackTrace"]


def failure(function: Callable[[], object]) -> BaseException:
    """Return what the function raises."""
    try:
        function()
    except BaseException as error:  # noqa: BLE001  # given back
        return error
    raise AssertionError("it raised nothing")


def charge() -> None:
    """Raise."""
    raise Boom("card declined")


def place_order() -> None:
    """Raise what the function that it calls raises."""
    charge()


def pay() -> None:
    """Raise because of what it calls."""
    try:
        charge()
    except Boom as error:
        raise ValueError("no payment") from error


def line_of(function: Callable[[], None], offset: int) -> int:
    """Return a line of the function, from its `def`."""
    assert isinstance(function, FunctionType)
    return function.__code__.co_firstlineno + offset


def at(function: Callable[[], None], offset: int) -> str:
    """Return the line that a frame of the function has in the trace."""
    assert isinstance(function, FunctionType)
    return f"   at {__name__}.{function.__name__}() in {HERE}:line {line_of(function, offset)}"


def test_the_last_call_comes_first() -> None:
    assert trace(failure(place_order)).splitlines()[:3] == [
        "builders.Boom: card declined",
        at(charge, 2),
        at(place_order, 2),
    ]


def test_a_cause_comes_before_what_it_caused() -> None:
    lines = trace(failure(pay)).splitlines()

    assert lines[:4] == [
        "ValueError: no payment ---> builders.Boom: card declined",
        at(charge, 2),
        at(pay, 3),
        "   --- End of inner exception stack trace ---",
    ]
    assert lines[4] == at(pay, 5)


def test_servicecontrol_finds_every_frame() -> None:
    lines = trace(failure(pay)).splitlines()[1:]
    frames = [line for line in lines if "--- End of" not in line]

    assert [found["frame"] for found in FRAME.finditer(trace(failure(pay)))] == [
        line.strip().removeprefix("at ").partition(" in ")[0] for line in frames
    ]


def test_servicecontrol_groups_by_the_first_frame() -> None:
    first = FRAME.search(trace(failure(pay)))

    assert first is not None
    assert (first["type"], first["method"], first["file"], int(first["line"])) == (
        __name__,
        "charge",
        HERE,
        line_of(charge, 2),
    )


@pytest.mark.parametrize(
    "code", ["(lambda: 1 / 0)()", "[1 / 0 for _ in '1']", "class C:\n  x = 1 / 0"], ids=["lambda", "list", "class"]
)
def test_servicecontrol_finds_frames_of_code_without_a_name(code: str) -> None:
    compiled = compile(code, "<generated>", "exec")

    frames = [
        found["file"] for found in FRAME.finditer(trace(failure(lambda: exec(compiled, {"__name__": "generated"}))))
    ]

    assert "/<generated>" in frames


PATHS = {
    "/var/task/orders.py": "/var/task/orders.py",
    "orders.py": "/orders.py",
    "C:\\orders.py": "C:\\orders.py",
    "": "/",
}


@pytest.mark.parametrize(("path", "expected"), PATHS.items())
def test_every_path_starts_at_a_root(path: str, expected: str) -> None:
    assert absolute(path) == expected


def test_our_own_frames_which_every_failure_shares_are_omitted() -> None:
    parsing = trace(failure(lambda: Message("no json", id="m-1").parse(lambda body: charge())))

    assert f"   at {__name__}.charge() in" in parsing
    assert "   at recoverable." not in parsing


def test_an_exception_that_was_never_raised_has_no_frames() -> None:
    assert trace(Boom("it broke")) == "builders.Boom: it broke"


def test_every_member_of_a_group_is_in_the_trace() -> None:
    group = BaseExceptionGroup("several", [failure(charge), KeyError("code")])

    assert trace(group).splitlines() == [
        "ExceptionGroup: several (2 sub-exceptions) ---> builders.Boom: card declined ---> KeyError: 'code'",
        "   --- End of inner exception stack trace ---",
        at(charge, 2),
        f"   at {__name__}.failure() in {HERE}:line {line_of_call()}",
        "   --- End of inner exception stack trace ---",
    ]


def line_of_call() -> int:
    """Return the line where `failure` calls its function."""
    lines = Path(HERE).read_text(encoding="utf-8").splitlines()
    return lines.index("        function()") + 1


def test_causes_in_a_circle_are_written_once() -> None:
    first, second = Boom("first"), Boom("second")
    first.__cause__, second.__cause__ = second, first

    assert trace(first).splitlines()[0] == "builders.Boom: first ---> builders.Boom: second"


def test_a_long_chain_of_causes_is_cut() -> None:
    last = Boom("0")
    for number in range(1, 100):
        following = Boom(str(number))
        following.__cause__ = last
        last = following

    assert trace(last).splitlines()[0].count(" ---> ") == MAX_CAUSES - 1


def test_a_huge_trace_is_cut() -> None:
    group = ExceptionGroup("many", [Boom("x" * 20_000) for _ in range(50)])

    assert len(trace(group)) == MAX_STACK_TRACE


def test_a_deep_recursion_is_in_the_trace() -> None:
    def forever() -> None:
        forever()

    assert trace(failure(forever)).startswith("RecursionError: maximum recursion depth exceeded")
