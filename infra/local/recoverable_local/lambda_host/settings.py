"""Define the settings of the Lambda host, with their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the Lambda host.

    Args:
        parameters: Values for the template's `Parameters`.
        environment: Variables for every function, over those of the template.
        endpoint_url: An endpoint of SQS, of DynamoDB if the template has tables, and of SNS if it has topics; None starts the embedded one.
        port: The port on 127.0.0.1 of the embedded endpoint; 0 means any free port.
        region: The AWS region that functions, queues and ARNs have.
        stack_name: The value of `AWS::StackName`.
        in_process: Run the functions in this process, for debugging.
        concurrency: The most invocations at a time of a mapping for which the template sets no lower limit. Lambda begins with five.
        schedule_interval: Replaces each schedule's own, so that functions run more often than in AWS. One second or more.
        redeliver_after: How long after a time-out or crash the messages of the invocation come back; None for when their visibility
            timeout ends, as in AWS. Whole seconds, one or more.

    Raises:
        ValueError: The concurrency is below 1, or one of the times below a second.
    """

    parameters: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    endpoint_url: str | None = None
    port: int = 0
    region: str = "us-east-1"
    stack_name: str = "local"
    in_process: bool = False
    concurrency: int = 5
    schedule_interval: timedelta | None = None
    redeliver_after: timedelta | None = None

    def __post_init__(self) -> None:
        """Refuse values with which the host would wait forever or run in a hot loop."""
        if self.concurrency < 1:
            raise ValueError(f"concurrency is {self.concurrency}; write 1 or more.")
        times = {"redeliver_after": self.redeliver_after, "schedule_interval": self.schedule_interval}
        for name, value in times.items():
            if value is not None and value < timedelta(seconds=1):
                raise ValueError(f"{name} is {value}; write a second or more.")
