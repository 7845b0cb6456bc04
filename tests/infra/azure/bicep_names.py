"""The names that a Bicep template declares and refers to, which its parser does not distinguish from texts."""

from __future__ import annotations

import re

from infra.azure.bicep import INSIDE, SOURCE

STRING = re.compile(r"'(?:[^'\\]|\\.)*'")
DECLARED = re.compile(r"^(?:param|var|resource|output) (\w+)(?: (?:int|string|bool|object|array)\b)?", re.MULTILINE)
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*\b(?!\s*[:(])")
KEYWORDS = {"true", "false", "null", "targetScope"}


def names_declared(source: str = SOURCE) -> set[str]:
    """Return what the template declares, without its outputs: nothing can refer to these."""
    return {name for name in DECLARED.findall(source) if f"output {name} " not in source}


def names_used(source: str = SOURCE) -> set[str]:
    """Return what the template refers to, in expressions and inside texts."""
    bare = DECLARED.sub("", re.sub(r"(?m)(?:^|\s)//.*$", "", source))
    inside = " ".join(found for text in STRING.findall(bare) for found in INSIDE.findall(text))
    return set(NAME.findall(STRING.sub("''", bare)) + NAME.findall(inside)) - KEYWORDS
