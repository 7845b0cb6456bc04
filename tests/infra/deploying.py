"""Deploys the built template to a cloud on loopback, as `sam deploy` does."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadlines import eventually
from infra.sam_template import template, transformed
from servers.ministack import REGION, Cloud

BUCKET = "code"


def deploy(cloud: Cloud, built: Path, parameters: Mapping[str, str], *, name: str = "shop") -> dict[str, str]:
    """Do what `sam deploy` does with a built template.

    Args:
        cloud: where to.
        built: the folder that `sam build` filled.
        parameters: the template's parameters that differ from the default.
        name: the stack's.

    Returns:
        The stack's outputs.
    """
    upload(cloud.client("s3"), {"layer": built / "RecoverableLayer", "function": built / "OrdersFunction"})
    stack = transformed(template(), layer=f"s3://{BUCKET}/layer", function=f"s3://{BUCKET}/function")
    formation = cloud.client("cloudformation")
    formation.create_stack(
        StackName=name,
        TemplateBody=json.dumps(stack),
        Capabilities=["CAPABILITY_IAM"],
        Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
    )
    return outputs(formation, name)


def waiting(sqs: Any, url: str) -> int:
    """Count the messages in a queue, in flight and delayed ones included; it answers 0 only after it has counted twice.

    The server counts one state after the other, and a message can change its own meanwhile.
    """
    kinds = ("", "NotVisible", "Delayed")

    def counted() -> int:
        said = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        return sum(int(said[f"ApproximateNumberOfMessages{kind}"]) for kind in kinds)

    return counted() or counted()


def upload(s3: Any, folders: Mapping[str, Path]) -> None:
    """Put each folder into the bucket as a zip file of that name."""
    if BUCKET not in {bucket["Name"] for bucket in s3.list_buckets()["Buckets"]}:
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    for key, folder in folders.items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=zipped(folder))


def zipped(folder: Path) -> bytes:
    """Return a folder's files as a zip file."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.rglob("*"):
            file.write(path, path.relative_to(folder))
    return archive.getvalue()


def outputs(formation: Any, name: str) -> dict[str, str]:
    """Return the outputs of the stack, once it stands."""

    def standing() -> Any:
        stack = formation.describe_stacks(StackName=name)["Stacks"][0]
        assert stack["StackStatus"] in {"CREATE_IN_PROGRESS", "CREATE_COMPLETE"}, stack
        return stack if stack["StackStatus"] == "CREATE_COMPLETE" else None

    stack = eventually(standing, "the stack to stand")
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
