"""Define the setting that has bodies read from S3, and the error for one that cannot be."""

from __future__ import annotations

from recoverable._frozen import Frozen, field

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
else:
    S3Client = object  # the stubs are for type checkers alone


class BodyNotFetched(Exception):
    """Raised where a handler reads a body that is in S3 and cannot be fetched; a failed attempt as any other, so it is fetched again.

    `__cause__` is the error of the call, if one was made.
    """

    __module__ = "recoverable.aws"  # the name under which users import it


class S3Bodies(Frozen):
    """A setting of `SqsEndpoint` and `RecoverableBatchProcessor`: bodies in these buckets are fetched when a handler reads them.

    Read are the pointers of AWS's SQS extended client and of NServiceBus. Whoever may send to the queue can have any object in these
    buckets read as a body, and with `delete` deleted: name buckets that hold nothing but bodies.

    Args:
        buckets: the names of the buckets that may be read. NServiceBus's pointers name none, and are of the first.
        delete: True to delete a body once its handler has succeeded and its message is deleted; else a lifecycle rule of the bucket has
            to. A message that SQS delivers a second time then finds no body, and fails; so does another queue's copy of it.
        client: a boto3 S3 client, instead of the one that is made when the first body is read.

    Raises:
        TypeError: the buckets are no tuple of texts.
        ValueError: no bucket, or one that is no name.
    """

    buckets: tuple[str, ...]
    delete: bool = field(default=False, kw_only=True)
    client: S3Client | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the buckets."""
        named: object = self.buckets
        if not isinstance(named, tuple) or not all(isinstance(bucket, str) for bucket in named):
            raise TypeError(f'S3Bodies(buckets) is {named!r}; write a tuple of names, such as ("order-bodies",)')
        if not self.buckets:
            raise ValueError(
                'S3Bodies(buckets) names no bucket; write those that may be read, such as ("order-bodies",)'
            )
        for bucket in self.buckets:
            if not bucket.strip() or ("/" in bucket and not bucket.startswith("arn:")):
                raise ValueError(
                    f'S3Bodies(buckets) has {bucket!r}; write the name of a bucket alone, such as "order-bodies", or an access point\'s ARN'
                )


def check_bodies(owner: str, bodies: object) -> None:
    """Raise TypeError if an endpoint's setting `large_bodies` is none."""
    if not isinstance(bodies, S3Bodies):
        raise TypeError(f'{owner}(large_bodies) is {bodies!r}; write S3Bodies(buckets=("order-bodies",)), or None')
