"""Find settings in a template that AWS accepts but that lose, repeat or delay messages, by the rules of `recoverable check`. Pure."""

from __future__ import annotations

from recoverable_local.lambda_host.sam.stack import Stack
from recoverable_local.lambda_host.sam.template import Template
from recoverable_operate.rules import SQS_RULES, check
from recoverable_operate.templates import SamTemplate, describe_template


def advice(template: Template, stack: Stack) -> tuple[str, ...]:
    """Return what to change before the template is deployed, one sentence each."""
    if not stack.mappings and not stack.schedules:
        return ("no function of this template is invoked; give one an event of type SQS",)
    described = describe_template(SamTemplate(template.document, template.scope, path=template.path)).functions
    checks = [each for one in described for each in check(SQS_RULES, one)]
    return tuple(dict.fromkeys(str(problem) for each in checks for problem in each.problems))
