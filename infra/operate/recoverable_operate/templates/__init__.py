"""Read templates of SAM, CloudFormation and Bicep, `host.json` and the code beside them, as far as values are known before deployment.

PyYAML and pycep are imported when a template is read: they are of the extra `check`.
"""

from recoverable_operate.templates._bicep import describe_bicep
from recoverable_operate.templates._document import TemplateError, as_text, parse_document, section
from recoverable_operate.templates._host_file import MINIMAL_HOST_JSON, check_host_file
from recoverable_operate.templates._intrinsics import Scope, transform_notes
from recoverable_operate.templates._places import Place
from recoverable_operate.templates._properties import Properties, resources
from recoverable_operate.templates._queues import redrive_of
from recoverable_operate.templates._sam import DescribedTemplate, Waiver, describe_template
from recoverable_operate.templates._stacks import ACCOUNT, SamTemplate, read_template
from recoverable_operate.templates._triggers import with_globals

__all__ = [
    "ACCOUNT", "MINIMAL_HOST_JSON", "DescribedTemplate", "Place", "Properties", "SamTemplate", "Scope",
    "TemplateError", "Waiver", "as_text", "check_host_file", "describe_bicep", "describe_template",
    "parse_document", "read_template", "redrive_of", "resources", "section", "transform_notes",
    "with_globals",
]  # fmt: skip
