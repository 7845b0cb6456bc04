"""Read templates of SAM, CloudFormation and Bicep, and `host.json`, as far as their values are known before deployment.

PyYAML and pycep are imported when a template is read: they are of the extra `check`.
"""

from recoverable_operate.templates._bicep import describe_bicep
from recoverable_operate.templates._document import TemplateError, as_text, parse_document, section
from recoverable_operate.templates._function_app import MINIMAL_HOST_JSON, check_host_file
from recoverable_operate.templates._intrinsics import Scope, transform_notes
from recoverable_operate.templates._properties import Properties, resources
from recoverable_operate.templates._sam import (
    ACCOUNT,
    SamTemplate,
    describe_template,
    read_template,
    redrive_of,
    with_globals,
)

__all__ = [
    "ACCOUNT", "MINIMAL_HOST_JSON", "Properties", "SamTemplate", "Scope",
    "TemplateError", "as_text", "check_host_file", "describe_bicep", "describe_template",
    "parse_document", "read_template", "redrive_of", "resources", "section", "transform_notes",
    "with_globals",
]  # fmt: skip
