"""The names that a Bicep template declares and refers to, which its parser does not distinguish from texts."""

from __future__ import annotations

import re

from infra.azure.bicep import INSIDE, SOURCE

STRING = re.compile(r"'(?:[^'\\]|\\.)*'")
DECLARED = re.compile(
    r"^(?:param|var|resource|module|output) (\w+)(?: (?:int|string|bool|object|array)\b)?", re.MULTILINE
)
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*\b(?!\s*[:(])")
CHOSEN = re.compile(r"\?([^:?\n]*):")
"""What stands between the `?` and the `:` of a choice, where a name before the colon is no key of an object."""
LAMBDA = re.compile(r"\b(\w+) =>")
KEYWORDS = {"true", "false", "null", "targetScope", "existing"}


def names_declared(source: str = SOURCE) -> set[str]:
    """Return what the template declares, without its outputs: nothing can refer to these."""
    return {name for name in DECLARED.findall(source) if f"output {name} " not in source}


def names_used(source: str = SOURCE) -> set[str]:
    """Return what the template refers to, in expressions and inside texts."""
    bare = DECLARED.sub("", re.sub(r"(?m)(?:^|\s)//.*$", "", source))
    inside = " ".join(found for text in STRING.findall(bare) for found in INSIDE.findall(text))
    outside = CHOSEN.sub(r"? \1 ;", STRING.sub("''", bare))
    return set(NAME.findall(outside) + NAME.findall(inside)) - KEYWORDS - set(LAMBDA.findall(bare))
