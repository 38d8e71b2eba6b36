"""Deployment and device files: from YAML with marks to frozen, resolved dataclasses."""

from buildtool.config.abis import canonical_abi
from buildtool.config.built import unbuilt
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
from buildtool.config.load import load_deployment

__all__ = [
    "Deployment",
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
    "load_deployment",
    "unbuilt",
]
