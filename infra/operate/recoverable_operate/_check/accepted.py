"""Take out what is accepted as it is: by a waiver in the template, with a reason, or by a baseline of known findings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from recoverable_operate._check.looks import Look
from recoverable_operate._check.report import finding
from recoverable_operate.errors import OperateError
from recoverable_operate.rules import Check, Problem
from recoverable_operate.templates import Waiver

WAIVERS = "waivers"
"""The name under which waivers are counted."""


def without_accepted(look: Look, known: frozenset[str]) -> Look:
    """Return a look without what is accepted; a waiver of nothing, or without a reason, is a finding.

    Args:
        look: what was looked at.
        known: the fingerprints of the baseline.
    """
    used: set[Waiver] = set()
    checks = tuple(accepted(check, look, known, used) for check in look.checks)
    return replace(look, checks=(*checks, *(waiver_check(each, used) for each in look.waivers)))


def accepted(check: Check, look: Look, known: frozenset[str], used: set[Waiver]) -> Check:
    """Return a check without what is accepted of it; note the waivers that accepted something."""
    waivers = [each for each in look.waivers if each.rule == check.rule and each.reason]
    whole = [each for each in waivers if each.resource == check.subject]
    kept = []
    for problem in check.problems:
        place = look.places.get(problem.where)
        by = whole or [each for each in waivers if place is not None and each.resource == place.resource]
        used.update(by)
        if not by and finding(look, check.rule, problem).fingerprint not in known:
            kept.append(problem)
    if check.not_checked:
        used.update(whole)
    return replace(check, problems=tuple(kept), not_checked="" if whole else check.not_checked)


def waiver_check(waiver: Waiver, used: set[Waiver]) -> Check:
    """Return what is found of a waiver."""
    if waiver in used:
        return Check(WAIVERS, waiver.resource)
    wrong, write = f"{waiver.resource} ignores {waiver.rule}, and nothing of it is found there", "leave it out"
    if not waiver.reason:
        wrong, write = f"{waiver.resource} ignores {waiver.rule} without a reason", f"write {waiver.rule}: and why"
    causes = "what comes there later is not seen"
    return Check(WAIVERS, waiver.resource, (Problem(waiver.resource, wrong, causes, write),))


def read_baseline(file: Path | None) -> frozenset[str]:
    """Return the fingerprints of known findings.

    Raises:
        OperateError: the file cannot be read.
    """
    if file is None:
        return frozenset()
    try:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        return frozenset(str(each.get("fingerprint")) for each in lines)
    except (OSError, ValueError, AttributeError) as error:
        raise OperateError(f"{file} holds no findings as --json prints them: {error}") from error
