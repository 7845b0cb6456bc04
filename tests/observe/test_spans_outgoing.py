"""What a handler sends carries the span that was current when it sent, so that a trace goes on where the message is handled."""

from __future__ import annotations

from opentelemetry import trace

from builders import QUEUE
from observe.clouds import World, on_both_clouds, serve, settings
from observe.telemetry import Telemetry
from recoverable import Message
from recoverable.extensions import Observe


def bill(message: Message) -> None:
    message.send("invoices", "invoice")


@on_both_clouds
def test_the_span_around_the_handler_is_told_on_what_it_sends(world: type[World], telemetry: Telemetry) -> None:
    made = world()
    made.create_queue("invoices")
    serve(made, bill, settings(Observe()))
    made.send(QUEUE, "order")
    made.run()

    [invoice], [span] = made.queue("invoices"), telemetry.spans()
    assert span.context is not None
    assert invoice.headers["traceparent"] == (
        f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-{span.context.trace_flags:02x}"
    )


@on_both_clouds
def test_a_span_of_the_handlers_own_is_told_on_what_it_sends_in_it(world: type[World], telemetry: Telemetry) -> None:
    def bill_in_a_span(message: Message) -> None:
        with trace.get_tracer("shop").start_as_current_span("bill"):
            message.send("invoices", "invoice")

    made = world()
    made.create_queue("invoices")
    serve(made, bill_in_a_span, settings(None))
    made.send(QUEUE, "order")
    made.run()

    [invoice], [span] = made.queue("invoices"), telemetry.spans()
    assert span.context is not None
    assert invoice.headers["traceparent"].split("-")[1:3] == [
        f"{span.context.trace_id:032x}",
        f"{span.context.span_id:016x}",
    ]
