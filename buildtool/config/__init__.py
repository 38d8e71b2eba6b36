"""Deployment and device files: from YAML with marks to frozen, resolved dataclasses."""

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
]
