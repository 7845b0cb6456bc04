"""What the processor does not do is refused, with what to write instead."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, async_process_partial_response, exceptions

from aws.harness import ladder
from aws.recording_client import RecordingClient
from aws.records import ARN, event, record
from powertools.entry_points import Context, powertools_function
from recoverable.powertools import RecoverableBatchProcessor


def place(record: Any) -> None:
    """Succeed, as a record handler."""


async def place_later(record: Any) -> None:
    """Succeed, as a handler of Powertools' asynchronous processor."""


def place_one_by_one(record: Any) -> Iterator[None]:
    """Yield, as a generator: calling it runs nothing."""
    yield


def test_a_fifo_queue_is_refused_and_nothing_is_handled() -> None:
    handled: list[Any] = []

    def handle(record: Any) -> None:
        handled.append(record)

    handler = powertools_function(handle, RecoverableBatchProcessor())

    with pytest.raises(ValueError, match=r"'orders\.fifo' is a FIFO queue.* take recoverable\.aws\.SqsEndpoint"):
        handler(event(record(arn=f"{ARN}.fifo")), Context())

    assert handled == []


def test_a_raise_when_the_entire_batch_fails_is_refused() -> None:
    with pytest.raises(ValueError, match=r"raise_on_entire_batch_failure\) is True; leave it out"):
        RecoverableBatchProcessor(raise_on_entire_batch_failure=True)


def test_a_false_one_may_stay() -> None:
    processor = RecoverableBatchProcessor(ladder("error"), raise_on_entire_batch_failure=False)

    assert processor.raise_on_entire_batch_failure is False


@pytest.mark.parametrize("handler", [place_later, place_one_by_one])
def test_what_a_plain_call_would_not_run_is_refused(handler: Any) -> None:
    with pytest.raises(
        TypeError, match=f"{handler.__name__} is a coroutine or generator function.*take recoverable.aws.SqsEndpoint"
    ):
        powertools_function(handler, RecoverableBatchProcessor())(event(record()), Context())


def test_a_coroutine_that_shows_only_when_it_is_called_is_a_failed_attempt() -> None:
    def hidden(record: Any) -> Any:
        return place_later(record)

    processor = RecoverableBatchProcessor(ladder("error", immediate=1), client=RecordingClient().as_client())

    with processor(records=[record()], handler=hidden):
        ((_, why, _),) = processor.process()

    assert "answered with something to await; write def, or take SqsEndpoint" in why


def test_a_generator_that_shows_only_when_it_is_called_is_a_failed_attempt() -> None:
    def hidden(record: Any) -> Any:
        return place_one_by_one(record)

    processor = RecoverableBatchProcessor(ladder("error", immediate=1), client=RecordingClient().as_client())

    with processor(records=[record()], handler=hidden):
        ((_, why, _),) = processor.process()

    assert "answered a generator, and nothing of it has run" in why


def test_the_asynchronous_call_is_refused() -> None:
    processor: Any = RecoverableBatchProcessor()

    with pytest.raises(NotImplementedError, match="write process_partial_response instead"):
        async_process_partial_response(event(record()), place, processor)


@pytest.mark.skipif(
    not hasattr(exceptions, "UnexpectedBatchTypeError"), reason="this Powertools answers it with nothing"
)
def test_an_event_without_records_is_refused_as_powertools_does() -> None:
    with pytest.raises(exceptions.UnexpectedBatchTypeError):
        powertools_function(place, RecoverableBatchProcessor())({"Records": []}, Context())


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"counter": "both"}, r"RecoverableBatchProcessor\(counter\) is 'both'; write \"native\" or \"header\""),
        ({"handler_timeout": timedelta(0)}, r"RecoverableBatchProcessor\(handler_timeout\) is 0"),
        ({"longest_delay": timedelta(0)}, r"RecoverableBatchProcessor\(longest_delay\) is 0"),
        ({"settle_within": timedelta(hours=2)}, r"RecoverableBatchProcessor\(settle_within\)"),
    ],
)
def test_a_setting_out_of_range_is_refused_under_this_name(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        RecoverableBatchProcessor(**settings)


class EarlierProcessor(BatchProcessor):
    """Powertools' as it was before it took a logger."""

    def __init__(self, event_type: EventType, model: Any = None, *, raise_on_entire_batch_failure: bool = True) -> None:
        super().__init__(event_type, model, raise_on_entire_batch_failure=raise_on_entire_batch_failure)


class OnAnEarlierOne(RecoverableBatchProcessor, EarlierProcessor):
    """Ours, standing on that."""


def test_a_powertools_that_takes_no_logger_gets_none() -> None:
    processor = OnAnEarlierOne(ladder("error", immediate=1))

    assert powertools_function(place, processor)(event(record()), Context()) == {"batchItemFailures": []}


def test_it_is_a_batch_processor_of_powertools() -> None:
    assert issubclass(RecoverableBatchProcessor, BatchProcessor)


def said(program: str) -> tuple[int, str]:
    """Return how a program ended, and the last line that it wrote."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()[-1]


def test_the_endpoint_does_not_import_powertools() -> None:
    program = "import sys, recoverable.aws; print([name for name in sys.modules if 'powertools' in name])"

    assert said(program) == (0, "[]")


def test_without_powertools_the_error_says_what_to_install() -> None:
    absent = "import sys; sys.modules['aws_lambda_powertools'] = None; import recoverable.powertools"

    status, last = said(absent)

    assert (status, last.endswith("pip install 'recoverable[powertools]'")) == (1, True)
