"""Move stored timeouts to native delivery, or to another table.

  preview   count what waits, by endpoint and destination; nothing is changed
  migrate   move it; a dry run unless --really is given. Run it again after an interruption: it goes on
  abort     release what an interrupted migration holds to the dispatcher; a dry run unless --really is given

Stores are written dynamodb:TABLE (region and credentials as for any AWS tool) or, with recoverable-local, sqlite:FILE. A timeout is hidden
from the dispatcher while it is moved, so that it is not sent twice. Timeouts that the dispatcher may have taken already are skipped. Run one migration of a store at a time.
"""

from __future__ import annotations

import argparse
import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import entry_points

from recoverable._service_bus.app_settings import is_connection_string, shown
from recoverable._sqs.sender import Sender
from recoverable.hosting import now
from recoverable.timeouts import Store, StoreUnavailable
from recoverable.timeouts._store import Selection
from recoverable_operate._migration.moving import SqsTarget, StoreTarget, Summary, Target, abort, migrate, preview
from recoverable_operate._migration.service_bus_client import ServiceBusTarget

VERBS = ("preview", "migrate", "abort")

STORES = "recoverable.timeouts_stores"
"""The group of entry points that name kinds of stores: `recoverable_local`, which nothing here imports, has `sqlite`."""

HINTS = {
    "NoRegionError": "set the region in AWS_DEFAULT_REGION or your AWS profile",
    "NoCredentialsError": "set credentials in AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "ResourceNotFoundException": "there is no such table in this account and region",
}

INTERRUPTED = 130
"""The exit status after an interruption at the keyboard (POSIX shells: 128 + SIGINT)."""

CLEAR = "\r\033[K"
"""Clears the line on a terminal, so that it is written over."""

CUTOFF = "%Y-%m-%d %H:%M:%S"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("source", type=parse_source, help="where they wait: dynamodb:TABLE or sqlite:FILE")
    parser.add_argument(
        "target",
        nargs="?",
        type=parse_target,
        help="for migrate: service-bus:SETTING (the environment variable that holds the connection string, or a namespace's host name), sqs, dynamodb:TABLE or sqlite:FILE",
    )
    parser.add_argument(
        "--cutoff",
        type=parse_cutoff,
        metavar="'YYYY-MM-DD HH:MM:SS'",
        help="only timeouts that are due then or later, in UTC",
    )
    parser.add_argument("--endpoint", help="only timeouts that this endpoint stored")
    parser.add_argument("--really", action="store_true", help="do it; without this, only print what would be done")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb. Return 0 when all is done, 1 when some timeouts were skipped, 2 when an argument, the store or the target failed, 130 when interrupted."""
    try:
        if error_text := find_argument_error(arguments):
            return report_failure(error_text)
        summary = run_verb(arguments)
    except StoreUnavailable as error:
        return report_failure(f"{error}{hint(error)}", started=arguments.really)
    except KeyboardInterrupt:
        report_failure("interrupted", started=arguments.really)
        return INTERRUPTED
    finally:
        for place in (arguments.source.store, arguments.target):
            getattr(place, "close", lambda: None)()
    sys.stdout.writelines(f"{line}\n" for line in summary_lines(summary, arguments))
    if summary.stopped:
        return report_failure(f"{arguments.target.name} failed: {summary.stopped}", started=True)
    return 1 if summary.skipped else 0


def find_argument_error(arguments: argparse.Namespace) -> str | None:
    """Return what is wrong with the arguments together; None when they fit."""
    if (arguments.verb == "migrate") != (arguments.target is not None):
        return "`migrate` takes a source and a target, the other verbs a source alone"
    if arguments.target is not None and is_same_store(arguments.source.address, arguments.target.name):
        return f"{arguments.target.name} is the source itself; write another store as the target (tables of one name in two regions: both by their ARNs)"
    return None


def report_failure(why: str, *, started: bool = False) -> int:
    """Print why it failed, and how to go on with what was started. Return the exit status."""
    sys.stderr.write(f"recoverable timeouts: {why}\n")
    if started:
        sys.stderr.write("Timeouts that were moved stay moved. Run the same command again to go on.\n")
    return 2


def hint(error: StoreUnavailable) -> str:
    """Return what to do about an error of AWS's client or DynamoDB."""
    return next((f"; {hint}" for name, hint in HINTS.items() if name in str(error)), "")


def run_verb(arguments: argparse.Namespace) -> Summary:
    """Run the verb and return its summary."""
    store, dry_run = arguments.source.store, not arguments.really
    selection = Selection(arguments.cutoff, arguments.endpoint)
    match arguments.verb:
        case "preview":
            return preview(store, selection)
        case "abort":
            return abort(store, selection, dry_run=dry_run)
        case _:
            target = arguments.target
            try:
                return migrate(
                    store, target, selection, now, dry_run=dry_run, on_progress=print_progress, on_skipped=print_line
                )
            finally:
                end_progress()


def summary_lines(summary: Summary, arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the lines that are printed at the end."""
    for (endpoint, to), count in sorted(summary.waiting.items()):
        yield f"{count:>9,}  {endpoint or '?'} → {to}"
    if summary.earliest and summary.latest:
        yield f"due from {summary.earliest:{CUTOFF}} to {summary.latest:{CUTOFF}}; {summary.held:,} held by a migration"
    for why, count in summary.skipped.items():
        yield f"skipped: {count:,}, because {why}"
    yield outcome_line(summary, arguments)
    if arguments.verb != "preview" and not arguments.really:
        yield "Nothing was changed; add --really."


def outcome_line(summary: Summary, arguments: argparse.Namespace) -> str:
    """Return the line that says what was done, or would be done."""
    would = "" if arguments.really else " would be"
    match arguments.verb:
        case "preview":
            return f"{summary.waiting.total():,} wait"
        case "abort":
            return f"{summary.changed:,}{would} released to the dispatcher"
        case _:
            return f"{summary.changed:,}{would} moved to {arguments.target.name}"


def print_progress(line: str) -> None:
    """Print the progress; on a terminal in place of the last one."""
    sys.stderr.write(f"{CLEAR}{line}" if sys.stderr.isatty() else f"{line}\n")


def print_line(line: str) -> None:
    """Print a line that stays readable, above the progress."""
    sys.stderr.write(f"{CLEAR}{line}\n" if sys.stderr.isatty() else f"{line}\n")


def end_progress() -> None:
    """End the line of the progress."""
    if sys.stderr.isatty():
        sys.stderr.write("\n")


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
        return SqsTarget(Sender())
    if kind == "service-bus" and name:
        return open_service_bus(name)
    return StoreTarget(parse_store(address), address)


def parse_store(address: str) -> Store:
    """Open the store at an address.

    Raises:
        ArgumentTypeError: the address is not that of a store.
    """
    kind, _, name = address.partition(":")
    if name and kind == "dynamodb":
        from recoverable.timeouts import DynamoDbStore  # noqa: PLC0415  # only the store that is named

        return DynamoDbStore(name, bucket=os.environ.get("TIMEOUTS_BUCKET") or None, timeout=20.0)
    if name and kind == "sqlite":
        return open_sqlite(name)
    raise ArgumentTypeError(f"{shown(address)} is no store; write dynamodb:TABLE or sqlite:FILE")


def open_sqlite(path: str) -> Store:
    """Open the store in a file, if the distribution that has such a store is installed.

    Raises:
        ArgumentTypeError: it is not installed, or the file cannot be made or is no database.
    """
    installed = entry_points(group=STORES, name="sqlite")
    if not installed:
        raise ArgumentTypeError("sqlite:FILE needs recoverable_local: pip install recoverable-local")
    try:
        store: Store = next(iter(installed)).load()(path)
    except StoreUnavailable as error:
        raise ArgumentTypeError(f"{path!r}: {error}") from None
    return store


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
    try:
        return ServiceBusTarget(connection)
    except ModuleNotFoundError as error:
        raise ArgumentTypeError(f"Service Bus needs {error.name}: pip install 'recoverable-operate[azure]'") from None
    except ValueError:  # its words may quote the key
        raise ArgumentTypeError(
            f"{'this' if is_connection_string(name) else name} is no connection string of Service Bus, which begins with Endpoint=sb://"
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
