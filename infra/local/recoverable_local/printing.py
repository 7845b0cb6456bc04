"""Print a host's journal: a coloured line with the time for each decision, or each entry as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from rich.console import Console
from rich.text import Text

from recoverable import Facts
from recoverable_local.console import print_line
from recoverable_local.decisions import Decided

Entry = TypeVar("Entry")

RETRY_LOGGERS = ("recoverable.immediate_retry", "recoverable.delayed_retry", "recoverable.deferral")
"""The loggers of decisions after which a message comes back; the line of the decision says the same."""

_LONGEST_ID, _LONGEST_TEXT = 40, 200  # characters
_UUID = 8  # characters of one that are shown
_STYLES = {
    "complete": "green",
    "immediate_retry": "yellow",
    "delayed_retry": "yellow",
    "move_to_error": "bold red",
    "discard": "magenta",
    "deferral": "cyan",
}


class Printer(Generic[Entry]):
    """Observer of a host's journal that prints it: of an invocation whose endpoint reported its decisions, these alone.

    Args:
        lines_of: Returns the lines for an entry that is no decision, without the time.
        raw: True for each entry as an object of JSON, in a line.
        clock: Returns the time.
    """

    def __init__(
        self, lines_of: Callable[[Entry], Iterable[Text]], *, raw: bool, clock: Callable[[], datetime] = datetime.now
    ) -> None:
        self._lines_of, self._raw, self._clock = lines_of, raw, clock
        self._console, self._reported = Console(highlight=False, soft_wrap=True), set[str]()

    def __call__(self, entry: Entry) -> None:
        """Print an entry."""
        now = self._clock()
        if self._raw:
            print_line(json.dumps({"time": now.astimezone().isoformat(), **to_json(entry)}, default=_plain))
            return
        for line in self._lines(entry):
            self._console.print(Text.assemble((f"{now:%H:%M:%S} ", "dim"), line))

    def _lines(self, entry: Entry) -> Iterable[Text]:
        if isinstance(entry, Decided):
            self._reported.add(entry.facts.request_id)
            return [describe_decision(entry)]
        request_id = getattr(entry, "request_id", None)  # of an invocation that begins or ends
        if request_id not in self._reported:
            return self._lines_of(entry)
        self._reported.discard(request_id)  # it ends
        return []


def to_json(entry: object) -> dict[str, Any]:
    """Return the fields of a journal entry after its kind; of messages their ids, and no body."""
    if isinstance(entry, Decided):
        fields = {**vars(entry.facts), "exception": entry.text, "done": entry.done}
    else:
        fields = dataclasses.asdict(entry)  # type: ignore[call-overload]  # each entry is a dataclass
    if (records := fields.pop("records", None)) is not None:
        fields["message_ids"] = [each["messageId"] for each in records]
    return {"entry": type(entry).__name__, **fields}


def _plain(value: object) -> float | str:
    """Return what JSON has no form for: a duration as seconds, and anything else, such as an output binding's bytes, by its kind."""
    return value.total_seconds() if isinstance(value, timedelta) else type(value).__name__


def describe_decision(decided: Decided) -> Text:
    """Describe a decision in one line: the message and its attempt, why, and what becomes of it."""
    facts = decided.facts
    line = Text(f"{facts.queue} {short(facts.message_id)} attempt {facts.attempt}/{facts.attempts} round {facts.round}")
    if facts.exception_type:
        line.append(f"  {why(facts.exception_type, decided.text)}")
    text = what_becomes(facts)
    if decided.done:
        return line.append(f" → {text}", style=_STYLES.get(facts.action, ""))
    return line.append(f" → {text} failed; the message comes back", style="bold red")


def why(exception_type: str, text: str) -> str:
    """Return an exception's type and the first line of its text."""
    first = "".join(each if each.isprintable() else "·" for each in text.split("\n", 1)[0][:_LONGEST_TEXT])
    return f"{exception_type}: {first}" if first else exception_type


def what_becomes(facts: Facts) -> str:
    """Describe what an endpoint decided."""
    delay = f"{round(facts.delay.total_seconds(), 1):g} s" if facts.delay is not None else ""
    texts = {
        "complete": "completed",
        "immediate_retry": "retry now",
        "delayed_retry": f"retry in {delay}",
        "move_to_error": f"move to {facts.error_queue}",
        "discard": "discard",
        "deferral": f"wait {delay}{', the rate is limited' if facts.rate_limited else ''} (no attempt)",
        "undecided": "a decision",
    }
    return texts[facts.action]


def short(message_id: str) -> str:
    """Return the beginning of an id that is a UUID, with or without hyphens; of another one as much as fits into a line."""
    digits = message_id.replace("-", "")
    is_uuid = len(digits) == 32 and all(each in "0123456789abcdef" for each in digits)  # noqa: PLR2004  # hexadecimal digits
    return message_id[: _UUID if is_uuid else _LONGEST_ID]
