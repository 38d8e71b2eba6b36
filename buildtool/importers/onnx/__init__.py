"""The importer of ONNX models: reading, checking, shape arithmetic and one handler per operator."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from buildtool.errors import GraphError, ModelFileError, UnsupportedError, Where
from buildtool.importers.onnx import registry  # the module: the package `handlers` takes the function's name here
from buildtool.importers.onnx.borders import Borders
from buildtool.importers.onnx.builder import Builder
from buildtool.importers.onnx.conversion import Conversion
from buildtool.importers.onnx.model import SourceModel, SourceNode
from buildtool.importers.onnx.order import needed_for
from buildtool.importers.onnx.reading import read
from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from buildtool.ir.dims import symbols
from buildtool.ir.graph import Graph
from buildtool.ir.verify import verify

__all__ = ["import_model", "supported_operators"]


def supported_operators() -> tuple[str, ...]:
    """The ONNX operators that can be imported; some only where their inputs are known at build time."""
    return tuple(sorted({*registry.handlers(), *registry.evaluators()}))


def import_model(request: ImportRequest) -> ImportedModel:
    """The graph of an ONNX file, with the inputs and outputs that the request names."""
    if request.weight_file is not None:
        raise UnsupportedError(
            "ONNX models have no weight file of their own",
            where=Where(file=str(request.model_file), model=request.name),
            remedy="remove weight_file_path; external data is found beside the model",
        )
    model = read(request.model_file, request.name)
    named = [tensor.name for tensor in (*request.inputs, *request.outputs)]
    graph = Graph(name=request.name, _counter=_first_free_number([*named, *model.inputs, *model.outputs]))
    builder = Builder(graph, request.operators, model.where)
    borders = Borders(model, builder)
    inputs = borders.requests(request.inputs, model.inputs)
    outputs = borders.requests(request.outputs, model.outputs)
    nodes = needed_for(model.nodes, [tensor.name for tensor in outputs], [tensor.name for tensor in inputs])
    _check_complete(model, inputs, nodes)
    conversion = Conversion(model, builder)
    input_formats = []
    for tensor in inputs:
        conversion.tensors[tensor.name], order = borders.add_input(tensor)
        input_formats.append(order)
    conversion.run(nodes)
    output_formats = [borders.add_output(tensor, conversion.tensors[tensor.name]) for tensor in outputs]
    _drop_unused_symbols(graph)
    _verify(graph, model.where)
    borders_in_order = zip((*inputs, *outputs), (*graph.inputs, *graph.outputs), strict=True)
    source_formats = {item.name: borders.native_order(item.name, value.type.rank) for item, value in borders_in_order}
    return ImportedModel(graph, "onnx", len(model.nodes), tuple(input_formats), tuple(output_formats), source_formats)


def _drop_unused_symbols(graph: Graph) -> None:
    """Those of parts that came to nothing."""
    used = {item for node in graph.walk() for item in node.op.used_symbols()}
    used.update(item for value in graph.values() for dim in value.type.shape for item in symbols(dim))
    graph.symbols = {name: item for name, item in graph.symbols.items() if item in used}


def _verify(graph: Graph, where: Where) -> None:
    """What the single operators let pass may still break a rule of graphs (ranks, sizes): the model's fault."""
    try:
        verify(graph)
    except GraphError as problem:
        raise ModelFileError(
            [replace(one, where=replace(one.where, file=where.file, model=where.model)) for one in problem.problems]
        ) from problem


def _check_complete(model: SourceModel, inputs: Sequence[TensorRequest], nodes: Iterable[SourceNode]) -> None:
    """ModelFileError where the outputs depend on inputs of the model that the request does not name."""
    given = {tensor.name for tensor in inputs}
    read_by_nodes = {name for node in nodes for name in node.reads}
    missing = sorted(read_by_nodes & (model.inputs.keys() - given))
    if missing:
        raise ModelFileError(
            f"the outputs also depend on the input{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            where=inputs[0].where if inputs else model.where,
            rule="input_tensors names everything that the outputs depend on",
            remedy="add what is missing to input_tensors",
        )


def _first_free_number(names: Iterable[str]) -> int:
    """Above every number that a declared name ends with, so that no made-up name is the same as a declared one."""
    endings = (re.search(r"\.(\d{1,18})$", name) for name in names)
    return max((int(ending.group(1)) for ending in endings if ending), default=0)
