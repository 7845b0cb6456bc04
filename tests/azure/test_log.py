"""What the adapter for Service Bus logs costs no message its settlement, whatever the log does with it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from recoverable.azure._messages import log_ambiguous_fields


class Broken(logging.Handler):
    """A handler that lets its errors escape."""

    def emit(self, record: logging.LogRecord) -> None:
        raise UnicodeError("half a surrogate pair")


@pytest.fixture
def broken_log() -> Iterator[None]:
    log, handler = logging.getLogger("recoverable.settlement"), Broken()
    log.addHandler(handler)
    yield
    log.removeHandler(handler)


@pytest.mark.usefixtures("broken_log")
def test_a_line_that_the_log_cannot_write_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    log_ambiguous_fields(frozenset({"correlation_id"}), "a queue of which nothing was logged")

    assert "correlation_id" in capsys.readouterr().err
