"""Find the error queue that a command is for, and how it is reached: by `--queue` and options, or by a place of a `recoverable.toml`.

Others may have written a project's file. Its keys that could send messages or credentials elsewhere count only once an operator
trusts that very content. Options of the command line beat a file.
"""

from __future__ import annotations

import argparse
import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from recoverable._service_bus.app_settings import is_connection_string, shown
from recoverable._service_bus.host_json import HostOptions, host_file, proxy, read_host_json
from recoverable._sqs.queues import queue_from_arn
from recoverable_operate.errors import OperateError
from recoverable_operate.errors._azure.entity import entity_of
from recoverable_operate.errors._journal import default_path

FILE = "recoverable.toml"

NEEDS_TRUST = ("allow", "endpoint", "profile", "proxy", "role")
"""Keys that could send messages or credentials to where an operator does not expect them."""

AZURE = (".servicebus.windows.net", ".servicebus.usgovcloudapi.net", ".servicebus.chinacloudapi.cn")
"""The domains of Service Bus in Azure's clouds: a token that is shown to another host may be used by it."""

DEFAULT_CONNECTION = "SERVICE_BUS_CONNECTION"
"""The environment variable with a connection string, which need not be set where no other is named."""

LOCAL = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An error queue, and how it is reached.

    Args:
        queue: ARN, URL or name of a queue on SQS, or `sb://NAMESPACE/ENTITY`.
        name: its name in a file; None where `--queue` names the queue.
        file: that file.
        connection: the environment variable with a connection string of Service Bus.
        websockets: True to reach Service Bus by port 443 alone.
        proxy: the proxy through which it is reached so.
        max_delivery_count: MaxDeliveryCount of a queue of Service Bus, which does not tell it those who only listen.
        allow: queues to which messages may say that they belong.
        poll: seconds of a long poll.
        page_size: messages of one table.
        endpoint: another endpoint of SQS.
        region, profile, role: as the AWS SDKs have them.
        circuit: the circuit that limits the rate of the function, as TABLE/NAME.
        app_insights: the resource id of the Application Insights that has the function's log.
        production: True if each change must be confirmed by the place's name.
        ignored: keys of the file that do not count before it is trusted.
    """

    queue: str
    name: str | None = None
    file: Path | None = None
    connection: str = DEFAULT_CONNECTION
    websockets: bool = False
    proxy: str | None = None
    max_delivery_count: int = 10
    allow: tuple[str, ...] = ()
    poll: int = 2
    page_size: int = 100
    endpoint: str | None = None
    region: str | None = None
    profile: str | None = None
    role: str | None = None
    app_insights: str | None = None
    circuit: str | None = None
    production: bool = False
    ignored: tuple[str, ...] = ()

    @property
    def on_service_bus(self) -> bool:
        """True if the queue is one of Service Bus."""
        return self.queue.startswith("sb://")

    @property
    def connection_string(self) -> str | None:
        """Return the connection string of Service Bus; None to sign in.

        Raises:
            OperateError: a variable is named that is not set.
        """
        if self.connection != DEFAULT_CONNECTION and not os.environ.get(self.connection):
            raise OperateError(
                f"the environment variable {self.connection} is not set; put a connection string of Service Bus into it"
            )
        return os.environ.get(self.connection)

    @property
    def transport(self) -> HostOptions:
        """Return how Service Bus is reached: as asked, else as the host.json of this folder says, as a function there would."""
        if self.websockets or self.proxy:
            return HostOptions(transport_type="amqpWebSockets", web_proxy=proxy(self.proxy))
        return read_host_json(host_file(os.environ), os.environ).options

    @property
    def host(self) -> str:
        """Return the namespace of a queue of Service Bus."""
        return entity_of(self.queue).namespace


def is_text(value: object) -> bool:
    """True for a text that is not empty and is no connection string."""
    return isinstance(value, str) and value != "" and not is_connection_string(value)


def is_address(value: object) -> bool:
    """True for the ARN of a queue, or for an address of Service Bus."""
    if not isinstance(value, str):
        return False
    try:
        return bool(entity_of(value) if value.startswith("sb://") else queue_from_arn(value))
    except (OperateError, ValueError):
        return False


def is_proxy(value: object) -> bool:
    """True for the address of a proxy."""
    try:
        return is_text(value) and proxy(value) is not None
    except ValueError:
        return False


KEYS: dict[str, tuple[Callable[[object], bool], str]] = {
    "queue": (is_address, "an ARN of an SQS queue, or sb://NAMESPACE/QUEUE"),
    "connection": (is_text, "the name of the environment variable that holds a connection string"),
    "websockets": (lambda value: isinstance(value, bool), "true or false"),
    "proxy": (is_proxy, "its address, such as http://proxy.shop.example:8080"),
    "allow": (lambda value: isinstance(value, list) and all(map(is_text, value)), "a list of names or addresses of queues, as --allow takes them"),
    "max_delivery_count": (lambda value: type(value) is int and value > 0, "1 or more, as the queue has it"),
    "poll": (lambda value: type(value) is int and 0 <= value <= 20, "1 to 20 seconds, or 0 for a local server"),  # noqa: PLR2004  # ReceiveMessage, WaitTimeSeconds
    "page_size": (lambda value: type(value) is int and value > 0, "1 or more"),
    "endpoint": (lambda value: is_text(value) and str(value).startswith(("https://", "http://")), "https://HOST"),
    "profile": (is_text, "the name of an AWS profile"),
    "role": (lambda value: is_text(value) and str(value).startswith("arn:"), "the ARN of a role"),
    "app_insights": (lambda value: is_text(value) and str(value).startswith("/subscriptions/"), "its resource id, /subscriptions/…"),
    "circuit": (lambda value: is_text(value) and all(str(value).partition("/")), "TABLE/NAME of the circuit's store"),
    "production": (lambda value: isinstance(value, bool), "true or false"),
}  # fmt: skip
"""What a place has: a check of each value, and what to write."""


@dataclass(frozen=True, slots=True)
class PlacesFile:
    """A `recoverable.toml` as it is read once.

    Args:
        path: the file.
        content: its bytes.
        trusted: True if all of it counts: the user's own, or one that an operator trusts.
    """

    path: Path
    content: bytes
    trusted: bool

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return the places as they are written, by name.

        Raises:
            OperateError: it is no TOML, or holds something else than places.
        """
        try:
            content = tomllib.loads(self.content.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise OperateError(f"{self.path} cannot be read: {error}") from None
        tables = content.pop("places", {})
        if content or not isinstance(tables, dict) or not all(isinstance(each, dict) for each in tables.values()):
            raise OperateError(f"{self.path} must hold places alone; begin each with [places.NAME]")
        return tables

    def place(self, name: str, table: Mapping[str, Any]) -> Place:
        """Return one of its places, checked.

        Raises:
            OperateError: a key or a value is none.
        """
        where = f"{self.path}, place {name}"
        if unknown := sorted(table.keys() - KEYS.keys()):
            raise OperateError(f"{where}: {', '.join(unknown)} is no key of a place; it has {', '.join(KEYS)}")
        if "queue" not in table:
            raise OperateError(f"{where} has no queue; write {KEYS['queue'][1]}")
        for key, value in table.items():
            is_right, instead = KEYS[key]
            if not is_right(value):
                raise OperateError(f"{where}: {key} is {shown(str(value))}; write {instead}")
        ignored = () if self.trusted else tuple(key for key in NEEDS_TRUST if key in table)
        counting = {key: value for key, value in table.items() if key not in ignored}
        place = Place(
            **{**counting, "allow": tuple(counting.get("allow", ()))}, name=name, file=self.path, ignored=ignored
        )
        if place.on_service_bus and not (
            self.trusted or place.host.endswith(AZURE) or place.host.partition(":")[0] in LOCAL
        ):
            raise OperateError(
                f"{where}: {place.host} is no host of Azure, and would be shown credentials; {HOW_TO_TRUST}"
            )
        return place


HOW_TO_TRUST = "read the file, then: recoverable places trust"


def place_of(arguments: argparse.Namespace) -> Place:
    """Return the place that the command line names, with what its options say.

    Raises:
        OperateError: none or two are named, there is no such place, or its file cannot be read.
    """
    if (arguments.place is None) == (arguments.queue is None):
        raise OperateError(f"name either a place of a {FILE}, or a queue by --queue; there is no default")
    found = Place(queue=arguments.queue) if arguments.place is None else find_place(arguments.place)
    options = {
        each.name: getattr(arguments, each.name, None) for each in fields(Place) if each.name not in ("queue", "allow")
    }
    options["endpoint"] = arguments.endpoint_url
    given = {name: value for name, value in options.items() if value is not None}
    if named := [
        f"--{name}" for name in ("connection", "websockets", "proxy") if name in given and not found.on_service_bus
    ]:
        raise OperateError(
            f"{named[0]} is of Service Bus, and {found.queue} names a queue of SQS; write --queue sb://NAMESPACE/QUEUE"
        )
    return replace(found, **given, allow=(*found.allow, *getattr(arguments, "allow", ())))


def find_place(name: str) -> Place:
    """Return the place of this name: the user's own before the project's.

    Raises:
        OperateError: there is none, or a file cannot be read.
    """
    names = list[str]()
    for file in read_files():
        tables = file.tables()
        if name in tables:
            return file.place(name, tables[name])
        names += tables
    known = (
        f"known are {', '.join(sorted(names))}" if names else f"there is no {FILE} here, nor in {user_file().parent}"
    )
    raise OperateError(f"there is no place {name!r}: {known}; a queue is named by --queue")


def read_files() -> Iterator[PlacesFile]:
    """Yield the user's file and the project's, as far as they are there."""
    user, project = user_file(), project_file()
    if user.is_file():
        yield PlacesFile(user, read(user), trusted=True)
    if project is not None and project != user:
        content = read(project)
        yield PlacesFile(project, content, trusted=trusted_hashes().get(str(project)) == sha256(content).hexdigest())


def read(path: Path) -> bytes:
    """Return the file's content, which is read once: what is checked is what is used.

    Raises:
        OperateError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise OperateError(f"{path} cannot be read: {error.strerror}") from None


def user_file() -> Path:
    """Return the user's own file (XDG Base Directory Specification)."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return (Path(folder) / "recoverable" / FILE).resolve()


def project_file() -> Path | None:
    """Return the file of this folder, or of the next one above that has one."""
    here = Path.cwd()
    return next((found.resolve() for each in (here, *here.parents) if (found := each / FILE).is_file()), None)


def trust_file() -> Path:
    """Return the file that says which projects' files are trusted: beside the journal."""
    return Path(default_path(os.environ)).with_name("trusted.json")


def trusted_hashes() -> dict[str, str]:
    """Return the hash of each project's file that is trusted, by its path.

    Raises:
        OperateError: they cannot be read.
    """
    path = trust_file()
    try:
        found = json.loads(read(path)) if path.is_file() else {}
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise OperateError(f"{path} cannot be read; remove it, and trust the files again")
    return found


def trust(file: PlacesFile) -> None:
    """Write that this content of a project's file is trusted.

    Raises:
        OSError: it cannot be written.
    """
    path, hashes = trust_file(), {**trusted_hashes(), str(file.path): sha256(file.content).hexdigest()}
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(hashes, indent=2))
    new.replace(path)
