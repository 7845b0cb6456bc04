"""Ask the circuit that limits a function's rate, where a place names it, whether messages that are sent back would wait."""

from __future__ import annotations

from datetime import timedelta

from recoverable import StoreUnavailable
from recoverable._sqs.queues import queue_from_arn
from recoverable.circuits import DynamoDbCircuit, TableCircuit
from recoverable_operate._commands.display import time_text
from recoverable_operate._commands.places import Place
from recoverable_operate._commands.session import Session, access_of
from recoverable_operate.errors import OperateError
from recoverable_operate.errors._aws.session_client import Clients

ON_AZURE = "AzureWebJobsStorage"
"""The variable with the connection string of the account that has the table, as in a Function App; or the beginning of those for an identity."""

ASKS_FOR = timedelta(seconds=5)
"""The most that a store takes: an operator's first call signs in and connects, which takes longer than a function waits for a circuit."""


def warn_if_open(session: Session) -> bool:
    """Print why messages that are sent back now would wait; False while the circuit that the place names is closed.

    A trigger is paused only while its circuit is open, so the circuit answers for both.

    Raises:
        OperateError: a package for the store is missing, or the setting that names the account.
    """
    place = session.place
    try:
        since = store_of(place, session.queue.address).read().open_since
    except StoreUnavailable as error:
        session.terminal.note(f"It is not known whether the circuit {place.circuit} is open: {error}")
        return True
    except ModuleNotFoundError as error:
        raise OperateError(f"the circuit needs {error.name}: pip install azure-data-tables azure-identity") from None
    except ValueError as error:
        raise OperateError(f"the circuit {place.circuit} cannot be read: {error}") from None
    if since is not None:
        session.terminal.note(
            f"The circuit {place.circuit} has been open since {time_text(since)}: the function attempts one message at a time, and its "
            "trigger may be paused. Messages that are sent back now wait, or fail again."
        )
    return since is not None


def store_of(place: Place, queue: str) -> DynamoDbCircuit | TableCircuit:
    """Return the store of the place's circuit: a table of DynamoDB for a queue of SQS, one of table storage for Service Bus.

    Args:
        place: names the table and the circuit.
        queue: the full address of the error queue, whose region is that of the table.
    """
    table, _, name = str(place.circuit).partition("/")
    if place.on_service_bus:
        return TableCircuit(table, name, connection=ON_AZURE, timeout=ASKS_FOR)
    clients = Clients(access_of(place))
    client = clients.circuits(queue_from_arn(queue).region)
    return DynamoDbCircuit(table, name, client=client, timeout=ASKS_FOR)
