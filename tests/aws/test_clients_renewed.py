"""A connection that was idle is renewed before a call, and a call that is reset on a used one is made once more."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError

from answers.aws_answers import closed
from recoverable._sqs.clients import IDLE, RenewingClient, given_client
from recoverable_local.testing import AnswerLost, ConnectionReset, Refused, Unreachable
from servers.faulty_proxy import Fault, FaultyProxy, Late, Rule, Truncated
from servers.moto import session

ONCE = Config(connect_timeout=30, read_timeout=30, retries={"total_max_attempts": 1, "mode": "standard"})


class Clock:
    """Seconds that pass when a test says so."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Service:
    """A service behind the proxy, our client of it, and a call to it.

    Args:
        proxy: the proxy.
        name: of the service.
        wrap: makes our client of boto3's.
        config: of boto3's.
    """

    def __init__(
        self, proxy: FaultyProxy, name: str, wrap: Callable[..., Any] | None = None, config: Config = ONCE
    ) -> None:
        made: Any = session()
        self.proxy, self.clock = proxy, Clock()
        inner = made.client(name, endpoint_url=proxy.url, config=config)
        self.client = wrap(inner) if wrap else RenewingClient(inner, clock=self.clock)
        self.operation, self._call = CALLS[name](made.client(name, endpoint_url=f"http://{proxy.upstream}"))

    def call(self, **more: Any) -> None:
        """Make the call."""
        self._call(self.client, more)

    def fail(self, fault: Fault, *calls: int) -> None:
        """Let the numbered calls fail, from 1."""
        self.proxy.rules.append(Rule(self.operation, fault, calls))

    @property
    def calls(self) -> int:
        """Return how many calls came through, or were lost by a fault."""
        return self.proxy.calls[self.operation]

    @property
    def connections(self) -> int:
        """Return how many connections were opened."""
        return len(self.proxy.connections)


Calling = tuple[str, Callable[[Any, dict[str, Any]], object]]


def send_to_a_queue(direct: Any) -> Calling:
    url = direct.create_queue(QueueName=f"quiet-{uuid4().hex}")["QueueUrl"]
    return "SendMessage", lambda client, more: client.send_message(QueueUrl=url, MessageBody="x", **more)


def publish_to_a_topic(direct: Any) -> Calling:
    arn = direct.create_topic(Name=f"quiet-{uuid4().hex}")["TopicArn"]
    return "POST", lambda client, more: client.publish(TopicArn=arn, Message="x", **more)  # its calls name no target


def put_into_a_table(direct: Any) -> Calling:
    name = f"quiet-{uuid4().hex}"
    direct.create_table(
        TableName=name, KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}], BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
    )  # fmt: skip
    return "PutItem", lambda client, more: client.put_item(TableName=name, Item={"pk": {"S": "x"}}, **more)


CALLS: dict[str, Callable[[Any], Calling]] = {
    "dynamodb": put_into_a_table,
    "sns": publish_to_a_topic,
    "sqs": send_to_a_queue,
}


@pytest.fixture(params=CALLS)
def service(request: pytest.FixtureRequest, proxy: FaultyProxy) -> Service:
    return Service(proxy, request.param)


def test_on_a_busy_day_all_calls_go_through_one_connection(service: Service) -> None:
    for _ in range(4):
        service.call()
        service.clock.now += IDLE

    assert (service.calls, service.connections) == (4, 1)


@pytest.mark.parametrize("passed", [IDLE + 1, 130, 86_400, -1, -900])
def test_after_a_quiet_time_or_when_the_clock_jumped_back_a_new_connection_is_used(
    service: Service, passed: float
) -> None:
    service.call()
    service.clock.now += passed
    service.call()
    service.call()

    assert (service.calls, service.connections) == (3, 2)


@pytest.mark.parametrize("passed", [1, IDLE + 1])
def test_a_connection_that_was_forgotten_costs_one_more(service: Service, passed: float) -> None:
    service.call()
    service.proxy.forget()
    service.clock.now += passed
    service.call()

    assert (service.calls, service.connections) == (2, 2)


@pytest.mark.parametrize("fault", [ConnectionReset(), ConnectionReset(done=True), AnswerLost(), Unreachable()])
def test_a_call_is_made_once_more_where_a_used_connection_ends_under_it(service: Service, fault: Fault) -> None:
    service.fail(fault, 2)
    service.call()
    service.call()

    assert (service.calls, service.connections) == (3, 2)


@pytest.mark.parametrize("done", [False, True])
def test_a_call_on_a_new_connection_is_not_repeated(service: Service, done: bool) -> None:  # noqa: FBT001  # a parameter
    service.fail(ConnectionReset(done=done), 1)

    with pytest.raises(ConnectionClosedError):
        service.call()

    assert service.calls == 1


def test_a_connection_that_was_renewed_is_a_new_one(service: Service) -> None:
    service.fail(ConnectionReset(), 2)
    service.call()
    service.clock.now += IDLE + 1

    with pytest.raises(ConnectionClosedError):
        service.call()

    assert service.calls == 2


def test_a_service_that_resets_each_connection_gets_one_repetition(service: Service) -> None:
    service.fail(ConnectionReset(), *range(2, 100))
    service.call()

    for calls in (3, 4, 5):
        with pytest.raises(ConnectionClosedError):
            service.call()
        assert service.calls == calls


def test_an_error_that_the_service_answers_shows_that_the_connection_carries_calls(proxy: FaultyProxy) -> None:
    service = Service(proxy, "sqs")
    service.fail(Refused("AccessDenied", status=403), 1)
    service.fail(ConnectionReset(), 2)

    with pytest.raises(service.client.exceptions.ClientError):
        service.call()
    service.call()

    assert service.calls == 3


def test_a_call_whose_answer_began_is_not_repeated(service: Service) -> None:
    service.fail(Truncated(), 2)
    service.call()

    with pytest.raises(Exception, match=r"IncompleteRead|closed before|not be parsed|Read"):
        service.call()

    assert service.calls == 2


def test_a_call_that_timed_out_is_not_repeated(proxy: FaultyProxy) -> None:
    service = Service(proxy, "sqs", config=ONCE.merge(Config(read_timeout=0.3)))
    service.call()
    service.fail(Late(), 2)

    with pytest.raises(ReadTimeoutError):
        service.call()

    assert service.calls == 2


def test_a_write_on_a_condition_is_not_repeated(proxy: FaultyProxy) -> None:
    service = Service(proxy, "dynamodb")
    service.call()
    service.fail(ConnectionReset(done=True), 2)

    with pytest.raises(ConnectionClosedError):
        service.call(ConditionExpression="attribute_exists(pk)")

    assert service.calls == 2


def test_a_client_that_the_user_gave_is_not_closed(proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(proxy, "sqs", given_client)
    monkeypatch.setattr("recoverable._sqs.clients.IDLE", -1.0)
    service.call()
    service.call()

    assert (service.calls, service.connections) == (2, 1)


def test_a_call_on_a_client_that_the_user_gave_is_made_once_more_too(proxy: FaultyProxy) -> None:
    service = Service(proxy, "sqs", given_client)
    service.call()
    service.proxy.forget()
    service.call()

    assert (service.calls, service.connections) == (2, 2)


def test_a_client_that_repeats_calls_itself_does_so_alone(proxy: FaultyProxy) -> None:
    service = Service(proxy, "sqs", config=ONCE.merge(Config(retries={"total_max_attempts": 2, "mode": "standard"})))
    service.fail(ConnectionReset(), *range(2, 100))
    service.call()

    with pytest.raises(ConnectionClosedError):
        service.call()

    assert service.calls == 3


@pytest.mark.parametrize("status", [200, 503])
def test_a_connection_that_ends_with_its_answer_is_not_used_again(status: int) -> None:
    class Ending:
        """A client whose first answer says that its connection ends, and whose second call is reset."""

        calls = 0

        def send_message(self) -> dict[str, Any]:
            self.calls += 1
            answer: Any = {"ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": {"connection": "close"}}}
            if self.calls == 2:
                raise closed("Connection aborted.", ConnectionResetError(104, "Connection reset by peer"))
            if status == 200:
                return dict(answer)
            answer["Error"] = {"Code": "ServiceUnavailable"}
            raise ClientError(answer, "SendMessage")

    inner = Ending()
    client = given_client(inner)

    with suppress(ClientError):
        client.send_message()
    with pytest.raises(ConnectionClosedError):
        client.send_message()
    assert inner.calls == 2


class Abandoned:
    """A client of which one call is under way in another thread, where it is reset when a test says so; the others are answered.

    Args:
        clock: of our client.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.calls, self._begun, self._ending = list[str](), Event(), Event()
        self.client = RenewingClient(self, clock=clock)
        self.client.send("first")
        self._thread = Thread(target=self._abandon)
        self._thread.start()
        assert self._begun.wait(30)

    def reset(self) -> None:
        """Reset the call that is under way."""
        self._ending.set()
        self._thread.join()

    def send(self, name: str) -> dict[str, Any]:
        """Make a call."""
        self.calls.append(name)
        if self.calls.count("abandoned") == 1 and name == "abandoned":
            self._begun.set()
            assert self._ending.wait(30)
            raise closed("Connection aborted.", ConnectionResetError(104, "Connection reset by peer"))
        return {}

    def close(self) -> None:
        """Close no connections."""

    def _abandon(self) -> None:
        with suppress(ConnectionClosedError):
            self.client.send("abandoned")


@pytest.mark.parametrize(("seconds", "repeated"), [(1, 1), (IDLE, 1), (IDLE + 1, 0), (300, 0), (-1, 0)])
def test_a_call_that_is_reset_after_it_was_given_up_is_not_repeated(seconds: float, repeated: int) -> None:
    """An environment that was frozen under it goes on with it, when its message may have been delivered again."""
    clock = Clock()
    abandoned = Abandoned(clock)
    clock.now += seconds
    abandoned.reset()

    assert abandoned.calls == ["first", "abandoned", *["abandoned"] * repeated]


def test_a_call_that_is_reset_while_another_begins_does_not_harm_it() -> None:
    now, resets = [1_000.0], list[Abandoned]()

    def clock() -> float:
        while resets:
            now[0] += IDLE + 1
            resets.pop().reset()
        return now[0]

    abandoned = Abandoned(clock)
    resets.append(abandoned)

    assert (abandoned.client.send("second"), abandoned.calls) == ({}, ["first", "abandoned", "second"])


def test_a_client_is_wrapped_once() -> None:
    given = RenewingClient(object())

    assert (given_client(None), given_client(given)) == (None, given)
