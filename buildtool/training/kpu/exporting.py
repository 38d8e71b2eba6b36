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
from buildtool.ir.graph import Graph
from buildtool.passes.pipeline import optimise
from buildtool.quant import range_files
from buildtool.quant.ranges import stored_as
from buildtool.targets.k210.generation.generate import Generated, generate
from buildtool.targets.k210.generation.on_kpu import Settings
from buildtool.training.kpu.layers import INPUT_RANGE, Conv2d, GlobalAverage

INPUT, OUTPUT = "input", "output"
_CONVOLUTIONS = ("conv2d", "dwconv2d")
_PICTURE_RANK = 4
_HEADS = (GlobalAverage, nn.Linear, nn.Flatten)
_LEAVES = (Conv2d, *_HEADS)
_PASSED = (nn.Identity, nn.Dropout, nn.Dropout2d)
_OPERATORS = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "hard_swish": "HardSwish"}
_ALPHA = float(np.float32(0.1))


@dataclass(frozen=True)
class Step:
    """One layer."""

    name: str
    module: Any
    source: str  # the name of the layer that it reads, or INPUT
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
        steps.append(Step(node.target, module, names[_first(node)], shape))
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
            before = made_by[_first(node)]
            if isinstance(module, Conv2d):
                if isinstance(before, _HEADS):
                    raise UnsupportedError("a layer of the KPU reads floats", where=Where(node=node.target),
                                           rule="layers of the CPU come last")  # fmt: skip
                module.reads(before)
            elif not isinstance(module, (*_HEADS, *_PASSED)):
                raise UnsupportedError(
                    f"the K210 has no layer {type(module).__name__}",
                    where=Where(node=node.target),
                    rule="Conv2d, GlobalAverage, Linear of buildtool.training.kpu, and Flatten, one after the other",
                )
            made_by[node] = before if isinstance(module, _PASSED) else module
        else:
            name = getattr(node.target, "__name__", str(node.target))
            raise UnsupportedError(
                f"the network calls '{name}' outside of a layer",
                where=Where(node=node.name),
                rule="networks for the K210 consist of layers, one after the other",
                remedy="use GlobalAverage, or torch.nn.Flatten",
            )


def _first(node: Any) -> Any:
    return node.args[0] if node.args else None


# -- ONNX --
def exported(name: str, network: nn.Module, input_shape: Sequence[int]) -> tuple[bytes, str]:
    """An ONNX file, and its range file. The normalisations have to be part of the weights."""
    steps = steps_of(network, input_shape)
    nodes: list[Any] = []
    constants: list[Any] = []
    for step in steps:
        make = _of_kpu if isinstance(step.module, Conv2d) else _of_cpu
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
    return content, range_files.text(_ranges(graph, [step.module for step in steps]))


def _imported(name: str, content: bytes) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.onnx"
        file.write_bytes(content)
        return import_model("onnx", ImportRequest(name, file)).graph


def _ranges(graph: Graph, modules: Sequence[nn.Module]) -> dict[str, tuple[float, float]]:
    """Between which numbers tensors lie, by all their names: all pictures behind a convolution have its range."""
    left = [module for module in modules if isinstance(module, Conv2d)]
    now = INPUT_RANGE
    found = dict.fromkeys((INPUT, *(name for value in graph.inputs for name in (value.name, *value.source_names))), now)
    for node in graph.nodes:
        if node.op.name in _CONVOLUTIONS:
            now = (float(left[0].low), float(left[0].high))
            left = left[1:]
        if node.op.name == "reduce_mean":  # floats from here on
            break
        pictures = [value for value in node.outputs if value.type.rank == _PICTURE_RANK]
        found |= dict.fromkeys((name for value in pictures for name in (value.name, *value.source_names)), now)
    if left:
        raise InternalError(f"{len(left)} convolutions are missing in the graph")
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
    inputs = [step.source, _constant(f"{step.name}.weight", module.op.weight, constants)]
    if module.op.bias is not None:
        inputs.append(_constant(f"{step.name}.bias", module.op.bias, constants))
    attributes: dict[str, Any] = {"kernel_shape": [edge, edge], "pads": [edge // 2] * 4, "strides": [module.stride] * 2}
    names = [f"{step.name}.{number}" for number in range(len(operators))] + [step.name]
    nodes.append(helper.make_node("Conv", inputs, [names[0]], name=names[0], group=module.op.groups, **attributes))
    for (kind, more), before, after in zip(operators, names, names[1:], strict=False):
        inputs = [before, *more.pop("more", [])]
        nodes.append(helper.make_node(kind, inputs, [after], name=after, **more))


def _of_cpu(step: Step, nodes: list[Any], constants: list[Any]) -> None:
    if isinstance(step.module, GlobalAverage):
        mean = f"{step.name}.mean"
        nodes.append(helper.make_node("GlobalAveragePool", [step.source], [mean], name=mean))
        nodes.append(helper.make_node("Flatten", [mean], [step.name], name=step.name))
    elif isinstance(step.module, nn.Flatten):
        nodes.append(helper.make_node("Flatten", [step.source], [step.name], name=step.name))
    else:
        inputs = [step.source, _constant(f"{step.name}.weight", step.module.weight, constants)]
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
