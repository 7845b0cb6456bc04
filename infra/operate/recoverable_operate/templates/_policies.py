"""Read what the role of a function may do from the policies of a template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from recoverable_operate.rules._on_sqs import Permissions, Statement, managed_statements, read_statement
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._document import TemplateError, maybe
from recoverable_operate.templates._intrinsics import NO_VALUE, Scope, is_call, resolve
from recoverable_operate.templates._properties import Properties, listed, resources

ROLE = "AWS::IAM::Role"
POLICIES = ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")
Read = Statement | str
"""A statement, or why a policy could not be read."""

POLLER = ("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")
TEMPLATES = {
    "SQSPollerPolicy": ("QueueName", "arn:aws:sqs:::", POLLER),
    "SQSSendMessagePolicy": ("QueueName", "arn:aws:sqs:::", ("sqs:SendMessage",)),
    "KMSDecryptPolicy": ("KeyId", "arn:aws:kms:::key/", ("kms:Decrypt",)),
}
"""SAM's policy templates that concern queues and their keys ("AWS SAM policy template list")."""


def permissions_of(function: Properties) -> Permissions:
    """Return what a function's role may do.

    Raises:
        TemplateError: its role is not in the template.
    """
    if function.values.get("Role") is None:
        return collected(f"the role of {function.where}", of_generated_role(function))
    arn = function.text("Role", "")
    for role in resources(function.scope, ROLE):
        if arn in function.scope.attributes[role.where].values():
            return collected(role.where, of_role(role))
    raise TemplateError(f"the role of {function.where} is {arn}, which is not in this template")


def collected(name: str, found: Iterator[Read]) -> Permissions:
    """Return statements and unread policies as one."""
    parts = list(found)
    return Permissions(
        name,
        tuple(each for each in parts if isinstance(each, Statement)),
        tuple(each for each in parts if isinstance(each, str)),
    )


def of_generated_role(function: Properties) -> Iterator[Read]:
    """Yield what SAM allows the role that it makes: what reading a queue takes, and the function's `Policies`."""
    yield from managed_statements("AWSLambdaSQSQueueExecutionRole")
    for policy in each_of(function.values.get("Policies"), function.scope):
        yield from of_sam_policy(policy, function.scope)


def of_sam_policy(policy: Any, scope: Scope) -> Iterator[Read]:
    """Yield what an entry of `Policies` allows: a document, the name of a managed policy, or one of SAM's templates."""
    match policy:
        case Unknown(why=why):
            yield why
        case str():
            yield from of_managed(policy, scope)
        case {"Statement": statements}:
            yield from each_statement(statements, scope)
        case dict():
            for name, values in policy.items():
                yield from of_template(str(name), Properties(str(name), values or {}, scope))
        case _:
            yield f"the policy {policy!r:.80} is not read here"


def of_template(name: str, values: Properties) -> Iterator[Read]:
    """Yield what one of SAM's policy templates allows; those that concern neither queues nor keys allow nothing of interest."""
    if name in TEMPLATES:
        parameter, arn, actions = TEMPLATES[name]
        value = maybe(lambda: values.text(parameter, "*"))
        unread = value.why if isinstance(value, Unknown) else ""
        yield Statement(True, actions, () if isinstance(value, Unknown) else (arn + value,), unread=unread)  # noqa: FBT003
    elif name.startswith(("SQS", "KMS")):
        yield f"the policy template {name} is not read here"


def of_role(role: Properties) -> Iterator[Read]:
    """Yield what a role's own policies and those that name it allow."""
    for policy in each_of(role.values.get("Policies"), role.scope):
        yield from policy_statements(policy.get("PolicyDocument") if isinstance(policy, dict) else None, role.scope)
    for arn in each_of(role.values.get("ManagedPolicyArns"), role.scope):
        yield from [arn.why] if isinstance(arn, Unknown) else of_managed(str(arn), role.scope)
    for policy in resources(role.scope, *POLICIES):
        names = maybe(lambda policy=policy: policy.get("Roles", []))  # type: ignore[misc]
        if isinstance(names, list) and role.scope.attributes[role.where]["Ref"] in names:
            yield from policy_statements(policy.values.get("PolicyDocument"), role.scope)


def of_managed(arn: str, scope: Scope) -> Iterator[Read]:
    """Yield what a managed policy allows, one of the template or one of AWS's own."""
    for policy in resources(scope, "AWS::IAM::ManagedPolicy"):
        if scope.attributes[policy.where]["Arn"] == arn:
            yield from policy_statements(policy.values.get("PolicyDocument"), scope)
            return
    yield from managed_statements(arn)


def policy_statements(document: Any, scope: Scope) -> Iterator[Read]:
    """Yield the statements of a policy document."""
    if isinstance(document, dict) and "Statement" in document:
        yield from each_statement(document["Statement"], scope)
    else:
        yield "a policy document has no Statement that can be read here"


def each_statement(statements: Any, scope: Scope) -> Iterator[Read]:
    """Yield statements, each resource resolved by itself, so that one that is not known hides no other."""
    for raw in listed(statements):
        found = maybe(lambda raw=raw: resolve(raw, scope))  # type: ignore[misc]
        if isinstance(found, dict):
            yield read_statement(found)
        elif isinstance(found, Unknown) and isinstance(raw, dict):
            yield partly_read(raw, scope)
        elif isinstance(found, Unknown):
            yield found.why


def partly_read(raw: dict[str, Any], scope: Scope) -> Statement:
    """Return a statement of which something is not known."""
    parts = [(each, maybe(lambda each=each: resolve(each, scope))) for each in listed(raw.get("Resource", "*"))]  # type: ignore[misc]
    unread = any(isinstance(each, Unknown) and may_be_a_queue(written, scope) for written, each in parts)
    read = [text for _, each in parts if not isinstance(each, Unknown | dict) for text in listed(each)]
    actions = maybe(lambda: resolve(raw.get("Action", "*"), scope))
    known = {**raw, "Action": "*" if isinstance(actions, Unknown) else actions, "Resource": read}
    return replace(read_statement(known), unread="a resource is not known before deployment" if unread else "")


def may_be_a_queue(written: Any, scope: Scope) -> bool:
    """True unless a value refers to a resource of another kind than a queue, a key or a stack."""
    match written:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), *_]} if name in scope.resources:
            return str(scope.resources[name]["Type"]).startswith(
                ("AWS::SQS::", "AWS::KMS::", "AWS::CloudFormation::", "Custom::")
            )
        case {"Fn::GetAtt": str(text)}:
            return may_be_a_queue({"Ref": text.partition(".")[0]}, scope)
        case _:
            return True


def each_of(values: Any, scope: Scope) -> Iterator[Any]:
    """Yield the items of a list, each resolved, but for policies: what is in one is resolved one by one."""
    for item in listed(values):
        if isinstance(item, dict) and not is_call(item):
            yield item
            continue
        found = maybe(lambda item=item: resolve(item, scope))  # type: ignore[misc]
        yield from found if isinstance(found, list) else [] if found is NO_VALUE else [found]
