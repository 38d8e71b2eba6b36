"""Reads a frozen graph or a SavedModel into a `SourceModel`. Every promise of the formats is checked here, once.

Tensors are called as their nodes, from the second output on with its number: `node:1`. Where somebody asks for
`node:0`, the tensor has that name. A SavedModel's inputs and outputs have the names of its signature.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.complex_parts import with_parts
from buildtool.importers.model import SourceBody, SourceModel, SourceNode, SourceTensor
from buildtool.importers.order import check_names, in_execution_order
from buildtool.importers.tensorflow.attributes import attributes_of
from buildtool.importers.tensorflow.complex_operators import COMPLEX, titled
from buildtool.importers.tensorflow.dilations import with_dilations
from buildtool.importers.tensorflow.files import Loaded, load
from buildtool.importers.tensorflow.frames import without_frames
from buildtool.importers.tensorflow.freezing import frozen
from buildtool.importers.tensorflow.functions import FlatBody, FlatNode, Functions, Ref
from buildtool.importers.tensorflow.switches import without_switches
from buildtool.importers.tensorflow.tensors import DAMAGED, DTYPES, HALVES, sizes_of
from buildtool.schemas import tensorflow_graph_pb2 as pb

#: Operators that are gone when a model has been read: nothing stands for them in the graph, or others do.
READ = frozenset(
    {"Assert", "Merge", "NoOp", "PartitionedCall", "Placeholder", "PlaceholderV2", "StatefulPartitionedCall", "Switch"}
)
#: Nodes that nobody reads are outputs of a graph without a signature, but for these.
_NO_OUTPUTS = frozenset(
    {"NoOp", "Assert", "Const", "Placeholder", "PlaceholderWithDefault", "SaveV2", "Print", "PrintV2"}
)
_BODIES = ("then_branch", "else_branch", "cond", "body")


def read(file: Path, name: str, named: Collection[str]) -> SourceModel:
    """The checked content of a model. `named`: the tensors that are asked for, as they are spelled."""
    where = Where(file=str(file), model=name)
    loaded = load(file, where)
    functions = Functions(loaded.graph.library, where)
    flat, maker = functions.flat(loaded.graph.node)
    nodes = frozen(flat, loaded.variables)
    if not nodes:
        raise ModelFileError("the model has no nodes", where=where, remedy=DAMAGED)
    _check_nodes(nodes, where)
    return _Reader(functions, nodes, maker, loaded, frozenset(named), where).model()


def _check_nodes(nodes: Iterable[FlatNode], where: Where) -> None:
    seen: set[str] = set()
    for node in nodes:
        if not node.name or not node.op or node.name in seen:
            what = f"two nodes are called '{node.name}'" if node.name in seen else "a node lacks its name or operator"
            raise ModelFileError(what, where=where, rule="every node has a unique name", remedy=DAMAGED)
        seen.add(node.name)


class _Reader:
    def __init__(
        self,
        functions: Functions,
        nodes: Sequence[FlatNode],
        maker: Callable[[Ref], Ref],
        loaded: Loaded,
        named: frozenset[str],
        where: Where,
    ) -> None:
        self._functions = functions
        self._nodes = {node.name: node for node in nodes}
        self._maker = maker
        self._loaded = loaded
        self._named = named
        self._where = where
        self._spelled: dict[Ref, str] = {}  # tensors that the signature gives other names

    def model(self) -> SourceModel:
        given, results = self._inputs(), self._outputs()
        wanted = [*results.values(), *map(self._asked, self._named)]
        everything = self._nodes
        plain = without_switches(without_frames(self._needed(wanted), self._where), self._where)
        self._nodes = {node.name: node for node in plain}
        if not self._loaded.outputs:  # nodes that nobody reads: what happens inside of loops is no output
            results = {name: ref for name, ref in results.items() if ref[0] in self._nodes}
        nodes = self._needed(wanted)
        self._check_variables(nodes, everything)
        reads = _most_read(nodes, wanted)
        made = [self._node(node, reads.get(node.name, 0)) for node in nodes if node.name not in given]
        made += [self._renamed(name, ref) for name, ref in self._renames(results) if name != self._name(ref)]
        made = with_dilations(made)
        known = {*(node.name for node in nodes), *(self._asked(info.name)[0] for info in self._loaded.inputs.values())}
        inputs = {tensor.name: tensor for name, tensor in given.items() if name in known}
        outputs = {name: SourceTensor(name, None, None) for name in results}
        check_names(made, inputs, outputs, self._where, DAMAGED)
        ordered = with_parts(in_execution_order(made, self._where), COMPLEX)
        declared = {tensor.name: tensor for node in nodes for tensor in self._declared(node)}
        return SourceModel(self._where, 0, _layout(nodes), inputs, outputs, declared, {}, ordered)

    # -- borders -----------------------------------------------------------------------------------------------------
    def _inputs(self) -> dict[str, SourceTensor]:
        """The placeholders, by their nodes, in the order of the file; those of the signature first."""
        found: dict[str, SourceTensor] = {}
        for key, info in sorted(self._loaded.inputs.items()):
            placeholder, index = self._asked(info.name)
            if placeholder not in self._nodes or index:
                raise ModelFileError(f"the signature's input '{key}' is not there", where=self._where, remedy=DAMAGED)
            if key not in self._nodes and self._name((placeholder, 0)) not in self._named:
                self._spelled[placeholder, 0] = key
            found[placeholder] = self._tensor((placeholder, 0), info.dtype, info.tensor_shape)
        for node in self._nodes.values():
            if node.op in ("Placeholder", "PlaceholderV2") and node.name not in found:
                found[node.name] = self._tensor((node.name, 0), node.attr["dtype"].type, _shape_of(node))
        return found

    def _tensor(self, ref: Ref, code: int, shape: pb.TensorShapeProto | None) -> SourceTensor:
        name = self._name(ref)
        where = Where(self._where.file, model=self._where.model, value=name)
        sizes = None if shape is None else sizes_of(shape, where)
        return SourceTensor(name, DTYPES.get(code), sizes, HALVES.get(code))

    def _outputs(self) -> dict[str, Ref]:
        """What the model gives, by name."""
        if not self._loaded.outputs:
            last = {name: self._maker((name, 0)) for name in _unread(self._loaded.graph.node)}
            last = {name: ref for name, ref in last.items() if ref[0] in self._nodes}
            # A loop lets all out that changed in it, read or not.
            last = {name: ref for name, ref in last.items() if self._nodes[ref[0]].op != "Exit"} or last
            if not last and not self._named:
                raise ModelFileError("the model has no outputs", where=self._where, remedy=DAMAGED)
            return last
        results: dict[str, Ref] = {}
        for key, info in sorted(self._loaded.outputs.items()):
            ref = self._asked(info.name)
            free = key not in self._nodes and key not in self._spelled.values()
            results[key if free and self._name(ref) not in self._named else self._name(ref)] = ref
        return results

    def _asked(self, text: str) -> Ref:
        """The tensor that somebody means."""
        for ref, name in self._spelled.items():
            if name == text:
                return ref
        node, colon, number = text.rpartition(":")
        if colon and number.isdecimal() and len(number) < 7:
            return self._maker((node, int(number)))
        return self._maker((text, 0))

    def _name(self, ref: Ref) -> str:
        if ref in self._spelled:
            return self._spelled[ref]
        full = f"{ref[0]}:{ref[1]}"
        return full if ref[1] or full in self._named else ref[0]

    # -- nodes -------------------------------------------------------------------------------------------------------
    def _needed(self, wanted: Iterable[Ref]) -> list[FlatNode]:
        """The nodes that the outputs and what is asked for depend on, in the order of the file."""
        waiting, found = [ref[0] for ref in wanted], set()
        while waiting:
            name = waiting.pop()
            if name in self._nodes and name not in found:
                found.add(name)
                waiting += [ref[0] for ref in self._nodes[name].inputs]
        return [node for node in self._nodes.values() if node.name in found]

    def _check_variables(self, nodes: Iterable[FlatNode], everything: Mapping[str, FlatNode]) -> None:
        """UnsupportedError where a call that makes something assigns to a variable that the model reads."""
        read = {node.name for node in nodes}
        calls = tuple(f"{node.name}/" for node in self._loaded.graph.node if self._functions.is_call(node))
        running = tuple(call for call in calls if any(name.startswith(call) for name in read))
        for node in everything.values():
            changes = node.op.startswith("Assign") and node.op.endswith("VariableOp") and node.name.startswith(running)
            if changes and node.inputs and node.inputs[0][0] in read:
                raise UnsupportedError(
                    f"{node.op}: the model changes a variable when it runs, '{node.inputs[0][0]}'",
                    where=Where(self._where.file, model=self._where.model, node=node.name),
                    remedy="make what it remembers an input and an output of the model",
                )

    def _node(self, node: FlatNode, last: int) -> SourceNode:
        where = Where(self._where.file, model=self._where.model, node=node.name)
        attributes, unreadable = attributes_of(node.attr, where)
        if node.content is not None:
            attributes["value"] = node.content()
        return SourceNode(
            titled(node.op, attributes),
            "",
            node.name,
            tuple(self._name(ref) for ref in node.inputs),
            tuple(self._name((node.name, index)) for index in range(last + 1)),
            attributes,
            unreadable,
            self._bodies(node, where),
        )

    def _renames(self, results: Mapping[str, Ref]) -> Iterator[tuple[str, Ref]]:
        """Outputs, and what is asked for by the name of a call that makes it."""
        yield from results.items()
        for text in sorted(self._named - results.keys()):
            ref = self._asked(text)
            if ref[0] in self._nodes:
                yield text, ref

    def _renamed(self, name: str, ref: Ref) -> SourceNode:
        return SourceNode("Identity", "", name, (self._name(ref),), (name,), {})

    def _bodies(self, node: FlatNode, where: Where) -> dict[str, Callable[[], SourceBody]]:
        found: dict[str, Callable[[], SourceBody]] = {
            key: functools.partial(self._function, node.attr[key].func.name, f"{node.name}/{key}/", where)
            for key in _BODIES
            if key in node.attr and node.attr[key].WhichOneof("value") == "func"
        }
        found.update({key: functools.partial(self._body, flat, where) for key, flat in node.bodies.items()})
        return found

    def _function(self, function: str, prefix: str, where: Where) -> SourceBody:
        """A function inside of a node. It reads nothing from around it."""
        return self._body(self._functions.body(function, prefix, where), where)

    def _body(self, flat: FlatBody, where: Where) -> SourceBody:
        _check_nodes(flat.nodes, where)
        plain = without_switches(without_frames(flat.nodes, where), where)
        reads = _most_read(plain, flat.outputs)
        nodes = [self._node(node, reads.get(node.name, 0)) for node in plain]
        outputs = tuple(self._name(ref) for ref in flat.outputs)
        check_names(nodes, dict.fromkeys(flat.inputs), dict.fromkeys(outputs), self._where, DAMAGED)
        ordered = with_parts(in_execution_order(nodes, self._where), COMPLEX)
        return SourceBody(flat.inputs, outputs, {}, ordered)

    def _declared(self, node: FlatNode) -> list[SourceTensor]:
        """What the file says of the outputs of a node."""
        code = next((node.attr[key].type for key in ("DstT", "dtype", "T") if key in node.attr), 0)
        shapes = list(node.attr["_output_shapes"].list.shape) if "_output_shapes" in node.attr else []
        if node.op == "PlaceholderWithDefault":
            shapes = [node.attr["shape"].shape]
        return [self._tensor((node.name, index), code, shape) for index, shape in enumerate(shapes[:64])]


def _unread(nodes: Iterable[pb.NodeDef]) -> list[str]:
    """The nodes that no other one reads or waits for, but for those that hand on a constant: a loop has read them."""
    nodes = list(nodes)
    constants = {node.name for node in nodes if node.op == "Const"}
    nodes = [node for node in nodes if node.op != "Identity" or constants.isdisjoint(node.input[:1])]
    read = {text.lstrip("^").partition(":")[0] for node in nodes if node.op != "NoOp" for text in node.input}
    return [node.name for node in nodes if node.name not in read and node.op not in _NO_OUTPUTS]


def _shape_of(node: FlatNode) -> pb.TensorShapeProto | None:
    return node.attr["shape"].shape if "shape" in node.attr else None


def _most_read(nodes: Iterable[FlatNode], outputs: Iterable[Ref]) -> dict[str, int]:
    """The last output of each node that anybody reads."""
    last: dict[str, int] = {}
    for name, index in (*outputs, *(ref for node in nodes for ref in node.inputs)):
        last[name] = max(last.get(name, 0), index)
    return last


def _layout(nodes: Iterable[FlatNode]) -> str:
    """The order in which the model has images."""
    stated = {node.attr["data_format"].s for node in nodes if "data_format" in node.attr and node.op != "BiasAdd"}
    return "NCHW" if stated == {b"NCHW"} else "NHWC"
