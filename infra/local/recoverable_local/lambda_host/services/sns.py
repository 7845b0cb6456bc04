"""Make all calls of the host to SNS."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from recoverable_local.lambda_host.services.clients import config, session

ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL_SNS"
"""The variable with SNS's endpoint when it differs from the other services'; AWS SDKs, "Service-specific endpoints"."""


class Sns:
    """A client of one endpoint, made when a template has a topic.

    Args:
        endpoint_url: Where SNS is served.
        region: The AWS region in ARNs and signatures.
    """

    def __init__(self, endpoint_url: str, *, region: str) -> None:
        self.endpoint_url, self._region = endpoint_url, region

    @cached_property
    def _client(self) -> Any:
        return session(self._region).client("sns", endpoint_url=self.endpoint_url, config=config(1))

    def create(self, name: str, attributes: Mapping[str, str]) -> str:
        """Create a topic, or use the existing one of that name. Return its ARN."""
        arn: str = self._client.create_topic(Name=name, Attributes=dict(attributes))["TopicArn"]
        return arn

    def subscribe(self, topic: str, queue: str, attributes: Mapping[str, str]) -> None:
        """Subscribe a queue to a topic, or set the attributes of the existing subscription."""
        answer = self._client.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue, ReturnSubscriptionArn=True)
        for name, value in attributes.items():
            self._client.set_subscription_attributes(
                SubscriptionArn=answer["SubscriptionArn"], AttributeName=name, AttributeValue=value
            )

    def delete_topic(self, arn: str) -> None:
        """Delete a topic with its subscriptions."""
        self._client.delete_topic(TopicArn=arn)

    def close(self) -> None:
        """Close the connection, if there is one."""
        if "_client" in vars(self):
            self._client.close()
