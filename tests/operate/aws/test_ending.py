"""The verbs end on a FIFO error queue while the function fails at once, and others send to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from operate.aws.failing import dead_letters_of, send_failed
from operate.conftest import Errors
from operate.failing import fault_headers
from recoverable_operate.errors._aws.copies import CopySender
from servers.fixtures import NewQueue
from servers.queues import Queue, bodies

DONE, PARTLY = 0, 1


class Shop:
    """A FIFO queue whose function fails at once, and its error queue."""

    def __init__(self, orders: Queue, error: Queue) -> None:
        self.orders, self.error, self.mended, self._numbers = orders, error, False, 0

    def fail(self) -> None:
        """Move each message to the error queue, as its function does."""
        for each in () if self.mended else self.orders.arrived():
            self.add(each.body, headers=fault_headers(self.orders.name, **each.headers), group=each.group)

    def add(self, body: str, *, headers: dict[str, str] | None = None, group: str | None = "g") -> None:
        """Send a failed message to the error queue."""
        self._numbers += 1
        more = {"MessageGroupId": group, "MessageDeduplicationId": str(self._numbers)}
        send_failed(self.error, body, headers=headers or fault_headers(self.orders.name, id=body), **more)


@pytest.fixture
def shop(new_queue: NewQueue, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Return a shop that fails each message as soon as it is sent back."""
    orders, error = new_queue("orders.fifo"), new_queue("error.fifo")
    dead_letters_of(error, orders)
    shop, send = Shop(orders, error), CopySender.send

    def sending(*arguments: Any) -> Any:
        result = send(*arguments)
        shop.fail()
        return result

    monkeypatch.setattr(CopySender, "send", sending)
    return shop


@pytest.mark.parametrize("groups", ["ggg", "abc", "ab" * 12], ids=["one", "three", "more than a receive shows"])
def test_a_retry_ends_and_says_what_came_back(errors: Errors, shop: Shop, groups: str) -> None:
    for number, group in enumerate(groups):
        shop.add(f"{number:02}", group=group)

    ran = errors("retry", "--queue", shop.error.name, "--yes", "--rate", "0")

    assert (ran.status, shop.error.count()) == (PARTLY, len(groups))
    assert "Came back, still here: " in ran.out


def test_one_message_is_sent_once(errors: Errors, shop: Shop) -> None:
    shop.add("X")

    ran = errors("retry", "--queue", shop.error.name, "--id", "X", "--yes")

    assert (ran.status, ran.out.splitlines()[-2:]) == (
        PARTLY,
        ["Sent back 1.", "Came back, still here: 1. They failed again; mend their function first."],
    )


def test_an_edited_message_that_comes_back_is_known_by_its_new_id(
    errors: Errors, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.add("X")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf edited > "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(editor))

    ran = errors("retry", "--queue", shop.error.name, "--edit", "--yes")

    assert (ran.status, bodies(shop.error)) == (PARTLY, ["edited"])


def test_an_import_ends(errors: Errors, shop: Shop, tmp_path: Path) -> None:
    for body in "abc":
        shop.add(body)
    file = str(tmp_path / "failed.jsonl")
    errors("export", "--queue", shop.error.name, "--file", file)

    ran = errors("import", "--queue", shop.error.name, "--file", file, "--yes")

    assert (ran.status, "Came back, still here: 3." in ran.out, shop.error.count()) == (PARTLY, True, 3)


def test_a_second_copy_that_lay_there_from_the_start_is_sent_as_well(errors: Errors, shop: Shop) -> None:
    shop.mended = True
    shop.add("X")
    shop.add("X")

    ran = errors("retry", "--queue", shop.error.name, "--yes")

    assert (ran.status, bodies(shop.orders)) == (DONE, ["X", "X"])


@pytest.mark.parametrize("verb", [("retry", "--yes"), ("purge", "--confirm")], ids=["retry", "purge"])
def test_a_run_ends_when_it_has_done_as_many_as_the_queue_held(
    errors: Errors, shop: Shop, verb: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recoverable_operate.errors._aws.client import SqsErrorQueue

    monkeypatch.chdir(tmp_path)
    received, shop.mended = SqsErrorQueue._received, True
    shop.add("first", group="0")

    def receiving(queue: SqsErrorQueue) -> Any:
        found = received(queue)
        shop.add("more", group=f"{shop.error.count()}")
        return found

    monkeypatch.setattr(SqsErrorQueue, "_received", receiving)

    ran = errors(verb[0], "--queue", shop.error.name, *verb[1:], *([shop.error.name] if verb[0] == "purge" else []))

    assert (ran.status, set(bodies(shop.error))) == (PARTLY, {"more"})
    assert "it held about 1 at first, and more have come since; run it again for these" in ran.out + ran.err
