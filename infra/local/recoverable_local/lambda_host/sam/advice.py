"""Find settings in a template that AWS accepts but that lose, repeat or delay messages, by the rules of `recoverable check`. Pure."""

from __future__ import annotations

from recoverable_local.lambda_host.sam.stack import Stack
from recoverable_local.lambda_host.sam.template import Template
from recoverable_operate.check.cloudformation.reader import Source, describe
from recoverable_operate.check.rule import Finding, results
from recoverable_operate.check.rules.every import SQS_RULES


def advice(template: Template, stack: Stack) -> tuple[str, ...]:
    """Return what to change before the template is deployed, one sentence each."""
    if not stack.mappings and not stack.schedules:
        return ("no function of this template is invoked; give one an event of type SQS",)
    described = describe(Source(template.document, template.scope))
    found = [str(each) for one in described for each in results(SQS_RULES, one) if isinstance(each, Finding)]
    return tuple(dict.fromkeys(found))
