"""The pages, docstrings and log texts use plain words: a construction that readers stumbled over does not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs.pages import PAGES, page
from sources import local_cloud, name, operate, runtime, tree

UNWANTED = {
    "told": r"\btold\b",
    "reckon": r"\breckon\w*",
    "is none that": r"\bis none (?:that|of|so)\b",
    "came to": r"\b(?:came|comes) to\b(?! (?:the|a|an) )",
    "for those who": r"\b[Ff]or those who\b",
    "who wants to": r"\b[Ww]ho(?:ever)? wants? to\b",
    "for, in the sense of because": r", for (?:it|they|he|this|that|there|nobody|nothing|no|these|our|its|what|one of)\b",
    "a clause with what, who or which as subject": r"(?:^|(?<=\. )|(?<=- ))(?:What|Who|Whoever|Which) [^.?:|]*\.",
}
"""Each construction, and the pattern that finds it."""


def prose(text: str) -> str:
    """Return what a page says in sentences, one paragraph a line: no code, headings or tables."""
    without_code = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    kept = [line.strip() for line in without_code.splitlines() if not line.lstrip().startswith(("#", "|"))]
    return re.sub(r"(?<=\S)\n(?=\S)(?![-\d*])", " ", "\n".join(kept))


def unwanted(text: str) -> list[tuple[str, str]]:
    """Return what is to be written in other words, each time with the reason."""
    return [
        (why, found.group()) for why, pattern in UNWANTED.items() for found in re.finditer(pattern, text, re.MULTILINE)
    ]


def test_pages_use_plain_words() -> None:
    assert [(name, found) for name in PAGES for found in unwanted(prose(page(name)))] == []


def texts_in(path: Path) -> Iterator[str]:
    """Yield the docstrings and other texts of a module, a paragraph a line, without the code in them."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.sub(r"(?<=\S)\n\s*(?=\S)", " ", re.sub(r"`[^`]*`", "x", node.value))


def test_modules_use_plain_words() -> None:
    files = [*runtime(), *operate(), *local_cloud()]

    assert [(name(path), found) for path in files for text in texts_in(path) for found in unwanted(text)] == []
