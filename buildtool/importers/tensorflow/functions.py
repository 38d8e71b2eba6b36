"""Makes one flat list of nodes out of a graph: functions stand where they are called.

Nodes name the tensors that they read `node`, `node:1`; within functions also `node:output:1`, by the name that an
output has where its operator is defined. Both become pairs here: the node, and which of its outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.tensorflow.tensors import DAMAGED
from buildtool.ir.operator import Array
from buildtool.schemas import tensorflow_graph_pb2 as pb

#: An output of a node.
Ref: TypeAlias = tuple[str, int]
_MOST_NODES = 50_000
_DEEPEST = 64
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall", "RemoteCall"})
#: Operators with outputs of several names, where they are defined; those of one name need no entry.
_OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "CombinedNonMaxSuppression": ("nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"),
    "FusedBatchNorm": ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"),
    "FusedBatchNormV2": ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"),
    "FusedBatchNormV3": ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"),
    "MaxPoolWithArgmax": ("output", "argmax"),
    "Merge": ("output", "value_index"),
    "NonMaxSuppressionV4": ("selected_indices", "valid_outputs"),
    "NonMaxSuppressionV5": ("selected_indices", "selected_scores", "valid_outputs"),
    "Switch": ("output_false", "output_true"),
    "TensorArrayV3": ("handle", "flow"),
    "TensorListPopBack": ("output_handle", "tensor"),
    "TopKV2": ("values", "indices"),
}


@dataclass(frozen=True)
class FlatBody:
    """A function, or the body of a loop, as a graph of its own: its inputs are named like nodes."""

    inputs: tuple[str, ...]
    outputs: tuple[Ref, ...]
    nodes: tuple[FlatNode, ...]


@dataclass(frozen=True, eq=False)
class FlatNode:
    """A node outside of all functions. What it reads is what makes it, through calls."""

    name: str
    op: str
    inputs: tuple[Ref, ...]
    controls: tuple[str, ...]  # the nodes that have to run before
    attr: Mapping[str, pb.AttrValue]
    content: Callable[[], Array] | None = None  # of a variable
    bodies: Mapping[str, FlatBody] = field(default_factory=dict)  # of a loop that is no function


class Functions:
    """The functions of a model, and the nodes that they have been written out to so far."""

    def __init__(self, library: pb.FunctionDefLibrary, where: Where) -> None:
        self._functions = {function.signature.name: function for function in library.function}
        self._where = where
        self._count = 0

    def flat(self, nodes: Iterable[pb.NodeDef]) -> tuple[tuple[FlatNode, ...], Callable[[Ref], Ref]]:
        """The nodes of the main graph, and what tells what makes an output of a call."""
        work = _Flattening(self, "", {}, ())
        work.add(nodes)
        return work.resolved(), work.found

    def body(self, name: str, prefix: str, where: Where) -> FlatBody:
        """A function whose nodes are named under `prefix`."""
        function = self.named(name, where)
        inputs = tuple(f"{prefix}{argument.name}" for argument in function.signature.input_arg)
        given = {argument.name: (f"{prefix}{argument.name}", 0) for argument in function.signature.input_arg}
        work = _Flattening(self, prefix, given, (name,))
        work.add(function.node_def)
        outputs = tuple(work.found(ref) for ref in work.results(function))
        return FlatBody(inputs, outputs, work.resolved())

    def is_call(self, node: pb.NodeDef) -> bool:
        """Whether a function replaces a node."""
        return node.op in _CALLS or node.op in self._functions

    def outputs_of(self, op: str) -> tuple[str, ...]:
        """The names of the outputs of a function or operator, where they are needed to tell them apart."""
        if op in self._functions:
            return tuple(argument.name for argument in self._functions[op].signature.output_arg)
        return _OUTPUTS.get(op, ())

    def named(self, name: str, where: Where) -> pb.FunctionDef:
        if name not in self._functions:
            raise ModelFileError(f"the function '{name}' is missing", where=where, remedy=DAMAGED)
        return self._functions[name]

    def at(self, node: str) -> Where:
        return Where(self._where.file, model=self._where.model, node=node)

    def counted(self, node: str) -> None:
        """Called for each node that is written out: functions that call others twice grow without end."""
        self._count += 1
        if self._count > _MOST_NODES:
            raise UnsupportedError(
                f"the functions of the model are more than {_MOST_NODES} nodes where they are written out",
                where=self.at(node),
                remedy="save a part of the model, or fewer repetitions",
            )


class _Flattening:
    """One graph that is being written out. `given`: what the arguments are; `around`: the functions that it is in."""

    def __init__(self, functions: Functions, prefix: str, given: Mapping[str, Ref], around: Sequence[str]) -> None:
        self._functions = functions
        self._prefix = prefix
        self._given = given
        self._around = tuple(around)
        self._kinds: dict[str, tuple[str, ...]] = {}  # the names of outputs of this graph's nodes, by the node
        self._same: dict[Ref, Ref] = {}  # outputs of calls, and what makes them
        self._nodes: list[FlatNode] = []

    def add(self, nodes: Iterable[pb.NodeDef]) -> None:
        listed = list(nodes)
        for node in listed:
            self._kinds[node.name] = self._functions.outputs_of(node.op)
        for node in listed:
            self._functions.counted(node.name)
            inputs = tuple(self._ref(text, node.name) for text in node.input if not text.startswith("^"))
            if self._functions.is_call(node):
                self._call(node, inputs)
            else:
                controls = tuple(self._prefix + text[1:] for text in node.input if text.startswith("^"))
                self._nodes.append(FlatNode(self._prefix + node.name, node.op, inputs, controls, node.attr))

    def results(self, function: pb.FunctionDef) -> list[Ref]:
        """What a function gives, in the order of its signature."""
        name = function.signature.name
        refs = []
        for argument in function.signature.output_arg:
            if argument.name not in function.ret:
                raise ModelFileError(
                    f"the function '{name}' does not say what its result '{argument.name}' is",
                    where=self._functions.at(name),
                    remedy=DAMAGED,
                )
            refs.append(self._ref(function.ret[argument.name], name))
        return refs

    def resolved(self) -> tuple[FlatNode, ...]:
        """All nodes, with calls seen through."""
        return tuple(replace(node, inputs=tuple(self.found(ref) for ref in node.inputs)) for node in self._nodes)

    def found(self, ref: Ref) -> Ref:
        """What makes a tensor."""
        seen = set()
        while ref in self._same:
            if ref in seen:
                raise ModelFileError("calls wait for each other", where=self._functions.at(ref[0]), remedy=DAMAGED)
            seen.add(ref)
            ref = self._same[ref]
        return ref

    def _call(self, node: pb.NodeDef, inputs: Sequence[Ref]) -> None:
        name = node.attr["f"].func.name if node.op in _CALLS else node.op
        where = self._functions.at(self._prefix + node.name)
        function = self._functions.named(name, where)
        arguments = function.signature.input_arg
        if name in self._around or len(self._around) >= _DEEPEST:
            raise UnsupportedError(
                f"the function '{name}' calls itself" if name in self._around else "calls within calls within calls",
                where=where,
                rule=f"functions are written out where they are called, at most {_DEEPEST} levels deep",
            )
        if len(arguments) != len(inputs) or any(item.number_attr or item.type_list_attr for item in arguments):
            raise ModelFileError(
                f"the function '{name}' has {len(arguments)} arguments and gets {len(inputs)}",
                where=where,
                remedy=DAMAGED,
            )
        given = {argument.name: ref for argument, ref in zip(arguments, inputs, strict=True)}
        inner = _Flattening(self._functions, f"{self._prefix}{node.name}/", given, (*self._around, name))
        inner._same, inner._nodes = self._same, self._nodes  # expanded nodes are in one list
        inner.add(function.node_def)
        for number, ref in enumerate(inner.results(function)):
            self._same[self._prefix + node.name, number] = ref

    def _ref(self, text: str, reader: str) -> Ref:
        """`node`, `node:1`, `node:output:1` or an argument."""
        node, _, rest = text.partition(":")
        name, _, number = rest.rpartition(":")
        if (not number.isdecimal() and (number or rest)) or len(number) > 6:
            raise ModelFileError(
                f"it reads '{text}', which names no tensor", where=self._functions.at(reader), remedy=DAMAGED
            )
        if node in self._given and node not in self._kinds:
            return self._given[node]
        offset = 0
        kinds = self._kinds.get(node, ())
        if name in kinds:
            offset = kinds.index(name)
        return self._prefix + node, offset + int(number or 0)
