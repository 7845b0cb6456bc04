"""An AWS CDK construct for Lambda functions that use recoverable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recoverable_cdk.queue import RecoverableQueue

__all__ = ["RecoverableQueue"]


def __getattr__(name: str) -> Any:
    """Import the construct when it is asked for: the numbers beside it need no CDK."""
    if name == "RecoverableQueue":
        from recoverable_cdk.queue import RecoverableQueue

        return RecoverableQueue
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
