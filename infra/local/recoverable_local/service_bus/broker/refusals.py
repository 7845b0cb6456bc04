"""Every no of the broker, with the condition by which Service Bus says it and by which the SDKs choose their exception."""

from __future__ import annotations


class RefusedError(Exception):
    """The broker does not do what was asked.

    Args:
        condition: The AMQP error condition.
        description: What a person reads.
        status: The status code when the answer is one of a management operation.
    """

    def __init__(self, condition: str, description: str, *, status: int = 400) -> None:
        super().__init__(description)
        self.condition = condition
        self.description = description
        self.status = status


def not_found(path: str) -> RefusedError:
    """There is no such entity."""
    return RefusedError("amqp:not-found", f"The messaging entity '{path}' could not be found.", status=404)


def not_allowed(description: str) -> RefusedError:
    """The entity is not made for this."""
    return RefusedError("amqp:not-allowed", description)


def too_large(size: int, limit: int) -> RefusedError:
    """The message is larger than the entity takes; both in bytes."""
    text = f"The received message (size: {size} bytes) exceeds the limit ({limit} bytes) currently allowed on the link."
    return RefusedError("amqp:link:message-size-exceeded", text)


def no_session_id(path: str) -> RefusedError:
    """The entity requires sessions, and the message names none."""
    return not_allowed(
        f"The SessionId was not set on a message, and it cannot be sent to {path!r}, which requires sessions."
    )


def bad_argument(description: str) -> RefusedError:
    """The message or the request breaks a rule."""
    return RefusedError("com.microsoft:argument-error", description)


def message_lock_lost() -> RefusedError:
    """Nobody holds a lock with this token."""
    text = (
        "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue."
    )
    return RefusedError("com.microsoft:message-lock-lost", text, status=410)


def session_lock_lost(session_id: str) -> RefusedError:
    """The session is not, or no longer, locked by who asks."""
    text = f"The session lock has expired on the session {session_id!r}. Accept the session again."
    return RefusedError("com.microsoft:session-lock-lost", text, status=410)


def session_taken(session_id: str) -> RefusedError:
    """Another receiver holds the session."""
    text = f"The requested session '{session_id}' cannot be accepted. It may be locked by another receiver."
    return RefusedError("com.microsoft:session-cannot-be-locked", text)


def no_session_in_time() -> RefusedError:
    """No session with messages came free while the receiver waited."""
    return RefusedError("com.microsoft:timeout", "The operation did not complete within the allotted time.", status=408)


def message_not_found(sequence_number: int) -> RefusedError:
    """No message has this sequence number in the state that is asked for."""
    text = f"Failed to find the message with the sequence number {sequence_number}."
    return RefusedError("com.microsoft:message-not-found", text, status=404)
