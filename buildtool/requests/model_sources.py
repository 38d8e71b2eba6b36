"""The files of a model, and which part of them is imported."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from buildtool import config
from buildtool.artifacts import depfile
from buildtool.artifacts.depfile import FilesRead
from buildtool.config import Deployment, FileRef, ModelConfig, SubgraphConfig, TensorConfig
from buildtool.errors import UnsupportedError
from buildtool.importers.frameworks import companions, import_model
from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Operator
from buildtool.ir.types import DType
from buildtool.ops.registry import registry
from buildtool.requests import frames
from buildtool.settings import Options

DTYPES = {dtype.word: dtype for dtype in DType}


def inputs_of(deployment: Deployment, options: Options, read: FilesRead) -> list[Path]:
    """The files and folders that a build was made from, of which `read` has seen all that it read."""
    files = [file for model in deployment.models for file in all_files(model, options.allow_unverified)]
    files += [deployment.path, *(file for _, file in deployment.toolchains)]
    folders = [*(file.parent for file in files), *deployment.op_paths]
    files += [*read.below(folders, but=options.output), *depfile.folders_of_operators(deployment.op_paths)]
    return [*files, *depfile.files_of_lathe()]


def subgraph(model: ModelConfig) -> SubgraphConfig:
    """The one subgraph of a model. UnsupportedError where there are several."""
    if len(model.subgraphs) > 1:
        raise UnsupportedError(
            f"the model '{model.name}' has {len(model.subgraphs)} subgraphs; this version builds one",
            where=model.subgraphs[1].where,
            remedy="make a model of each subgraph",
        )
    return model.subgraphs[0]


def model_files(model: ModelConfig, allow_unverified: bool = False) -> tuple[Path, Path | None]:
    """The verified files of a model: the model itself, and its weights where they are apart."""
    fetch = functools.partial(config.resolve_model_file, allow_unverified=allow_unverified)
    return fetch(model.model_file), fetch(model.weight_file) if model.weight_file else None


def all_files(model: ModelConfig, allow_unverified: bool = False) -> tuple[Path, ...]:
    """Those files, what belongs to them without being named, and the ranges: the model itself is the first."""
    file, weights = model_files(model, allow_unverified)
    beside = [found for found in (model.quantize.range_file, model.quantize.weights_file) if found]
    narrowing = [fetched(found, allow_unverified) for found in beside]
    return (file, *([weights] if weights else []), *companions(model.platform, file, weights), *narrowing)


def fetched(file: FileRef, allow_unverified: bool = False) -> Path:
    """A verified file that a deployment names."""
    return config.resolve_model_file(file, allow_unverified=allow_unverified)


def recorded(model: ModelConfig, allow_unverified: bool = False) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The files of inputs and outputs that the deployment names for validation."""
    graph, fetch = subgraph(model), functools.partial(config.resolve_model_file, allow_unverified=allow_unverified)
    return tuple(map(fetch, graph.validation_inputs_data)), tuple(map(fetch, graph.validation_outputs_data))


def imported(deployment: Deployment, model: ModelConfig, options: Options) -> tuple[Path, ImportedModel]:
    """The verified file of a model, and its graph under the names that users see."""
    file, weights = model_files(model, options.allow_unverified)
    own = frames.without(model)
    request = import_request(own, file, weights, registry(deployment.op_paths))
    found = import_model(model.platform, replace(request, trust_model_code=options.trust_model_code))
    name_borders(found.graph, own)
    frames.put_before(found.graph, model)
    return file, found


def import_request(
    model: ModelConfig, file: Path, weights: Path | None, operators: Mapping[str, type[Operator]]
) -> ImportRequest:
    """Which part of which file to import."""
    graph = subgraph(model)
    return ImportRequest(
        name=model.identifier,
        model_file=file,
        weight_file=weights,
        inputs=tuple(_tensor_request(tensor) for tensor in graph.inputs),
        outputs=tuple(_tensor_request(tensor) for tensor in graph.outputs),
        operators=operators,
    )


def _tensor_request(tensor: TensorConfig) -> TensorRequest:
    return TensorRequest(
        name=tensor.name,
        shape=tensor.shape,
        data_format=tensor.data_format,
        dtype=DTYPES.get(tensor.data_type),
        real=True,
        where=tensor.shape_where,
        name_where=tensor.where,
    )


def name_borders(graph: Graph, model: ModelConfig) -> None:
    """Give the graph's inputs and outputs the names that users see; the names of the source stay known."""
    borders = subgraph(model)
    pairs = [*zip(graph.inputs, borders.inputs, strict=True), *zip(graph.outputs, borders.outputs, strict=True)]
    wanted = {tensor.alias for _, tensor in pairs if tensor.alias != tensor.name}
    for value in graph.values():
        if value.name in wanted:
            value.name = graph.fresh_name(value.name)
    for value, tensor in pairs:
        if tensor.alias != tensor.name:
            value.name = tensor.alias


def source_names(model: ModelConfig) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the inputs and outputs of a model are called in its source."""
    borders = subgraph(model)
    return tuple(tensor.name for tensor in borders.inputs), tuple(tensor.name for tensor in borders.outputs)
