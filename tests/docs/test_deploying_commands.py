"""The commands of the deploying page by name: what `aws` and `sam` are asked for exists, whoever runs it."""

from __future__ import annotations

import re
import shlex

import pytest

from docs.aws_command import understood
from docs.pages import blocks, commands

TYPED = [command for block in blocks("deploy/aws.md", "console") for command in commands(block)]
AWS = [found for command in TYPED for found in re.findall(r"aws ([a-z0-9]+ [a-z-]+ --[^)]*)", command)]


@pytest.mark.parametrize("command", AWS)
def test_an_aws_command_asks_for_an_operation_and_parameters_that_there_are(command: str) -> None:
    words = shlex.split(command.replace("$ATTRIBUTES", "{}"))  # the one variable that holds JSON

    assert understood(*words).operation


def test_each_aws_command_of_the_page_was_found() -> None:
    assert len(AWS) == sum("aws " in command.replace("my-aws", "") for command in TYPED) == 20


@pytest.mark.parametrize(
    "command", ["sqs no-such-thing --queue-url x", "sqs send-message --queue x", "sqs send-message --queue-url x"]
)
def test_a_wrong_name_or_a_missing_parameter_is_found(command: str) -> None:
    with pytest.raises(KeyError):
        understood(*shlex.split(command))
