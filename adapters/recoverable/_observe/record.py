"""Record what happens in one invocation, for the extensions that take part in it and for the host's file of facts."""

from __future__ import annotations

from datetime import timedelta
from json import dumps
from typing import TYPE_CHECKING, Any

from recoverable._errors import UnreportedFailure
from recoverable._frozen import Frozen
from recoverable._ladder.delivery import delivery_of
from recoverable._ladder.faults import EXCEPTION_TYPE, redacted_text, type_name
from recoverable._ladder.groups import ungrouped
from recoverable._ladder.settlement import COMPLETE, Forward, Redeliver
from recoverable._limits import NO_DELAY
from recoverable._observe.facts import Facts, Outcome
from recoverable._observe.log import log_observing_failed
from recoverable._observe.parts import Guard, Parts
from recoverable._variables import FACTS_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator
    from datetime import datetime

    from recoverable._config import Recoverability
    from recoverable._ladder.decision import Decision
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Settlement
    from recoverable._message import Message
    from recoverable.hosting import Environment

    SettlementOf = Callable[[Delivery], Settlement | None]

NOT_APPENDED = f"Appending facts to the file that {FACTS_FILE} names failed (%s). The messages are settled all the same. Check that the file can be written."


class Note(Frozen):
    """One decision about a delivery.

    Args:
        delivery: the delivery.
        facts: the facts about the decision.
        message: its message, as this attempt got it.
        settlement: what was to be done.
        is_first: False for a second decision about one attempt, which was made because a copy was refused.
    """

    delivery: Delivery
    facts: Facts
    message: Message
    settlement: Settlement
    is_first: bool


class Record:
    """What happened in one invocation: the attempts that ran, and the decisions about them, in their order.

    Args:
        recoverability: the settings.
        clock: returns the time.
        request_id: the host's id of the invocation; "" where it gave none.
        parts: those of the extensions.
        facts_file: the path of the file that takes all facts as JSON; None for no such file.
    """

    def __init__(
        self, recoverability: Recoverability, clock: Callable[[], datetime], request_id: str, parts: Parts,
        facts_file: str | None,
    ) -> None:  # fmt: skip
        self.parts, self._clock, self._request_id, self._facts_file = parts, clock, request_id, facts_file
        self._attempts_of_round, self._redact = recoverability.immediate.max_retries + 1, recoverability.redact
        self._notes: list[Note] = []
        self._ran: dict[Message, Delivery] = {}
        self._handler_times: dict[Message, timedelta] = {}
        self._undeleted: set[Delivery] = set()
        self._appended: set[Message] = set()

    def attempt(
        self, messages: tuple[Message, ...], seconds: float
    ) -> Generator[tuple[tuple[Message, ...], float], Any, BaseException | None]:
        """Have the handler run inside of what each part opens around it, and note for how long it did; return what it raised."""
        self._ran |= {message: delivery_of(message) for message in messages}
        with self.parts.attempt(messages):
            began = self._clock()
            try:
                error: BaseException | None = yield messages, seconds
            finally:
                self._handler_times |= dict.fromkeys(messages, max(self._clock() - began, NO_DELAY))
        return error

    def note(self, decision: Decision) -> Settlement:
        """Note a decision, and return its settlement, with the headers that extensions give its copy."""
        delivery, settlement = decision.delivery, decision.settlement
        facts = self._facts(
            delivery, decision.outcome, decision.failure,
            delay=decision.delay, error_queue=decision.error_queue, rate_limited=decision.rate_limited,
        )  # fmt: skip
        if isinstance(settlement, Forward) and (more := self.parts.copy(delivery.message, facts)):
            settlement = settlement.replace(changes={**settlement.changes, **more})
        return self._note(delivery, settlement, facts)

    def note_undecided(self, delivery: Delivery) -> Settlement:
        """Note that the decision about a delivery raised, and return the settlement for that: a redelivery."""
        return self._note(delivery, Redeliver(None), self._facts(delivery, "undecided"))

    def note_given_up(
        self, delivery: Delivery, settlement: Settlement, exception: BaseException | None = None
    ) -> Settlement:
        """Note that a message moves to the error queue because another copy was refused, now or earlier; return its settlement.

        Args:
            delivery: the message.
            settlement: its forwarding to the error queue.
            exception: what its handler raised now; None where its headers say what it raised earlier.
        """
        queue, changes = (settlement.to, settlement.changes) if isinstance(settlement, Forward) else ("", {})
        earlier = changes.get(EXCEPTION_TYPE) or delivery.message.headers.get(EXCEPTION_TYPE, "")
        facts = self._facts(delivery, "move_to_error", exception, error_queue=queue, exception_type=earlier)
        return self._note(delivery, settlement, facts)

    def note_moved(self, delivery: Delivery, error_queue: str) -> None:
        """Note that the message is in another error queue than was decided, which refused it."""
        self._notes = [
            note.replace(facts=note.facts.replace(error_queue=error_queue))
            if note.delivery is delivery and note.facts.error_queue
            else note
            for note in self._notes
        ]

    def note_undeleted(self, deliveries: Collection[Delivery]) -> None:
        """Note that the deletion of messages that succeeded is not confirmed."""
        self._undeleted.update(deliveries)

    def forget(self, deliveries: Collection[Delivery]) -> None:
        """Forget what was decided about deliveries: others decide about their messages."""
        self._notes = [note for note in self._notes if note.delivery not in deliveries]

    def settled(self, unfinished: Collection[Delivery], settlement_of: SettlementOf) -> Iterator[Callable[[], Any]]:
        """Tell the parts what became of each message; yield what they want to be called for that, which may return an awaitable.

        Args:
            unfinished: the messages that the broker delivers again.
            settlement_of: returns how a message was settled in the end.
        """
        outcomes = self._outcomes(unfinished, settlement_of)
        self._append_ends(outcomes, settlement_of, otherwise=None)
        return self.parts.settled(outcomes)

    def append(
        self, deliveries: Collection[Delivery], unfinished: Collection[Delivery], settlement_of: SettlementOf
    ) -> None:
        """Append to the host's file that messages are deleted, or left to their queue: the process may die before all are settled."""
        if self._facts_file is not None:
            outcomes = self._outcomes(unfinished, settlement_of)
            of_these = [each for each in outcomes if delivery_of(each.message) in deliveries]
            self._append_ends(of_these, settlement_of, otherwise=False)

    def _outcomes(self, unfinished: Collection[Delivery], settlement_of: SettlementOf) -> list[Outcome]:
        outcomes = [
            Outcome(note.facts, note.message, is_done(note, settlement_of(note.delivery), unfinished), note.is_first)
            for note in self._notes
        ]
        return outcomes + self._successes(settlement_of)

    def _successes(self, settlement_of: SettlementOf) -> list[Outcome]:
        decided = {note.message for note in self._notes}
        return [
            Outcome(self._facts(delivery, "complete"), message, delivery not in self._undeleted)
            for message, delivery in self._ran.items()
            if message not in decided and settlement_of(delivery) is COMPLETE and delivery.error is None
        ]

    def _append_ends(self, outcomes: list[Outcome], settlement_of: SettlementOf, *, otherwise: bool | None) -> None:
        """Append the end of each message that has none in the host's file yet; of two decisions about an attempt that of the second."""
        last = {each.message: each for each in outcomes if each.message not in self._appended}
        self._appended |= last.keys()
        stay = {each for each in last if isinstance(settlement_of(delivery_of(each)), Redeliver)}
        self._append(
            [
                line_of(each.facts, self._redact, done=each.done, stays=name in stay or otherwise)
                for name, each in last.items()
            ]
        )

    def _append(self, lines: list[str]) -> None:
        """Append lines to the host's file in one write, for other processes write to the file too."""
        if self._facts_file is None or not lines:
            return
        try:
            with open(self._facts_file, "ab", buffering=0) as file:
                file.write("".join(lines).encode())
        except OSError as error:
            log_observing_failed(error, self._redact, NOT_APPENDED, type(error).__name__)

    def _facts(self, delivery: Delivery, action: Any, failure: BaseException | None = None, **more: Any) -> Facts:
        """Return the facts about a decision or a success; a failure that is given can be read."""
        if failure is not None:
            more |= {
                "exception_type": type_name(ungrouped(failure)),
                "unreported": isinstance(failure, UnreportedFailure),
            }
        message = delivery.message
        return Facts(
            message.id, message.queue, message.attempt, message.round, action, attempts=self._attempts_of_round,
            deliveries=delivery.deliveries, handler_time=self._handler_times.get(message), request_id=self._request_id,
            exception=failure, **more,
        )  # fmt: skip

    def _note(self, delivery: Delivery, settlement: Settlement, facts: Facts) -> Settlement:
        message = delivery.message
        is_first = all(note.message is not message for note in self._notes)
        self._notes.append(Note(delivery, facts, message, settlement, is_first))
        self.parts.decided(facts, message)
        if self._facts_file is not None:
            self._append([line_of(facts, self._redact)])
        return settlement


def line_of(
    facts: Facts, redact: Callable[[str], str] | None, *, done: bool | None = None, stays: bool | None = None
) -> str:
    """Return facts as a line of JSON with `done` and `stays`, durations in seconds, the exception as its text.

    Args:
        facts: the facts.
        redact: the user's redactor.
        done: True if what was decided has been done; None when it was just decided.
        stays: True if the message is left to its queue, which delivers it again; False if it is deleted; None if its host does that.
    """
    error = facts.exception
    text = "" if error is None else redacted_text(error, redact)
    said = {**vars(facts), "exception": text, "done": done, "stays": stays}
    return f"{dumps(said, default=timedelta.total_seconds)}\n"


def is_done(note: Note, settlement: Settlement | None, unfinished: Collection[Delivery]) -> bool:
    """True if what was decided has been done: no copy was refused, and no other settlement took its place.

    Args:
        note: the decision.
        settlement: how its message was settled in the end.
        unfinished: the messages that the broker delivers again.
    """
    redelivered = isinstance(note.settlement, Redeliver)
    if note.facts.action == "immediate_retry" and redelivered:
        return True
    undone = note.delivery in unfinished and not redelivered
    return note.settlement is settlement and not undone and note.facts.action != "undecided"


def request_id_of(context: Any) -> str:
    """Return the host's id of an invocation; "" where its context gives none."""
    return str(getattr(context, "aws_request_id", None) or getattr(context, "invocation_id", None) or "")


def record_for(
    extensions: tuple[Any, ...], recoverability: Recoverability, environment: Environment, context: Any,
    facts_file: str | None,
) -> Record | None:  # fmt: skip
    """Return the record of a new invocation; None where nothing reads it.

    Args:
        extensions: those of the endpoint, and of a test.
        recoverability: the settings.
        environment: has the clock, and what the process keeps.
        context: the host's; None where it gave none.
        facts_file: the path of the file that takes all facts as JSON; None for no such file.
    """
    if not extensions and facts_file is None:
        return None
    guard = Guard(recoverability.redact, environment.clock, environment.kept)
    parts = Parts(extensions, guard)
    return Record(recoverability, environment.clock, request_id_of(context), parts, facts_file)
