"""Print findings for people or programs, and return the exit status."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from recoverable_operate.check.rule import Finding, NotChecked
from recoverable_operate.commands.terminal import Terminal, printable

CLEAN, FOUND, UNREADABLE = 0, 1, 2
"""Exit statuses."""

Result = Finding | NotChecked


def report(results: Sequence[Result], terminal: Terminal, *, as_json: bool) -> int:
    """Print results, each once. Return 1 if there is a finding, else 0."""
    once = list(dict.fromkeys(results))
    findings = [each for each in once if isinstance(each, Finding)]
    if as_json:
        for each in once:
            terminal.data(result_data(each))
    else:
        terminal.show(printable("\n".join(lines(once)), lines=True))
    return FOUND if findings else CLEAN


def result_data(result: Result) -> dict[str, object]:
    """Return a result as a line of JSON."""
    match result:
        case Finding(rule=rule, problem=problem):
            return {"rule": rule, **asdict(problem)}
        case NotChecked(rule=rule, why=why):
            return {"rule": rule, "notChecked": why}


def lines(results: Iterable[Result]) -> Iterator[str]:
    """Yield the lines of a report: the findings, then what was not checked, then how many of each."""
    findings, unchecked = 0, defaultdict[str, list[str]](list)
    for each in results:
        if isinstance(each, NotChecked):
            unchecked[each.why].append(each.rule)
        else:
            findings += 1
            yield from (f"{each.problem.where}: {each.rule}", *paragraphs(each), "")
    for why, rules in unchecked.items():
        yield f"not checked: {', '.join(dict.fromkeys(rules))}: {why}."
    yield "Nothing found." if not findings else "1 finding." if findings == 1 else f"{findings} findings."


def paragraphs(finding: Finding) -> tuple[str, ...]:
    """Return what is wrong, what it causes, and what to write."""
    problem = finding.problem
    return (f"  {problem.wrong}.", f"  So {problem.causes}.", f"  {problem.write[0].upper()}{problem.write[1:]}.")
