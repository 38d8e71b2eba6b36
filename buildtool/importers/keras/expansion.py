"""From the layers of a description to nodes: one node for each call of a layer, models inside of models written out.

A tensor is called after the layer that makes it: `conv`, `conv#1` for the second call, `lstm:2` for the third output;
inside of a model `encoder/conv`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.keras.description import Call, Layer, Network, Reference
from buildtool.importers.keras.simulation import Simulation
from buildtool.importers.keras.weights import Found, Place, slots
from buildtool.importers.model import AttributeValue, SourceBody, SourceNode, SourceTensor
from buildtool.importers.order import in_execution_order
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

_MOST_NODES = 20_000
_DTYPES = {
    "float32": DType.F32,
    "float64": DType.F32,
    "float16": DType.F32,
    "bfloat16": DType.F32,
    "bool": DType.BOOL,
    "int8": DType.S8,
    "uint8": DType.U8,
    "int16": DType.S16,
    "uint16": DType.U16,
    "int32": DType.S32,
    "uint32": DType.U32,
    "int64": DType.S64,
    "uint64": DType.U64,
}
_HALVES = {"float16": DType.F16, "bfloat16": DType.BF16}
#: Settings that say how a layer is trained, or what the description says elsewhere.
_LEFT_OUT = ("_initializer", "_regularizer", "_constraint")
_OF_NO_USE = frozenset(
    {"name", "trainable", "dtype", "batch_input_shape", "batch_shape", "layers", "layer", "backward_layer", "seed"}
    | {"input_layers", "output_layers", "build_input_shape", "quantization_config"}
)
#: What a layer takes for a setting that its description leaves out, where nothing (`null`) means something else.
_USUAL: dict[str, dict[str, str]] = {
    "Bidirectional": {"merge_mode": "concat"},
    **{f"ConvLSTM{rank}D": {"activation": "tanh"} for rank in (1, 2, 3)},
}


class Expansion:
    """The nodes and weights of a model, as they come."""

    def __init__(self, found: Found, where: Where) -> None:
        self.nodes: list[SourceNode] = []
        self.constants: dict[str, Array] = {}
        self.inputs: dict[str, SourceTensor] = {}
        self._found = found
        self._where = where
        self._prefix = ""  # of names inside of a model
        self._place: Place = ()

    # -- models ------------------------------------------------------------------------------------------------------
    def network(self, network: Network, given: Sequence[str] | None = None) -> tuple[str, ...]:
        """Adds a model; gives the names of its outputs. `given`: its inputs, where it is inside of another one."""
        layers = {layer.name: layer for layer in network.layers}
        outputs = dict.fromkeys(layers, 1)
        for reference in network.references():
            outputs[reference.layer] = max(outputs[reference.layer], reference.output + 1)
        names = [reference.layer for reference in network.inputs]
        if given is not None and len(given) != len(names):
            self._wrong(f"a model with {len(names)} inputs is called with {len(given)} tensors")
        if given is None:
            self.inputs.update({name: self._input(layers[name]) for name in names})
        for name, tensor in zip(names, given or (), strict=False):
            inside = self._prefix + name
            self.nodes.append(SourceNode("InputLayer", "", inside, (tensor,), (inside,), {}))
        for layer in network.layers:
            for number, call in enumerate(layer.calls):
                self._call(layer, number, call, layers, outputs[layer.name])
        return tuple(self._tensor(reference, layers) for reference in network.outputs)

    def _tensor(self, reference: Reference, layers: Mapping[str, Layer]) -> str:
        number = reference.call - layers[reference.layer].first
        return _output(_named(self._prefix + reference.layer, number), reference.output)

    def _input(self, layer: Layer) -> SourceTensor:
        where = Where(self._where.file, model=self._where.model, value=layer.name)
        word = _type_word(layer.settings.get("dtype")) or "float32"
        if word not in _DTYPES:
            raise UnsupportedError(
                f"an input of {word}", where=where, remedy="cut the model behind what turns it into numbers"
            )
        half, dtype = _HALVES.get(word), _DTYPES[word]
        shape = layer.settings.get("batch_shape") or layer.settings.get("batch_input_shape")
        if not isinstance(shape, list):
            return SourceTensor(layer.name, dtype, None, half)
        if not all(dim is None or (isinstance(dim, int) and 0 < dim < 2**31) for dim in shape):
            raise ModelFileError(f"the input has the shape {shape}", where=where)
        usual = (1, *shape[1:]) if shape and shape[0] is None and None not in shape[1:] else None
        return SourceTensor(layer.name, dtype, tuple(shape), half, usual)

    # -- calls -------------------------------------------------------------------------------------------------------
    def _call(self, layer: Layer, number: int, call: Call, layers: Mapping[str, Layer], outputs: int) -> None:
        if len(self.nodes) >= _MOST_NODES:
            self._wrong(f"the model has more than {_MOST_NODES} layers when it is expanded")
        name = _named(self._prefix + layer.name, number)
        made = tuple(_output(name, index) for index in range(outputs))
        inputs = []
        for index, item in enumerate(call.arguments):
            if isinstance(item, Reference):
                inputs.append(self._tensor(item, layers))
            else:
                inputs.append(f"{name}/argument_{index}")
                self.constants[inputs[-1]] = np.array(item, np.float32 if isinstance(item, float) else np.int32)
        if layer.network is not None:
            self._model(layer, layer.network, name, inputs, made)
            return
        keywords: dict[str, str] = {}
        attributes: dict[str, AttributeValue] = {}
        for key, value in call.named.items():
            if isinstance(value, Reference):
                keywords[key] = self._tensor(value, layers)
            else:
                attributes[f"call.{key}"] = int(value) if isinstance(value, bool) else value
        self.add(layer, name, inputs, made, keywords, attributes)

    def _model(self, layer: Layer, network: Network, name: str, inputs: Sequence[str], made: tuple[str, ...]) -> None:
        """A model inside of the model: its nodes, and one that gives its outputs their names."""
        around = self._prefix, self._place
        self._prefix, self._place = f"{name}/", (*self._place, layer.name)
        given = self.network(network, inputs)
        self._prefix, self._place = around
        self.nodes.append(SourceNode(layer.op, "", name, given, made[: len(given)], {}))

    def add(
        self,
        layer: Layer,
        name: str,
        inputs: Sequence[str],
        made: tuple[str, ...],
        keywords: Mapping[str, str],
        attributes: Mapping[str, AttributeValue],
    ) -> None:
        """The node of one call of a layer, with its weights behind its inputs."""
        place = (*self._place, layer.name)
        weights = self._weights(layer, place)
        if layer.ranges and weights:
            simulation = Simulation(layer, name, dict(weights))
            self.nodes += simulation.before()
            self.nodes.append(simulation.node(inputs, keywords, {**flattened(layer.settings), **attributes}, made))
            self.nodes += simulation.behind(made)
            return
        known = {} if layer.domain else {"keywords": tuple(keywords), "weights": tuple(weights)}
        bodies = {
            key: functools.partial(_as_read, self._body(inner, f"{name}/{key}", (*place, key)))
            for key, inner in layer.inner.items()
        }
        self.nodes.append(
            SourceNode(
                layer.op,
                layer.domain,
                name,
                (*inputs, *keywords.values(), *weights.values()),
                made,
                {**flattened({**_USUAL.get(layer.op, {}), **layer.settings}), **attributes, **known},
                bodies=bodies,
            )
        )

    def _weights(self, layer: Layer, place: Place) -> dict[str, str]:
        """The names of the weights of a layer, by what they are; their content is read."""
        datasets, wanted = self._found.get(place, ()), slots(layer)
        if layer.domain:
            wanted = tuple(f"weight_{index}" for index in range(len(datasets)))
        if wanted and len(datasets) != len(wanted):
            raise ModelFileError(
                f"{layer.op}: the file holds {len(datasets)} weights of the layer, which has {', '.join(wanted)}",
                where=Where(self._where.file, model=self._where.model, node="/".join(place)),
                remedy="save the whole model again; save quantised or adapted layers in their original form",
            )
        names = {slot: "/".join((*place, slot)) for slot in wanted}
        for name, dataset in zip(names.values(), datasets, strict=bool(wanted)):
            if name not in self.constants:
                self.constants[name] = dataset.array()
        return names

    def _body(self, layer: Layer, name: str, place: Place) -> SourceBody:
        """What a wrapper wraps, as a graph of its own with one input."""
        inside = Expansion(self._found, self._where)
        given, count = f"{name}:input", _states(layer) + 1
        made = tuple(_output(name, index) for index in range(count))
        if layer.network is not None:
            inside._prefix, inside._place = f"{name}/", place
            made = inside.network(layer.network, [given])
        else:
            inside._place = place[:-1]
            renamed = Layer(layer.op, layer.domain, place[-1], layer.settings, inner=layer.inner)
            inside.add(renamed, name, [given], made, {}, {})
        nodes = in_execution_order(inside.nodes, self._where)
        return SourceBody((given,), made, inside.constants, nodes)

    def _wrong(self, what: str) -> None:
        raise ModelFileError(what, where=self._where, remedy="save the model again with Keras")


def _as_read(body: SourceBody) -> SourceBody:
    """What is inside is read while the file is open."""
    return body


def _states(layer: Layer) -> int:
    if not layer.settings.get("return_state"):
        return 0
    return 2 if layer.op == "LSTM" else 1


def _named(name: str, number: int) -> str:
    return f"{name}#{number}" if number else name


def _output(name: str, index: int) -> str:
    return f"{name}:{index}" if index else name


def _type_word(value: Any) -> str:
    """The name of a type, which may be part of a policy."""
    if isinstance(value, dict):
        config = value.get("config")
        value = config.get("name") if isinstance(config, dict) else None
    return value if isinstance(value, str) else ""


def flattened(settings: Mapping[str, Any]) -> dict[str, AttributeValue]:
    """Settings as attributes: those of an object inside get its name in front, lists of lists become one list."""
    attributes: dict[str, AttributeValue] = {}
    for key, value in settings.items():
        if key in _OF_NO_USE or key.endswith(_LEFT_OUT):
            continue
        if isinstance(value, dict):
            attributes.update(_of_object(key, value))
        else:
            plain = _plain(value)
            if plain is not None:
                attributes[key] = plain
    return attributes


def _of_object(key: str, value: Mapping[str, Any]) -> dict[str, AttributeValue]:
    """A function or layer as a setting: its name, and its own settings as `key.setting`."""
    title, config = value.get("class_name"), value.get("config")
    if title == "QuantizeAwareActivation" and isinstance(config, dict):
        inside = config.get("activation")
        return _of_object(key, inside) if isinstance(inside, dict) else flattened({key: inside})
    if title == "function" and isinstance(config, str):
        return {key: config}
    attributes: dict[str, AttributeValue] = {key: title} if isinstance(title, str) else {}
    for name, item in (config if isinstance(config, dict) else {}).items():
        plain = _plain(item)
        if plain is not None and name not in _OF_NO_USE:
            attributes[f"{key}.{name}"] = plain
    return attributes


def _plain(value: Any) -> AttributeValue | None:
    """A number, a text or a list of one kind of them; None for what is neither."""
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, float | str):
        return value
    if not isinstance(value, list):
        return None
    flat: list[Any] = []
    for item in value:
        flat += item if isinstance(item, list) else [item]
    if all(isinstance(item, int) for item in flat):
        return tuple(int(item) for item in flat)
    if all(isinstance(item, int | float) for item in flat):
        return tuple(float(item) for item in flat)
    return tuple(item for item in flat) if all(isinstance(item, str) for item in flat) else None
