"""Rules on the alarms that watch an error queue on SQS."""

from __future__ import annotations

from collections.abc import Iterator

from recoverable_operate.check.known import known
from recoverable_operate.check.rule import Problem, rule
from recoverable_operate.check.sqs import OnSqs

VISIBLE = "ApproximateNumberOfMessagesVisible"
AGE = "ApproximateAgeOfOldestMessage"
SENT = "NumberOfMessagesSent"


@rule(
    "An error queue that is watched is watched by `ApproximateNumberOfMessagesVisible`, not by its age or by what is sent alone."
)
def error_queue_alarm(deployed: OnSqs) -> Iterator[Problem]:
    """Find alarms that a look silences, or that what SQS moves does not set off ("Available CloudWatch metrics for Amazon SQS")."""
    errors, alarms = known(deployed.error_queue), known(deployed.alarms)
    if errors is None or VISIBLE in {each.metric for each in alarms}:
        return
    for alarm in alarms:
        if (causes := CAUSES.get(alarm.metric)) is not None:
            yield Problem(
                alarm.name,
                f"{alarm.name} watches {alarm.metric} of {errors.name}, and no alarm watches {VISIBLE}",
                causes,
                f"write an alarm on {VISIBLE} greater than 0",
            )


CAUSES = {
    AGE: "a look with `recoverable errors` silences it: a message that was received three times no longer counts for its age",
    SENT: "messages that SQS itself moves to the error queue set off nothing: they do not count as sent",
}
