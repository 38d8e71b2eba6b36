"""Deployment and device files: from YAML with marks to frozen, resolved dataclasses."""

from buildtool.config.abis import canonical_abi, is_target
from buildtool.config.built import is_built, unbuilt
from buildtool.config.deployment import (
    Deployment,
    Dimension,
    FileRef,
    LoadedDeployment,
    ModelConfig,
    OpenclConfig,
    QuantizeConfig,
    ShapeConfig,
    SubgraphConfig,
    TensorConfig,
    Thresholds,
)
from buildtool.config.described import Beside
from buildtool.config.device_file import DeviceConfig, load_devices
from buildtool.config.load import described_platform, load_deployment
from buildtool.config.names import is_file_name
from buildtool.config.schema import description_schema, json_schema, schema_text
from buildtool.config.sources import resolve_model_file

__all__ = [
    "Beside",
    "Deployment",
    "DeviceConfig",
    "Dimension",
    "FileRef",
    "LoadedDeployment",
    "ModelConfig",
    "OpenclConfig",
    "QuantizeConfig",
    "ShapeConfig",
    "SubgraphConfig",
    "TensorConfig",
    "Thresholds",
    "canonical_abi",
    "described_platform",
    "description_schema",
    "is_built",
    "is_file_name",
    "is_target",
    "json_schema",
    "load_deployment",
    "load_devices",
    "resolve_model_file",
    "schema_text",
    "unbuilt",
]
