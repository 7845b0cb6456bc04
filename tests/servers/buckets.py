"""Bodies in moto's S3, and pointers to them as senders write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

BODY = '{"order": 42}'
NOW, BEFORE = "software.amazon.payloadoffloading.PayloadS3Pointer", "com.amazon.sqs.javamessaging.MessageS3Pointer"


class Bucket:
    """A bucket of the local S3.

    Args:
        client: for it.
        name: its name.
    """

    def __init__(self, client: S3Client, name: str) -> None:
        self.client, self.name = client, name
        client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})

    def put(self, key: str, body: str = BODY) -> None:
        """Put a body."""
        self.client.put_object(Bucket=self.name, Key=key, Body=body.encode())

    def keys(self) -> list[str]:
        """Return the keys of what is there."""
        return [each["Key"] for each in self.client.list_objects_v2(Bucket=self.name).get("Contents", [])]

    def deny(self, *actions: str) -> None:
        """Take rights away."""
        denied = {
            "Effect": "Deny",
            "Principal": "*",
            "Action": list(actions),
            "Resource": f"arn:aws:s3:::{self.name}/*",
        }
        policy = {"Version": "2012-10-17", "Statement": [denied]}
        self.client.put_bucket_policy(Bucket=self.name, Policy=json.dumps(policy))

    def remove(self) -> None:
        """Remove the bucket with all that is in it."""
        for key in self.keys():
            self.client.delete_object(Bucket=self.name, Key=key)
        self.client.delete_bucket(Bucket=self.name)


def pointer(bucket: str, key: str, *, name: str = NOW) -> str:
    """Return a body as AWS's extended client writes it."""
    return json.dumps([name, {"s3BucketName": bucket, "s3Key": key}])


def marked(attribute: str = "ExtendedPayloadSize") -> dict[str, Any]:
    """Return the attribute with which the extended client marks a pointer."""
    return {attribute: {"DataType": "Number", "StringValue": "300000"}}
