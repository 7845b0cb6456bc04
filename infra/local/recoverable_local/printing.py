"""Print a host's journal: a coloured line with the time for each decision, or each entry as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
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
    """Observer of a host's journal that prints it: of each message what its endpoint decided, and its end where that does not say it.

    Args:
        lines_of: Returns the lines for an entry that is no decision, without the time. It gets what the endpoint has done in the
            invocation that the entry is about, by the messages' ids.
        raw: True for each entry as an object of JSON, in a line.
        clock: Returns the time.
    """

    def __init__(
        self,
        lines_of: Callable[[Entry, Mapping[str, Decided]], Iterable[Text]],
        *,
        raw: bool,
        clock: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._lines_of, self._raw, self._clock = lines_of, raw, clock
        self._console = Console(highlight=False, soft_wrap=True)
        self._decided: dict[str, list[Decided]] = {}

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
            earlier = self._decided.setdefault(entry.facts.request_id, [])
            is_new = entry.done is False or all(each.facts != entry.facts for each in earlier)
            earlier.append(entry)
            return [describe_decision(entry)] if is_new else []
        decided = self._decided.pop(getattr(entry, "request_id", ""), [])  # of an invocation that begins or ends
        return self._lines_of(entry, {each.facts.message_id: each for each in decided if each.done is not None})


def to_json(entry: object) -> dict[str, Any]:
    """Return the fields of a journal entry after its kind; of messages their ids, and no body."""
    if isinstance(entry, Decided):
        fields = {**vars(entry.facts), "exception": entry.text, "done": entry.done, "stays": entry.stays}
    else:
        fields = dataclasses.asdict(entry)  # type: ignore[call-overload]  # each entry is a dataclass
    if fields.pop("records", None) is not None:
        fields["message_ids"] = entry.message_ids  # type: ignore[attr-defined]  # an entry with records has it
    return {"entry": type(entry).__name__, **fields}


def _plain(value: object) -> float | str:
    """Return what JSON has no form for: a duration as seconds, and anything else, such as an output binding's bytes, by its kind."""
    return value.total_seconds() if isinstance(value, timedelta) else type(value).__name__


def describe_decision(decided: Decided) -> Text:
    """Describe a decision in one line: the message and its attempt, why, and what becomes of it."""
    facts = decided.facts
    attempt = f"attempt {facts.attempt}/{facts.attempts} round {facts.round}"
    which = attempt if facts.attempt <= facts.attempts else f"delivery {facts.deliveries}"
    line = Text(f"{facts.queue} {short(facts.message_id)} {which}")
    if facts.exception_type:
        line.append(f"  {why(facts.exception_type, decided.text)}")
    text = what_becomes(facts)
    if decided.done is False:
        return line.append(f" → {text} failed", style="bold red")
    return line.append(f" → {text}", style=_STYLES.get(facts.action, ""))


def why(exception_type: str, text: str) -> str:
    """Return an exception's type and the first line of its text."""
    first = "".join(each if each.isprintable() else "·" for each in text.split("\n", 1)[0][:_LONGEST_TEXT])
    return f"{exception_type}: {first}" if first else exception_type


def what_becomes(facts: Facts) -> str:
    """Describe what an endpoint decided."""
    delay = f"{round(facts.delay.total_seconds(), 1):g} s" if facts.delay is not None else ""
    texts = {
        "complete": "handled",
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
