"""The local host with the real runtime client, as the contract's hosts are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.lambda_host.running_lambda import RunningLambda
from local.lambda_host.templates import document, written
from local.testing.contract.servers import at
from local.testing.hosts.aws.function import scripted
from local.testing.hosts.aws.hosts import REGION, Orders, Settings
from local.testing.hosts.notes import Notes
from recoverable_local.lambda_host import Ended, Entry, Invoked, LocalAws, LocalQueue

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

TESTS = Path(__file__).parents[4]


class RealHosts:
    """The local host with the real runtime client, the latest of which is kept for tests that want the same settings.

    Args:
        endpoint: where SQS is served.
        folder: for templates and notes.
        close: closes a host beside the next tests.
    """

    def __init__(self, endpoint: str, folder: Path, close: Callable[[ExitStack], None]) -> None:
        self._endpoint, self._folder, self._close = endpoint, folder, close
        self._client = at("moto", endpoint).client
        self._running = ExitStack()
        self._number = 0
        self._latest: tuple[Settings, Running] | None = None

    def serve(self, settings: Settings) -> Orders:
        """The orders of a host with these settings."""
        if self._latest is None or self._latest[0] != settings or not self._latest[1].is_idle():
            self.stop()
            self._latest = settings, self._started(settings)
        return self._latest[1].orders(self._client)

    def stop(self) -> None:
        """Stop the host that runs."""
        self._close(self._running)
        self._running, self._latest = ExitStack(), None

    def _started(self, settings: Settings) -> Running:
        self._number += 1
        folder = self._folder / str(self._number)
        folder.mkdir()
        notes, seen = Notes(folder / "notes"), list[Entry]()
        host = LocalAws.from_template(
            written(folder, template(settings)),
            observe=seen.append,
            endpoint_url=self._endpoint,
            region=REGION,
            stack_name=f"hosts{self._number}",
            concurrency=settings.concurrency,
            environment={"NOTES": str(notes.path)},
        )
        return Running(RunningLambda(self._running.enter_context(host), seen), notes)


@dataclass(frozen=True)
class Running:
    """A local host that runs."""

    world: RunningLambda
    notes: Notes

    def is_idle(self) -> bool:
        """Whether all that was sent is done with, which it is not when a test has failed."""
        ended, invoked = self.world.all(Ended), self.world.all(Invoked)
        return len(ended) == len(invoked) and not self.queue("Orders").depth().total

    def queue(self, name: str) -> LocalQueue:
        """A queue by its name in the template."""
        return self.world.host.queue(name)

    def orders(self, client: SQSClient) -> Orders:
        """Its queue, as if nothing had happened yet."""
        self.notes.clear()
        before, shown = len(self.world.all(Ended)), set[str]()

        def is_done() -> bool:
            for entry in self.world.all(Ended)[before:]:
                if entry.failed and entry.request_id not in shown:
                    shown.add(entry.request_id)
                    self.world.make_visible(entry)
            return self.is_idle()

        def until(count: int) -> None:
            self.world.until(lambda: len(self.world.all(Ended)) - before >= count)

        url, errors = self.queue("Orders").url, self.queue("Errors").url
        return Orders(client, url, errors, self.notes, lambda: self.world.until(is_done), until)


def template(settings: Settings) -> dict[str, Any]:
    """The template of a host with these settings."""
    redrive = {"deadLetterTargetArn": {"Fn::GetAtt": ["Errors", "Arn"]}, "maxReceiveCount": settings.max_receives}
    window = {"MaximumBatchingWindowInSeconds": settings.window} if settings.window else {}
    answers = ["ReportBatchItemFailures"] if settings.partial_responses else []
    return document(
        queue={"VisibilityTimeout": settings.visibility_timeout, "RedrivePolicy": redrive},
        function={"CodeUri": str(TESTS), "Handler": f"{scripted.__name__}.handler", "Timeout": settings.timeout},
        event={"BatchSize": settings.batch_size, "FunctionResponseTypes": answers, **window},
        fifo=settings.fifo,
    )
