"""Coroutine handlers that stop the event loop or cancel all of its tasks: each message is settled all the same, and nobody else fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aws.harness import Context, ladder, sqs_endpoint
from aws.recording_client import RecordingClient
from aws.records import event, record
from recoverable import Message

BATCH = [record(f"body {number}", message_id=f"m-{number}") for number in range(5)]


async def stop(message: Message) -> None:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0)


async def cancel_all_and_return(message: Message) -> None:
    for task in asyncio.all_tasks():
        task.cancel()


async def cancel_all_and_wait(message: Message) -> None:
    await cancel_all_and_return(message)
    await asyncio.sleep(0)


def run(attack: Callable[[Message], Awaitable[None]], concurrency: int) -> tuple[list[str], list[str], Any]:
    """Run five messages, of which one attacks; return those handled to the end, those that moved to the error queue, and the answer."""
    ended: list[str] = []

    async def handle(message: Message) -> None:
        if message.id == "m-1":
            await attack(message)
        await asyncio.sleep(0)
        ended.append(message.id)

    client = RecordingClient()
    answer = sqs_endpoint(handle, ladder("error"), client=client.as_client(), concurrency=concurrency)(
        event(*BATCH), Context()
    )
    return sorted(ended), [entry["MessageBody"] for entry in client.sent], answer


@pytest.mark.parametrize("concurrency", [1, 3, 10])
def test_a_loop_that_is_stopped_goes_on(concurrency: int) -> None:
    assert run(stop, concurrency) == (["m-0", "m-1", "m-2", "m-3", "m-4"], [], {"batchItemFailures": []})


@pytest.mark.parametrize("attack", [cancel_all_and_return, cancel_all_and_wait])
def test_one_at_a_time_cancelling_all_tasks_fails_the_message_that_did_it_alone(attack: Any) -> None:
    assert run(attack, 1) == (["m-0", "m-2", "m-3", "m-4"], ["body 1"], {"batchItemFailures": []})


@pytest.mark.parametrize("concurrency", [3, 10])
@pytest.mark.parametrize("attack", [cancel_all_and_return, cancel_all_and_wait])
def test_several_at_a_time_each_message_is_settled(attack: Any, concurrency: int) -> None:
    ended, moved, answer = run(attack, concurrency)

    assert (len(ended) + len(moved), answer) == (5, {"batchItemFailures": []})
