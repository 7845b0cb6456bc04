"""Keep a circuit that instances share in one entity of Azure Table storage."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any

from recoverable._errors import StoreUnavailable
from recoverable._limits import checked_queue, was_idle
from recoverable._rate_limit.state import Snapshot, from_item, to_item
from recoverable._rate_limit.store import TIMEOUT, SharedCalls, seconds_of
from recoverable._service_bus.app_settings import checked_connection, find_setting, settings_below

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta
    from typing import TypeVar

    from azure.core.pipeline.transport import RequestsTransport
    from azure.data.tables import TableClient

    from recoverable._rate_limit.state import Circuit

    T = TypeVar("T")

PARTITION = "circuit"
REPEATED: Mapping[str, Any] = {"retry_total": 1, "retry_connect": 0, "retry_status": 0}
"""A read that got no answer is made once more, because its connection may have ended while it was idle. A change is not: the first may have
been made, and `Breaker` reads it back."""

ABSENT = ""
"""The version of a circuit that was never changed, and has no entity yet."""


class TableCircuit:
    """A circuit in table storage: `RateLimit(..., store=TableCircuit("circuits", "orders"))`.

    By identity it needs the role "Storage Table Data Contributor". It makes the table when there is none.

    Args:
        table: the table's name.
        name: the circuit's name; endpoints that share it are limited together.
        connection: the app setting with the storage account's connection string; or the start of those for an identity, which
            name the account by `__accountName` or `__tableServiceUri`. By default the account that each Function App has.
        client: an azure-data-tables client of the table, instead of the one made when something first fails.
        timeout: how long a call may take, up to 5 s; then the instance goes on without the store.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a name that table storage does not take, or a timeout of 0 or above 5 s.
    """

    def __init__(
        self,
        table: str,
        name: str,
        *,
        connection: str = "AzureWebJobsStorage",
        client: TableClient | None = None,
        timeout: timedelta = TIMEOUT,
    ) -> None:
        self.table, self.name = checked_table(table), checked_name(name)
        self._connection = checked_connection("TableCircuit(connection)", connection)
        self._client, self._timeout = client, seconds_of("TableCircuit(timeout)", timeout)
        self._calls = SharedCalls()

    def read(self) -> Snapshot:
        """Return the circuit as it is.

        Raises:
            StoreUnavailable: it cannot be read now.
        """
        return self._call(lambda client: self._calls.read(self._timeout, lambda: read_circuit(client, self.name)))

    def compare_and_set(self, snapshot: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change the circuit if it still is as in the snapshot; None when another instance was faster.

        Raises:
            StoreUnavailable: it is not known whether it was changed.
        """
        version = snapshot.version
        if not isinstance(version, str):
            return None
        entity = {"PartitionKey": PARTITION, "RowKey": self.name, **to_item(circuit, switch)}
        etag = self._call(
            lambda client: self._calls.change(version, self._timeout, lambda: write_entity(client, entity, version))
        )
        return None if etag is None else Snapshot(circuit, etag, switch)

    def _call(self, call: Callable[[TableClient], T]) -> T:
        """Make one call, and return its answer."""
        from azure.core.exceptions import AzureError

        try:
            return call(self._client or table_client(self._connection, self.table, self._timeout))
        except TimeoutError as error:
            raise StoreUnavailable(f"table storage gave no answer within {self._timeout} s") from error
        except AzureError as error:
            raise StoreUnavailable(f"table storage failed ({type(error).__name__})") from error
        except ModuleNotFoundError as error:
            raise StoreUnavailable(f"{error}; pip install 'recoverable[azure]'") from error
        except ValueError as error:
            raise StoreUnavailable(f"its connection cannot be used: {error}") from error


def read_circuit(client: TableClient, name: str) -> Snapshot:
    """Return the circuit of this name as it is in the table."""
    from azure.core.exceptions import ResourceNotFoundError

    try:
        entity = client.get_entity(PARTITION, name, **REPEATED)
    except ResourceNotFoundError:  # the entity, or the whole table
        return Snapshot(version=ABSENT)
    return from_item(entity, entity.metadata["etag"])


def write_entity(client: TableClient, entity: Mapping[str, str], version: str) -> str | None:
    """Write a circuit's entity over one of this version. Return its new version, or None when it has another by now."""
    from azure.core import MatchConditions
    from azure.core.exceptions import ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
    from azure.data.tables import UpdateMode

    unchanged = {"etag": version, "match_condition": MatchConditions.IfNotModified}
    try:
        if version == ABSENT:
            answer = create_entity(client, entity)
        else:
            answer = client.update_entity(entity, UpdateMode.REPLACE, **unchanged)  # type: ignore[arg-type]  # as documented
    except (ResourceExistsError, ResourceModifiedError, ResourceNotFoundError):
        return None
    return str(answer["etag"])


def create_entity(client: TableClient, entity: Mapping[str, str]) -> Mapping[str, Any]:
    """Create a circuit's entity, and its table when there is none."""
    from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError

    try:
        return client.create_entity(entity)
    except ResourceNotFoundError:  # no table either: the first change of the first circuit
        with suppress(ResourceExistsError):  # another instance made it just now
            client.create_table()
        return client.create_entity(entity)


def checked_table(table: object) -> str:
    """Return the table's name after checking that table storage takes it ("Understanding the Table service data model", table names)."""
    if not re.fullmatch("[A-Za-z][A-Za-z0-9]{2,62}", name := checked_queue("TableCircuit(table)", table)):
        raise ValueError(f"TableCircuit(table) is {name!r}; write a letter, then 2 to 62 letters or digits")
    return name


def checked_name(circuit: object) -> str:
    """Return the circuit's name after checking that it can be a row key (as above, characters disallowed in key fields)."""
    if re.search(r"[/\\#?\x00-\x1f\x7f-\x9f]", name := checked_queue("TableCircuit(name)", circuit)):
        raise ValueError(f"TableCircuit(name) is {name!r}; write it without / \\ # ? and control characters")
    return name


class Renewal:
    """Close a transport's connections before a call when they were idle; the call then opens one.

    Args:
        transport: azure-core's.
    """

    def __init__(self, transport: RequestsTransport) -> None:
        transport.open()  # so that it has its session, which opens connections again after its close; the transport does not
        self._session: Any = transport.session
        self._used_at = monotonic()

    def before_call(self, _request: object) -> None:
        """Close connections that were idle; azure-core calls this before each call."""
        from recoverable._service_bus.renewal import IDLE_LIMIT

        now = monotonic()
        if was_idle(self._used_at, now, IDLE_LIMIT):
            self._session.close()
        self._used_at = now


@cache
def table_client(connection: str, table: str, timeout: float) -> TableClient:
    """Return the process's client, made when something first fails. It tries each change once.

    Args:
        connection: the app setting, or the start of those for an identity.
        table: the table's name.
        timeout: seconds for one call.

    Raises:
        ValueError: there is neither a connection string nor an account under that name.
    """
    from azure.core.pipeline.transport import RequestsTransport
    from azure.data.tables import TableClient

    transport = RequestsTransport(connection_timeout=timeout / 2, read_timeout=timeout / 2)
    once: dict[str, Any] = {
        "retry_total": 0,
        "transport": transport,
        "raw_request_hook": Renewal(transport).before_call,
    }
    for path in (connection, f"AzureWebJobs{connection}"):
        if text := find_setting(path, os.environ):
            try:
                return TableClient.from_connection_string(text.strip(" ;"), table, **once)
            except ValueError:  # its words may quote the key
                raise ValueError(f"{path} holds no connection string of a storage account") from None
        if endpoint := endpoint_of(path, os.environ):
            from recoverable._service_bus.clients import credential_for

            return TableClient(endpoint, table, credential=credential_for(settings_below(path, os.environ)), **once)
    raise ValueError(
        f"{connection!r} is not among the app settings; add {connection} with a connection string, or {connection}__accountName"
    )


def endpoint_of(path: str, settings: Mapping[str, str]) -> str | None:
    """Return the account's table endpoint from the settings for an identity (Functions, "Connecting to host storage with an identity")."""
    account = find_setting(f"{path}__accountName", settings)
    return find_setting(f"{path}__tableServiceUri", settings) or (
        account and f"https://{account}.table.core.windows.net"
    )
