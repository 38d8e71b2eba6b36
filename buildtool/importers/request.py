"""What an importer is asked for and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from buildtool.errors import Where
from buildtool.importers.outline import Outline
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Operator
from buildtool.ir.types import DType
from buildtool.ops.registry import registry

#: A declared shape; a pair (low, high) bounds a size that is known only at run time.
DeclaredShape: TypeAlias = tuple[int | tuple[int, int], ...]
NOWHERE = Where()


@dataclass(frozen=True)
class TensorRequest:
    """An input or output as the deployment file declares it."""

    name: str  # in the source model
    shape: DeclaredShape | None = None  # as declared, in the order of `data_format`; None: as in the model
    data_format: str = "NONE"  # NHWC, NCHW, NONE, OIHW: the order of `shape` and of the data that the user passes
    dtype: DType | None = None  # None: as in the model
    where: Where = NOWHERE  # of the name or shape in the deployment file
    name_where: Where = NOWHERE  # of the name, where `where` is that of the shape
    real: bool = False  # where no type is declared, quantised numbers become the real ones that they stand for


@dataclass(frozen=True)
class ImportRequest:
    """Which part of which file to import."""

    name: str
    model_file: Path
    weight_file: Path | None = None
    inputs: tuple[TensorRequest, ...] = ()  # empty: those of the model
    outputs: tuple[TensorRequest, ...] = ()  # empty: those of the model; may name inner tensors
    operators: Mapping[str, type[Operator]] = field(default_factory=registry)
    trust_model_code: bool = False  # whether code in the file may run with the rights of this process


@dataclass(frozen=True)
class ImportedModel:
    """A graph whose inputs and outputs are in the declared formats; spatial operators are wrapped in transposes."""

    graph: Graph
    platform: str
    source_nodes: int  # nodes in the source model, for the report
    input_formats: tuple[str, ...]
    output_formats: tuple[str, ...]
    #: The order in which the source model itself has each input and output, by the source's names.
    source_formats: Mapping[str, str] = field(default_factory=dict)
    outline: Outline | None = None  # what the file holds, in the words of its framework
