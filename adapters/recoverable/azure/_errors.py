"""Define what is raised to the Functions host so that it abandons messages."""

from __future__ import annotations


class Abandoned(Exception):
    """Raised to have the host abandon its messages where no exception of a handler says why, and for one that is a BaseException."""

    __module__ = "recoverable.azure"  # the name under which users import it
