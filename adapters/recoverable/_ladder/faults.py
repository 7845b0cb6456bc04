"""Describe an exception in the fault headers that ServiceControl and operators read, with what its texts may show.

The user's redactor fails closed: where it raises or returns no text, the text is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from recoverable import headers
from recoverable._errors import TimeUp
from recoverable._ladder.groups import MOST_NAMED, PLAIN_GROUPS, failure_in, leaves, ungrouped
from recoverable.headers import LOG_GROUP, LOG_STREAM, REQUEST_ID, VERSION, write_date

if TYPE_CHECKING:
    from recoverable._ladder.settlement import Platform

FAILED_QUEUE = "NServiceBus.FailedQ"
EXCEPTION_TYPE = "NServiceBus.ExceptionInfo.ExceptionType"
INNER_EXCEPTION_TYPE = "NServiceBus.ExceptionInfo.InnerExceptionType"
EXCEPTION_MESSAGE = "NServiceBus.ExceptionInfo.Message"
STACK_TRACE = "NServiceBus.ExceptionInfo.StackTrace"
SOURCE = "NServiceBus.ExceptionInfo.Source"
HELP_LINK = "NServiceBus.ExceptionInfo.HelpLink"
DATA = "NServiceBus.ExceptionInfo.Data."
HANDLER_START, HANDLER_FAILURE = f"{DATA}Handler start time", f"{DATA}Handler failure time"
TIME_OF_FAILURE = "NServiceBus.TimeOfFailure"
PROCESSING_ENDPOINT = "NServiceBus.ProcessingEndpoint"
PROCESSING_MACHINE = "NServiceBus.ProcessingMachine"
HOST_ID = "$.diagnostics.hostid"
HOST_NAME = "$.diagnostics.hostdisplayname"

MAX_MESSAGE = 16_384
"""Characters of an exception's message that are kept (NServiceBus, ExceptionHeaderHelper)."""

MAX_STACK_TRACE = 200_000
"""Characters of a stack trace that are kept at most; an adapter trims it further to its broker's limit."""

MAX_CAUSES = 20
"""Exceptions of a chain of causes that are described at most."""

REMOVED_WHOLE = (LOG_GROUP, LOG_STREAM, REQUEST_ID, VERSION, headers.CONTENT_TYPE, headers.ENCLOSED_MESSAGE_TYPES)
"""Headers of which a part would name nothing."""

FIRST_TO_TRIM = (
    *(STACK_TRACE, DATA, EXCEPTION_MESSAGE, SOURCE, HELP_LINK),
    *(LOG_GROUP, LOG_STREAM, REQUEST_ID, VERSION, INNER_EXCEPTION_TYPE, EXCEPTION_TYPE),
)
"""The beginnings of the fault headers' names, in the order in which they are trimmed where a copy is too large."""

CONTENT = (headers.CONTENT_TYPE, headers.ENCLOSED_MESSAGE_TYPES)
"""Headers that say what a body is: unless they are its sender's own, they are trimmed before the others."""

LEFT_BEHIND = frozenset(
    (
        *headers.RETRY_HEADERS, FAILED_QUEUE, TIME_OF_FAILURE, PROCESSING_ENDPOINT, PROCESSING_MACHINE, HOST_ID, HOST_NAME,
        headers.FAILED_QUEUE_ADDRESS, REQUEST_ID, LOG_GROUP, LOG_STREAM, VERSION, headers.ATTEMPTS, headers.FIRST_FAILED_AT,
    )
)  # fmt: skip
"""Headers about a failure and about the retries before it, which a message that was sent back from an error queue no longer has."""

EXCEPTION_INFO = "NServiceBus.ExceptionInfo."
"""With this begin the others."""

FRAME, END_OF_INNER = "\n   at ", "   --- End of inner exception stack trace ---"
"""Begins a frame in a stack trace of .NET, and what ends the frames of an inner exception."""

OUR_PACKAGES = ("recoverable", "recoverable_local", "recoverable_operate")

Redact = Callable[[str], str]
"""A function from a text to the text without what nobody may read."""

LEFT_OUT = "(left out: Observe(redact) {})"


def fault_headers(
    exception: BaseException, *, queue: str, platform: Platform, now: datetime, redact: Redact | None = None
) -> dict[str, str]:
    """Return the fault headers of a message that moves to the error queue.

    Args:
        exception: the failure.
        queue: the name of the queue where it failed, to which a redrive sends the message back.
        platform: names the host and the machine.
        now: the time of the failure.
        redact: the user's redactor; None for the texts as they are.
    """
    machine = {PROCESSING_MACHINE: platform.machine} if platform.machine else {}
    return {
        **machine,
        PROCESSING_ENDPOINT: queue,
        HOST_ID: host_id(platform.host),
        HOST_NAME: platform.host,
        FAILED_QUEUE: queue,
        **exception_headers(exception, now=now, redact=redact),
        **{f"{DATA}{redacted(name, redact)}": redacted(text, redact) for name, text in data_of(exception)},
    }


def exception_headers(
    exception: BaseException, *, now: datetime, redact: Redact | None, most_frames: int | None = None
) -> dict[str, str]:
    """Return the fault headers that say what failed, and when, with so many frames of each exception, those of the last calls."""
    shown = ungrouped(exception)
    causes = chain(shown)
    link = text_of(attribute(shown, "help_link"))
    optional = {
        INNER_EXCEPTION_TYPE: type_name(causes[1]) if len(causes) > 1 else None,
        HELP_LINK: None if link is None else redacted(link, redact),
        SOURCE: source_of(shown),
    }
    return {
        EXCEPTION_TYPE: type_name(shown),
        EXCEPTION_MESSAGE: redacted_text(exception, redact)[:MAX_MESSAGE],
        STACK_TRACE: stack_trace(chain(exception), redact, most_frames)[:MAX_STACK_TRACE],
        TIME_OF_FAILURE: write_date(now),
        **{name: text for name, text in optional.items() if text is not None},
    }


def is_left_behind(name: str) -> bool:
    """True if a header is about a failure, or about the retries before it."""
    return name in LEFT_BEHIND or name.startswith(EXCEPTION_INFO)


def host_id(host: str) -> str:
    """Return the host's name hashed to a GUID, for ServiceControl refuses anything else."""
    import hashlib  # noqa: PLC0415  # dear at cold start

    return hashlib.md5(host.encode(), usedforsecurity=False).hexdigest()


def chain(exception: BaseException) -> list[BaseException]:
    """Return the exception and its causes, as a traceback shows them; each once, even where causes form a circle."""
    found: list[BaseException] = []
    waiting = [exception]
    while waiting and len(found) < MAX_CAUSES:
        following = waiting.pop()
        if all(following is not earlier for earlier in found):
            found.append(following)
            waiting += reversed(causes_of(following))
    return found


def described(exception: BaseException) -> list[BaseException]:
    """Return the exceptions of which a copy says something: the chain, and the leaves of a group that are named."""
    found = chain(exception)
    return found + [leaf for leaf in leaves(exception)[:MOST_NAMED] if all(leaf is not each for each in found)]


def causes_of(exception: BaseException) -> list[BaseException]:
    """Return the direct causes of an exception.

    They are the members of a group, whose first is the inner exception in .NET too, and the cause.
    """
    members = exception.exceptions if isinstance(exception, BaseExceptionGroup) else ()
    cause = exception.__cause__ if exception.__suppress_context__ else exception.__context__
    return [*members, *([] if cause is None else [cause])]


def type_name(exception: BaseException) -> str:
    """Return the full name of the exception's type; without its module if it is a built-in one, as Python writes it."""
    # a metaclass may raise where its class is asked
    name, module = (type.__getattribute__(type(exception), part) for part in ("__qualname__", "__module__"))
    return str(name) if module == "builtins" else f"{module}.{name}"


def readable(exception: BaseException) -> BaseException:
    """Return how an attempt failed that raised this exception; where reading it raises, or ends the process, an error that says so."""
    try:
        failure = failure_in(exception)
        for each in described(failure):
            (
                isinstance(each, TimeUp),
                traceback_in_handler(each),
                type(each).__qualname__,
                text_of(each),
                attribute(each, "data"),
            )
    except BaseException:  # noqa: BLE001  # whatever it raises, the message fails, and its neighbours do not
        unreadable = RuntimeError(f"the handler raised {type_name(exception)}, which cannot be read")
        trace = BaseException.__dict__["__traceback__"].__get__(exception)
        return unreadable.with_traceback(trace)
    return failure


def message_of(exception: BaseException) -> str:
    """Return the exception's text, or a text that says that it cannot be read."""
    text = text_of(exception)
    return f"Could not read Message from exception type '{type_name(exception)}'." if text is None else text


def redacted_text(exception: BaseException, redact: Redact | None) -> str:
    """Return the exception's text, as the redactor returns it; a plain group is its one leaf, or names each by its type and first line."""
    shown = ungrouped(exception)
    text = redacted(message_of(shown), redact)
    if type(shown) not in PLAIN_GROUPS:
        return text
    inside = leaves(shown)
    lines = [redacted(message_of(leaf), redact).partition("\n")[0] for leaf in inside[:MOST_NAMED]]
    named = [f"{type_name(leaf)}: {line}" for leaf, line in zip(inside, lines, strict=False)]
    more = [f"and {len(inside) - MOST_NAMED:,} more"] if len(inside) > MOST_NAMED else []
    return "\n".join([text, *named, *more])


def text_of(value: object) -> str | None:
    """Return the value as text; None when there is none, or when `str` raises."""
    try:
        return None if value is None else str(value)
    except Exception:  # noqa: BLE001  # the message must move to the error queue: it does so without this fault header
        return None


def stack_trace(causes: list[BaseException], redact: Redact | None, most_frames: int | None = None) -> str:
    """Return the exceptions and their frames as .NET writes them, the innermost first.

    ServiceControl groups messages by the first frame.
    """
    heads = [f"{type_name(cause)}: {redacted(message_of(cause), redact)[:MAX_MESSAGE]}" for cause in causes]
    parts = [" ---> ".join(heads)]
    for cause in reversed(causes):
        parts += [redacted(frame, redact) for frame in frames(cause)[:most_frames]]
        if cause is not causes[0]:
            parts.append(END_OF_INNER)
    return "\n".join(parts)


def frames(exception: BaseException) -> list[str]:
    """Return a line for each frame, the last call first.

    This package's own frames, which every failure shares, are left out.
    """
    walked = list(walk(exception.__traceback__))
    lines = []
    for frame, line in reversed(walked):
        if not is_ours(frame):
            module = frame.f_globals.get("__name__", "?")
            lines.append(
                f"{FRAME[1:]}{module}.{frame.f_code.co_name}() in {absolute(frame.f_code.co_filename)}:line {line}"
            )
    return lines


def walk(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    """Yield the frames of a traceback with their lines, as `traceback.walk_tb` does."""
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def is_ours(frame: FrameType) -> bool:
    """True if the frame is of this package or of its local cloud, which run handlers, and not of the handler."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in OUR_PACKAGES


def traceback_in_handler(exception: BaseException) -> TracebackType | None:
    """Return the exception's traceback from the handler on: the frames of this package before it are the same for each failure."""
    trace = exception.__traceback__
    while trace is not None and is_ours(trace.tb_frame):
        trace = trace.tb_next
    return trace


def absolute(path: str) -> str:
    """Return the path as ServiceControl's pattern for frames wants it: from the root, or from a drive."""
    return path if path.startswith("/") or path[1:2] == ":" else f"/{path}"


def source_of(exception: BaseException) -> str | None:
    """Return the package whose code raised, as .NET's Exception.Source names the assembly; None without a traceback."""
    raised_in = [frame for frame, _ in walk(exception.__traceback__)]
    return str(raised_in[-1].f_globals.get("__name__", "?")).partition(".")[0] if raised_in else None


def data_of(exception: BaseException) -> Iterator[tuple[str, str]]:
    """Yield names and texts of the exception's own `data`, if it is a mapping, and of the notes (PEP 678): .NET's Exception.Data.

    The notes are its own, and those of its causes and leaves.
    """
    lists = [attribute(each, "__notes__") for each in described(exception)]
    notes = [note for each in lists if isinstance(each, list) for note in map(text_of, each) if note is not None]
    joined = "\n".join(notes) if notes else None
    for key, value in [*items_of(attribute(ungrouped(exception), "data")), ("Notes", joined)]:
        name, text = text_of(key), text_of(value)
        if name is not None and text is not None:
            yield name, text


def attribute(exception: BaseException, name: str) -> object:
    """Return the exception's attribute; None when there is none, or when reading it raises."""
    try:
        return getattr(exception, name, None)
    except Exception:  # noqa: BLE001  # as in `text_of`
        return None


def items_of(data: object) -> list[tuple[object, object]]:
    """Return the mapping's keys and values; none when it is no mapping, or when reading it raises."""
    try:
        return [(key, value) for key, value in data.items()] if isinstance(data, Mapping) else []
    except Exception:  # noqa: BLE001  # as in `text_of`
        return []


def redacted(text: str, redact: Redact | None) -> str:
    """Return the text as it may be shown: as it is without a redactor, else what the redactor returns.

    Args:
        text: the whole text; a text that was cut first may hold the half of a secret, which no pattern matches.
        redact: the user's redactor.
    """
    if redact is None:
        return text
    try:
        shown: object = redact(text)
    except Exception as error:  # noqa: BLE001  # the text says so itself, and stays out
        return LEFT_OUT.format(f"raised {type(error).__name__}")
    return shown if isinstance(shown, str) else LEFT_OUT.format(f"returned a {type(shown).__name__}")
