"""Define the function app that `func` and the Functions host look for: the example shop's orders."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import azure.functions as func

FUNCTIONS = Path(__file__).parent / "functions"
sys.path += [str(FUNCTIONS / cloud) for cloud in ("azure", "aws")]  # the shop's own code is one for both

from orders_endpoint import orders  # noqa: E402  # found there

app = func.FunctionApp()
app.register_functions(orders.blueprint())
if os.environ.get("DEAD_LETTER_QUEUE"):
    from stamping import dead_letters

    app.register_functions(dead_letters)
