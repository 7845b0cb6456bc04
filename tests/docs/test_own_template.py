"""The template of the first service on AWS has right what must be right in a project of one's own."""

from __future__ import annotations

from pathlib import Path

from docs.pages import blocks
from local.lambda_host.test_template import read, stack_of
from recoverable_local.lambda_host.sam.advice import advice

(TEMPLATE,) = blocks("start/aws.md", "yaml")


def test_the_local_host_runs_it_and_has_nothing_to_note(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "template.yaml").write_text(TEMPLATE, encoding="utf-8")

    template = read(tmp_path / "template.yaml")
    stack = stack_of(template)

    assert [(mapping.function, mapping.queue) for mapping in stack.mappings] == [("OrdersFunction", "orders")]
    assert (stack.not_served, advice(template, stack)) == ((), ())
