"""A cloud on loopback to deploy the built template to: CloudFormation, S3, Lambda with its event source mapping, and SQS."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from typing import Any

import botocore.session

from infra.commands import TOOLS
from infra.sam_template import REGION, template, transformed

BUCKET = "code"
TIMEOUT = 300.0
"""Seconds to wait for what should take two; where others use the machine, a call may be too slow, and its message comes back after four minutes."""


def eventually(found: Callable[[], Any], what: str) -> Any:
    """Ask until the answer is truthy.

    Args:
        found: asked every tenth of a second.
        what: what is waited for, for the error.

    Raises:
        AssertionError: it was not, within `TIMEOUT`.
    """
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        if answer := found():
            return answer
        time.sleep(0.1)
    raise AssertionError(f"waited {TIMEOUT:.0f} s in vain for {what}")


@dataclass(frozen=True)
class Cloud:
    """A running cloud.

    Args:
        port: where it listens on loopback.
    """

    port: int

    @property
    def url(self) -> str:
        """Return where all its services are."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, service: str) -> Any:
        """Return a client of one of its services."""
        return botocore.session.get_session().create_client(
            service, region_name=REGION, endpoint_url=self.url, aws_access_key_id="local", aws_secret_access_key="local"
        )

    def listens(self) -> bool:
        """True if it takes connections yet."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@contextmanager
def running_cloud(log: Path) -> Iterator[Cloud]:
    """Start a cloud, and stop it afterwards.

    Args:
        log: the file that it writes to; it unpacks functions beside it.
    """
    cloud = Cloud(free_port())
    place = {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(cloud.port), "TMPDIR": str(log.parent)}
    with log.open("w") as output:
        server = subprocess.Popen(
            [TOOLS / "ministack"],
            env={**os.environ, **place, "LAMBDA_EXECUTOR": "local"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        eventually(lambda: cloud.listens() or server.poll() is not None, f"the cloud to listen; its log is {log}")
        assert server.poll() is None, f"the cloud ended: {log.read_text()}"
        yield cloud
    finally:
        server.terminate()
        server.wait(TIMEOUT)


def free_port() -> int:
    """Return a port for a server that cannot choose one: below those that the kernel gives to others until the server has it."""
    while True:
        port = SystemRandom().randrange(20_000, 32_000)
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


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
