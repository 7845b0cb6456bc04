"""Extend endpoints: messages hidden for a short time at once, bodies in S3, callbacks, metrics and traces."""

from __future__ import annotations

__all__ = ["BodyNotFetched", "Heartbeat", "Observe", "S3Bodies"]

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable.extensions._heartbeat import Heartbeat
    from recoverable.extensions._observe import Observe
    from recoverable.extensions._s3_bodies import BodyNotFetched, S3Bodies
else:
    from recoverable._lazy import attach

    __getattr__, __dir__ = attach(
        __name__,
        __all__,
        {
            "recoverable.extensions._heartbeat": ("Heartbeat",),
            "recoverable.extensions._observe": ("Observe",),
            "recoverable.extensions._s3_bodies": ("BodyNotFetched", "S3Bodies"),
        },
    )
