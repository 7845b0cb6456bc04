"""Draw all that a sender can write and SQS accepts, and any settings of an SQS endpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from aws.nservicebus.dotnet import Sent
from aws.nservicebus.retries import retry_problem
from proof.hostile import DATES, NAMES, TEXT, VALUES, Platform, Reader
from proof.lineage import Origin, origin_from
from proof.sqs.lineage import traced
from recoverable import Recoverability
from recoverable._sqs.wire import HEADERS
from recoverable.aws import SqsEndpoint
from recoverable.headers import FOLDED
from recoverable_local.testing import SqsWorld
from recoverable_local.testing.aws.fault_points import possible_faults

KINDS = st.sampled_from(["String", "Number", "Binary", "String.x", "String.\ud800", "Number.", "Nonsense"])
CONTENTS = st.sampled_from(["x", "1", "eA==", "\0", "\ud800", ""]) | VALUES
FOLDS = st.dictionaries(
    st.sampled_from(["a", "b", "a b", "AWS.x", HEADERS]) | TEXT,
    st.fixed_dictionaries({"dataType": KINDS, "stringValue": CONTENTS, "binaryValue": CONTENTS}),
    min_size=1,
    max_size=2,
)
HOSTILE_HEADERS = st.builds(
    lambda headers, folds: headers if folds is None else {**headers, FOLDED: json.dumps(folds)},
    st.dictionaries(NAMES | TEXT, VALUES, max_size=6),
    st.none() | FOLDS,
)
WRAPPED = st.builds(
    lambda headers, rest: json.dumps({**rest, "Headers": headers}),
    HOSTILE_HEADERS,
    st.dictionaries(st.sampled_from(["Body", "S3BodyKey", "TimeToBeReceived"]), VALUES),
)
ATTRIBUTES = st.dictionaries(
    NAMES | st.from_regex(r"[A-Za-z0-9_-]{1,9}", fullmatch=True),
    TEXT | DATES | st.binary(min_size=1, max_size=9) | st.integers(),
    max_size=9,
)
PRIOR_ATTEMPTS = st.none() | TEXT | HOSTILE_HEADERS.map(json.dumps)


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a message as `SqsWorld.send` takes it."""
    attributes, carried = draw(ATTRIBUTES), draw(PRIOR_ATTEMPTS)
    if carried is not None:
        attributes[HEADERS] = carried
    return {"body": draw(TEXT | WRAPPED), "attributes": attributes}


ENDPOINTS = st.fixed_dictionaries(
    {},
    optional={
        "counter": st.sampled_from(["native", "header"]),
        "longest_delay": st.sampled_from([timedelta(seconds=60), timedelta(seconds=900)]),
        "handler_timeout": st.sampled_from([timedelta(seconds=5)]),
        "settle_within": st.sampled_from([timedelta(0), timedelta(seconds=20)]),
    },
)


def serving_world(reader: Reader, ladder: Recoverability, endpoint: Mapping[str, Any]) -> SqsWorld:
    """Return a world whose queue "jobs" the reader serves."""
    world = SqsWorld(most_invocations=3_000)
    world.serve("jobs", SqsEndpoint(reader, ladder, **endpoint), recursive_loop="Allow")
    return world


def origin_of(world: SqsWorld, broker_id: str) -> Origin | None:
    """Return the origin of a broker message; None for what a sender sent."""
    return origin_from(world._broker.all[broker_id][1].trace)


def problem_of_retry(world: SqsWorld, broker_id: str) -> str:
    """Return why ServiceControl could not import an error copy and send it back as it was."""
    message = world._broker.all[broker_id][1]
    return retry_problem(Sent(message.body, message.attributes))


SQS = Platform(
    name="SQS",
    messages=messages(),
    endpoints=ENDPOINTS,
    read=lambda message: (message.text, dict(message.headers), message.sent_at),
    world=serving_world,
    traced=lambda _world: traced(),
    sent_ids=lambda world: set(world._broker.all),
    origin_of=origin_of,
    retry_problem=problem_of_retry,
    possible_faults=possible_faults,
    unexpected=("invocation failed", "dead-lettered"),
)
