"""Test cancels of the DynamoDB store that meet others: hundreds at once, dispatchers, schedules of the same key, and ends in between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from proof.timeouts.table import Tables
from recoverable.timeouts import StoreUnavailable
from waiting.rows import NOW, claims, stored, take
from waiting.stores import OneShard
from waiting.world import DAY, HOUR, MINUTE

HUNDREDS = 300
CHANGES = ("put_item", "update_item", "transact_write_items", "batch_write_item")


class Watched:
    """A client of tables in memory, which does something before one of its calls.

    Args:
        tables: the tables.
        before: is called with the number of each call, from 1, its name and its request.
    """

    def __init__(self, tables: Tables, before: Callable[[int, str, Any], object] = lambda *_: None) -> None:
        self._tables, self._before, self.made = tables, before, 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            self.made += 1
            self._before(self.made, name, request)
            return getattr(self._tables, name)(**request)

        return call


def store_on(tables: Tables, before: Callable[[int, str, Any], object] = lambda *_: None) -> OneShard:
    """Return a store on these tables."""
    client: Any = Watched(tables, before)
    return OneShard("timeouts", client=client)


def written_by(name: str, request: Any) -> set[str]:
    """Return the partitions that a call changes, or checks while it changes others."""
    if name == "batch_write_item":
        [writes] = request["RequestItems"].values()
        return {
            key["pk"]["S"] for write in writes for what in write.values() for key in (what.get("Key") or what["Item"],)
        }
    actions = [what for action in request.get("TransactItems", ()) for what in action.values()] or [request]
    written = [what.get("Key") or what["Item"] for what in actions]
    return {f"{item['pk']['S']}/{item['sk']['S']}" for item in written}


def test_hundreds_of_cancels_at_once_never_meet_at_an_item() -> None:
    """Two calls on one item, of which one is in a transaction, conflict (DynamoDB, "Transactional conflicts")."""
    tables, items = Tables(), list[str]()
    made = [stored(store_on(tables), NOW + DAY, correlation="saga-1") for _ in range(HUNDREDS)]
    for each in made:
        seen = set[str]()

        def watch(_nth: int, name: str, request: Any, seen: set[str] = seen) -> None:
            seen |= written_by(name, request) if name in CHANGES else set()

        assert store_on(tables, watch).cancel(each.id, now=NOW)
        items += seen

    assert len(set(items)) == len(items)


class Killed(BaseException):
    """Raised when the process is killed."""


def cancel_and_die(tables: Tables, timeout_id: str, nth: int) -> None:
    """Cancel a timeout in a process that is killed before one of its calls."""

    def die(number: int, _name: str, _request: Any) -> None:
        if number == nth:
            raise Killed

    with suppress(Killed):
        store_on(tables, die).cancel(timeout_id, now=NOW)


STEPS = range(1, 8)
"""The calls of a cancel that meets nobody, and the one after them."""


@pytest.mark.parametrize("nth", STEPS)
@pytest.mark.parametrize("reads", ["before the call", "after the cancel"])
def test_a_timeout_comes_unless_its_cancel_says_otherwise(nth: int, reads: str) -> None:
    """A dispatcher takes its shard before one of the cancel's calls, and reads it then or later."""
    tables = Tables()
    made = stored(store_on(tables), NOW)
    found, taken = list[Any](), list[Any]()

    def dispatch(number: int, _name: str, _request: Any) -> None:
        if number == nth:
            taken.extend(claims(store_on(tables), NOW))
            found.extend(read() if reads == "before the call" else [])

    def read() -> list[Any]:
        other = store_on(tables)
        return [row.timeout for claim in taken for page in other.due(claim) for row in page]

    cancelled = store_on(tables, dispatch).cancel(made.id, now=NOW)
    found += read()
    for claim in taken:
        store_on(tables).release(claim)
    came = found or take(store_on(tables), NOW + MINUTE)

    assert (made in came, found.count(made) <= 1 or reads == "before the call") == (not cancelled, True)


@pytest.mark.parametrize("nth", STEPS)
def test_a_cancel_that_ended_anywhere_can_be_asked_for_again(nth: int) -> None:
    tables = Tables()
    made = stored(store_on(tables), NOW + HOUR)
    cancel_and_die(tables, made.id, nth)

    assert store_on(tables).cancel(made.id, now=NOW)
    assert take(store_on(tables), NOW + HOUR) == []


@pytest.mark.parametrize("nth", STEPS)
def test_what_was_being_cancelled_when_it_was_taken_comes_although_the_cancel_ended(nth: int) -> None:
    """Whoever asks again hears that it may have been taken, and then it does come."""
    tables = Tables()
    stored(store_on(tables), NOW - HOUR)
    take(store_on(tables))
    made = stored(store_on(tables), NOW + HOUR)
    cancel_and_die(tables, made.id, nth)
    for hours in (1, 2, 3):  # the watermark passes what it found empty
        came = take(store_on(tables), NOW + hours * HOUR)
        if came:
            break
    taken = list(claims(store_on(tables), NOW + 4 * HOUR))
    cancelled = store_on(tables).cancel(made.id, now=NOW + 4 * HOUR)
    for claim in taken:
        store_on(tables).release(claim)
    came = came or take(store_on(tables), NOW + 5 * HOUR)

    assert (came == [made]) != cancelled


@pytest.mark.parametrize("nth", range(1, 9))
def test_what_is_scheduled_again_while_it_is_cancelled_keeps_its_correlation(nth: int) -> None:
    """If it waits in the end, then its correlation leads to it."""
    tables = Tables()
    made = stored(store_on(tables), NOW + HOUR, correlation="saga-1")

    def schedule(number: int, _name: str, _request: Any) -> None:
        if number == nth:
            store_on(tables).put(made, now=NOW, again=True)

    store_on(tables, schedule).cancel(made.id, now=NOW)
    waits = store_on(tables).was_scheduled(made.id)

    assert list(store_on(tables).ids_by_correlation("saga-1")) == ([made.id] if waits else [])


@pytest.mark.parametrize("nth", range(1, 5))
def test_what_is_cancelled_while_it_is_scheduled_again_keeps_its_correlation(nth: int) -> None:
    tables = Tables()
    made = stored(store_on(tables), NOW + HOUR, correlation="saga-1")
    store_on(tables).cancel(made.id, now=NOW)

    def cancel(number: int, _name: str, _request: Any) -> None:
        if number == nth:
            store_on(tables).cancel(made.id, now=NOW)

    store_on(tables, cancel).put(made, now=NOW, again=True)
    waits = store_on(tables).was_scheduled(made.id)

    assert list(store_on(tables).ids_by_correlation("saga-1")) == [made.id] or not waits


def test_a_timeout_that_others_change_all_the_time_is_not_taken_for_cancelled() -> None:
    tables = Tables()
    made = stored(store_on(tables), NOW + HOUR)

    def change(_number: int, name: str, _request: Any) -> None:
        if name == "update_item":
            store_on(tables).put(made, now=NOW, again=True)

    with pytest.raises(StoreUnavailable, match="changes all the time"):
        store_on(tables, change).cancel(made.id, now=NOW)
