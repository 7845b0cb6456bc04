"""The log as Lambda writes it in the format of template.yaml, and what CloudWatch's filter patterns find in it."""

from __future__ import annotations

import json
import logging
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from awslambdaric.lambda_runtime_log_utils import JsonFormatter

from infra.sam_template import template

COMPARISON = re.compile(r"\{ \$\.(\w+) > (\d+) \}")


class Log(logging.Handler):
    """Keeps each line."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def found(self, pattern: str) -> list[dict[str, Any]]:
        """Return the lines that a pattern matches."""
        return [json.loads(line) for line in self.lines if matches(pattern, line)]


def matches(pattern: str, line: str) -> bool:
    """True if a pattern matches a line (CloudWatch Logs, "Filter pattern syntax"): its field is greater, or all its terms are there."""
    if comparison := COMPARISON.fullmatch(pattern):
        field, least = comparison.groups()
        found = json.loads(line).get(field)
        return isinstance(found, int | float) and found > int(least)
    assert not pattern.startswith("{"), pattern
    return all(term in line for term in shlex.split(pattern))


@contextmanager
def package_log() -> Iterator[Log]:
    """Collect what the package logs meanwhile, at the level that the template sets."""
    log, ours = Log(), logging.getLogger("recoverable")
    level = ours.level
    ours.setLevel(template()["Globals"]["Function"]["LoggingConfig"]["ApplicationLogLevel"])
    ours.addHandler(log)
    try:
        yield log
    finally:
        ours.removeHandler(log)
        ours.setLevel(level)
