"""The count of files and calls that one message takes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crossings import crossings, fail, on_service_bus, on_sqs, succeed


@pytest.mark.parametrize("on", [on_sqs, on_service_bus])
def test_a_delayed_retry_takes_more_files_and_calls_than_a_good_record(on: Callable[..., Callable[[], object]]) -> None:
    good, retried = crossings(on(succeed)), crossings(on(fail))

    assert 1 < len(good.files) < len(retried.files)
    assert 1 < good.calls < retried.calls
