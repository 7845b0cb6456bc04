"""Tell files of tools that are not read here, and say what to check instead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

DEPLOYED = "check what it deployed, with --function NAME or --queue QUEUE"


def hint_for_name(path: Path) -> str | None:
    """Return what to do about a file that is none to read, by its name; None for any other."""
    if path.suffix == ".tf" or path.name.endswith(".tf.json"):
        return f"a file of Terraform is not read here; {DEPLOYED}"
    if path.is_dir():
        return "this is a folder; give the template in it"
    if path.name in {"host.json", "function_app.py"}:
        return (
            "it is read with a Bicep file; give that, or run `recoverable local azure`, which notes what is wrong in it"
        )
    if not path.exists():
        return "there is no such file"
    return None


def hint_for_content(document: Mapping[str, Any]) -> str | None:
    """Return what to do about a template that is none of CloudFormation; None for any other."""
    if "deploymentTemplate.json" in str(document.get("$schema")):
        return "a template of Azure Resource Manager is not read here; give the Bicep file that it was made from"
    if "functions" in document and "provider" in document:
        return "a file of the Serverless Framework is not read here; give the template that `serverless package` makes in .serverless/"
    return None
