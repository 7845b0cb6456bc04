"""Run the Lambda functions of a SAM template on a local SQS, without Docker.

The queues, tables, functions, event source mappings and schedules are those of the template. Each instance of a function is a process
with AWS's own runtime client, killed at the function's Timeout as in Lambda. An endpoint for SQS, SNS and DynamoDB starts with the command;
with --endpoint-url another one is used, for instance
  ministack    BIND_HOST=127.0.0.1 GATEWAY_PORT=4566 ministack    --endpoint-url http://127.0.0.1:4566
  LocalStack   localstack start                                   --endpoint-url http://127.0.0.1:4566
All AWS calls of the functions go to that endpoint, and none to an account, unless --env AWS_ENDPOINT_URL_<SERVICE>=… says otherwise.
Lambda's own API is not served: what would pause a trigger cannot do so here, and logs that.
"""

from __future__ import annotations

import argparse
import logging
import platform
from collections.abc import Iterator
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from recoverable_local.console import add_raw, port, print_error, print_line, print_note, serve, whole_seconds
from recoverable_local.lambda_host.formatting import lines_of, send_command
from recoverable_local.lambda_host.host import LocalAws
from recoverable_local.lambda_host.sam.advice import advice
from recoverable_local.lambda_host.sam.stack import Stack
from recoverable_local.lambda_host.settings import Settings
from recoverable_local.printing import RETRY_LOGGERS, Printer
from recoverable_operate.templates import TemplateError, name_and_value

_PAIRS: dict[str, Any] = {"type": name_and_value, "action": "append", "default": [], "metavar": "NAME=VALUE"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    _add_source_arguments(parser)
    _add_run_arguments(parser)


def _add_source_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--template", default="template.yaml", metavar="FILE", help="the SAM template (default: %(default)s)")
    add(
        "--endpoint-url",
        metavar="URL",
        help="an SQS endpoint that runs already, and one of DynamoDB if the template has tables (default: start one)",
    )
    add("--port", type=port, default=0, help="where the started endpoint listens (default: any free port)")
    add("--parameter", help="a value for one of the template's Parameters; can be repeated", **_PAIRS)
    add("--env", help="an environment variable for the functions, over the template's; can be repeated", **_PAIRS)
    add("--region", default="us-east-1", help="AWS::Region (default: %(default)s)")
    add("--stack-name", default="local", help="AWS::StackName (default: %(default)s)")


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--in-process",
        action="store_true",
        help="run the functions in this process, one invocation at a time, so that breakpoint() and debuggers work; "
        "time-outs are off and a crash ends the command",
    )
    parser.add_argument(
        "--concurrency",
        type=int,
        default=5,
        metavar="N",
        help="the most invocations at a time of each mapping, or the template's MaximumConcurrency if that is lower "
        "(default: %(default)s, with which Lambda starts)",
    )
    parser.add_argument(
        "--redeliver-after",
        type=whole_seconds,
        metavar="SECONDS",
        help="how long after a time-out or crash the messages of the invocation come back (default: when their visibility timeout "
        "ends, as in AWS)",
    )
    parser.add_argument(
        "--schedule-interval",
        type=whole_seconds,
        metavar="SECONDS",
        help="replaces the schedules' own interval, so that their functions run more often than in AWS",
    )
    add_raw(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM. Return the exit status: 0, or 2 after an error of the template, an argument or the broker."""
    if arguments.in_process:
        logging.basicConfig(level=logging.INFO)
        for name in RETRY_LOGGERS:
            logging.getLogger(name).setLevel(logging.ERROR)
    try:
        host = LocalAws(arguments.template, _settings(arguments), observe=Printer(lines_of, raw=arguments.raw))
        serve(host, _startup_text, print_note if arguments.raw else print_line)
    except (TemplateError, ValueError, OSError, BotoCoreError, ClientError) as error:
        return print_error("local aws", error)
    return 0


def _settings(arguments: argparse.Namespace) -> Settings:
    return Settings(
        parameters=dict(arguments.parameter),
        environment=dict(arguments.env),
        endpoint_url=arguments.endpoint_url,
        port=arguments.port,
        region=arguments.region,
        stack_name=arguments.stack_name,
        in_process=arguments.in_process,
        concurrency=arguments.concurrency,
        schedule_interval=arguments.schedule_interval,
        redeliver_after=arguments.redeliver_after,
    )


def _startup_text(host: LocalAws) -> str:
    """Return the startup text: what runs, what does not, and how to send a first message."""
    stack, interval = host.stack, host.settings.schedule_interval
    lines = [f"SQS at {host.endpoint_url}"]
    lines += [f"queue    {queue.name:<32} {queue.url}" for queue in host.queues]
    lines += [f"table    {table.name}" for table in stack.tables]
    lines += [f"topic    {name_of(each.topic):<32} to {name_of(each.queue)}" for each in stack.subscriptions]
    lines += [f"function {mapping.function:<32} reads {mapping.queue}" for mapping in stack.mappings]
    lines += [f"function {each.function:<32} runs every {interval or each.every}" for each in stack.schedules]
    lines += [
        f"note     {note}" for note in (*_runtime_differences(stack), *stack.not_served, *advice(host.template, stack))
    ]
    if stack.mappings:
        queue = host.queue(stack.mappings[0].queue)
        lines.append(f"Send with: {send_command(host.endpoint_url, queue.url, region=host.settings.region)}")
    return "\n".join([*lines, "Ctrl-C stops."])


def name_of(arn: str) -> str:
    """Return the name of a topic or a queue."""
    return arn.rpartition(":")[2]


def _runtime_differences(stack: Stack) -> Iterator[str]:
    here = f"python{'.'.join(platform.python_version_tuple()[:2])}"
    for function in stack.functions:
        if function.runtime != here:
            yield f"{function.logical_id} runs on {here} here and on {function.runtime} in the template"
