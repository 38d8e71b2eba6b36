"""From a torch network to the layers of a chip: which layer reads which, and of what size everything is."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import fx, nn
from torch.nn import functional

from buildtool.errors import ConfigError, InternalError, LatheError, UnsupportedError, Where
from buildtool.targets.max7800x.checkpoints.checkpoint import Parameters, Weights
from buildtool.targets.max7800x.devices import Device
from buildtool.targets.max7800x.network import INPUT, UNPLACED, Kernel, Layer, Network, Size
from buildtool.targets.max7800x.network import Pool as ChipPool
from buildtool.targets.max7800x.planning import planner
from buildtool.training.layers import Elementwise, Fused, Pool, Pooling

_LEAVES = (Fused, Pool, Elementwise)
_RESHAPES = ("view", "reshape", "flatten")
_CONTIGUOUS = "contiguous"
# What the program does with outputs, if it wants to.
_OF_OUTPUTS = (
    "squeeze", "unsqueeze", "permute", "transpose", torch.permute, torch.transpose, torch.stack, functional.normalize,
)  # fmt: skip
_VALUE = "value"


class _Proxy(fx.Proxy):
    """A value in `forward`, whose sizes are known: what is decided by them is decided while tracing."""

    @property
    def shape(self) -> torch.Size:
        return self._value.shape

    @property
    def device(self) -> torch.device:
        return self._value.device

    def size(self, *axis: int) -> Any:
        return self._value.size(*axis)

    def dim(self) -> int:
        return self._value.dim()

    @property
    def _value(self) -> torch.Tensor:
        value = self.node.meta[_VALUE]
        if not isinstance(value, torch.Tensor):
            raise UnsupportedError(
                f"the network asks for the size of {type(value).__name__}", where=Where(node=self.node.name)
            )
        return value


class _Tracer(fx.Tracer):
    """Computes with a sample while it traces."""

    def __init__(self, given: torch.Tensor) -> None:
        super().__init__()
        self._given, self._computing = given, False

    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return isinstance(module, _LEAVES) or super().is_leaf_module(module, name)

    def proxy(self, node: fx.Node) -> fx.Proxy:
        return _Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *more: Any, **named: Any
    ) -> Any:
        """Arguments of `forward` that have a default have that value."""
        if kind == "placeholder" and args and not target.startswith("*"):
            return args[0]
        made = super().create_proxy(kind, target, args, kwargs, *more, **named)
        self._computing = True
        try:
            made.node.meta[_VALUE] = self._computed(kind, target, args, kwargs)
        finally:
            self._computing = False
        return made

    def _computed(self, kind: str, target: Any, args: Any, kwargs: Any) -> Any:
        if kind == "placeholder":
            return self._given
        if kind == "get_attr":
            return operator.attrgetter(target)(self.root)
        args, kwargs = fx.node.map_aggregate(
            (args, kwargs), lambda one: one.node.meta[_VALUE] if isinstance(one, fx.Proxy) else one
        )
        if kind == "call_module":
            return self.root.get_submodule(target)(*args, **kwargs)
        return (getattr(torch.Tensor, target) if kind == "call_method" else target)(*args, **kwargs)

    def call_module(self, module: Any, forward: Any, args: Any, kwargs: Any) -> Any:
        return forward(*args, **kwargs) if self._computing else super().call_module(module, forward, args, kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        return attr_val if self._computing else super().getattr(attr, attr_val, parameter_proxy_cache)


@dataclass(frozen=True)
class Step:
    """One layer of the chip."""

    name: str  # of the module
    module: Any
    call: int  # 0: the first of that module
    sources: tuple[int, ...]  # positions of steps; INPUT
    flattens: bool
    in_shape: tuple[int, ...]  # of one operand, without the batch
    out_shape: tuple[int, ...]
    is_output: bool = False  # also where a layer reads it

    @property
    def title(self) -> str:
        """A name that no other step has."""
        return f"{self.name}, call {self.call + 1}" if self.call else self.name


def steps_of(model: nn.Module, input_shape: Sequence[int]) -> tuple[Step, ...]:
    """The layers in the order in which they run. UnsupportedError where the chips have no such operation."""
    training = model.training
    model.eval()
    try:
        probe(model, input_shape)
        with torch.no_grad():
            graph = _Tracer(torch.zeros(1, *input_shape, dtype=next(model.parameters()).dtype)).trace(model)
    except fx.proxy.TraceError as problem:
        raise UnsupportedError(
            f"`forward` decides by the values of tensors: {problem}",
            where=Where(model=type(model).__name__),
            rule="the layers and their order follow from the arguments of the network",
            remedy="remove the `if` or loop from `forward`, or decide in `__init__`",
        ) from None
    finally:
        model.train(training)
    walk = _Walk(model, tuple(input_shape), _behind_layers(graph, model))
    for node in graph.nodes:
        walk.node(node)
    return tuple(replace(step, is_output=at in walk.outputs) for at, step in enumerate(walk.steps))


def _behind_layers(graph: fx.Graph, model: nn.Module) -> set[fx.Node]:
    """The nodes whose values no layer reads, not even after other operations."""
    found: set[fx.Node] = set()
    for node in reversed(graph.nodes):
        if all(user in found and not _is_layer(user, model) for user in node.users):
            found.add(node)
    return found


def _is_layer(node: fx.Node, model: nn.Module) -> bool:
    return node.op == "call_module" and isinstance(model.get_submodule(str(node.target)), _LEAVES)


def probe(model: nn.Module, input_shape: Sequence[int]) -> Any:
    """What the network puts out for a sample of zeros. ConfigError where it cannot compute samples of this shape."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            return model(torch.zeros(1, *input_shape, dtype=next(model.parameters()).dtype))
    except LatheError:
        raise
    except Exception as error:  # whatever the user's network does
        told = str(error).strip().split("\n")[0]
        raise ConfigError(
            f"the network fails for samples of {' x '.join(map(str, input_shape))}: {type(error).__name__}: {told}",
            where=Where(model=type(model).__name__),
            rule="the first layer takes the channels of the samples, each layer what the one before puts out",
        ) from error
    finally:
        model.train(training)


class _Walk:
    """Which steps each value of the graph comes from, and whether it was flattened on the way."""

    def __init__(self, model: nn.Module, input_shape: tuple[int, ...], behind: set[fx.Node]) -> None:
        self.steps: list[Step] = []
        self.outputs: set[int] = set()
        self._model, self._input_shape, self._behind = model, input_shape, behind
        self._calls: Counter[str] = Counter()
        self._from: dict[Any, tuple[tuple[int, ...], bool]] = {}

    def node(self, node: Any) -> None:
        first = node.args[0] if node.args else None
        if node.op == "placeholder":
            if not self._from:
                self._from[node] = ((INPUT,), False)
        elif node.op == "call_module":
            self._module(node)
        elif node.op == "output":
            self.outputs.update(self._sources(node))
        elif node in self._behind and _rearranges(node):
            self._from[node] = (tuple(self._sources(node)), False)
        elif (node.op == "call_method" and node.target in _RESHAPES) or node.target is torch.flatten:
            self._reshape(node)
        elif node.target is torch.cat:
            self._joined(node)
        elif node.target == _CONTIGUOUS:
            self._from[node] = self._from[first]
        else:
            name = getattr(node.target, "__name__", str(node.target))
            raise UnsupportedError(
                f"the network calls '{name}' outside of a layer",
                where=Where(node=node.name),
                rule="layers of buildtool.training, view and flatten before fully connected ones, torch.cat",
                remedy="use a layer: Add, Sub, Or, Xor, MaxPool2d, AvgPool2d",
            )

    def _sources(self, node: Any) -> Iterator[int]:
        """Of all that an operation reads."""
        for value in node.all_input_nodes:
            yield from self._from.get(value, ((), False))[0]

    def _module(self, node: Any) -> None:
        module = self._model.get_submodule(node.target)
        if isinstance(module, nn.Identity | nn.Dropout | nn.Dropout2d):
            self._from[node] = self._from[node.args[0]]
            return
        if not isinstance(module, _LEAVES):
            what = f"the chips have no layer {type(module).__name__}"
            raise UnsupportedError(what, where=Where(node=node.target), remedy="use a layer of buildtool.training")
        found = [self._from[argument] for argument in node.args]
        sources = tuple(source for of_one, _ in found for source in of_one)
        if isinstance(module, Elementwise) and any(len(of_one) > 1 for of_one, _ in found):
            raise UnsupportedError(
                "an operand is concatenated",
                where=Where(node=node.target),
                rule="each operand is the output of one layer",
                remedy="put a layer behind torch.cat, such as Conv2d of 1x1",
            )
        in_shape, flattens = tuple(_shape(node.args[0])), found[0][1]
        if flattens and not _is_full(module):
            raise UnsupportedError(
                f"{type(module).__name__} gets flattened values",
                where=Where(node=node.target),
                rule="fully connected layers take them, and convolutions of 1x1",
            )
        step = Step(node.target, module, self._calls[node.target], sources, flattens, in_shape, tuple(_shape(node)))
        self._calls[node.target] += 1
        self._from[node] = ((len(self.steps),), False)
        self.steps.append(step)

    def _reshape(self, node: Any) -> None:
        before, after = _shape(node.args[0]), _shape(node)
        sources, flattened = self._from[node.args[0]]
        if after == (math.prod(before), 1, 1) and before != after:
            self._from[node] = (sources, True)
            return
        folded = before[0] == after[0] and math.prod(before) == math.prod(after)  # rows lie one after the other
        if len(after) != 1 and before != after and not folded:
            what = f"{' x '.join(map(str, before))} is reshaped to {' x '.join(map(str, after))}"
            raise UnsupportedError(
                what,
                where=Where(node=node.name),
                rule="values are only flattened",
                remedy="x.view(x.size(0), -1), and a fully connected layer behind it",
            )
        self._from[node] = (sources, flattened or len(before) > len(after))

    def _joined(self, node: Any) -> None:
        axis = node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else 0)
        if axis != 1:
            raise UnsupportedError(
                f"torch.cat along axis {axis}",
                where=Where(node=node.name),
                rule="along channels: 1",
                remedy="torch.cat((a, b), 1)",
            )
        found = [self._from[value] for value in node.args[0]]
        if any(flattened for _, flattened in found):
            raise UnsupportedError("flattened values are concatenated", where=Where(node=node.name))
        self._from[node] = (tuple(source for sources, _ in found for source in sources), False)


def _is_full(module: Any) -> bool:
    """Each output is a sum of all inputs, for an input of one row and column."""
    if not isinstance(module, Fused) or module.pooling is not None:
        return False
    op = module.op
    if module.operation == "conv2d":
        return op.kernel_size == (1, 1) and op.padding == (0, 0) and op.groups == 1
    return module.operation == "linear"


def _shape(node: Any) -> tuple[int, ...]:
    value = node.meta.get(_VALUE)
    if not isinstance(value, torch.Tensor):
        raise InternalError(f"no shape of {node.name}")
    return tuple(value.shape[1:])


def _rearranges(node: Any) -> bool:
    """Whether the program can do it with the outputs, because it only moves or scales them."""
    return node.target in (*_RESHAPES, *_OF_OUTPUTS, _CONTIGUOUS, torch.flatten, torch.cat)


# -- the network of the chip --
def network_of(
    name: str, steps: Sequence[Step], weights: Weights, device: Device, input_shape: Sequence[int]
) -> Network:
    """With places by the planner. `weights`: of the quantised checkpoint of the same network."""
    by_name = {parameters.name: parameters for parameters in weights.parameters}
    layers = tuple(_layer(at, step, steps, by_name, tuple(input_shape)) for at, step in enumerate(steps))
    unread = set(range(len(steps))) - {source for step in steps for source in step.sources}
    outputs = unread | {at for at, step in enumerate(steps) if step.is_output}
    layers = tuple(replace(layer, is_output=layer.index in outputs) for layer in layers)
    rounds = any(_pooling(step) is not None and _pooling(step).rounds for step in steps)  # type: ignore[union-attr]
    network = Network(name, device, layers, input_shape[0], _size(input_shape), average_rounds=rounds)
    return planner.place(network)


def _size(shape: Sequence[int]) -> Size:
    """Rows and columns; of one dimension the length and 1."""
    rows, columns, *_ = (*shape[1:], 1, 1)
    return rows, columns


def _pooling(step: Step) -> Pooling | None:
    return None if isinstance(step.module, Elementwise) else step.module.pooling


def _layer(
    at: int, step: Step, steps: Sequence[Step], parameters: Mapping[str, Parameters], input_shape: tuple[int, ...]
) -> Layer:
    module = step.module
    # Flattened by the layer itself: its input is what the step before puts out.
    before = [input_shape if source == INPUT else steps[source].out_shape for source in step.sources]
    shape = before[0] if step.flattens else step.in_shape
    layer = Layer(
        index=at, name=step.title, operation="none", sources=step.sources, in_channels=shape[0], in_size=_size(shape),
        processors=0, in_offset=UNPLACED, pool=_pool(_pooling(step)), out_channels=step.out_shape[0],
        out_size=_size(step.out_shape), output_processors=0, out_offset=UNPLACED,
    )  # fmt: skip
    if isinstance(module, Elementwise):
        return replace(layer, operands=len(step.sources), eltwise=module.operator)
    if isinstance(module, Pool):
        return layer
    own = parameters[f"{step.name}.op.weight"]
    return replace(
        layer,
        operation="linear" if step.flattens else module.operation,
        kernel=_kernel(module, own, full=step.flattens or module.operation == "linear"),
        flatten=(step.flattens or module.operation == "linear") and _size(shape) != (1, 1),
        output_shift=own.output_shift,
        activation=module.activation,
        output_width=32 if module.wide else 8,
    )


def _pool(pooling: Pooling | None) -> ChipPool | None:
    if pooling is None:
        return None

    def pair(values: tuple[int, ...]) -> Size:
        return (values[0], values[1]) if len(values) == 2 else (values[0], 1)

    return ChipPool(pooling.kind, pair(pooling.size), pair(pooling.stride), pair(pooling.dilation))


def _kernel(module: Fused, own: Parameters, *, full: bool) -> Kernel:
    weights, bias, op = own.weights, own.bias, module.op
    kept = None if bias is None or not bias.any() else bias.astype(np.int8)
    bits = own.bits or 8
    if full:
        return Kernel(weights.reshape(*weights.shape[:2], 1, 1).astype(np.int8), bits, kept, (1, 1), pad=(0, 0))
    flat = module.operation == "conv1d"

    def pair(values: Sequence[int], other: int) -> Size:
        return (values[0], other) if flat else (values[0], values[1])

    output_pad: Size = (0, 0)
    if module.operation == "convtranspose2d":
        weights = np.flip(weights, axis=(2, 3)).swapaxes(0, 1)
        output_pad = pair(op.output_padding, 0)
    weights = weights[..., None] if flat else weights
    return Kernel(
        np.ascontiguousarray(weights).astype(np.int8),
        bits,
        kept,
        pair(op.kernel_size, 1),
        pair(op.stride, 1),
        pair(op.padding, 0),
        pair(op.dilation, 1),
        op.groups,
        output_pad,
    )
