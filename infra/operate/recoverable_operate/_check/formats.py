"""Write a report: as text, as JSON lines, as SARIF 2.1.0, or as annotations of GitHub Actions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from recoverable_operate._check.report import Finding, Report, numbered
from recoverable_operate._commands.terminal import Terminal
from recoverable_operate.rules import SERVICE_BUS_RULES, SQS_RULES

MUST = {each.name: each.must for rules in (SQS_RULES, SERVICE_BUS_RULES) for each in rules}

MOST_NAMED = 6
"""More rules that were not checked for one reason are counted, and not named, in a report to read."""

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def write_text(report: Report, terminal: Terminal) -> None:
    """Write what a person reads."""
    terminal.show(*lines(report))


def lines(report: Report) -> Iterator[str]:
    """Yield the findings, what was not checked, what was left alone, and the counts."""
    for each in report.findings:
        problem = each.problem
        yield from (f"{problem.where}: {each.rule}", f"  {problem.wrong}.", f"  So {problem.causes}.")
        yield from (f"  {problem.write[0].upper()}{problem.write[1:]}.", "")
    names = defaultdict[str, list[str]](list)
    for name, why in report.not_looked_at:
        names[why].append(name)
    for why, named in names.items():
        yield f"not checked: {', '.join(named) if len(named) <= MOST_NAMED else f'{len(named)} rules'}: {why}."
    if report.left_alone:
        yield f"left alone, because no code there uses this package: {', '.join(report.left_alone)}."
    for look in report.looks:
        if look.nothing:
            yield f"{look.what} has neither an endpoint nor a function that reads a queue. Looked for: {look.nothing}."
    yield conclusion(report)
    if report.checks:
        yield f"{report.counts}."


def conclusion(report: Report) -> str:
    """Return in one sentence how it went."""
    if report.findings:
        return f"{numbered(len(report.findings), 'finding')}."
    if report.is_empty:
        return "Nothing was checked."
    if report.not_done:
        return "Nothing found in what was checked."
    return "Nothing found." if report.checks else "Nothing to check: no function that reads a queue uses this package."


def write_json(report: Report, terminal: Terminal) -> None:
    """Write a line for each finding, for each check that was not done, and for the counts."""
    for each in report.findings:
        place = {"file": each.file, "line": each.line} if each.file else {}
        terminal.data({"rule": each.rule, **asdict(each.problem), **place, "fingerprint": each.fingerprint})
    for check in report.not_done:
        terminal.data({"rule": check.rule, "function": check.subject, "notChecked": check.not_checked})
    nothing = {"nothingIn": [each.what for each in report.looks if each.nothing]} if report.is_empty else {}
    terminal.data(
        {"checks": len(report.checks), "notDone": len(report.not_done), "leftAlone": report.left_alone, **nothing}
    )


def write_github(report: Report, terminal: Terminal) -> None:
    """Write workflow commands ("Workflow commands for GitHub Actions"): an error for a finding, a notice for what was not checked."""
    for each in report.findings:
        place = f"file={escaped(each.file, more=',:')},line={each.line}," if each.file else ""
        terminal.show(f"::error {place}title={escaped(each.rule, more=',:')}::{escaped(str(each.problem))}")
    for check in report.not_done:
        terminal.show(
            f"::notice title={escaped(check.rule, more=',:')}::{escaped(f'not checked: {check.not_checked}')}"
        )
    terminal.show(report.counts)


def escaped(text: str, more: str = "") -> str:
    """Return a text as a workflow command takes it."""
    return "".join(f"%{ord(each):02X}" if each in f"%\r\n{more}" else each for each in text)


def write_sarif(report: Report, terminal: Terminal) -> None:
    """Write one log of SARIF 2.1.0."""
    terminal.show(*json.dumps(sarif(report), indent=2).splitlines())


def sarif(report: Report) -> dict[str, Any]:
    """Return the report as a log of SARIF 2.1.0 (OASIS)."""
    names = list(dict.fromkeys(each.rule for each in report.checks))
    notes = [
        {"level": "note", "message": {"text": check.not_checked}, "associatedRule": {"id": check.rule}}
        for check in report.not_done
    ]
    driver = {
        "name": "recoverable check",
        "version": version("recoverable-operate"),
        "rules": [{"id": name, "shortDescription": {"text": MUST.get(name, name)}} for name in names],
    }
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": notes}
    results = [sarif_result(each, names.index(each.rule)) for each in report.findings]
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def sarif_result(finding: Finding, rule: int) -> dict[str, Any]:
    """Return one result, with its file and line where it has them."""
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": finding.problem.where}]}
    if finding.file:
        file = {"uri": quote(finding.file.replace("\\", "/"))}
        location["physicalLocation"] = {"artifactLocation": file, "region": {"startLine": finding.line}}
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": f"{finding.problem}."},
        "locations": [location],
        "partialFingerprints": {"recoverable/v1": finding.fingerprint},
    }


FORMATS: Mapping[str, Callable[[Report, Terminal], None]] = {
    "text": write_text,
    "json": write_json,
    "sarif": write_sarif,
    "github": write_github,
}
"""How a report is written, by the name of the format."""
