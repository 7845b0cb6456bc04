"""Redaction: a secret in an exception reaches no log line, no header and no host, whatever the message goes through; and it fails closed."""

from __future__ import annotations

import gc
import json
import logging
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from aws.recording_client import RecordingClient
from aws.records import event, record
from azure.endpoints import ended
from azure.endpoints import endpoint as service_bus_endpoint
from azure.triggers import trigger_message
from builders import ERROR_QUEUE, Boom, seconds
from observe.clouds import Handler, World, climb, on_both_clouds, settings
from observe.telemetry import Telemetry
from recoverable import DelayedRetry, Discard, Message, MessageDeserializationError, RetryAfter
from recoverable._ladder.faults import redacted
from recoverable.aws import SqsEndpoint
from recoverable.extensions import Observe

SECRET = "hunter2"
HIDDEN: Any = {"redact": lambda text: text.replace(SECRET, "***")}


class Telling(Exception):
    """Raised with a secret in each part that is shown anywhere."""

    def __init__(self) -> None:
        super().__init__(f"wrong password {SECRET}")
        self.data = {"password": SECRET, f"key {SECRET}": "1"}
        self.help_link = f"https://example.org/?password={SECRET}"
        self.add_note(f"the password was {SECRET}")


def telling(message: Message) -> None:
    try:
        raise ValueError(f"inner {SECRET}")
    except ValueError as error:
        raise Telling from error


async def telling_coroutine(message: Message) -> None:
    telling(message)


def unreadable(message: Message) -> None:
    raise MessageDeserializationError(f"no order in {SECRET}")


def busy(message: Message) -> None:
    raise RetryAfter(seconds(1), f"429 for {SECRET}")


def together(message: Message) -> None:
    raise ExceptionGroup(f"all {SECRET}", [Telling(), ValueError(SECRET)])


def exiting(message: Message) -> None:
    raise SystemExit(f"no config for {SECRET}")


HANDLERS = [telling, telling_coroutine, unreadable, busy, together]
every_handler = pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: handler.__name__)


@pytest.fixture(autouse=True)
def _everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)


def logged(caplog: pytest.LogCaptureFixture) -> str:
    """Return all that any log handler could show of the records."""
    shown = [
        logging.Formatter().format(record)
        + repr(vars(record))
        + "".join(traceback.format_exception(record.exc_info[1]))
        if record.exc_info
        else logging.Formatter().format(record) + repr(vars(record))
        for record in caplog.records
    ]
    return "\n".join(shown)


@on_both_clouds
@every_handler
def test_a_secret_reaches_no_log_line_and_no_header(
    world: type[World], handler: Handler, caplog: pytest.LogCaptureFixture
) -> None:
    here = world()

    climb(here, handler, settings(**HIDDEN))

    (failed,) = here.queue(ERROR_QUEUE)
    assert "***" in (failed.exception_message or "")
    assert SECRET not in repr(failed)
    assert "***" in logged(caplog)
    assert SECRET not in logged(caplog)


@on_both_clouds
def test_what_is_hidden_without_a_redactor_is_shown_there(world: type[World]) -> None:
    """The tests above would notice: each part of the exception does reach the headers."""
    here = world()

    climb(here, telling, settings(Observe()))

    (failed,) = here.queue(ERROR_QUEUE)
    telling_headers = {
        name.rpartition("ExceptionInfo.")[2] for name, text in failed.headers.items() if SECRET in text + name
    }
    assert telling_headers == {"Message", "StackTrace", "HelpLink", "Data.password", f"Data.key {SECRET}", "Data.Notes"}


POLICIES: dict[str, Callable[[Any, Any], Any]] = {
    "raises": lambda settings, context: (_ for _ in ()).throw(ValueError(str(context.exception))),
    "answers nonsense": lambda settings, context: str(context.exception),
    "discards": lambda settings, context: Discard(str(context.exception)),
    "retries": lambda settings, context: DelayedRetry(seconds(1)),
}


@on_both_clouds
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_secret_that_a_policy_repeats_is_hidden_too(
    world: type[World], policy: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def handle(message: Message) -> None:
        if message.round < 2:
            telling(message)

    climb(world(), handle, settings(**HIDDEN, policy=policy))

    assert SECRET not in logged(caplog)


@on_both_clouds
def test_a_secret_that_a_callback_raises_is_hidden_too(world: type[World], caplog: pytest.LogCaptureFixture) -> None:
    def raising(facts: Any, message: Message) -> None:
        raise facts.exception

    climb(world(), telling, settings(Observe(on_error=raising), **HIDDEN))

    assert "Calling on_error" in caplog.text
    assert SECRET not in logged(caplog)


def raised_to_functions(handler: Any, **more: Any) -> BaseException:
    """Return what the Functions host gets for an immediate retry."""
    endpoint = service_bus_endpoint(handler, **settings(**more))
    raised = ended(endpoint, trigger_message())
    assert raised is not None
    return raised


@pytest.mark.parametrize("handler", [telling, telling_coroutine, together], ids=lambda handler: handler.__name__)
def test_the_functions_host_gets_redacted_text_without_cause_and_frames(handler: Any) -> None:
    raised = raised_to_functions(handler, **HIDDEN)

    assert (type(raised).__name__, raised.__cause__, raised.__context__) == ("RedactedFailure", None, None)
    assert SECRET not in "".join(traceback.format_exception(raised))
    assert "***" in str(raised)


class Held:
    """Lives as long as the exception that has it."""


def hold(error: BaseException) -> weakref.ref[Held]:
    """Return a reference that is empty when nothing holds the exception any more."""
    held = Held()
    error.__dict__["held"] = held
    return weakref.ref(held)


@pytest.mark.parametrize("handler", [telling, telling_coroutine, exiting], ids=lambda handler: handler.__name__)
def test_no_frame_that_the_functions_host_gets_holds_the_exception(handler: Any) -> None:
    """Crash reporters collect the local variables of each frame, and what hangs on them."""
    held: list[weakref.ref[Held]] = []

    def note(message: Message) -> None:
        try:
            handler(message)
        except BaseException as error:
            held.append(hold(error))
            raise

    async def note_async(message: Message) -> None:
        try:
            await handler(message)
        except BaseException as error:
            held.append(hold(error))
            raise

    given = raised_to_functions(note_async if handler is telling_coroutine else note, **HIDDEN)
    gc.collect()

    assert ([each() for each in held], given.__traceback__ is None) == ([None], False)


def test_the_functions_host_gets_the_type_in_the_text() -> None:
    assert str(raised_to_functions(telling, **HIDDEN)) == f"{__name__}.Telling: wrong password ***"


def test_without_a_redactor_the_functions_host_gets_the_handlers_own_exception() -> None:
    assert type(raised_to_functions(telling, observe=Observe())) is Telling


def test_what_ends_a_lambda_process_is_redacted() -> None:
    endpoint = SqsEndpoint(exiting, **settings(**HIDDEN), client=RecordingClient().as_client())

    with pytest.raises(SystemExit) as caught:
        endpoint(event(record()))

    assert (str(caught.value), caught.value.__cause__) == ("no config for ***", None)


def test_what_ends_a_functions_worker_is_redacted() -> None:
    with pytest.raises(SystemExit) as caught:
        service_bus_endpoint(exiting, **settings(**HIDDEN))(trigger_message())

    assert (str(caught.value), caught.value.__cause__, caught.value.__context__) == ("no config for ***", None, None)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_an_exit_code_stays_as_it_is(error: BaseException) -> None:
    def handle(message: Message) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        SqsEndpoint(handle, **settings(**HIDDEN), client=RecordingClient().as_client())(event(record()))

    assert getattr(caught.value, "code", None) == getattr(error, "code", None)


def test_without_partial_responses_the_invocation_fails_without_the_text() -> None:
    endpoint = SqsEndpoint(telling, **settings(**HIDDEN), client=RecordingClient().as_client(), partial_responses=False)

    with pytest.raises(Exception, match="1 of 1 messages") as caught:
        endpoint(event(record()))

    assert SECRET not in "".join(traceback.format_exception(caught.value))


@on_both_clouds
def test_a_secret_reaches_no_span_no_metric_and_no_printed_line(
    world: type[World], telemetry: Telemetry, capsys: pytest.CaptureFixture[str]
) -> None:
    climb(world(), telling, settings(Observe(), **HIDDEN, delayed=0))

    told = "".join(span.to_json() for span in telemetry.spans()) + repr(telemetry.points()) + capsys.readouterr().out
    assert told.count("wrong password ***") >= 2  # the description of the status, and the event
    assert SECRET not in told


def careless(text: str) -> str:
    raise ValueError(text)


def absent_minded(text: str) -> Any:
    return None


@on_both_clouds
@pytest.mark.parametrize(("redact", "why"), [(careless, "raised ValueError"), (absent_minded, "returned a NoneType")])
def test_where_the_redactor_fails_the_text_is_left_out(
    world: type[World], redact: Any, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    here = world()

    climb(here, telling, settings(redact=(redact), immediate=0, delayed=0))

    (failed,) = here.queue(ERROR_QUEUE)
    assert failed.exception_message == f"(left out: Observe(redact) {why})"
    assert SECRET not in repr(failed) + logged(caplog)


def test_a_secret_is_redacted_before_the_text_is_cut() -> None:
    """The half of a secret would match no pattern."""
    padded = "x" * (16_384 - 3) + SECRET
    client = RecordingClient()

    def long_winded(message: Message) -> None:
        raise Boom(padded)

    endpoint = SqsEndpoint(long_winded, **settings(**HIDDEN, immediate=0, delayed=0), client=client.as_client())
    endpoint(event(record()))

    assert SECRET[:3] not in json.dumps(client.sent)


def test_without_a_redactor_a_text_stays_as_it_is() -> None:
    assert redacted(SECRET, None) == SECRET
