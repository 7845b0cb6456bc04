"""Count invocations that fail alike, and end a run when it is the function that fails and not its messages."""

from __future__ import annotations

from recoverable_local.testing.engine.invocations import EndlessRun

MOST_ALIKE = 50
"""Invocations in a row that may fail with one error where no dead-letter queue ends them."""

OF_MESSAGES = ("UnfinishedBatch: ", "BatchProcessingError: ")
"""Beginnings of errors by which a function says that messages failed: that of `SqsEndpoint(partial_responses=False)`, and of Powertools."""


class Failures:
    """Counts the invocations of one function that fail alike.

    Args:
        function: the function's name.
        way_out: what else to do than to mend the function.
    """

    def __init__(self, function: str, way_out: str) -> None:
        self._function, self._way_out = function, way_out
        self._error, self._count = "", 0

    def note(self, error: str) -> None:
        """Note how an invocation ended: its error, or "" for a success and for the end of its process."""
        alike = error == self._error and not error.startswith(OF_MESSAGES)
        self._error, self._count = error, self._count + 1 if alike and error else 1

    def check(self) -> None:
        """Raise if there were too many.

        Raises:
            EndlessRun: names the error.
        """
        if self._error and self._count >= MOST_ALIKE:
            count, self._count = self._count, 0
            raise EndlessRun(
                f"{count} invocations of {self._function!r} in a row failed with the same error: {self._error}."
                f" It is raised by the function itself, so nothing retries, moves or explains its messages; mend the function{self._way_out}"
            )
