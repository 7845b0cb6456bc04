"""Read templates of SAM, CloudFormation and ARM, `host.json` and the code beside them, as far as values are known before deployment.

PyYAML is imported when a template is read: it is of the extra `check`.
"""

from recoverable_operate.templates._arm_parameters import read_parameters, typed
from recoverable_operate.templates._arm_resources import parse_template
from recoverable_operate.templates._arm_values import Scope as ArmScope
from recoverable_operate.templates._bicep_compiler import compiled
from recoverable_operate.templates._document import (
    MissingValue,
    TemplateError,
    as_text,
    name_and_value,
    parse_document,
    section,
)
from recoverable_operate.templates._host_file import MINIMAL_HOST_JSON, check_host_file
from recoverable_operate.templates._intrinsics import Scope, transform_notes
from recoverable_operate.templates._places import Place
from recoverable_operate.templates._properties import Properties, resources
from recoverable_operate.templates._queues import redrive_of
from recoverable_operate.templates._sam import DescribedTemplate, Waiver, describe_template
from recoverable_operate.templates._service_bus_template import describe_service_bus
from recoverable_operate.templates._stacks import ACCOUNT, SamTemplate, read_template
from recoverable_operate.templates._triggers import with_globals

__all__ = [
    "ACCOUNT", "MINIMAL_HOST_JSON", "ArmScope", "DescribedTemplate", "MissingValue", "Place", "Properties", "SamTemplate", "Scope",
    "TemplateError", "Waiver", "as_text", "check_host_file", "compiled", "describe_service_bus", "describe_template",
    "name_and_value", "parse_document", "parse_template", "read_parameters", "read_template", "redrive_of", "resources", "section",
    "transform_notes", "typed", "with_globals",
]  # fmt: skip
