"""Replay a scenario on SQS."""

from __future__ import annotations

from aws.nservicebus.dotnet import Sent
from aws.nservicebus.retries import retry_problem
from proof.lineage import origin_from
from proof.replaying import Injector, Replay, Schedule, replay
from proof.sqs.lineage import traced
from proof.sqs.scenarios import Scenario, world_of
from recoverable._sqs.wire import wire_of
from recoverable_local.testing import EndlessRun, SqsWorld
from recoverable_local.testing.aws.functions.records import to_record
from recoverable_local.testing.engine.fault_plan import FaultPoint


class SqsInjector(Injector):
    """An injector for Lambda, where an invocation has no number before it starts; a throttled one leaves its number to the next."""

    _world: SqsWorld

    def batch(self, point: FaultPoint) -> tuple[str, ...]:
        """Return the messages of the invocation; without one, those of the point."""
        if not point.invocation and point.what == "invoke":
            receives = {one: self._world._broker.all[one][1].receives for one in point.message_ids}
            self.batches[self._world._invocations._number + 1] = receives
        return super().batch(point)


@replay.register
def replay_sqs(scenario: Scenario, schedule: Schedule) -> Replay:
    """Run the scenario until nothing is left to do, or for too long."""
    world, sent, behaving = world_of(scenario)
    injector = SqsInjector(scenario, schedule, world)
    world.ask_at_each_point(injector)
    endless = False
    with traced():
        try:
            world.run()
        except EndlessRun:
            endless = True
    broker = world._broker
    settings = broker.queues[scenario.queue].settings
    stored = {broker_id: message for broker_id, (_, message) in broker.all.items()}

    def content(broker_id: str) -> tuple[str, dict[str, object]]:
        """Return the body, in the wrapper or not, and the sender's attributes, folded or not."""
        wire = wire_of(to_record(stored[broker_id], settings, world._start))
        return wire.record["body"], {**wire.attributes}

    elsewhere = {scenario.queue, *scenario.sends_to}  # where no message is given up
    return Replay(
        scenario,
        schedule,
        sent,
        injector.visits,
        injector.struck,
        injector.batches,
        world._journal._entries,
        {one: origin_from(message.trace) for one, message in stored.items()},
        content,
        lambda broker_id: retry_problem(Sent(stored[broker_id].body, stored[broker_id].attributes)),
        {one: world._identity(one) for one in stored},
        world.queue(scenario.queue),
        [seen for name in broker.queues if name not in elsewhere for seen in world.queue(name)],
        endless,
        world,
        behaving.runs,
    )
