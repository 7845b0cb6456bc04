"""Read what a role may do from its policies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recoverable_operate.check.aws_policies import MANAGED, managed_statements, read_statement
from recoverable_operate.check.cloud.session_client import Aws, asked
from recoverable_operate.check.known import Unknown
from recoverable_operate.check.permissions import Permissions, Statement


def permissions_of(aws: Aws, arn: str) -> Permissions | Unknown:
    """Return what a role may do."""
    role = arn.rpartition("/")[2]
    return asked("iam", f"the role {role}", lambda: read_role(aws.client("iam"), role))


def read_role(iam: Any, role: str) -> Permissions:
    """Return what the policies of a role say, inline ones and attached ones."""
    found: list[Statement | str] = []
    for page in iam.get_paginator("list_role_policies").paginate(RoleName=role):
        for name in page["PolicyNames"]:
            found += statements(iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"])
    for page in iam.get_paginator("list_attached_role_policies").paginate(RoleName=role):
        for policy in page["AttachedPolicies"]:
            found += attached(iam, policy["PolicyArn"])
    texts = tuple(each for each in found if isinstance(each, str))
    return Permissions(role, tuple(each for each in found if isinstance(each, Statement)), texts)


def attached(iam: Any, arn: str) -> Iterator[Statement | str]:
    """Yield the statements of a managed policy."""
    if arn.rpartition("/")[2] in MANAGED:
        yield from managed_statements(arn)
        return
    version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
    yield from statements(iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"])


def statements(document: Any) -> Iterator[Statement]:
    """Yield the statements of a policy document."""
    said = document["Statement"]
    yield from map(read_statement, said if isinstance(said, list) else [said])
