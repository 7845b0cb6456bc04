"""Make the blueprint of a function and its Service Bus trigger, by azure-functions."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from recoverable._service_bus.app_settings import connection as find_connection
from recoverable._service_bus.clients import with_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from azure.functions import Blueprint


log = logging.getLogger("recoverable")


def warn_of_missing_connection(name: str, settings: Mapping[str, str]) -> None:
    """Warn, on Functions alone, when the app settings lack the connection: the first copy would be the first to miss it.

    Args:
        name: the connection's name.
        settings: the app settings.
    """
    if "FUNCTIONS_WORKER_RUNTIME" not in settings:  # a test or a script, which need no connection
        return
    try:
        find_connection(name, settings)
    except ValueError as error:
        log.warning("No retry can be delayed and no message moved to the error queue: %s.", error)


def blueprint(function: Callable[..., Any], name: str, **trigger: Any) -> Blueprint:
    """Return a blueprint with a function of that name and its Service Bus trigger.

    Args:
        function: the function that the host calls, with the argument `message`.
        name: the function's name.
        trigger: the trigger's settings.

    Raises:
        ModuleNotFoundError: azure-functions is not installed.
        ValueError: the host does not take the name for a function.
    """
    try:
        from azure.functions import Blueprint, DataType
    except ModuleNotFoundError as error:
        raise with_extra(error) from error

    made = Blueprint()  # type: ignore[no-untyped-call]  # its __init__ has no annotations
    with_trigger = made.service_bus_queue_trigger(arg_name="message", data_type=DataType.BINARY, **trigger)
    made.function_name(function_name(name))(with_trigger(function))
    return made


def function_name(name: str) -> str:
    """Return the name, if the host takes it for a function.

    Raises:
        ValueError: it does not (azure-functions-host, `Utility.FunctionNameValidationRegex`).
    """
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_-]{0,127}", name):
        raise ValueError(
            f"the function would be called {name!r}; pass ServiceBusEndpoint(name=...): a letter, then up to 127 letters, digits, - or _"
        )
    return name
