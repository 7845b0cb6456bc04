"""Test the notes on a template that AWS accepts but that would lose or delay messages there: those of `recoverable check`."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.lambda_host.test_template import REPOSITORY, read, stack_of
from operate.check.templates import Template, changed, good, good_fifo, written
from recoverable_local.lambda_host.sam.advice import advice
from recoverable_local.lambda_host.sam.stack import Stack

RUNNING = {"Handler": "app.handler", "Runtime": "python3.11", "CodeUri": "."}
"""What the local host needs besides, to run the function."""

OTHER_ERROR_QUEUE = """
from recoverable import Failed, Recoverability
from recoverable.aws import SqsEndpoint
handler = SqsEndpoint(print, Recoverability(failed=Failed(error_queue="elsewhere")))
"""


def notes(folder: Path, resources: Template) -> tuple[str, ...]:
    shop = {**resources["Shop"]["Properties"], **RUNNING}
    template = read(Path(written(folder, changed(resources, {"Shop.Properties": shop}))))
    return advice(template, stack_of(template))


@pytest.mark.parametrize("resources", [good(), good_fifo()], ids=["standard", "FIFO"])
def test_a_good_template_needs_no_advice(tmp_path: Path, resources: Template) -> None:
    assert notes(tmp_path, resources) == ()


@pytest.mark.parametrize("template", ["template.yaml", "functions/aws/fifo/template.yaml"])
def test_the_example_shops_need_none(template: str) -> None:
    shop = read(REPOSITORY / template)

    assert advice(shop, stack_of(shop)) == ()


def test_a_template_in_which_nothing_happens_is_noted() -> None:
    assert advice(read(REPOSITORY / "template.yaml"), Stack((), (), (), ())) == (
        "no function of this template is invoked; give one an event of type SQS",
    )


def test_what_is_wrong_is_said_with_what_it_causes_and_what_to_write(tmp_path: Path) -> None:
    wrong = changed(good(), {"Shop.Properties.RecursiveLoop": "Terminate", "Orders.Properties.RedrivePolicy": None})

    assert notes(tmp_path, wrong) == (
        "Shop has no RecursiveLoop: Allow, so AWS stops a message's retries after about 16 of them; write RecursiveLoop: Allow on the function",
        "orders has no RedrivePolicy, so a message whose process ends before your code runs comes back until it expires; write one whose target is"
        " the error queue",
    )


def test_the_error_queue_that_the_code_names_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(OTHER_ERROR_QUEUE, encoding="utf-8")

    assert notes(tmp_path, good())[0].startswith(
        "orders has its dead letters moved to errors, and its messages that are given up go to elsewhere, so who looks"
    )


def test_what_a_role_may_not_do_is_said_too(tmp_path: Path) -> None:
    ((_, *others),) = [notes(tmp_path, changed(good(), {"Shop.Properties.Policies": None}))]

    assert [note.partition(",")[0] for note in others] == [
        "the role of Shop may not sqs:SendMessage on orders",
        "the role of Shop may not sqs:SendMessage on errors",
    ]
