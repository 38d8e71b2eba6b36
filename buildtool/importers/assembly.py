"""From what a framework's reader has read to the graph: its part between the inputs and outputs that are asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from buildtool.errors import GraphError, ModelFileError, Problem, UnsupportedError, Where
from buildtool.importers.borders import Borders
from buildtool.importers.builder import Builder
from buildtool.importers.conversion import Conversion
from buildtool.importers.largest_sizes import check_largest_sizes
from buildtool.importers.model import SourceModel, SourceNode
from buildtool.importers.order import needed_for
from buildtool.importers.outline import outline
from buildtool.importers.registry import Registry
from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from buildtool.ir.dims import symbols
from buildtool.ir.graph import Graph
from buildtool.ir.verify import verify

Made = TypeVar("Made")


def assemble(model: SourceModel, registry: Registry, request: ImportRequest) -> ImportedModel:
    """The graph of a model, made by the handlers of its framework. LatheError for all that is in the way."""
    named = [tensor.name for tensor in (*request.inputs, *request.outputs)]
    graph = Graph(name=request.name, _counter=_first_free_number([*named, *model.inputs, *model.outputs]))
    builder = Builder(graph, request.operators, model.where)
    borders = Borders(model, builder)
    borders.check_names(request.inputs, request.outputs)
    inputs = borders.requests(request.inputs, model.inputs)
    outputs = borders.requests(request.outputs, model.outputs)
    nodes = needed_for(model.nodes, [tensor.name for tensor in outputs], [tensor.name for tensor in inputs])
    _check_complete(model, inputs, nodes)
    conversion = Conversion(model, registry, builder)
    added = _for_all(borders.add_input, inputs)
    input_formats = tuple(order for _, order in added)
    conversion.tensors.update((tensor.name, value) for tensor, (value, _) in zip(inputs, added, strict=True))
    conversion.run(nodes)
    _check_made(outputs, conversion)
    output_formats = _for_all(lambda tensor: borders.add_output(tensor, conversion.tensors[tensor.name]), outputs)
    _drop_unused_symbols(graph)
    _verify(graph, model.where)
    constants = {item.value: name for name, item in conversion.tensors.items() if item.value is not None}
    check_largest_sizes(graph, constants, model.where)
    borders_in_order = zip((*inputs, *outputs), (*graph.inputs, *graph.outputs), strict=True)
    orders = {item.name: borders.native_order(item.name, value.type.rank) for item, value in borders_in_order}
    told = outline(model)
    return ImportedModel(graph, registry.platform, len(model.nodes), input_formats, output_formats, orders, told)


def _for_all(make: Callable[[TensorRequest], Made], tensors: Iterable[TensorRequest]) -> tuple[Made, ...]:
    """What is made of each tensor. ModelFileError with the problems of all of them."""
    made: list[Made] = []
    problems: list[Problem] = []
    for tensor in tensors:
        try:
            made.append(make(tensor))
        except ModelFileError as error:
            problems += error.problems
    if problems:
        raise ModelFileError(problems)
    return tuple(made)


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
            remedy="add the missing ones to input_tensors",
        )


def _check_made(outputs: Iterable[TensorRequest], conversion: Conversion) -> None:
    """UnsupportedError for outputs of nodes that have more outputs in the model than in the graph."""
    for tensor in outputs:
        if tensor.name not in conversion.tensors:
            raise UnsupportedError(
                f"'{tensor.name}' is an output of a node that is imported without it",
                where=tensor.where,
                remedy="name other output_tensors",
            )


def _first_free_number(names: Iterable[str]) -> int:
    """Above every number that a declared name ends with, so that no made-up name is the same as a declared one."""
    endings = (re.search(r"\.(\d{1,18})$", name) for name in names)
    return max((int(ending.group(1)) for ending in endings if ending), default=0)
