"""Move stored timeouts to native delivery, or to another table.

  preview   what waits, by endpoint and destination; nothing is changed
  migrate   move it; a dry run unless --really is given. Begun again after an interruption, it goes on
  abort     let the dispatcher see again what an interrupted migration holds; a dry run unless --really is given

Stores are written dynamodb:TABLE (region and credentials as for any AWS tool) or sqlite:FILE. What is moved is hidden from the dispatcher while it is on
its way, so that none fires twice; what the dispatcher may have taken already is left to it. Run one migration of a store at a time.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..attempt import now
from .migration import Summary, Target, abort, migrate, preview
from .store import Selection, StoreUnavailable

if TYPE_CHECKING:
    from .port import Store

CUTOFF = "%Y-%m-%d %H:%M:%S"
DOORS = ("preview", "migrate", "abort")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("verb", choices=DOORS)
    parser.add_argument("source", type=source_at, help="where they wait: dynamodb:TABLE or sqlite:FILE")
    parser.add_argument(
        "target",
        nargs="?",
        type=target_at,
        help="for migrate: service-bus:SETTING (the environment variable that holds the connection string, or a namespace's host name), sqs, dynamodb:TABLE or sqlite:FILE",
    )
    parser.add_argument(
        "--cutoff",
        type=cutoff_at,
        metavar="'YYYY-MM-DD HH:MM:SS'",
        help="only what is due then or later, in UTC",
    )
    parser.add_argument("--endpoint", help="only what this endpoint had stored")
    parser.add_argument(
        "--really", action="store_true", help="do it; else it is only said what would be done"
    )


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb says; 1 when something was left, 2 when an argument or the store is at fault."""
    selection = Selection(arguments.cutoff, arguments.endpoint)
    if (arguments.verb == "migrate") != (arguments.target is not None):
        sys.stderr.write(
            "recoverable timeouts: `migrate` takes a source and a target, the other verbs a source alone\n"
        )
        return 2
    if arguments.target is not None and is_same(arguments.source.address, arguments.target.name):
        sys.stderr.write(
            f"recoverable timeouts: {arguments.target.name} is the source itself; write another store as the target (tables of one name in two regions: both by their ARNs)\n"
        )
        return 2
    try:
        summary = done(arguments, selection)
    except StoreUnavailable as error:
        sys.stderr.write(
            f"recoverable timeouts: {error}\nWhat was moved is moved; write the same command again to go on.\n"
        )
        return 2
    finally:
        for place in (arguments.source.store, arguments.target):
            getattr(place, "close", lambda: None)()
    for line in lines(summary, arguments):
        say(line)
    return 1 if summary.left.total() else 0


def done(arguments: argparse.Namespace, selection: Selection) -> Summary:
    """What the verb comes to."""
    store = arguments.source.store
    match arguments.verb:
        case "preview":
            return preview(store, selection)
        case "abort":
            return abort(store, selection, dry_run=not arguments.really)
        case _:
            dry_run = not arguments.really
            return migrate(store, arguments.target, selection, now, dry_run=dry_run, say=progress)


def lines(summary: Summary, arguments: argparse.Namespace) -> list[str]:
    """What is said in the end."""
    told = [
        f"{count:>9,}  {endpoint or '?'} → {to}" for (endpoint, to), count in sorted(summary.waiting.items())
    ]
    if summary.earliest and summary.latest:
        told.append(
            f"due from {summary.earliest:{CUTOFF}} to {summary.latest:{CUTOFF}}; {summary.held:,} held by a migration"
        )
    told += [f"left: {count:,}, because {why}" for why, count in summary.left.items() if count]
    dry = "" if arguments.really else " would be"
    match arguments.verb:
        case "preview":
            told.append(f"{summary.waiting.total():,} wait")
        case "abort":
            told.append(f"{summary.done:,}{dry} shown again")
        case _:
            told.append(f"{summary.done:,}{dry} moved to {arguments.target.name}")
    if arguments.verb != "preview" and not arguments.really:
        told.append("Nothing was changed; add --really.")
    return told


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
    """The store that an address means, and the address."""
    return Source(store_at(address), address)


def is_same(one: str, other: str) -> bool:
    """Whether two addresses may mean one store; a table's name may be that of any ARN that ends with it."""
    (kind, _, place), (other_kind, _, other_place) = one.partition(":"), other.partition(":")
    if kind != other_kind:
        return False
    if kind == "sqlite":
        return os.path.realpath(place) == os.path.realpath(other_place)
    by_arn = ":" in place and ":" in other_place
    return place == other_place if by_arn else place.split("/")[-1] == other_place.split("/")[-1]


def store_at(address: str) -> Store:
    """The store that an address means.

    Raises:
        argparse.ArgumentTypeError: it means none.
    """
    kind, _, place = address.partition(":")
    if place and kind == "dynamodb":
        from .dynamodb_store import DynamoDBStore  # noqa: PLC0415  # only the store that is named

        return DynamoDBStore(place, bucket=os.environ.get("TIMEOUTS_BUCKET") or None, patience=20.0)
    if place and kind == "sqlite":
        return sqlite_at(place)
    raise argparse.ArgumentTypeError(f"{address!r} is no store; write dynamodb:TABLE or sqlite:FILE")


def sqlite_at(path: str) -> Store:
    """The store in a file.

    Raises:
        argparse.ArgumentTypeError: there is no such file, or it is no database.
    """
    from .sqlite_store import SqliteStore  # noqa: PLC0415

    try:
        return SqliteStore(path)
    except StoreUnavailable as error:
        raise argparse.ArgumentTypeError(f"{path!r}: {error}") from None


def target_at(address: str) -> Target:
    """The target that an address means.

    Raises:
        argparse.ArgumentTypeError: it means none.
    """
    kind, _, place = address.partition(":")
    if address == "sqs":
        from .client import Sender  # noqa: PLC0415
        from .targets import SqsTarget  # noqa: PLC0415

        return SqsTarget(Sender())
    if kind == "service-bus" and place:
        return service_bus(place)
    from .targets import StoreTarget  # noqa: PLC0415

    return StoreTarget(store_at(address), address)


def service_bus(place: str) -> Target:
    """The namespace that a setting or a host name means."""
    connection = os.environ.get(place, place)
    if "=" not in connection and "." not in connection:
        raise argparse.ArgumentTypeError(
            f"the environment has no {place}, and it is no host name; write service-bus:SETTING or service-bus:NAME.servicebus.windows.net"
        )
    from .service_bus_store import ServiceBusTarget  # noqa: PLC0415

    return ServiceBusTarget(connection)


def cutoff_at(text: str) -> datetime:
    """The moment of a cutoff.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        return datetime.strptime(text, CUTOFF).replace(tzinfo=UTC)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time; write '2030-01-31 23:59:59', in UTC"
        ) from None


def say(line: str) -> None:
    """One line of what is said."""
    sys.stdout.write(f"{line}\n")


def progress(line: str) -> None:
    """The progress, in place of what was said of it before, where somebody looks."""
    sys.stderr.write(f"\r{line}" if sys.stderr.isatty() else f"{line}\n")
