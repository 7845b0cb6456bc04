"""Collect what handlers send: snapshots, checks and identities. Nothing here does I/O; an adapter sends once the handler has returned."""

from __future__ import annotations


def has_sent(message: object) -> bool:
    """True if the attempt on the message has ended, and its handler had sent something, whatever became of it."""
    return getattr(message, "_outbox", None) is True
