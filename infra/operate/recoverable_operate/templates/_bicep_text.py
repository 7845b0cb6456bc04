"""Keep apart, in the text of a Bicep file, what the parser gives alike: texts and names, and what parentheses group."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recoverable_operate.templates._bicep_operators import GROUP

MARK = "\N{SECTION SIGN}"
"""Begins each text of a file before it is parsed."""

UNMARKED = re.compile(r"\b(?:resource\s+\w+|module\s+\w+|from|using|targetScope\s*=|extension|provider)\s*$")
"""Stands before a text that the grammar itself reads: a type, a path, a scope."""

CALLED = re.compile(r"[\w)\]]\s*$")
"""Stands before a parenthesis that groups nothing: a name that is called, or a word of the grammar."""

ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", "$": "$"}
ESCAPED = re.compile(r"\\(u\{[0-9a-fA-F]+\}|.)", re.DOTALL)


def marked(text: str) -> str:
    """Return the text of a file with a mark at the beginning of each text in it, but for those that the grammar reads.

    Parentheses that group become calls, so that the parser does not lose them.
    """
    parts: list[str] = []
    place = 0
    while place < len(text):
        if text.startswith(("//", "/*"), place):
            end = end_of_comment(text, place)
        elif text[place] == "'":
            end = end_of_text(text, place)
            quotes = "'''" if text.startswith("'''", place) else "'"
            mark = "" if UNMARKED.search("".join(parts[-40:])) else MARK
            parts.append(f"{quotes}{mark}{marked_inside(text[place + len(quotes) : end])}")
            place = end
            continue
        elif text[place] == "(" and not CALLED.search("".join(parts[-40:])):
            parts.append(GROUP)
            end = place + 1
        else:
            end = place + 1
        parts.append(text[place:end])
        place = end
    return "".join(parts)


def marked_inside(text: str) -> str:
    """Return a text whose expressions have marks too."""
    return "".join(f"${{{marked(part[2:-1])}}}" if is_code else part for part, is_code in pieces(text))


def end_of_comment(text: str, place: int) -> int:
    """Return where a comment ends."""
    mark, length = ("\n", 0) if text.startswith("//", place) else ("*/", 2)
    end = text.find(mark, place + 2)
    return len(text) if end < 0 else end + length


def end_of_text(text: str, place: int) -> int:
    """Return where a text ends that begins here."""
    if text.startswith("'''", place):
        end = text.find("'''", place + 3)
        return len(text) if end < 0 else end + 3
    place += 1
    while place < len(text) and text[place] not in "'\n":
        if text[place] == "\\":
            place += 2
        elif text.startswith("${", place):
            place = end_of_code(text, place + 2)
        else:
            place += 1
    return min(place + 1, len(text))


def end_of_code(text: str, place: int) -> int:
    """Return where an expression ends that stands in a text, behind its brace."""
    depth = 1
    while place < len(text) and depth:
        if text[place] == "'":
            place = end_of_text(text, place)
            continue
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        place += 1
    return place


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text; with True those that are expressions, such as `${name}`."""
    place = begin = 0
    while place < len(text):
        if text[place] == "\\":
            place += 2
        elif text.startswith("${", place):
            yield text[begin:place], False
            begin = end_of_code(text, place + 2)
            yield text[place:begin], True
            place = begin
        else:
            place += 1
    yield text[begin:], False


def unescaped(text: str) -> str:
    """Return a text with its escapes resolved."""

    def character(found: re.Match[str]) -> str:
        return chr(int(found[1][2:-1], 16)) if found[1].startswith("u{") else ESCAPES.get(found[1], found[0])

    return ESCAPED.sub(character, text)
