"""docs/run/on-call.md: each alarm of both templates has its line."""

from __future__ import annotations

import re

from docs.pages import page
from infra.azure.bicep import Deployment
from infra.decided import decided
from infra.features import FEATURES, asking_for
from infra.sam_template import template

PAGE = page("run/on-call.md")


def lines(pattern: str) -> list[str]:
    """Return what a table names in its first column, where meaning and remedy are not empty."""
    return re.findall(rf"^\| `({pattern})` \| [^|]{{5,}} \| [^|]{{5,}} \|$", PAGE, re.MULTILINE)


def test_each_alarm_of_the_sam_template_has_a_line() -> None:
    stack = decided(template(), asking_for(*FEATURES))["Resources"]
    alarms = {name for name, resource in stack.items() if resource["Type"] == "AWS::CloudWatch::Alarm"}

    assert set(lines(r"\w+Alarm")) == alarms


def test_each_alert_of_the_bicep_template_has_a_line() -> None:
    deployed = Deployment({"rateLimitAfter": 50})
    kinds = ("Microsoft.Insights/metricAlerts", "Microsoft.Insights/scheduledQueryRules")
    names = {config["name"] for kind in kinds for config in deployed.of_type(kind).values()}
    app = deployed.outputs["functionAppName"]

    assert {name.replace("…", str(app)) for name in lines("…[a-z-]+")} == names
