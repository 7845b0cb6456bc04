"""What is written on the command line for a store, a target or a cutoff, and what it means."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recoverable.timeouts.stores.rows import StoreUnavailable

if TYPE_CHECKING:
    from recoverable.timeouts.migration.targets import Target
    from recoverable.timeouts.stores.port import Store

CUTOFF = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True)
class Source:
    """A store to move from.

    Args:
        store: the store.
        address: what was written for it.
    """

    store: Store
    address: str


def source_at(address: str) -> Source:
    """The store that an address means, and the address.

    Raises:
        ArgumentTypeError: it means none that is there.
    """
    kind, _, place = address.partition(":")
    if kind == "sqlite" and place and not os.path.exists(place):  # a target is made, a source is not
        raise ArgumentTypeError(f"there is no file {place!r}; write sqlite:FILE with one that is there")
    return Source(store_at(address), address)


def target_at(address: str) -> Target:
    """The target that an address means.

    Raises:
        ArgumentTypeError: it means none.
    """
    kind, _, place = address.partition(":")
    if address == "sqs":
        from recoverable.timeouts.client import Sender  # noqa: PLC0415
        from recoverable.timeouts.migration.targets import SqsTarget  # noqa: PLC0415

        return SqsTarget(Sender())
    if kind == "service-bus" and place:
        return service_bus_at(place)
    from recoverable.timeouts.migration.targets import StoreTarget  # noqa: PLC0415

    return StoreTarget(store_at(address), address)


def store_at(address: str) -> Store:
    """The store that an address means.

    Raises:
        ArgumentTypeError: it means none.
    """
    kind, _, place = address.partition(":")
    if place and kind == "dynamodb":
        from recoverable.timeouts.stores.dynamodb.store import DynamoDBStore  # noqa: PLC0415  # only the store that is named

        return DynamoDBStore(place, bucket=os.environ.get("TIMEOUTS_BUCKET") or None, timeout=20.0)
    if place and kind == "sqlite":
        return sqlite_at(place)
    raise ArgumentTypeError(f"{address!r} is no store; write dynamodb:TABLE or sqlite:FILE")


def sqlite_at(path: str) -> Store:
    """The store in a file.

    Raises:
        ArgumentTypeError: the file cannot be made, or is no database.
    """
    from recoverable.timeouts.stores.sqlite.store import SqliteStore  # noqa: PLC0415

    try:
        return SqliteStore(path)
    except StoreUnavailable as error:
        raise ArgumentTypeError(f"{path!r}: {error}") from None


def service_bus_at(place: str) -> Target:
    """The namespace that a setting or a host name means.

    Raises:
        ArgumentTypeError: it means none, or what it takes is not installed.
    """
    connection = os.environ.get(place, place)
    if "=" not in connection and "." not in connection:
        raise ArgumentTypeError(
            f"the environment has no {place}, and it is no host name; write service-bus:SETTING or service-bus:NAME.servicebus.windows.net"
        )
    from recoverable.timeouts.stores.service_bus.store import ServiceBusTarget  # noqa: PLC0415

    try:
        return ServiceBusTarget(connection)
    except ModuleNotFoundError as error:
        raise ArgumentTypeError(f"Service Bus needs {error.name}: pip install 'recoverable[azure]'") from None
    except ValueError:  # its words may quote the key
        raise ArgumentTypeError(
            f"{place} holds no connection string of Service Bus; one begins with Endpoint=sb://"
        ) from None


def is_same(one: str, other: str) -> bool:
    """Whether two addresses may mean one store; a table's name may be that of any ARN that ends with it."""
    (kind, _, place), (other_kind, _, other_place) = one.partition(":"), other.partition(":")
    if kind != other_kind:
        return False
    if kind == "sqlite":
        return os.path.realpath(place) == os.path.realpath(other_place)
    by_arn = ":" in place and ":" in other_place
    return place == other_place if by_arn else place.split("/")[-1] == other_place.split("/")[-1]


def cutoff_at(text: str) -> datetime:
    """The moment of a cutoff.

    Raises:
        ArgumentTypeError: it is none.
    """
    try:
        return datetime.strptime(text, CUTOFF).replace(tzinfo=UTC)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no time; write '2030-01-31 23:59:59', in UTC") from None
