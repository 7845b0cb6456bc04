"""Test the command that is printed for sending a first message: it works in a shell in which nothing of AWS is configured."""

from __future__ import annotations

import shutil
import subprocess
import uuid
from pathlib import Path

import pytest

from recoverable_local.lambda_host.formatting import send_command
from recoverable_local.lambda_host.local_queue import LocalQueue
from recoverable_local.lambda_host.services.sqs import Sqs

ENDPOINT = "http://127.0.0.1:4566"
START = "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local aws sqs send-message --region eu-west-1 --endpoint-url http://127.0.0.1:4566"


@pytest.mark.parametrize(
    ("queue", "end"),
    [
        ("orders", "--queue-url http://127.0.0.1:4566/1/orders --message-body '{}'"),
        (
            "orders.fifo",
            "--queue-url http://127.0.0.1:4566/1/orders.fifo --message-body '{}'"
            ' --message-group-id a --message-deduplication-id "$(date +%s%N)"',
        ),
    ],
)
def test_the_command_brings_credentials_a_region_and_what_a_fifo_queue_wants(queue: str, end: str) -> None:
    assert send_command(ENDPOINT, f"{ENDPOINT}/1/{queue}", region="eu-west-1") == f"{START} {end}"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("aws") is None, reason="the AWS CLI is not installed here")
def test_the_aws_cli_sends_to_a_fifo_queue_by_it_in_an_empty_environment(broker: str, tmp_path: Path) -> None:
    sqs = Sqs(broker, region="us-east-1")
    name = f"{uuid.uuid4().hex}.fifo"
    url, arn = sqs.create(name, fifo=True, attributes={})

    typed = send_command(broker, url, region="us-east-1")
    bare = {"PATH": str(Path(shutil.which("aws") or "").parent) + ":/usr/bin:/bin", "HOME": str(tmp_path)}
    subprocess.run(["sh", "-c", typed], env=bare, check=True, capture_output=True)

    assert [message.body for message in LocalQueue(name, url, arn, sqs).messages()] == ["{}"]
    sqs.close()
