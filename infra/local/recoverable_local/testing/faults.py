"""Define the faults that `world.fail` and explorers of fault schedules can inject."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Raises:
    """Raise an exception instead of the call or of the handler's run; at a point "after" it, raise it then.

    Args:
        error: what is raised.
    """

    error: BaseException


@dataclass(frozen=True, slots=True)
class Refused:
    """The broker answers with an error and does nothing.

    Args:
        code: the error's code, such as "AccessDenied"; on Service Bus AMQP's condition, such as "amqp:unauthorized-access".
        message: its text.
        status: the HTTP status, which AMQP has none of.
    """

    code: str
    message: str = "Refused by the test."
    status: int = 400


@dataclass(frozen=True, slots=True)
class Throttled:
    """The broker refuses a call because it is busy; at "invoke", Lambda does not start the invocation."""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The broker cannot be reached, and does nothing."""


@dataclass(frozen=True, slots=True)
class PartlyFailed:
    """Some entries of a batch fail; the others are done.

    Args:
        entries: their places in the batch, from 0.
        code: the error's code for each.
    """

    entries: tuple[int, ...] = (0,)
    code: str = "InternalError"


@dataclass(frozen=True, slots=True)
class AnswerLost:
    """The broker does what it was asked, and the answer never arrives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionReset:
    """The connection of a call is reset.

    Args:
        done: True if the broker had done what it was asked; False if it had not read the call.
    """

    done: bool = False


@dataclass(frozen=True, slots=True)
class Slow:
    """The step takes this much longer, and then goes on.

    Args:
        by: how long.
    """

    by: timedelta


@dataclass(frozen=True, slots=True)
class Died:
    """The process dies here: out of memory, a crash, `os._exit`."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The function hangs here until its time-out, and is killed."""


@dataclass(frozen=True, slots=True)
class VisibilityExpired:
    """The messages of the invocation become visible to others here, while it goes on."""


@dataclass(frozen=True, slots=True)
class LockLost:
    """Service Bus takes back the locks on the messages of the invocation here, while it goes on; others get them."""


@dataclass(frozen=True, slots=True)
class InstanceLost:
    """The machine and its Functions host are gone, and Service Bus does not see it: nothing is abandoned, and the locks run out, which counts."""


@dataclass(frozen=True, slots=True)
class ConnectionCut:
    """The Functions host ends with its process, as where the container has no memory left, and Service Bus sees its connections end.

    The sessions that it held are free at once, and no delivery is counted. Locks of messages without a session run out, as with
    `InstanceLost`.
    """


@dataclass(frozen=True, slots=True)
class DeliveredTwice:
    """A received message stays visible, so it is delivered to another invocation as well."""


@dataclass(frozen=True, slots=True)
class ClockSkewed:
    """The instance's clock is wrong from here on.

    Args:
        by: how much too late it shows; negative for too early.
    """

    by: timedelta


Fault = (
    Raises
    | Refused
    | Throttled
    | Unreachable
    | PartlyFailed
    | AnswerLost
    | ConnectionReset
    | Slow
    | Died
    | TimedOut
    | VisibilityExpired
    | LockLost
    | InstanceLost
    | ConnectionCut
    | DeliveredTwice
    | ClockSkewed
)
