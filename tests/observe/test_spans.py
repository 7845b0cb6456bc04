"""Spans: one around each run of a handler, linked to the sender and to the attempt that made the copy, an error only for what is given up."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan

from aws.recording_client import RecordingClient
from aws.records import event, record
from azure.endpoints import endpoint as service_bus_endpoint
from azure.triggers import trigger_message
from builders import ERROR_QUEUE, QUEUE, Boom
from observe.clouds import (
    Handler,
    World,
    both_kinds_of_handlers,
    climb,
    failing,
    observed,
    on_both_clouds,
    serve,
    settings,
)
from observe.telemetry import Row, Telemetry, row
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.extensions import Observe
from recoverable_local.testing import Refused, ServiceBusWorld, SqsWorld

LADDER = [  # name, kind, attempt, round, action, status, error
    Row(f"process {QUEUE}", "CONSUMER", 1, 0, "immediate_retry", "UNSET", None),
    Row(f"process {QUEUE}", "CONSUMER", 2, 0, "delayed_retry", "UNSET", None),
    Row(f"process {QUEUE}", "CONSUMER", 1, 1, "immediate_retry", "UNSET", None),
    Row(f"process {QUEUE}", "CONSUMER", 2, 1, "move_to_error", "ERROR", "builders.Boom"),
]
SENDER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
XRAY = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
SENDER_BY_XRAY = "00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01"


def named(context: Any) -> str:
    """Return a span as `traceparent` names it."""
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"


def links(span: ReadableSpan) -> list[str]:
    """Return the spans that a span is linked to."""
    return [named(link.context) for link in span.links]


@on_both_clouds
@both_kinds_of_handlers
def test_the_spans_along_the_ladder(world: type[World], handler: Handler, telemetry: Telemetry) -> None:
    climb(world(), handler, settings(Observe()))

    assert [row(span) for span in telemetry.spans()] == LADDER


@pytest.mark.parametrize("concurrency", [1, 2, 10])
def test_the_span_of_a_coroutine_is_current_in_its_own_message_alone(concurrency: int, telemetry: Telemetry) -> None:
    current: list[Any] = []

    async def handle(message: Message) -> None:
        await asyncio.sleep(0)
        current.append(trace.get_current_span().get_span_context())

    called = SqsEndpoint(handle, client=RecordingClient().as_client(), concurrency=concurrency, extensions=(Observe(),))
    called(event(*[record(message_id=f"m-{number}") for number in range(5)]), None)

    assert sorted(map(named, current)) == sorted(named(span.context) for span in telemetry.spans())
    assert not trace.get_current_span().get_span_context().is_valid


@on_both_clouds
def test_a_success_is_a_span_too(world: type[World], telemetry: Telemetry) -> None:
    climb(world(), lambda message: None, settings(Observe()))

    assert [row(span) for span in telemetry.spans()] == [
        Row(f"process {QUEUE}", "CONSUMER", 1, 0, "complete", "UNSET", None)
    ]


@on_both_clouds
def test_attempts_of_different_deliveries_share_no_trace(world: type[World], telemetry: Telemetry) -> None:
    climb(world(), failing, settings(Observe()))

    assert len({span.context.trace_id for span in telemetry.spans()}) == 4


def attributes(span: ReadableSpan) -> dict[str, Any]:
    """Return the attributes that are the same on both clouds, checked, and then taken away."""
    told = dict(span.attributes or {})
    common = {
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": QUEUE,
        "recoverable.attempt": 1,
        "recoverable.round": 0,
        "recoverable.action": "complete",
    }
    assert {name: told.pop(name) for name in common} == common
    return told


def test_the_attributes_on_sqs(sqs_world: SqsWorld, telemetry: Telemetry) -> None:
    message_id = climb(sqs_world, lambda message: None, settings(Observe()))

    (span,) = telemetry.spans()
    assert attributes(span) == {
        "messaging.system": "aws_sqs",
        "messaging.message.id": message_id,
        "faas.invocation_id": "00000000-0000-0000-0000-000000000001",
    }


def test_the_attributes_on_service_bus(service_bus_world: ServiceBusWorld, telemetry: Telemetry) -> None:
    message_id = climb(service_bus_world, lambda message: None, settings(Observe()))

    (span,) = telemetry.spans()
    assert attributes(span) == {
        "messaging.system": "servicebus",
        "messaging.message.id": message_id,
        "messaging.servicebus.message.delivery_count": 1,
        "faas.invocation_id": "00000000-0000-0000-0000-000000000001",
    }


@on_both_clouds
def test_each_span_is_linked_to_the_sender_and_to_the_attempt_that_made_its_copy(
    world: type[World], telemetry: Telemetry
) -> None:
    here = world()
    climb(here, failing, settings(Observe()), attributes={"traceparent": SENDER})

    first, second, third, fourth = telemetry.spans()
    made_by = named(second.context)
    assert [links(span) for span in (first, second, third, fourth)] == [
        [SENDER], [SENDER], [SENDER, made_by], [SENDER, made_by],
    ]  # fmt: skip
    (failed,) = here.queue(ERROR_QUEUE)
    assert failed.headers["Recoverable.TraceParent"] == named(fourth.context)
    assert {**failed.attributes, **failed.headers}["traceparent"] == SENDER


def test_the_sender_of_service_bus_s_sdks_is_found_by_diagnostic_id(
    service_bus_world: ServiceBusWorld, telemetry: Telemetry
) -> None:
    climb(service_bus_world, lambda message: None, settings(Observe()), attributes={"Diagnostic-Id": SENDER})

    assert [links(span) for span in telemetry.spans()] == [[SENDER]]


def test_the_sender_that_x_ray_names_is_linked_and_kept_on_copies(telemetry: Telemetry) -> None:
    """A copy with an AWSTraceHeader of its own would count for Lambda's detection of loops."""
    client = RecordingClient()
    endpoint = SqsEndpoint(failing, **settings(Observe(), immediate=0, delayed=0), client=client.as_client())

    endpoint(event(record(system={"AWSTraceHeader": XRAY})))

    assert [links(span) for span in telemetry.spans()] == [[SENDER_BY_XRAY]]
    (sent,) = client.sent
    headers = json.loads(sent["MessageAttributes"]["NServiceBus.AmazonSQS.Headers"]["StringValue"])
    assert headers["Recoverable.AwsTraceHeader"] == XRAY
    assert "MessageSystemAttributes" not in sent


def test_a_copy_is_linked_to_the_sender_that_x_ray_named(telemetry: Telemetry) -> None:
    headers = {"NServiceBus.MessageId": "m-1", "Recoverable.AwsTraceHeader": XRAY}

    SqsEndpoint(lambda message: None, **settings(Observe()))(event(record(headers=headers)))

    assert [links(span) for span in telemetry.spans()] == [[SENDER_BY_XRAY]]


MALFORMED = [
    "",
    "00",
    "00-" + "0" * 32 + "-b7ad6b7169203331-01",
    SENDER.upper(),
    SENDER + "x",
    "zz" + SENDER[2:],
    "|legacy.1.",
    "é" * 55,
]


@on_both_clouds
@pytest.mark.parametrize("text", MALFORMED)
def test_a_header_that_names_no_span_gives_no_link(world: type[World], text: str, telemetry: Telemetry) -> None:
    sent = {"traceparent": text, "Recoverable.TraceParent": text} if text else {}
    climb(world(), lambda message: None, settings(Observe()), attributes=sent)

    assert [links(span) for span in telemetry.spans()] == [[]]


@on_both_clouds
@both_kinds_of_handlers
def test_the_span_is_the_current_one_in_the_handler_alone(
    world: type[World], handler: Handler, telemetry: Telemetry
) -> None:
    current = []

    def note(message: Message) -> None:
        current.append(trace.get_current_span().get_span_context())
        raise Boom

    async def note_in_task(message: Message) -> None:
        await asyncio.sleep(0)
        note(message)

    climb(world(), note if handler is failing else note_in_task, settings(Observe()))

    assert current == [span.context for span in telemetry.spans()]
    assert not trace.get_current_span().get_span_context().is_valid


def test_coroutines_side_by_side_have_each_their_own(sqs_world: SqsWorld, telemetry: Telemetry) -> None:
    current: dict[str, set[int]] = {}

    async def handle(message: Message) -> None:
        for _ in range(3):
            current.setdefault(message.id, set()).add(trace.get_current_span().get_span_context().span_id)
            await asyncio.sleep(1)

    serve(sqs_world, handle, settings(Observe()), concurrency=3)
    for number in range(3):
        sqs_world.send(QUEUE, number)
    sqs_world.run()

    told = {str((span.attributes or {})["messaging.message.id"]): {span.context.span_id} for span in telemetry.spans()}
    assert current == told


@pytest.mark.parametrize("cloud", ["SQS", "Service Bus"])
def test_a_span_is_a_child_of_what_surrounds_the_function(cloud: str, telemetry: Telemetry) -> None:
    """Such as the span that OpenTelemetry's instrumentation of Lambda makes for the invocation: there is none of ours for that."""
    with trace.get_tracer("instrumentation").start_as_current_span("invocation") as around:
        if cloud == "SQS":
            SqsEndpoint(lambda message: None, **settings(Observe()))(event(record()))
        else:
            service_bus_endpoint(lambda message: None, **settings(Observe()))(trigger_message())

    assert [(span.name, span.parent and span.parent.span_id) for span in telemetry.spans()] == [
        ("invocation", None),
        (f"process {QUEUE}", around.get_span_context().span_id),
    ]


def test_a_span_ends_when_its_handler_does(sqs_world: SqsWorld, telemetry: Telemetry) -> None:
    """It is told after the whole batch is settled, and does not seem to last that long."""
    serve(sqs_world, lambda message: None, settings(Observe()))
    sqs_world.send(QUEUE, 1), sqs_world.send(QUEUE, 2)
    sqs_world.run()

    first, second = telemetry.spans()
    assert (first.end_time or 0) <= (second.start_time or 0)


def test_a_message_that_could_not_be_given_up_is_no_error_yet(sqs_world: SqsWorld, telemetry: Telemetry) -> None:
    sqs_world.fail("send_message_batch", Refused("AccessDenied"), nth=1)

    climb(sqs_world, failing, settings(Observe(), immediate=0, delayed=0))

    first, *_ = telemetry.spans()
    assert first.status.status_code.name == "UNSET"


def test_what_was_given_up_says_why(sqs_world: SqsWorld, telemetry: Telemetry) -> None:
    climb(sqs_world, failing, settings(Observe(), immediate=0, delayed=0))

    (span,) = telemetry.spans()
    (raised,) = span.events
    told = dict(raised.attributes or {})
    assert (raised.name, span.status.description) == ("exception", "it broke")
    assert str(told.pop("exception.stacktrace")).endswith("builders.Boom: it broke")
    assert told == {"exception.type": "builders.Boom", "exception.message": "it broke"}


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt()])
@pytest.mark.parametrize("cloud", ["SQS", "Service Bus"])
def test_an_interrupted_run_leaves_no_span_open(cloud: str, error: BaseException, telemetry: Telemetry) -> None:
    def interrupted(message: Message) -> None:
        raise error

    call: dict[str, Callable[[], object]] = {
        "SQS": lambda: SqsEndpoint(interrupted, **settings(Observe()), client=RecordingClient().as_client())(
            event(record())
        ),
        "Service Bus": lambda: service_bus_endpoint(interrupted, **settings(Observe()))(trigger_message()),
    }
    with pytest.raises(type(error)):
        call[cloud]()

    assert len(telemetry.spans()) == 1
    assert not trace.get_current_span().get_span_context().is_valid


@on_both_clouds
def test_traces_can_be_switched_off(world: type[World], telemetry: Telemetry) -> None:
    climb(world(), failing, settings(Observe(traces=False)))

    assert telemetry.spans() == []


@on_both_clouds
def test_without_observe_there_are_none(world: type[World], telemetry: Telemetry) -> None:
    climb(world(), failing, settings(None))

    assert (telemetry.spans(), telemetry.points()) == ([], [])


class Broken:
    """A module of OpenTelemetry in which nothing works."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no exporter")


@on_both_clouds
@pytest.mark.parametrize("module", ["opentelemetry.trace", "opentelemetry.context", "opentelemetry.metrics"])
def test_an_opentelemetry_that_fails_harms_nothing(
    world: type[World], module: str, telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = world()
    monkeypatch.setitem(sys.modules, module, Broken())

    climb(here, failing, settings(Observe()))
    monkeypatch.undo()

    assert len(here.queue(ERROR_QUEUE)) == 1


def test_opentelemetry_is_never_imported_by_us() -> None:
    program = """
import sys
from recoverable import Recoverability
from recoverable.extensions import Observe
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld
def fail(message): raise ValueError
world = SqsWorld()
world.serve("orders", SqsEndpoint(fail, extensions=(Observe(successes=True),)))
world.send("orders", 1)
world.run()
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

    assert ended.stdout.splitlines()[-1] == "[]"


@on_both_clouds
def test_retries_in_process_share_a_trace_and_each_has_its_span(world: type[World], telemetry: Telemetry) -> None:
    ladder = Recoverability(Immediate(1, in_process=True), Delayed(0), Failed(ERROR_QUEUE))

    climb(world(), failing, observed(ladder, Observe()))

    spans = telemetry.spans()
    assert [row(span) for span in spans] == [LADDER[0], LADDER[3]._replace(round=0)]
    assert len({span.context.trace_id for span in spans}) == 1
