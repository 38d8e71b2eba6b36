"""The way through a graph, node by node, and the model that comes out.

Spatial operators have their channels last in the graph and first in ONNX. No transpose is written where an operator
needs one: a value is kept in the order in which it was made, and turned when somebody needs another. An operator that
can work in the order in which its operands are there does so, and transposes of the graph only change what an order
is called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from onnx import ModelProto, ValueInfoProto, helper

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.exporters.onnx.elements import code
from buildtool.exporters.onnx.errors import NotExportableError
from buildtool.exporters.onnx.forms import Forms
from buildtool.exporters.onnx.orders import Order, channels_first, plain
from buildtool.exporters.onnx.registry import handlers, wants_channels_first
from buildtool.exporters.onnx.sizes import Sizes
from buildtool.exporters.onnx.step import Step
from buildtool.exporters.onnx.writer import OnnxBody, OnnxNode, Writer
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.operator import Operator
from buildtool.ir.quantised import is_quantised
from buildtool.ir.types import DType, TensorType
from buildtool.ops.transpose import Transpose

_LARGEST = 2**31 - 2**20  # bytes: protobuf has an end at 2 GiB, and names and nodes need some
_LOOKS_AHEAD = 6  # nodes


@dataclass(frozen=True)
class Exported:
    """A model file and what is in it."""

    content: bytes
    opset: int
    operators: Mapping[str, int]  # how many nodes of each

    @property
    def nodes(self) -> int:
        return sum(self.operators.values())


@dataclass(frozen=True)
class ExportRequest:
    """A graph, and what its inputs and outputs are called in the model where not as in the graph."""

    graph: Graph
    input_names: Sequence[str] = ()
    output_names: Sequence[str] = ()


def export_models(requests: Sequence[ExportRequest], version: str = "") -> tuple[Exported, ...]:
    """Several graphs. The nodes of all of them that have no counterpart are reported together."""
    found: list[Exported] = []
    unsupported: list[Problem] = []
    for request in requests:
        try:
            found.append(
                export(
                    request.graph,
                    input_names=request.input_names,
                    output_names=request.output_names,
                    version=version,
                )
            )
        except UnsupportedError as error:
            unsupported.extend(error.problems)
    if unsupported:
        raise UnsupportedError(unsupported)
    return tuple(found)


def export(
    graph: Graph,
    *,
    input_names: Sequence[str] = (),
    output_names: Sequence[str] = (),
    version: str = "",
) -> Exported:
    """The graph as an ONNX model. UnsupportedError lists all nodes that have no counterpart there.

    `input_names` and `output_names`: what its inputs and outputs are called in the model, where not as in the graph.
    """
    names = dict(zip(graph.inputs, input_names or [value.name for value in graph.inputs], strict=True))
    wanted = list(output_names) or [value.name for value in graph.outputs]
    _check_names(graph, [*names.values(), *wanted])
    exporter = _Exporter(graph, Writer([*names.values(), *wanted]))
    exporter.writer.has_bf16 = any(value.type.dtype is DType.BF16 for value in graph.values())
    for value, name in names.items():
        exporter.forms.give(value, plain(value.type.rank), name)
    exporter.write_nodes()
    exporter.name_outputs(wanted, set(names.values()))
    return exporter.finished(names, wanted, version)


def _check_names(graph: Graph, names: Sequence[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UnsupportedError(
            f"two inputs or outputs of the model are called '{twice[0]}'",
            where=Where(model=graph.name),
            remedy="remove one of them from the deployment file",
        )


@dataclass
class _Exporter:
    graph: Graph
    writer: Writer
    sizes: Sizes = field(init=False)
    forms: Forms = field(init=False)

    def __post_init__(self) -> None:
        self.sizes = Sizes(self.writer)
        self.forms = Forms(self.writer, self.sizes)
        self._makers = self.graph.producers()
        self._users = self.graph.users()
        self._wish: dict[Value, bool] = {}

    # -- nodes -------------------------------------------------------------------------------------------------------
    def write_nodes(self) -> None:
        problems: list[Problem] = []
        lost: set[Value] = set()
        known = handlers()
        for node in self.graph.nodes:
            if lost.intersection(node.inputs):  # the reason has been told
                lost.update(node.outputs)
                continue
            self.writer.source = node.name
            try:
                if node.op.name not in known:
                    raise NotExportableError(_without_handler(node))
                if is_quantised(node):
                    raise NotExportableError("it computes with quantised integers; export the floating-point model")
                known[node.op.name](self._step(node))
            except NotExportableError as reason:
                lost.update(node.outputs)
                where = Where(model=self.graph.name, node=node.name)
                problems.append(Problem(f"{node.op.name} cannot be written as ONNX: {reason}", where))
        if problems:
            raise UnsupportedError(problems)

    def _step(self, node: Node) -> Step:
        order, op = self._chosen(node)
        wish = any(self._wishes(value, _LOOKS_AHEAD) for value in node.outputs)
        return Step(node, op, order, self.writer, self.sizes, self.forms, self._makers, wish, self._body)

    def _body(self, region: Region, loops: bool) -> OnnxBody:
        """A region. Its results are made inside, even where the region only hands something on."""
        with self.writer.inside() as nodes, self.sizes.inside(), self.forms.inside():
            inputs = self._body_inputs(region, loops)
            for node in region.nodes:
                if node.op.name not in handlers():
                    raise NotExportableError(f"in its region, {node.op.name}: {_without_handler(node)}")
                handlers()[node.op.name](self._step(node))
            outputs: list[str] = []
            results: list[ValueInfoProto] = []
            for index, value in enumerate(region.outputs):
                shape = () if loops and not index else value.type.shape
                there = self.forms.name(value)
                if shape != value.type.shape:
                    there = self.writer.reshaped(there, (), value.name)
                made = any(there in node.outputs for node in nodes)
                if not made or there in outputs:
                    (there,) = self.writer.emit("Identity", [there], value.name)
                outputs.append(there)
                results.append(_info(there, value.type.with_shape(shape)))
        return OnnxBody(inputs, outputs, results, nodes)

    def _body_inputs(self, region: Region, loops: bool) -> list[ValueInfoProto]:
        """Behind the number of the iteration a loop has its condition, which the regions of the graph do not read."""
        infos: list[ValueInfoProto] = []
        for index, value in enumerate(region.inputs):
            name = self.writer.fresh(value.name)
            if loops and not index:
                condition = self.writer.fresh("goes_on")
                infos.append(_info(name, TensorType(value.type.dtype, ())))
                infos.append(_info(condition, TensorType(DType.BOOL, ())))
                shape = [dim for dim in value.type.shape if isinstance(dim, int)]
                name = self.writer.reshaped(name, shape, value.name) if shape else name
            else:
                infos.append(_info(name, value.type))
            self.forms.give(value, plain(value.type.rank), name)
        return infos

    def _chosen(self, node: Node) -> tuple[Order, Operator]:
        """The order that costs the fewest transposes, and the operator that works in it."""
        rank = max((value.type.rank for value in node.inputs), default=0)
        usual = plain(rank)
        operands = [value for value in node.inputs if value.type.rank == rank and value.constant is None]
        choices: dict[Order, Operator] = {usual: node.op}
        if all(value.type.rank == rank for value in node.outputs):
            for order in (order for value in operands for order in self.forms.orders(value)):
                other = node.op.transposed(order, [value.type for value in node.inputs]) if order != usual else None
                if other is not None:
                    choices[order] = other

        def cost(order: Order) -> tuple[int, bool]:
            missing = sum(self.forms.cost(value, order) for value in operands)
            wish = any(self._wishes(value, _LOOKS_AHEAD) for value in node.outputs)
            return missing, (order == channels_first(rank)) != wish

        best = min(choices, key=cost)
        return best, choices[best]

    def _wishes(self, value: Value, depth: int) -> bool:
        """Whether somebody behind this value would like it with the channels first."""
        if value not in self._wish:
            self._wish[value] = False
            for node in self._users.get(value, []):
                direct = _wants_channels_first(node) and node.inputs[0] is value
                through = depth > 0 and node.op.is_elementwise
                if direct or (through and any(self._wishes(output, depth - 1) for output in node.outputs)):
                    self._wish[value] = True
        return self._wish[value]

    # -- the model ---------------------------------------------------------------------------------------------------
    def name_outputs(self, wanted: Sequence[str], inputs: set[str]) -> None:
        taken = set(inputs)
        for value in self.graph.outputs:
            self.forms.name(value)  # before anything has a new name
        for value, name in zip(self.graph.outputs, wanted, strict=True):
            there = self.forms.name(value)
            if there in taken or self.writer.array(there) is not None:
                self.writer.nodes.append(OnnxNode("Identity", [there], [name]))
            else:
                self.writer.rename(there, name)
                self.forms.renamed(there, name)
            taken.add(name)

    def finished(self, names: Mapping[Value, str], wanted: Sequence[str], version: str) -> Exported:
        self.writer.clean(wanted)
        if self.writer.constant_bytes() > _LARGEST:
            raise UnsupportedError(
                f"the weights take {self.writer.constant_bytes()} bytes",
                where=Where(model=self.graph.name),
                rule="an ONNX file without external data has less than 2 GiB",
                remedy="build a library instead, or split the model",
            )
        opset = self.writer.opset()
        onnx_graph = helper.make_graph(
            self.writer.node_protos(),
            self.graph.name,
            [_info(name, value.type) for value, name in names.items()],
            [_info(name, value.type) for value, name in zip(self.graph.outputs, wanted, strict=True)],
            initializer=self.writer.tensor_protos(),
        )
        model: ModelProto = helper.make_model(
            onnx_graph,
            opset_imports=self.writer.opset_imports(),
            ir_version=helper.find_min_ir_version_for([helper.make_opsetid("", opset)]),
            producer_name="lathe",
            producer_version=version,
        )
        for symbol in self.graph.symbols.values():
            if any(f"{symbol.name}" == str(dim) for value in names for dim in value.type.shape):
                model.metadata_props.add(key=f"lathe.bounds.{symbol.name}", value=f"{symbol.low}..{symbol.high}")
        return Exported(model.SerializeToString(deterministic=True), opset, self.writer.counts())


def _wants_channels_first(node: Node) -> bool:
    if isinstance(node.op, Transpose):
        return node.op.perm == channels_first(len(node.op.perm))
    return wants_channels_first(node.op.name)


def _without_handler(node: Node) -> str:
    if node.regions:
        return "regions of this kind are not supported yet"
    return "your own operators are not defined in ONNX"


def _info(name: str, type_: TensorType) -> ValueInfoProto:
    """Sizes of run time go by the names of their symbols; computed ones by their expression."""
    shape: list[int | str] = [dim if isinstance(dim, int) else str(dim) for dim in type_.shape]
    return helper.make_tensor_value_info(name, code(type_.dtype), shape)
