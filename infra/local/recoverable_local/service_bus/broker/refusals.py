"""Build the broker's errors, with Service Bus's error conditions, by which the SDKs choose their exceptions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recoverable_local.service_bus.amqp.performatives import Attach


class RefusedError(Exception):
    """The broker refuses a request.

    Args:
        condition: The AMQP error condition.
        description: The text for the reader.
        status: The status code in the answer to a management operation.
    """

    def __init__(self, condition: str, description: str, *, status: int = 400) -> None:
        super().__init__(description)
        self.condition = condition
        self.description = description
        self.status = status


def not_found(path: str) -> RefusedError:
    """Return the error for an entity that does not exist."""
    return RefusedError("amqp:not-found", f"The messaging entity '{path}' could not be found.", status=404)


def disabled(path: str) -> RefusedError:
    """Return the error for an entity that is disabled."""
    return RefusedError("com.microsoft:entity-disabled", f"Messaging entity '{path}' is currently disabled.")


def not_allowed(description: str) -> RefusedError:
    """Return the error for an operation that the entity does not support."""
    return RefusedError("amqp:not-allowed", description)


def too_large(size: int, limit: int) -> RefusedError:
    """Return the error for a message larger than the entity's limit; both in bytes."""
    text = f"The received message (size: {size} bytes) exceeds the limit ({limit} bytes) currently allowed on the link."
    return RefusedError("amqp:link:message-size-exceeded", text)


def no_session_id(path: str) -> RefusedError:
    """Return the error for a message without a session id in an entity that requires sessions."""
    return not_allowed(
        f"The SessionId was not set on a message, and it cannot be sent to {path!r}, which requires sessions."
    )


def bad_argument(description: str) -> RefusedError:
    """Return the error for a message or a request that breaks a rule."""
    return RefusedError("com.microsoft:argument-error", description)


def internal_error(why: str) -> RefusedError:
    """Return the error that says nothing: Azure answers so to a property that is too large. It does not say why."""
    text = f"The service was unable to process the request; please retry the operation. (The emulator adds: {why}.)"
    return RefusedError("amqp:internal-error", text)


def message_lock_lost() -> RefusedError:
    """Return the error for a lock token without a lock."""
    text = (
        "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue."
    )
    return RefusedError("com.microsoft:message-lock-lost", text, status=410)


def session_lock_lost(session_id: str) -> RefusedError:
    """Return the error for a session that the caller does not hold, or no longer."""
    text = f"The session lock has expired on the session {session_id!r}. Accept the session again."
    return RefusedError("com.microsoft:session-lock-lost", text, status=410)


def session_taken(session_id: str) -> RefusedError:
    """Return the error for a session that another receiver holds."""
    text = f"The requested session '{session_id}' cannot be accepted. It may be locked by another receiver."
    return RefusedError("com.microsoft:session-cannot-be-locked", text)


def no_session_in_time() -> RefusedError:
    """Return the error for a receiver that waited and got no session."""
    return RefusedError("com.microsoft:timeout", "The operation did not complete within the allotted time.", status=408)


def message_not_found(sequence_number: int) -> RefusedError:
    """Return the error for a sequence number without a message in the requested state."""
    text = f"Failed to find the message with the sequence number {sequence_number}."
    return RefusedError("com.microsoft:message-not-found", text, status=404)


def rule_exists(name: str) -> RefusedError:
    """Return the error for a second rule of one name."""
    return RefusedError("com.microsoft:entity-already-exists", f"The rule '{name}' already exists.", status=409)


def idle_link(link: Attach, seconds: int) -> RefusedError:
    """Return the error for a link that nobody has used for so long."""
    code, origin = ("consumer", "AmqpMessageConsumer") if link.peer_receives else ("publisher", "AmqpMessagePublisher")
    details = f"{origin}.IdleTimerExpired: Idle timeout: {timedelta(seconds=seconds)!s:0>8}."
    return RefusedError("amqp:link:detach-forced", _detached(link, f"{code}(link{link.handle})", details))


def unauthorized(link: Attach, path: str) -> RefusedError:
    """Return the error for a link to an entity that no token of the client is for."""
    claim = "Listen" if link.peer_receives else "Send"
    text = f"Unauthorized access. '{claim}' claim(s) are required to perform this operation. Resource: '{path}'."
    return RefusedError("amqp:unauthorized-access", text, status=401)


def token_ended(link: Attach, path: str) -> RefusedError:
    """Return the error for a link whose token has expired."""
    details = unauthorized(link, path).description
    return RefusedError("amqp:link:detach-forced", _detached(link, "RenewToken", details))


def _detached(link: Attach, code: str, details: str) -> str:
    return f"The link '{link.name}' is force detached. Code: {code}. Details: {details}"


def no_links(seconds: int) -> RefusedError:
    """Return the error for a connection that had no links for so long."""
    text = f"did not have any active links in the past {seconds * 1000} milliseconds."
    return RefusedError(
        "amqp:connection:forced", f"The connection was closed by container 'recoverable' because it {text}"
    )


def wrong_scope(scope: str, audience: str) -> RefusedError:
    """Return the error for a shared access signature of one entity that is sent for another."""
    text = f"InvalidAudience: The token is for '{scope}', and was sent for '{audience}'."
    return RefusedError("amqp:unauthorized-access", text, status=401)


def expired_token(at: datetime) -> RefusedError:
    """Return the error for a token that has expired."""
    text = f"ExpiredToken: The token is expired. Expiration time: '{at:%Y-%m-%d %H:%M:%SZ}'."
    return RefusedError("amqp:unauthorized-access", text, status=401)
