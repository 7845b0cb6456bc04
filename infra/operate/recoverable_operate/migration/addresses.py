"""Parse the command's arguments for a store, a target or a cutoff."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recoverable.timeouts._store import StoreUnavailable

if TYPE_CHECKING:
    from recoverable.timeouts._store import Store
    from recoverable_operate.migration.targets import Target

CUTOFF = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True)
class Source:
    """A store to move from.

    Args:
        store: the store.
        address: its address on the command line.
    """

    store: Store
    address: str


def parse_source(address: str) -> Source:
    """Open the store at an address that must exist already.

    Raises:
        ArgumentTypeError: the address is not that of an existing store.
    """
    kind, _, name = address.partition(":")
    if kind == "sqlite" and name and not os.path.exists(name):  # a target is made, a source is not
        raise ArgumentTypeError(f"there is no file {name!r}; write sqlite:FILE with one that is there")
    return Source(parse_store(address), address)


def parse_target(address: str) -> Target:
    """Open the target at an address.

    Raises:
        ArgumentTypeError: the address is not that of a target.
    """
    kind, _, name = address.partition(":")
    if address == "sqs":
        from recoverable._sqs.sender import Sender  # noqa: PLC0415
        from recoverable_operate.migration.targets import SqsTarget  # noqa: PLC0415

        return SqsTarget(Sender())
    if kind == "service-bus" and name:
        return open_service_bus(name)
    from recoverable_operate.migration.targets import StoreTarget  # noqa: PLC0415

    return StoreTarget(parse_store(address), address)


def parse_store(address: str) -> Store:
    """Open the store at an address.

    Raises:
        ArgumentTypeError: the address is not that of a store.
    """
    kind, _, name = address.partition(":")
    if name and kind == "dynamodb":
        from recoverable.timeouts._dynamodb_store import DynamoDbStore  # noqa: PLC0415  # only the store that is named

        return DynamoDbStore(name, bucket=os.environ.get("TIMEOUTS_BUCKET") or None, timeout=20.0)
    if name and kind == "sqlite":
        return open_sqlite(name)
    raise ArgumentTypeError(f"{address!r} is no store; write dynamodb:TABLE or sqlite:FILE")


def open_sqlite(path: str) -> Store:
    """Open the store in a file.

    Raises:
        ArgumentTypeError: the file cannot be made, or is no database.
    """
    from recoverable.timeouts._sqlite import SqliteStore  # noqa: PLC0415

    try:
        return SqliteStore(path)
    except StoreUnavailable as error:
        raise ArgumentTypeError(f"{path!r}: {error}") from None


def open_service_bus(name: str) -> Target:
    """Open the namespace that a setting or a host name stands for.

    Raises:
        ArgumentTypeError: there is no such setting or host name, or a package is not installed.
    """
    connection = os.environ.get(name, name)
    if "=" not in connection and "." not in connection:
        raise ArgumentTypeError(
            f"the environment has no {name}, and it is no host name; write service-bus:SETTING or service-bus:NAME.servicebus.windows.net"
        )
    from recoverable_operate.migration.service_bus_client import ServiceBusTarget  # noqa: PLC0415

    try:
        return ServiceBusTarget(connection)
    except ModuleNotFoundError as error:
        raise ArgumentTypeError(f"Service Bus needs {error.name}: pip install 'recoverable[azure]'") from None
    except ValueError:  # its words may quote the key
        raise ArgumentTypeError(
            f"{name} holds no connection string of Service Bus; one begins with Endpoint=sb://"
        ) from None


def is_same_store(one: str, other: str) -> bool:
    """True if two addresses may be those of one store; a table's name may be that of any ARN that ends with it."""
    (kind, _, name), (other_kind, _, other_name) = one.partition(":"), other.partition(":")
    if kind != other_kind:
        return False
    if kind == "sqlite":
        return os.path.realpath(name) == os.path.realpath(other_name)
    by_arn = ":" in name and ":" in other_name
    return name == other_name if by_arn else name.split("/")[-1] == other_name.split("/")[-1]


def parse_cutoff(text: str) -> datetime:
    """Return the moment of a cutoff.

    Raises:
        ArgumentTypeError: the text is no time.
    """
    try:
        return datetime.strptime(text, CUTOFF).replace(tzinfo=UTC)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no time; write '2030-01-31 23:59:59', in UTC") from None
