"""Check that the example on Service Bus is the example on SQS: one handler, one ladder."""

from __future__ import annotations

import orders
import orders_endpoint


def test_both_clouds_run_the_same_handler() -> None:
    """Endpoints bear the names of their handlers."""
    theirs, ours = orders.handler, orders_endpoint.orders

    assert (ours.__module__, ours.__name__, ours.__doc__) == (theirs.__module__, theirs.__name__, theirs.__doc__)
    assert (ours.__module__, ours.__name__) == ("shop", "place_order")


def test_both_clouds_have_the_same_ladder() -> None:
    theirs, ours = orders.handler.recoverability, orders_endpoint.orders.recoverability

    assert (ours.immediate, ours.delayed, ours.failed.unrecoverable) == (
        theirs.immediate, theirs.delayed, theirs.failed.unrecoverable,
    )  # fmt: skip
