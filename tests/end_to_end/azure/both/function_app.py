"""The shop on Functions."""

from __future__ import annotations

import azure.functions as func
from sales import place_order, recoverability  # type: ignore[import-not-found]  # beside this file, as each cloud has it

from recoverable.azure import ServiceBusEndpoint

app = func.FunctionApp()
app.register_functions(
    ServiceBusEndpoint(place_order, recoverability, queue="orders", connection="ServiceBus").blueprint()
)
