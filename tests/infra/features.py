"""What template.yaml lets its user add or bring along: for each feature the parameters that ask for it, and their combinations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from infra.sam_template import Parameters

ACCOUNT = "eu-central-1:123456789012"
KEY = f"arn:aws:kms:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab"
YOUR_ORDERS, YOUR_ERRORS = f"arn:aws:sqs:{ACCOUNT}:mine", f"arn:aws:sqs:{ACCOUNT}:mine-error"
YOUR_BUCKET = "arn:aws:s3:::mine-timeouts"
YOUR_BODIES = "arn:aws:s3:::mine-bodies"
SUBNETS = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
GROUPS = ["sg-0123456789abcdef0"]

FEATURES: dict[str, Parameters] = {
    "a rate limit": {"RateLimitAfter": 20},
    "a paused trigger": {"RateLimitAfter": 20, "PauseTrigger": "true"},
    "timeouts": {"Timeouts": "true"},
    "large timeouts": {"Timeouts": "true", "LargeTimeouts": "true"},
    "a bucket of yours": {"Timeouts": "true", "LargeTimeouts": "true", "TimeoutsBucketArn": YOUR_BUCKET},
    "large bodies": {"LargeBodiesBucketArn": YOUR_BODIES},
    "an orders queue of yours": {"OrdersQueueArn": YOUR_ORDERS},
    "an error queue of yours": {"ErrorQueueArn": YOUR_ERRORS},
    "a key": {"KmsKeyArn": KEY},
    "stamped dead letters": {"StampDeadLetters": "true"},
    "a VPC": {"SubnetIds": ",".join(SUBNETS), "SecurityGroupIds": ",".join(GROUPS)},
    "metrics": {"Metrics": "true"},
    "an alarm topic": {"AlarmTopicArn": f"arn:aws:sns:{ACCOUNT}:alarms"},
}


def asking_for(*features: str) -> Parameters:
    """Return the parameters that ask for these features."""
    return {name: value for feature in features for name, value in FEATURES[feature].items()}


def every_three() -> Iterator[tuple[str, ...]]:
    """Yield each set of at most three features, and of all but these: any three are there and not there in each way."""
    for number in range(4):
        for few in combinations(FEATURES, number):
            yield few
            yield tuple(feature for feature in FEATURES if feature not in few)


def every_pair() -> Iterator[tuple[str, ...]]:
    """Yield a few sets of features, among which each two features are both there, both not there, and each without the other.

    Two features differ in some binary digit of their places: the sets of those with that digit 1, and with 0, part them.
    """
    places = range(len(FEATURES))
    yield ()
    yield tuple(FEATURES)
    for digit in range(max(places).bit_length()):
        yield taken(bool(place >> digit & 1) for place in places)
        yield taken(not place >> digit & 1 for place in places)


def taken(chosen: Iterable[bool]) -> tuple[str, ...]:
    """Return the features that are present."""
    return tuple(feature for feature, there in zip(FEATURES, chosen, strict=True) if there)


def spoken(features: tuple[str, ...]) -> str:
    """Return a set of features as text, for the name of a test."""
    return ", ".join(features) or "none"
