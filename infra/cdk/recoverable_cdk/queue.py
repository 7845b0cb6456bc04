"""Define `RecoverableQueue`: a queue that a function reads, with its error queue, the mapping, the rights and an alarm."""

from __future__ import annotations

from typing import Any

from aws_cdk import CfnResource, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from recoverable_cdk.numbers import RETENTION_OF_ERRORS_DAYS, Numbers, visibility_timeout


class RecoverableQueue(Construct):
    """A queue that a function reads with `SqsEndpoint`, so that `recoverable check` finds nothing.

    It sets `RecursiveLoop: Allow` and the variables `RECOVERABLE_ERROR_QUEUE`, `RECOVERABLE_IMMEDIATE_RETRIES` and
    `RECOVERABLE_DELAYED_RETRIES` on the function, which takes them by `Recoverability.from_environment()`. A function has
    one of these queues: a second one would set other variables.

    Args:
        scope: where it belongs.
        construct_id: its id in the scope.
        function: the function that reads the queue.
        timeout: the function's time-out; where it is not given, that of the function, else Lambda's 3 seconds.
        immediate_retries: retries without delay in each round, 0 to 994.
        delayed_retries: rounds that start after a delay, 0 to 1,000.
        fifo: True for FIFO queues.
        queue_name: the queue's name; the error queue's ends in `-error`. CloudFormation's when not given.
        error_queue: an error queue that there is already, which keeps messages for 14 days; else one is made.
        batch_size: the most messages of one invocation, 1 to 10,000; 1 on a FIFO queue, 10 on others when not given.
        batch_window: how long to wait for a batch to fill.
        max_concurrency: the most invocations at a time, 2 to 1,000.
        encryption_key: the key that encrypts both queues; SQS's own when not given.
        alarm_topic: the topic that hears when messages are in the error queue.

    Raises:
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        function: lambda_.Function,
        timeout: Duration | None = None,
        immediate_retries: int = 5,
        delayed_retries: int = 3,
        fifo: bool = False,
        queue_name: str | None = None,
        error_queue: sqs.IQueue | None = None,
        batch_size: int | None = None,
        batch_window: Duration | None = None,
        max_concurrency: int | None = None,
        encryption_key: kms.IKey | None = None,
        alarm_topic: sns.ITopic | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        numbers = Numbers(immediate_retries, delayed_retries, fifo=fifo)
        self._encryption_key, self._fifo = encryption_key, fifo
        self.error_queue = error_queue or self._make_error_queue(queue_name)
        limit = timeout or function.timeout or Duration.seconds(3)
        self.queue = self._make_queue(queue_name, numbers, visibility_timeout(limit, batch_window))
        size = batch_size or (1 if fifo else 10)
        self._connect(function, numbers, size, batch_window, max_concurrency)
        self.alarm = self._make_alarm(alarm_topic)

    def _make_error_queue(self, queue_name: str | None) -> sqs.Queue:
        ending = ".fifo" if self._fifo else ""
        name = f"{queue_name.removesuffix('.fifo')}-error{ending}" if queue_name else None
        return self._new_queue("ErrorQueue", name, retention_period=Duration.days(RETENTION_OF_ERRORS_DAYS))

    def _make_queue(self, queue_name: str | None, numbers: Numbers, visibility: Duration) -> sqs.Queue:
        redrive = sqs.DeadLetterQueue(queue=self.error_queue, max_receive_count=numbers.max_receive_count)
        retention = Duration.days(numbers.retention_days(visibility))
        return self._new_queue(
            "Queue", queue_name, dead_letter_queue=redrive, visibility_timeout=visibility, retention_period=retention
        )

    def _new_queue(self, construct_id: str, name: str | None, **settings: Any) -> sqs.Queue:
        key = self._encryption_key
        encryption = sqs.QueueEncryption.SQS_MANAGED if key is None else sqs.QueueEncryption.KMS
        settings["fifo"] = self._fifo or None  # CloudFormation refuses a false one
        return sqs.Queue(
            self, construct_id, queue_name=name, encryption=encryption, encryption_master_key=key, **settings
        )

    def _connect(
        self,
        function: lambda_.Function,
        numbers: Numbers,
        batch_size: int,
        batch_window: Duration | None,
        max_concurrency: int | None,
    ) -> None:
        function.add_event_source(
            sources.SqsEventSource(
                self.queue,
                batch_size=batch_size,
                max_batching_window=batch_window,
                max_concurrency=max_concurrency,
                report_batch_item_failures=True,
            )
        )
        self.queue.grant_send_messages(function)
        self.error_queue.grant_send_messages(function)
        function.add_environment("RECOVERABLE_ERROR_QUEUE", self.error_queue.queue_name)
        function.add_environment("RECOVERABLE_IMMEDIATE_RETRIES", str(numbers.immediate_retries))
        function.add_environment("RECOVERABLE_DELAYED_RETRIES", str(numbers.delayed_retries))
        resource = function.node.default_child
        assert isinstance(resource, CfnResource)
        resource.add_property_override("RecursiveLoop", "Allow")  # else Lambda stops retries after about 16 of them

    def _make_alarm(self, topic: sns.ITopic | None) -> cloudwatch.Alarm:
        metric = self.error_queue.metric_approximate_number_of_messages_visible(
            period=Duration.minutes(1), statistic="Maximum"
        )
        alarm = metric.create_alarm(
            self,
            "GivenUp",
            alarm_description="Messages were given up. `recoverable errors groups` shows why.",
            threshold=1,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        if topic is not None:
            alarm.add_alarm_action(actions.SnsAction(topic))
        return alarm
