"""The template as CloudFormation reads it: its loops written out, the rest as it stands in the file."""

from pathlib import Path
from typing import Any

from ministack.services.cloudformation import language_extensions
from samcli.yamlhelper import yaml_parse

ROOT = Path(__file__).resolve().parents[2]
AS_WRITTEN: dict[str, Any] = yaml_parse((ROOT / "template.yaml").read_text())
TEMPLATE: dict[str, Any] = language_extensions.apply(AS_WRITTEN, {})
RESOURCES: dict[str, Any] = TEMPLATE["Resources"]
FUNCTIONS: dict[str, dict[str, Any]] = {
    name: resource["Properties"]
    for name, resource in RESOURCES.items()
    if resource["Type"] == "AWS::Serverless::Function"
}
