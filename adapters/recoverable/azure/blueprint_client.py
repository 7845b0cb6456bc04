"""Make the blueprint of a function and its Service Bus trigger, by azure-functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recoverable.azure.process_client import with_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from azure.functions import Blueprint


def blueprint(function: Callable[..., Any], name: str, **trigger: Any) -> Blueprint:
    """Return a blueprint with a function of that name and its Service Bus trigger.

    Args:
        function: the function that the host calls, with the argument `message`.
        name: the function's name.
        trigger: the trigger's settings.

    Raises:
        ModuleNotFoundError: azure-functions is not installed.
    """
    try:
        from azure.functions import Blueprint, DataType
    except ModuleNotFoundError as error:
        raise with_extra(error) from error

    made = Blueprint()  # type: ignore[no-untyped-call]  # its __init__ has no annotations
    with_trigger = made.service_bus_queue_trigger(arg_name="message", data_type=DataType.BINARY, **trigger)
    made.function_name(name)(with_trigger(function))
    return made
