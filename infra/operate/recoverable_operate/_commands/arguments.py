"""Define the arguments that the verbs share, and read a filter from them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from recoverable._service_bus.app_settings import is_connection_string
from recoverable._service_bus.host_json import proxy
from recoverable_operate.errors import Filter, parse_where
from recoverable_operate.errors._filter import parse_time

T = TypeVar("T")


NOTHING_ASKED = "accepted; nothing is asked here"


def add_looking(parser: argparse.ArgumentParser, *, yes: str = NOTHING_ASKED) -> None:
    """Add what each verb that prints messages takes: the queue, which messages, and the choice of JSON; see `add_queue`."""
    add_queue(parser, yes=yes)
    add_filter(parser)
    parser.add_argument("--json", action="store_true", help="JSON lines instead of a table")


def add_queue(parser: argparse.ArgumentParser, *, yes: str = NOTHING_ASKED) -> None:
    """Add the error queue, by a place or by itself, and how it is reached. Each option that is left out is the place's, or has its default.

    Args:
        parser: the verb's parser.
        yes: the effect of `--yes`; each verb takes it.
    """
    parser.add_argument("place", nargs="?", type=name_or_address, metavar="PLACE", help="a place of a recoverable.toml")
    parser.add_argument(
        "--queue",
        type=name_or_address,
        metavar="QUEUE",
        help="SQS: ARN, URL or name; Service Bus: sb://NAMESPACE/ENTITY",
    )
    reached = add_access(parser, "how the queue is reached", "SQS")
    reached.add_argument(
        "--journal", metavar="FILE", help="where the journal is (default: ~/.local/state/recoverable/errors.sqlite)"
    )
    reached.add_argument(
        "--poll",
        type=seconds,
        metavar="SECONDS",
        help="of a long poll of SQS; three empty ones end a look (default: 2)",
    )
    reached.add_argument(
        "--websockets",
        action="store_true",
        default=None,
        help="Service Bus: by WebSockets, where only port 443 is open",
    )
    reached.add_argument(
        "--proxy",
        type=address_of_proxy,
        metavar="URL",
        help="Service Bus: by WebSockets through this proxy, http://HOST:PORT",
    )
    parser.set_defaults(connection=None)
    parser.add_argument("--yes", action="store_true", help=yes)
    parser.add_argument("--quiet", action="store_true", help="only the result, and what must be known or done")


def add_access(parser: argparse.ArgumentParser, title: str, service: str) -> argparse._ArgumentGroup:
    """Add how what is deployed is reached, and return the group of these arguments.

    Args:
        parser: the verb's parser.
        title: the group's title.
        service: what another endpoint is of.
    """
    reached = parser.add_argument_group(title)
    reached.add_argument("--profile", help="AWS profile")
    reached.add_argument("--region", help="AWS region")
    reached.add_argument("--role", metavar="ARN", help="AWS role to assume")
    reached.add_argument("--endpoint-url", metavar="URL", help=f"another endpoint of {service}, such as a local one")
    reached.add_argument(
        "--connection", metavar="NAME", type=name_or_address, default="SERVICE_BUS_CONNECTION",
        help="the environment variable with a connection string of Service Bus (default: SERVICE_BUS_CONNECTION); without one, DefaultAzureCredential",
    )  # fmt: skip
    return reached


def add_filter(parser: argparse.ArgumentParser) -> None:
    """Add what chooses messages. Of one kind any may fit; of each kind one must."""
    chosen = parser.add_argument_group("which messages; all of these must fit")
    chosen.add_argument(
        "--id",
        action="append",
        default=[],
        help="message id, or the broker's; may be repeated, as --type, --group and --queue-of",
    )
    chosen.add_argument("--type", action="append", default=[], help="exception type, in full or its last part")
    chosen.add_argument("--group", action="append", default=[], metavar="ID", help="group, as `groups` shows it")
    chosen.add_argument("--queue-of", action="append", default=[], metavar="QUEUE", help="queue where it failed")
    chosen.add_argument(
        "--since", type=moment, metavar="TIME", help="failed then or later: 2026-11-22T14:30 (UTC), or 90m, 6h, 2d ago"
    )
    chosen.add_argument("--until", type=moment, metavar="TIME", help="failed then or earlier")
    chosen.add_argument(
        "--where", type=checked(parse_where), action="append", default=[], metavar="PATH=VALUE",
        help="what a JSON body says: customer.id=42, items.0.sku=A7; may be repeated, and all must hold",
    )  # fmt: skip
    chosen.add_argument("--limit", type=positive, metavar="N", help="stop at so many")


def add_sending(parser: argparse.ArgumentParser) -> None:
    """Add how messages are sent back."""
    sending = parser.add_argument_group("how they are sent")
    sending.add_argument(
        "--to", type=name_or_address, metavar="QUEUE", help="send all of them there, whatever they say"
    )
    sending.add_argument(
        "--allow",
        type=name_or_address,
        action="append",
        default=[],
        metavar="QUEUE",
        help="a queue to which messages may say that they belong; may be repeated",
    )
    sending.add_argument(
        "--rate", type=rate, default=50.0, metavar="N", help="messages a second; 0 for no limit (default: 50)"
    )
    sending.add_argument(
        "--delay", type=duration, metavar="TIME", help="hide each copy for so long: 30s, 10m; else as its queue says"
    )
    sending.add_argument(
        "--canary", type=positive, default=0, metavar="N", help="send N first, wait, and stop if one of them came back"
    )
    sending.add_argument(
        "--canary-wait",
        type=duration,
        default=timedelta(minutes=5),
        metavar="TIME",
        help="how long to wait for that (default: 5m)",
    )
    sending.add_argument(
        "--circuit",
        type=table_and_name,
        metavar="TABLE/NAME",
        help="the store of the circuit that limits the function's rate; while it is open, only the name of the place or queue answers",
    )
    add_confirm(parser)


def add_confirm(parser: argparse.ArgumentParser) -> None:
    """Add the name that answers where --yes does not."""
    parser.add_argument(
        "--confirm",
        metavar="NAME",
        help="the place's name, or the queue's where none is given, to do it without asking",
    )


def add_max_delivery_count(parser: argparse.ArgumentParser) -> None:
    """Add what Service Bus does not tell those who only listen."""
    parser.add_argument(
        "--max-delivery-count", type=positive, metavar="N",
        help="Service Bus: the queue's MaxDeliveryCount, because what stays is delivered once more (default: 10)",
    )  # fmt: skip


def filter_of(arguments: argparse.Namespace) -> Filter:
    """Return the filter of the arguments."""
    return Filter(
        ids=tuple(arguments.id),
        types=tuple(arguments.type),
        groups=tuple(arguments.group),
        queues=tuple(arguments.queue_of),
        since=arguments.since,
        until=arguments.until,
        where=tuple(arguments.where),
    )


def checked(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Return a parser whose error argparse shows."""

    def parse_argument(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse_argument


def name_or_address(text: str) -> str:
    """Return the name or address of a queue, or the name of an environment variable.

    Raises:
        argparse.ArgumentTypeError: it is a connection string, which would go to AWS as a queue's name.
    """
    if is_connection_string(text):
        raise argparse.ArgumentTypeError(
            "this is a connection string, which is not shown here; put it into an environment variable, and name that by --connection"
        )
    return text


def address_of_proxy(text: str) -> str:
    """Return the address of a proxy.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        proxy(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is none; write {error}") from None
    return text


def table_and_name(text: str) -> str:
    """Return the table of a circuit and its name.

    Raises:
        argparse.ArgumentTypeError: one of them is missing.
    """
    if not all(text.partition("/")):
        raise argparse.ArgumentTypeError(f"{text!r} is no circuit; write TABLE/NAME")
    return text


def moment(text: str) -> datetime:
    """Parse a time, or how long ago it was."""
    return checked(lambda given: parse_time(given, datetime.now(UTC)))(text)


def duration(text: str) -> timedelta:
    """Parse a duration such as 30s, 10m, 2h.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    units = {"s": 1, "m": 60, "h": 3600}
    if not text[:-1].isdecimal() or text[-1] not in units:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write 30s, 10m or 2h")
    return timedelta(seconds=int(text[:-1]) * units[text[-1]])


def positive(text: str) -> int:
    """Parse a whole number from 1.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number; write 1 or more")
    return int(text)


def seconds(text: str) -> int:
    """Parse the seconds of a long poll, 0 to 20.

    Raises:
        argparse.ArgumentTypeError: they are none.
    """
    if not text.isdecimal() or int(text) > 20:  # noqa: PLR2004  # ReceiveMessage, WaitTimeSeconds
        raise argparse.ArgumentTypeError(f"{text!r} is no long poll; write 1 to 20 seconds, or 0 for a local server")
    return int(text)


def rate(text: str) -> float:
    """Parse messages a second.

    Raises:
        argparse.ArgumentTypeError: they are none.
    """
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no rate; write messages a second, or 0 for no limit")
    return number
