"""What an export wrote: which files, how many nodes before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from buildtool.builders import package
from buildtool.errors import ConfigError
from buildtool.importers.request import ImportedModel
from buildtool.reports.table import Table, byte_count

if TYPE_CHECKING:  # the onnx package is slow to load
    from buildtool.exporters.onnx import Exported, ExportRequest

SUFFIX = ".onnx"


@dataclass(frozen=True)
class ExportedModel:
    """One model that was written."""

    name: str
    file: Path
    source_nodes: int
    graph_nodes: int
    exported: Exported

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "file": str(self.file),
            "opset": self.exported.opset,
            "source_nodes": self.source_nodes,
            "graph_nodes": self.graph_nodes,
            "nodes": self.exported.nodes,
            "bytes": len(self.exported.content),
            "operators": dict(self.exported.operators),
        }


@dataclass(frozen=True)
class ExportReport:
    """All models of a deployment, in another framework's format."""

    models: tuple[ExportedModel, ...]
    format: str = "onnx"

    def as_json(self) -> dict[str, Any]:
        return {"kind": "export", "format": self.format, "models": [model.as_json() for model in self.models]}


def files(output: Path, names: Sequence[str]) -> tuple[Path, ...]:
    """Where the models go: `<output>/<model>.onnx`, or into the one file that `output` names."""
    if output.suffix != SUFFIX:
        return tuple(output / f"{name}{SUFFIX}" for name in names)
    if len(names) > 1:
        raise ConfigError(
            f"--output names one file, but there are {len(names)} models", remedy="name a folder with --output"
        )
    return (output,)


def write(
    paths: Sequence[Path],
    imported: Sequence[ImportedModel],
    sources: Sequence[ExportRequest],
    exported: Sequence[Exported],
) -> ExportReport:
    """Each file whole or not at all."""
    models = []
    for path, before, source, result in zip(paths, imported, sources, exported, strict=True):
        package.write_file(path, result.content)
        nodes = sum(1 for _ in source.graph.walk())
        models.append(ExportedModel(source.graph.name, path, before.source_nodes, nodes, result))
    return ExportReport(tuple(models))


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The document for people."""
    numbers = ["source nodes", "graph", "nodes", "opset", "bytes"]
    table = Table(["model", *numbers, "file"], right=frozenset(numbers))
    for model in document["models"]:
        table.add(
            model["name"],
            model["source_nodes"],
            model["graph_nodes"],
            model["nodes"],
            model["opset"],
            byte_count(model["bytes"]),
            model["file"],
        )
    return [table]
