"""A network as its input and its outputs: which layers it has, their weights, and the graph of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from buildtool.errors import ConfigError, ModelFileError, Problem, UnsupportedError, Where
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array, OperatorError
from buildtool.targets.k210.generation.rules import NotHereError, shape_of
from buildtool.targets.k210.layers import weight_files
from buildtool.targets.k210.layers.kinds import InputLayer
from buildtool.targets.k210.layers.layer import Layer, Making, Slot, Tensor


class Model:
    """UnsupportedError lists all layers that do not fit what is in front of them."""

    def __init__(self, inputs: Tensor, outputs: Tensor | Sequence[Tensor], name: str = "model") -> None:
        self.name = name
        self.input = inputs
        self.outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
        if not self.outputs:
            raise ConfigError("a model without outputs", where=Where(model=name), remedy="name at least one")
        self._tensors = sorted(set(_all(self.outputs)) | {inputs}, key=lambda tensor: tensor.number)
        self._names = _named([tensor.layer for tensor in self._tensors], name)
        self._arrays: dict[Slot, Array] = {}
        self._slots = tuple(self._made(None)[1])

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the layers, in the order in which they were called."""
        return tuple(dict.fromkeys(self._names[tensor.layer] for tensor in self._tensors))

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The arrays that it needs, in TensorLayer's order."""
        return self._slots

    def set_weights(self, arrays: Sequence[Array], *, keras_order: bool = False) -> None:
        """All arrays in the order of `slots`. `keras_order`: gamma precedes beta, as in lists of Keras."""
        slots = weight_files.in_order_of_keras(self._slots) if keras_order else self._slots
        self._arrays = weight_files.in_order(slots, list(arrays), Where(model=self.name))

    def load_weights(self, file: Path | str, *, keras_order: bool = False) -> str:
        """From a file of TensorLayer: `.npz`, a list or with names, or `.h5`.

        By names, where the file has all of them, else in order: the result says which. ModelFileError lists all
        arrays that are missing or have another shape.
        """
        slots = weight_files.in_order_of_keras(self._slots) if keras_order else self._slots
        how, self._arrays = weight_files.load(slots, Path(file), self.name)
        return how

    def graph(self) -> Graph:
        """For the passes and the generator. ModelFileError lists the weights that are missing."""
        missing = [slot for slot in self._slots if slot not in self._arrays]
        if missing:
            raise ModelFileError(
                [
                    Problem(
                        f"it has no '{slot.role}' {list(slot.shape)}",
                        Where(model=self.name, node=slot.layer),
                        remedy="load_weights reads them from a file, set_weights takes arrays",
                    )
                    for slot in missing
                ]
            )
        return self._made(self._arrays)[0]

    def run(self, sample: Array) -> dict[str, Array]:
        """The outputs by the names of their layers, in single precision."""
        graph = self.graph()
        (value,) = graph.inputs
        given = np.asarray(sample, np.float32).reshape(shape_of(value))
        return evaluate(graph, {value.name: given})

    def _made(self, arrays: dict[Slot, Array] | None) -> tuple[Graph, list[Slot]]:
        graph = Graph(name=self.name)
        making = Making(graph, arrays)
        values: dict[Tensor, Value] = {}
        problems: list[Problem] = []
        for tensor in self._tensors:
            if any(source not in values for source in tensor.sources):
                continue  # errors of earlier layers are reported
            making.layer = self._names[tensor.layer]
            where = Where(model=self.name, node=making.layer)
            kind = type(tensor.layer).__name__
            try:
                if isinstance(tensor.layer, InputLayer) != (tensor is self.input):
                    raise NotHereError("the model does not start with it", "a kmodel has one input", "start with one")
                made = tensor.layer.build_all(making, [values[source] for source in tensor.sources])
                made.source_names = (making.layer,)
                values[tensor] = made
            except NotHereError as problem:
                problems.append(Problem(f"{kind}: {problem.what}", where, problem.rule, problem.remedy))
            except (OperatorError, TypeError, ValueError, AttributeError) as problem:  # of values that are no numbers
                problems.append(Problem(f"{kind}: {problem}", where, remedy="change the arguments of the layer"))
        if problems:
            raise UnsupportedError(problems)
        for tensor in self.outputs:
            values[tensor].name = self._names[tensor.layer]
        graph.outputs = [values[tensor] for tensor in self.outputs]
        return graph, list(making.slots)


def _all(tensors: Sequence[Tensor]) -> Iterator[Tensor]:
    """These and all that they are made of."""
    found: set[Tensor] = set()
    left = list(tensors)
    while left:
        tensor = left.pop()
        if tensor not in found:
            found.add(tensor)
            yield tensor
            left += tensor.sources


def _named(layers: Sequence[Layer], model: str) -> dict[Layer, str]:
    """Layers without a name are called as TensorLayer calls them: conv2d, conv2d_1, ..."""
    names: dict[Layer, str] = {}
    seen: Counter[str] = Counter()
    for layer in layers:
        if layer in names:
            continue
        kind = type(layer).__name__.lower()
        count = seen[kind]
        if not layer.name:
            seen[kind] += 1
        names[layer] = layer.name or (f"{kind}_{count}" if count else kind)
    twice = [name for name, count in Counter(names.values()).items() if count > 1]
    if twice:
        raise ConfigError(
            [
                Problem(f"two layers are called '{name}'", Where(model=model, node=name), remedy="rename one")
                for name in twice
            ]
        )
    return names
