"""From a torch network of the K210's layers to ONNX with ranges, and to the kmodel that `lathe build` makes of it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from buildtool.errors import ConfigError, InternalError, UnsupportedError, Where
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.graph import Graph, Node, Value
from buildtool.passes.pipeline import optimise
from buildtool.quant import range_files
from buildtool.quant.ranges import stored_as
from buildtool.targets.k210.generation.generate import Generated, generate
from buildtool.targets.k210.generation.on_kpu import Settings
from buildtool.training.kpu.joining import Add, Concat, Joined
from buildtool.training.kpu.layers import INPUT_RANGE, Conv2d, GlobalAverage, Stored

INPUT, OUTPUT = "input", "output"
_CONVOLUTIONS = ("conv2d", "dwconv2d")
_PICTURE_RANK = 4
_HEADS = (GlobalAverage, nn.Linear, nn.Flatten)
_LEAVES = (Stored, *_HEADS)
_PASSED = (nn.Identity, nn.Dropout, nn.Dropout2d)
_OPERATORS = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "hard_swish": "HardSwish"}
_ALPHA = float(np.float32(0.1))
_PART = ":"  # between the name of a layer and the number of one of its operators
_MOVES = ("transpose", "reshape")


@dataclass(frozen=True)
class Step:
    """One layer."""

    name: str
    module: Any
    sources: tuple[str, ...]  # the names of the layers that it reads, or INPUT
    shape: tuple[int, ...]  # of the result, without the batch


class _Tracer(fx.Tracer):
    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return isinstance(module, _LEAVES) or super().is_leaf_module(module, name)


def is_of_k210(network: nn.Module) -> bool:
    """Whether it has layers of the KPU."""
    return any(isinstance(module, Conv2d) for module in network.modules())


def steps_of(network: nn.Module, input_shape: Sequence[int]) -> tuple[Step, ...]:
    """The layers in their order. UnsupportedError where one is none of the K210's. Layers learn what they read."""
    training = network.training
    network.train()  # floats: how results are stored follows from what the layers read
    try:
        graph = _Tracer().trace(network)
        frozen = fx.GraphModule(network, graph)
        frozen.eval()
        _link(network, graph)
        ShapeProp(frozen).propagate(torch.zeros(1, *input_shape, dtype=next(network.parameters()).dtype))
    finally:
        network.train(training)
    names: dict[Any, str] = {}
    steps = []
    for node in graph.nodes:
        if node.op != "call_module":
            names[node] = INPUT if node.op == "placeholder" else names.get(_first(node), INPUT)
            continue
        module = network.get_submodule(node.target)
        if isinstance(module, _PASSED):
            names[node] = names[_first(node)]
            continue
        names[node] = node.target
        shape = tuple(int(side) for side in node.meta["tensor_meta"].shape[1:])
        steps.append(Step(node.target, module, tuple(names[one] for one in node.args), shape))
    return tuple(steps)


def link(network: nn.Module) -> None:
    """Tell every layer of the KPU what it reads."""
    _link(network, _Tracer().trace(network))


def _link(network: nn.Module, graph: fx.Graph) -> None:
    made_by: dict[Any, Any] = {}  # the layer of the KPU, or None: the samples
    for node in graph.nodes:
        if node.op == "placeholder":
            made_by[node] = None
        elif node.op == "output":
            continue
        elif node.op == "call_module":
            module = network.get_submodule(node.target)
            before = [made_by[one] for one in node.args]
            if isinstance(module, Stored):
                _read(node.target, module, before)
            elif not isinstance(module, (*_HEADS, *_PASSED)):
                raise UnsupportedError(
                    f"the K210 has no layer {type(module).__name__}",
                    where=Where(node=node.target),
                    rule="Conv2d, Add, Concat, GlobalAverage, Linear of buildtool.training.kpu, and Flatten",
                )
            made_by[node] = before[0] if isinstance(module, _PASSED) else module
        else:
            name = getattr(node.target, "__name__", str(node.target))
            raise UnsupportedError(
                f"the network calls '{name}' outside of a layer",
                where=Where(node=node.name),
                rule="networks for the K210 consist of layers",
                remedy="use Add, Concat or GlobalAverage of buildtool.training.kpu, or torch.nn.Flatten",
            )
    _check_joined(graph, made_by)
    _tell_readers(network, graph)


def _check_joined(graph: fx.Graph, made_by: dict[Any, Any]) -> None:
    """Equal sums or concatenations would be one layer of the kmodel."""
    seen = set()
    for node in graph.nodes:
        module = made_by.get(node)
        if node.op != "call_module" or not isinstance(module, Joined):
            continue
        parts = tuple(id(made_by[one]) for one in node.args)
        same = (frozenset(parts), module.activation) if isinstance(module, Add) else parts
        if same in seen:
            raise UnsupportedError(
                f"two layers {type(module).__name__} of the same results",
                where=Where(node=node.target),
                rule="a kmodel has one of them",
                remedy="use the first one twice",
            )
        seen.add(same)


def _read(name: str, module: Stored, before: Sequence[Any]) -> None:
    where = Where(node=name)
    if any(isinstance(one, _HEADS) for one in before):
        raise UnsupportedError("a layer of the KPU reads floats", where=where, rule="layers of the CPU come last")
    if isinstance(module, Conv2d):
        module.reads(before[0])
        return
    assert isinstance(module, Joined)
    many = len(before) == 2 if isinstance(module, Add) else len(before) >= 2
    if not many or None in before or len({id(one) for one in before}) < len(before):
        raise UnsupportedError(
            f"a layer {type(module).__name__} reads {len(before)} results",
            where=where,
            rule="two different layers are added, two or more concatenated, none of them the samples",
        )
    if isinstance(module, Concat) and any(isinstance(one, Concat) for one in before):
        raise UnsupportedError("a concatenation reads another", where=where, remedy="give all parts to one Concat")
    module.reads(tuple(before))


def _tell_readers(network: nn.Module, graph: fx.Graph) -> None:
    """Which results are merged with the layer that reads them: as the passes and the generator of kmodels do it."""
    layers = {node: network.get_submodule(node.target) for node in graph.nodes if node.op == "call_module"}
    for module in layers.values():
        if isinstance(module, Stored):
            module.is_read_by(None)
    for node, module in layers.items():
        before = [_behind_passed(one, layers) for one in node.args] if isinstance(module, Joined) else []
        if isinstance(module, Concat):
            for one in before:
                part = layers[one]
                if _readers(one, layers) == [node] and not (isinstance(part, Conv2d) and part.pool):
                    part.is_read_by(module)
        elif isinstance(module, Add):
            merged = next(
                (one for one in before if _readers(one, layers) == [node] and layers[one].may_be_merged), None
            )
            module.merges(None if merged is None else layers[merged])
            if merged is not None:
                layers[merged].is_read_by(module)


def _behind_passed(node: Any, layers: dict[Any, Any]) -> Any:
    while isinstance(layers.get(node), _PASSED):
        node = _first(node)
    return node


def _readers(node: Any, layers: dict[Any, Any]) -> list[Any]:
    found = []
    for user in node.users:
        found += _readers(user, layers) if isinstance(layers.get(user), _PASSED) else [user]
    return found


def _first(node: Any) -> Any:
    return node.args[0] if node.args else None


# -- ONNX --
def exported(name: str, network: nn.Module, input_shape: Sequence[int]) -> tuple[bytes, str]:
    """An ONNX file, and its range file. The normalisations have to be part of the weights."""
    steps = steps_of(network, input_shape)
    nodes: list[Any] = []
    constants: list[Any] = []
    for step in steps:
        make = _of_kpu if isinstance(step.module, Conv2d) else _of_cpu if isinstance(step.module, _HEADS) else _joined
        make(step, nodes, constants)
    nodes[-1].output[0] = OUTPUT
    into = helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [1, *input_shape])
    out = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, *steps[-1].shape])
    model = helper.make_model(
        helper.make_graph(nodes, name, [into], [out], constants), opset_imports=[helper.make_opsetid("", 14)]
    )
    model.ir_version = 8
    onnx.checker.check_model(model)
    content = model.SerializeToString()
    graph = _imported(name, content)
    optimise(graph, quantised=True)
    return content, range_files.text(_ranges(graph, steps))


def _imported(name: str, content: bytes) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.onnx"
        file.write_bytes(content)
        return import_model("onnx", ImportRequest(name, file)).graph


def _ranges(graph: Graph, steps: Sequence[Step]) -> dict[str, tuple[float, float]]:
    """Between which numbers tensors lie, by all their names. What only moves numbers has the range of what it reads."""
    now: dict[Value, tuple[float, float]] = dict.fromkeys(graph.inputs, INPUT_RANGE)
    left = {step.name for step in steps if isinstance(step.module, Conv2d | Add)}
    for node in graph.nodes:
        step = step_of(node, steps)
        moved = now.get(node.inputs[0]) if node.op.name in _MOVES else None
        if moved is None and step is not None and isinstance(step.module, Stored):
            moved = float(step.module.low), float(step.module.high)
            left -= {step.name, _convolution_of(node, steps)}
        if moved is not None:
            now |= {value: moved for value in node.outputs if value.type.rank == _PICTURE_RANK}
    if left:
        raise InternalError(f"layers are missing in the graph: {', '.join(sorted(left))}")
    found = {INPUT: INPUT_RANGE}
    for value, ends in now.items():
        found |= dict.fromkeys((value.name, *value.source_names), ends)
    return found


def _convolution_of(node: Node, steps: Sequence[Step]) -> str:
    """The name of the convolution in a node that has its name, whether or not a sum is merged with it."""
    return next((step.name for step in steps if _is_of(node.name, step)), "")


def step_of(node: Node, steps: Sequence[Step]) -> Step | None:
    """Which layer gives the results of a node: of a convolution that is merged with a sum, the sum."""
    found = next((step for step in steps if _is_of(node.name, step)), None)
    if (
        found is not None
        and isinstance(found.module, Conv2d)
        and node.op.name == "conv2d"
        and node.input(3) is not None
    ):
        return next(step for step in steps if isinstance(step.module, Add) and found.name in step.sources)
    return found


def _is_of(name: str, step: Step) -> bool:
    own, _, number = name.rpartition(_PART)
    return name == step.name or (own == step.name and number.isdecimal())


def places_of(name: str, network: nn.Module, input_shape: Sequence[int]) -> dict[str, str]:
    """The names of layers by those of the tensors that a kmodel's layers make."""
    steps = steps_of(network, input_shape)
    graph = _imported(name, exported(name, network, input_shape)[0])
    optimise(graph, quantised=True)
    found = {}
    for node in graph.nodes:
        step = step_of(node, steps)
        if step is None:
            continue
        result = node.outputs[0].name
        found[result] = step.name
        if isinstance(step.module, Add) and node.op.name == "conv2d":
            found[f"{result} without its residual"] = _convolution_of(node, steps)
    return found


def _constant(name: str, tensor: torch.Tensor, constants: list[Any]) -> str:
    constants.append(numpy_helper.from_array(np.ascontiguousarray(tensor.detach().float().numpy()), name))
    return name


def _of_kpu(step: Step, nodes: list[Any], constants: list[Any]) -> None:
    module: Conv2d = step.module
    if module.bn is not None:
        raise ConfigError("a layer has a normalisation", where=Where(node=step.name), remedy="quantise the network")
    operators: list[tuple[str, dict[str, Any]]] = []
    if module.activation == "relu6":
        limits = {f"{step.name}.low": 0.0, f"{step.name}.high": 6.0}
        constants += [numpy_helper.from_array(np.float32(value), name) for name, value in limits.items()]
        operators.append(("Clip", {"more": list(limits)}))
    elif module.activation == "leaky_relu":
        operators.append(("LeakyRelu", {"alpha": _ALPHA}))
    elif module.activation:
        operators.append((_OPERATORS[module.activation], {}))
    if module.pool:
        size = 4 if module.pool.endswith("4") else 2
        kind = "MaxPool" if module.pool.startswith("max") else "AveragePool"
        operators.append((kind, {"kernel_shape": [size, size], "strides": [size, size]}))
    edge = int(module.op.kernel_size[0])
    inputs = [step.sources[0], _constant(f"{step.name}.weight", module.op.weight, constants)]
    if module.op.bias is not None:
        inputs.append(_constant(f"{step.name}.bias", module.op.bias, constants))
    attributes: dict[str, Any] = {"kernel_shape": [edge, edge], "pads": [edge // 2] * 4, "strides": [module.stride] * 2}
    names = [f"{step.name}{_PART}{number}" for number in range(len(operators))] + [step.name]
    nodes.append(helper.make_node("Conv", inputs, [names[0]], name=names[0], group=module.op.groups, **attributes))
    for (kind, more), before, after in zip(operators, names, names[1:], strict=False):
        inputs = [before, *more.pop("more", [])]
        nodes.append(helper.make_node(kind, inputs, [after], name=after, **more))


def _joined(step: Step, nodes: list[Any], constants: list[Any]) -> None:
    del constants
    if isinstance(step.module, Concat):
        nodes.append(helper.make_node("Concat", list(step.sources), [step.name], name=step.name, axis=1))
        return
    names = [step.name] if not step.module.activation else [f"{step.name}{_PART}0", step.name]
    nodes.append(helper.make_node("Add", list(step.sources), [names[0]], name=names[0]))
    if step.module.activation:
        nodes.append(helper.make_node("Relu", [names[0]], [step.name], name=step.name))


def _of_cpu(step: Step, nodes: list[Any], constants: list[Any]) -> None:
    if isinstance(step.module, GlobalAverage):
        mean = f"{step.name}.mean"
        nodes.append(helper.make_node("GlobalAveragePool", [step.sources[0]], [mean], name=mean))
        nodes.append(helper.make_node("Flatten", [mean], [step.name], name=step.name))
    elif isinstance(step.module, nn.Flatten):
        nodes.append(helper.make_node("Flatten", [step.sources[0]], [step.name], name=step.name))
    else:
        inputs = [step.sources[0], _constant(f"{step.name}.weight", step.module.weight, constants)]
        if step.module.bias is not None:
            inputs.append(_constant(f"{step.name}.bias", step.module.bias, constants))
        nodes.append(helper.make_node("Gemm", inputs, [step.name], name=step.name, transB=1))


# -- the kmodel --
def weight_bits(network: nn.Module) -> int:
    """Of all layers. ConfigError where they differ, or are floats."""
    bits = {module.bits for module in network.modules() if isinstance(module, Conv2d)}
    if bits == {0}:
        raise ConfigError(
            "the weights are floats", rule="chips take integers", remedy="train with --qat-policy, or give --bits"
        )
    if len(bits) > 1:
        raise ConfigError(f"layers with weights of {' and '.join(map(str, sorted(bits)))} bits",
                          rule="a kmodel has one width", remedy="give one `weight_bits`")  # fmt: skip
    return bits.pop()


def generated(name: str, network: nn.Module, input_shape: Sequence[int]) -> Generated:
    """The kmodel of a quantised network."""
    bits = weight_bits(network)
    content, ranges = exported(name, network, input_shape)
    graph = _imported(name, content)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ranges"
        file.write_text(ranges, encoding="utf-8")
        known = range_files.read(file)
    graph.ranges.update({value: stored_as(*ends) for value, ends in known.items()})
    optimise(graph, quantised=True)
    return generate(graph, Settings(weight_bits=bits))
