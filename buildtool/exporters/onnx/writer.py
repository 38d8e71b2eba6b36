"""The ONNX graph under construction: nodes, constants, unique names."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, OperatorSetIdProto, TensorProto, ValueInfoProto, helper

from buildtool.exporters.onnx.elements import tensor
from buildtool.exporters.onnx.orders import Order, plain
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, dtype_of

#: Operators that came after the operator set which all models start from, and the set that brought them.
OLDEST_OPSET = 21
_OF_BF16 = 22  # the set in which most operators learnt bf16
MICROSOFT = "com.microsoft"
_MICROSOFT_OPSET = 1
_SINCE = {"RMSNormalization": 23, "TensorScatter": 24, "CumProd": 26, "BitCast": 26}
_SHARED_BELOW = 64  # elements; equal constants of fewer are one


@dataclass
class OnnxNode:
    """A node whose names may still change. Inputs that are left out are empty."""

    op: str
    inputs: list[str]
    outputs: list[str]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    domain: str = ""
    bodies: Mapping[str, OnnxBody] = field(default_factory=dict)  # by the attribute that holds them


@dataclass
class OnnxBody:
    """What a node with a body does: it may read what stands around the node."""

    inputs: list[ValueInfoProto]
    outputs: list[str]
    results: list[ValueInfoProto]  # the types of the outputs
    nodes: list[OnnxNode]

    def named_results(self) -> list[ValueInfoProto]:
        """The outputs with their types, under the names that they have in the end."""
        for info, name in zip(self.results, self.outputs, strict=True):
            info.name = name
        return self.results


class Writer:
    """Collects nodes and constants."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self.nodes: list[OnnxNode] = []
        self.source = ""  # the name of the graph's node that is being written
        self._taken = set(reserved)
        self._constants: dict[str, tuple[Array, DType]] = {}
        self._shared: dict[tuple[DType, tuple[int, ...], bytes], str] = {}
        self._counts: dict[str, int] = {}
        self.has_bf16 = False

    def fresh(self, hint: str) -> str:
        """A name that nothing else has."""
        name = hint
        while name in self._taken:
            self._counts[hint] = self._counts.get(hint, 0) + 1
            name = f"{hint}.{self._counts[hint]}"
        self._taken.add(name)
        return name

    def emit(
        self,
        op: str,
        inputs: Sequence[str],
        hint: str,
        count: int = 1,
        domain: str = "",
        bodies: Mapping[str, OnnxBody] | None = None,
        **attributes: Any,
    ) -> list[str]:
        """Appends a node and gives the names of its outputs. Attributes of None are left out."""
        operands = list(inputs)
        while operands and not operands[-1]:
            operands.pop()
        outputs = [self.fresh(hint) for _ in range(count)]
        shown = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(OnnxNode(op, operands, outputs, shown, self.source, domain, bodies or {}))
        return outputs

    @contextlib.contextmanager
    def inside(self) -> Iterator[list[OnnxNode]]:
        """What is emitted meanwhile goes into a list of its own: the body of a node. Constants stay outside."""
        outer, self.nodes = self.nodes, []
        try:
            yield self.nodes
        finally:
            self.nodes = outer

    # -- constants ---------------------------------------------------------------------------------------------------
    def constant(self, array: Array, dtype: DType | None = None, hint: str = "constant") -> str:
        """The name of a constant; small ones that are equal are one."""
        dtype = dtype or dtype_of(array)
        key = (dtype, array.shape, array.tobytes()) if array.size < _SHARED_BELOW else None
        if key is not None and key in self._shared:
            return self._shared[key]
        name = self.fresh(hint)
        self._constants[name] = (array, dtype)
        if key is not None:
            self._shared[key] = name
        return name

    def array(self, name: str) -> Array | None:
        """The content of a constant; None where the name is of something else."""
        return self._constants[name][0] if name in self._constants else None

    def integers(self, numbers: Sequence[int]) -> str:
        return self.constant(np.array(numbers, np.int64).reshape(len(numbers)), hint="integers")

    def transposed(self, name: str, perm: Order, hint: str) -> str:
        """A value in another order; constants are turned at once."""
        if perm == plain(len(perm)):
            return name
        if name in self._constants:
            array, dtype = self._constants[name]
            return self.constant(np.ascontiguousarray(array.transpose(perm)), dtype, hint)
        return self.emit("Transpose", [name], hint, perm=list(perm))[0]

    def reshaped(self, name: str, shape: Sequence[int], hint: str) -> str:
        """A value in a shape of known numbers; at most one is -1 and told by the others."""
        if name in self._constants:
            array, dtype = self._constants[name]
            return self.constant(array.reshape(shape), dtype, hint)
        allow = 1 if 0 in shape else None
        return self.emit("Reshape", [name, self.integers(shape)], hint, allowzero=allow)[0]

    def joined(self, names: Sequence[str], axis: int, hint: str) -> str:
        """Values one behind the other; constants are joined at once."""
        found = [self._constants.get(name) for name in names]
        known = [item for item in found if item is not None]
        if len(names) == 1:
            return names[0]
        if len(known) == len(names):
            return self.constant(np.concatenate([array for array, _ in known], axis), known[0][1], hint)
        return self.emit("Concat", names, hint, axis=axis)[0]

    # -- the end -----------------------------------------------------------------------------------------------------
    def rename(self, old: str, new: str) -> None:
        """What is called `old` is called `new` from now on, everywhere."""
        for node in _walk(self.nodes):
            node.inputs = [new if name == old else name for name in node.inputs]
            node.outputs = [new if name == old else name for name in node.outputs]
            for body in node.bodies.values():
                body.outputs = [new if name == old else name for name in body.outputs]

    def clean(self, wanted: Sequence[str]) -> None:
        """Removes what `wanted` does not need, and reshapes whose only reader is another reshape."""
        needed = set(wanted)
        self.nodes = self._needed(self.nodes, needed)
        self._constants = {name: item for name, item in self._constants.items() if name in needed}

    def _needed(self, nodes: Sequence[OnnxNode], needed: set[str]) -> list[OnnxNode]:
        """The nodes that make something needed; adds to it what they read."""
        self._merge_reshapes(nodes, needed)
        kept = []
        for node in reversed(nodes):
            if not needed.intersection(node.outputs):
                continue
            needed.update(node.inputs)
            for body in node.bodies.values():
                needed.update(body.outputs)
                body.nodes = self._needed(body.nodes, needed)
            kept.append(node)
        return kept[::-1]

    def _merge_reshapes(self, nodes: Sequence[OnnxNode], wanted: set[str]) -> None:
        made = {node.outputs[0]: node for node in nodes if node.op == "Reshape"}
        for node in nodes:
            before = made.get(node.inputs[0]) if node.op == "Reshape" else None
            shape = self.array(node.inputs[1]) if before is not None else None
            # A 0 takes a size over from the shape between.
            if before is not None and shape is not None and 0 not in shape and before.outputs[0] not in wanted:
                node.inputs[0] = before.inputs[0]

    def constant_bytes(self) -> int:
        return sum(array.size * dtype.itemsize for array, dtype in self._constants.values())

    def opset(self) -> int:
        """The oldest operator set, from OLDEST_OPSET on, that has all operators."""
        least = _OF_BF16 if self.has_bf16 else OLDEST_OPSET
        return max([least, *(_SINCE.get(node.op, 0) for node in _walk(self.nodes))])

    def opset_imports(self) -> list[OperatorSetIdProto]:
        """The operator sets of the model."""
        others = {node.domain for node in _walk(self.nodes) if node.domain}
        versions = {"": self.opset()} | dict.fromkeys(sorted(others), _MICROSOFT_OPSET)
        return [helper.make_opsetid(domain, version) for domain, version in versions.items()]

    def counts(self) -> dict[str, int]:
        """How many nodes there are of each operator, those of bodies included."""
        return dict(sorted(Counter(node.op for node in _walk(self.nodes)).items()))

    def node_protos(self) -> list[NodeProto]:
        """All nodes, each with a name of its own."""
        return self._protos(self.nodes, set())

    def _protos(self, nodes: Sequence[OnnxNode], taken: set[str]) -> list[NodeProto]:
        protos = []
        for node in nodes:
            stem = name = node.name or node.op
            number = 0
            while name in taken:
                number += 1
                name = f"{stem}.{number}"
            taken.add(name)
            bodies = {
                key: helper.make_graph(
                    self._protos(body.nodes, taken), f"{name}.{key}", body.inputs, body.named_results()
                )
                for key, body in node.bodies.items()
            }
            protos.append(_proto(node, name, bodies))
        return protos

    def tensor_protos(self) -> list[TensorProto]:
        return [tensor(name, array, dtype) for name, (array, dtype) in self._constants.items()]


def _proto(node: OnnxNode, name: str, bodies: Mapping[str, GraphProto]) -> NodeProto:
    attributes = {**node.attributes, **bodies}
    return helper.make_node(node.op, node.inputs, node.outputs, name, domain=node.domain or None, **attributes)


def _walk(nodes: Iterable[OnnxNode]) -> Iterator[OnnxNode]:
    """All nodes, those of bodies included."""
    for node in nodes:
        yield node
        for body in node.bodies.values():
            yield from _walk(body.nodes)
