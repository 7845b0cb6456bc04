"""Move stored timeouts to native delivery, or to another table.

  preview   count what waits, by endpoint and destination; nothing is changed
  migrate   move it; a dry run unless --really is given. Run it again after an interruption: it goes on
  abort     release what an interrupted migration holds to the dispatcher; a dry run unless --really is given

Stores are written dynamodb:TABLE (region and credentials as for any AWS tool) or sqlite:FILE. A timeout is hidden from the dispatcher while it is moved,
so that it is not sent twice. What the dispatcher may have taken already is skipped. Run one migration of a store at a time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from recoverable._environment import now
from recoverable.timeouts._store import Selection, StoreUnavailable
from recoverable_operate.migration.addresses import CUTOFF, is_same_store, parse_cutoff, parse_source, parse_target
from recoverable_operate.migration.moving import Summary, abort, migrate, preview

VERBS = ("preview", "migrate", "abort")

HINTS = {
    "NoRegionError": "set the region in AWS_DEFAULT_REGION or your AWS profile",
    "NoCredentialsError": "set credentials in AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "ResourceNotFoundException": "there is no such table in this account and region",
}

INTERRUPTED = 130
"""The exit status after an interruption at the keyboard (POSIX shells: 128 + SIGINT)."""


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
        sys.stderr.write("What was moved is moved. Run the same command again to go on.\n")
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


CLEAR = "\r\033[K"
"""Clears the line on a terminal, so that it is written over."""


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
