"""Retry hostile messages with random settings on both clouds: every message ends, nothing is lost, and no count is negative."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from azure.endpoints import ended, endpoint
from azure.recording import RecordingClient
from azure.triggers import trigger_message, trigger_messages
from proof.fault_names import FAULTS, Once
from proof.hostile import ENDS, LADDERS, Platform, Reader, ended_messages, retried, retry_problems
from proof.service_bus.hostile import HOST_METADATA, HOST_METADATA_IN_A_BATCH, SERVICE_BUS
from proof.sqs.hostile import SQS

on_each_platform = pytest.mark.parametrize("platform", [SQS, SERVICE_BUS], ids=lambda platform: platform.name)

Ends = list[type[Exception] | None]


def assert_no_negative_count(reader: Reader) -> None:
    assert all(attempt >= 1 and round_ >= 0 for attempt, round_ in reader.attempts)


@pytest.mark.slow
@on_each_platform
@settings(max_examples=25)
@given(st.data(), LADDERS, ENDS)
def test_each_hostile_message_is_processed_or_given_up(
    platform: Platform, data: st.DataObject, ladder: Any, ends: Ends
) -> None:
    messages = data.draw(st.lists(platform.messages, min_size=1, max_size=4), "messages")
    reader = Reader(ends, platform.read)

    world, ids = retried(platform, messages, reader, ladder, data.draw(platform.endpoints, "endpoint"))

    assert world.queue("jobs") == []
    assert ended_messages(platform, world) == ids
    assert retry_problems(platform, world) == set()
    assert [event for event in world.timeline() if event.what in platform.unexpected] == []
    assert_no_negative_count(reader)


@pytest.mark.slow
@on_each_platform
@settings(max_examples=20)
@given(st.sampled_from(list(FAULTS)), st.integers(1, 25), LADDERS, ENDS, st.data())
def test_each_hostile_message_survives_a_fault(
    platform: Platform, fault: str, nth: int, ladder: Any, ends: Ends, data: st.DataObject
) -> None:
    messages = data.draw(st.lists(platform.messages, min_size=1, max_size=3), "messages")
    reader, hook = Reader(ends, platform.read), Once(fault, nth, platform.possible_faults)

    world, ids = retried(platform, messages, reader, ladder, data.draw(platform.endpoints, "endpoint"), hook)

    assert world.queue("jobs") == []
    assert ended_messages(platform, world) == ids
    assert retry_problems(platform, world) == set()
    assert_no_negative_count(reader)


@pytest.mark.slow
@settings(max_examples=80)
@given(HOST_METADATA, ENDS)
def test_hostile_metadata_of_one_message_loses_none(metadata: dict[str, Any], ends: Ends) -> None:
    reader, client = Reader(ends, SERVICE_BUS.read), RecordingClient()
    error = ended(endpoint(reader, client=client), trigger_message(**metadata))
    assert (error is None) == (reader.failed <= len(client.sent))
    assert error is None or isinstance(error, KeyError | ValueError | RecursionError)
    assert_no_negative_count(reader)


@pytest.mark.slow
@settings(max_examples=80)
@given(st.lists(HOST_METADATA_IN_A_BATCH, min_size=1, max_size=5), ENDS)
def test_hostile_metadata_of_a_batch_loses_none(metadata: list[dict[str, Any]], ends: Ends) -> None:
    reader, client = Reader(ends, SERVICE_BUS.read), RecordingClient()
    error = ended(endpoint(reader, client=client, batch=True), trigger_messages(*metadata))
    assert error is None
    assert len(reader.attempts) - reader.failed + len(client.sent) == len(metadata)
    assert_no_negative_count(reader)
