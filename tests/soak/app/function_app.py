"""The app of the soak on Azure; its host renews no locks, so that they run out."""

from __future__ import annotations

import logging

import azure.functions as func

from recoverable.azure import ServiceBusEndpoint
from soak.deeds import recoverability
from soak.ledger import handle

logging.disable(logging.CRITICAL)

app = func.FunctionApp()
app.register_functions(
    ServiceBusEndpoint(handle, recoverability("soak-error"), queue="soak", connection="ServiceBus").blueprint()
)
