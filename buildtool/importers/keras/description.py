"""What a model's description says: layers, their settings and calls, in the forms of Keras 2 and of Keras 3.

The description is JSON. Everything in it is checked here for its kind; what it means is for the handlers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeAlias

from buildtool.errors import ModelFileError, UnsupportedError, Where

Json: TypeAlias = Any
_CHAINS = frozenset({"Sequential", "Pipeline"})
MODELS = _CHAINS | {"Functional", "Model"}
_DEEPEST = 32  # models inside of models
_WRAPPERS = {
    "TimeDistributed": ("layer",),
    "Bidirectional": ("layer", "backward_layer"),
    "SpectralNormalization": ("layer",),
}
_QUANTISING = frozenset({"QuantizeWrapper", "QuantizeWrapperV2"})
QUANTISING = _QUANTISING | {"QuantizeLayer"}  # of tensorflow_model_optimization
#: Its settings with 8 bits for all, weights without the least number.
_USUAL_QUANTISATION = frozenset(
    {"Default8BitQuantizeConfig", "Default8BitConvQuantizeConfig", "Default8BitConvTransposeQuantizeConfig"}
)
_ROUNDED_BEFORE = frozenset({"softmax", "sigmoid", "tanh", "gelu"})
_ROUNDED_BEHIND = frozenset({"linear", "relu", "swish", "gelu"})
_CELLS = {"LSTMCell": "LSTM", "GRUCell": "GRU", "SimpleRNNCell": "SimpleRNN"}


@dataclass(frozen=True)
class Reference:
    """One output of one call of a layer."""

    layer: str
    call: int
    output: int


@dataclass(frozen=True)
class Call:
    """One use of a layer: tensors and plain values in order, and those that have names."""

    arguments: tuple[Reference | int | float, ...]
    named: Mapping[str, Reference | int | float | str]


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer of a model. `first`: the number by which others call its first use."""

    op: str
    domain: str  # who defines the class; empty for the layers of Keras, `ops` for its functions
    name: str
    settings: Mapping[str, Json]
    calls: tuple[Call, ...] = ()
    first: int = 0
    network: Network | None = None  # of a model inside of the model
    inner: Mapping[str, Layer] = field(default_factory=dict)  # of a wrapper: what it wraps
    title: str = ""  # of the class around it that is left out: a cell's RNN, what simulates quantisation
    ranges: tuple[str, ...] = ()  # where quantisation is simulated: weights, before or behind the activation, output

    @property
    def quantised(self) -> bool:
        return self.title in _QUANTISING

    @property
    def trainable(self) -> bool:
        return self.settings.get("trainable", True) is not False


@dataclass(frozen=True, eq=False)
class Network:
    """A model: its layers, and which of their outputs are its own inputs and outputs."""

    layers: tuple[Layer, ...]
    inputs: tuple[Reference, ...]
    outputs: tuple[Reference, ...]

    def references(self) -> Iterator[Reference]:
        """All that is read anywhere."""
        for layer in self.layers:
            for call in layer.calls:
                yield from (item for item in call.arguments if isinstance(item, Reference))
                yield from (item for item in call.named.values() if isinstance(item, Reference))
        yield from (*self.inputs, *self.outputs)


def parse(text: str, where: Where) -> Layer:
    """The model as one layer. LatheError where the description is wrong."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ModelFileError(f"the description of the model is not JSON: {problem}", where=where) from problem
    description = _Description(where)
    model = description.layer(whole, 0)
    if model.network is None:
        description.unsupported(
            f"the model is a '{model.op}'",
            "build it with the functional interface or as Sequential: the file does not contain the code of "
            "other models",
        )
    return model


class _Description:
    """The reading of one description."""

    def __init__(self, where: Where) -> None:
        self._where = where

    # -- kinds -------------------------------------------------------------------------------------------------------
    def wrong(self, what: str) -> NoReturn:
        raise ModelFileError(
            f"the description of the model: {what}", where=self._where, remedy="save the model again with Keras"
        )

    def unsupported(self, what: str, remedy: str) -> NoReturn:
        raise UnsupportedError(what, where=self._where, remedy=remedy)

    def _dict(self, value: Json, what: str) -> dict[str, Json]:
        return value if isinstance(value, dict) else self.wrong(f"{what} is not an object")

    def _list(self, value: Json, what: str) -> list[Json]:
        return value if isinstance(value, list) else self.wrong(f"{what} is not a list")

    def _text(self, value: Json, what: str) -> str:
        return value if isinstance(value, str) and value else self.wrong(f"{what} is not text")

    # -- layers ------------------------------------------------------------------------------------------------------
    def layer(self, entry: Json, depth: int) -> Layer:
        """A layer without its calls."""
        entry = self._dict(entry, "a layer")
        if depth > _DEEPEST:
            self.wrong(f"models are nested more than {_DEEPEST} deep")
        title = self._text(entry.get("class_name"), "the class of a layer")
        domain, op = _origin(title, entry)
        config = entry.get("config")
        if op == "Sequential" and isinstance(config, list):  # as the first versions of Keras 2 wrote it
            config = {"name": "sequential", "layers": config}
        config = self._dict(config, f"the settings of a '{op}'")
        name = self._text(entry.get("name") or config.get("name"), f"the name of a '{op}'")
        if domain == "" and op == "RNN":
            return self._of_cell(name, config, depth)
        if op in _QUANTISING:
            wrapped = self.layer(config.get("layer"), depth + 1)
            ranges = () if wrapped.domain or wrapped.inner or wrapped.network else _ranges(config, wrapped.settings)
            return Layer(
                wrapped.op, wrapped.domain, name, wrapped.settings, inner=wrapped.inner, title=op, ranges=ranges
            )
        if domain == "" and op in MODELS:
            network = self._sequential(config, depth) if op in _CHAINS else self._functional(config, depth)
            return Layer(op, domain, name, config, network=network)
        return Layer(op, domain, name, config, inner=self._inner(op, domain, config, depth))

    def _inner(self, op: str, domain: str, config: Mapping[str, Json], depth: int) -> dict[str, Layer]:
        if domain or op not in _WRAPPERS:
            return {}
        found = {key: self.layer(config[key], depth + 1) for key in _WRAPPERS[op] if config.get(key) is not None}
        if op == "Bidirectional" and "layer" in found:
            forward = found["layer"]
            turned = {**forward.settings, "go_backwards": not forward.settings.get("go_backwards", False)}
            backward = Layer(forward.op, forward.domain, forward.name, turned)
            return {"forward_layer": forward, "backward_layer": found.get("backward_layer", backward)}
        return found

    def _of_cell(self, name: str, config: Mapping[str, Json], depth: int) -> Layer:
        """The layer `RNN` around one cell is the layer that Keras has for that cell."""
        cell = config.get("cell")
        if isinstance(cell, dict) and cell.get("class_name") in _CELLS:
            inside = self.layer(cell, depth + 1)
            settings = {**{key: value for key, value in config.items() if key != "cell"}, **inside.settings}
            return Layer(_CELLS[inside.op], "", name, settings | {"name": name}, title="RNN")
        if isinstance(cell, dict) and cell.get("class_name") == "StackedRNNCells":
            return self._of_cells(name, config, self._dict(cell.get("config"), "the settings of cells"), depth)
        return Layer("RNN", "", name, {})

    def _of_cells(self, name: str, config: Mapping[str, Json], stack: Mapping[str, Json], depth: int) -> Layer:
        """Cells one on another are layers one behind another."""
        entries = self._list(stack.get("cells"), "the cells of a stack")
        inner: dict[str, Layer] = {}
        for number, entry in enumerate(entries):
            last = number == len(entries) - 1
            own = {
                "cell": entry,
                "return_sequences": bool(config.get("return_sequences")) or not last,
                "go_backwards": bool(config.get("go_backwards")) and not number,
            }
            inner[f"cells.{number}"] = self._of_cell(f"cell_{number}", own, depth + 1)
        if not inner or config.get("return_state"):
            return Layer("RNN", "", name, {})
        return Layer("StackedRNNCells", "", name, {}, inner=inner, title="RNN")

    # -- models ------------------------------------------------------------------------------------------------------
    def _sequential(self, config: Mapping[str, Json], depth: int) -> Network:
        entries = self._list(config.get("layers"), "the layers of a Sequential")
        layers = [self.layer(entry, depth + 1) for entry in entries]
        if not layers:
            self.wrong("a Sequential has no layers")
        if layers[0].op != "InputLayer":
            layers.insert(0, self._first(layers[0], config))
        made = [layers[0]]
        for layer in layers[1:]:
            before = made[-1]
            made.append(_called(layer, (Call((Reference(before.name, 0, 0),), {}),), 0))
        self._check_names(made)
        return Network(tuple(made), (Reference(made[0].name, 0, 0),), (Reference(made[-1].name, 0, 0),))

    def _first(self, layer: Layer, config: Mapping[str, Json]) -> Layer:
        """The input layer that a Sequential does without."""
        settings: dict[str, Json] = {}
        innermost = layer
        while innermost.network is not None:
            named = {item.name: item for item in innermost.network.layers}
            innermost = named[innermost.network.inputs[0].layer]
        for source in (innermost.settings, config):
            for key in ("batch_input_shape", "batch_shape", "build_input_shape"):
                if settings.get("batch_shape") is None and isinstance(source.get(key), list):
                    settings["batch_shape"] = source[key]
        if isinstance(innermost.settings.get("dtype"), str):
            settings["dtype"] = innermost.settings["dtype"]
        return Layer("InputLayer", "", f"{layer.name}_input", settings)

    def _functional(self, config: Mapping[str, Json], depth: int) -> Network:
        if not isinstance(config.get("layers"), list):
            self.unsupported(
                f"the model '{config.get('name')}' is a custom class",
                "build it with the functional interface: the file does not contain the code of other models",
            )
        entries = [self._dict(entry, "a layer") for entry in config["layers"]]
        bare = [self.layer(entry, depth + 1) for entry in entries]
        self._check_names(bare)
        names = frozenset(layer.name for layer in bare)
        calls = [self._calls(entry, names) for entry in entries]
        inputs = tuple(self._references(config.get("input_layers"), names))
        outputs = tuple(self._references(config.get("output_layers"), names))
        loose = Network(
            tuple(_called(layer, made, 0) for layer, made in zip(bare, calls, strict=True)), inputs, outputs
        )
        least: dict[str, int] = {}
        for reference in loose.references():
            least[reference.layer] = min(reference.call, least.get(reference.layer, reference.call))
        # Keras 2 counts the use of a model from 1: its own making was its first.
        firsts = [1 if layer.network is not None and least.get(layer.name) == 1 else 0 for layer in bare]
        made = tuple(_called(layer, call, first) for layer, call, first in zip(bare, calls, firsts, strict=True))
        network = Network(made, inputs, outputs)
        self._check_references(network)
        return network

    def _check_names(self, layers: Sequence[Layer]) -> None:
        seen: set[str] = set()
        for layer in layers:
            if layer.name in seen:
                self.wrong(f"two layers are called '{layer.name}'")
            seen.add(layer.name)

    def _check_references(self, network: Network) -> None:
        layers = {layer.name: layer for layer in network.layers}
        for reference in network.references():
            layer = layers[reference.layer]
            uses = max(len(layer.calls), 1 if layer.op == "InputLayer" else 0)
            if not layer.first <= reference.call < layer.first + uses or not 0 <= reference.output < 2**16:
                self.wrong(
                    f"output {reference.output} of call {reference.call} of '{layer.name}' is read, "
                    f"which is called {uses} times"
                )
        for item in network.inputs:
            if layers[item.layer].op != "InputLayer":
                self.wrong(f"the input '{item.layer}' is a '{layers[item.layer].op}'")

    # -- calls -------------------------------------------------------------------------------------------------------
    def _calls(self, entry: Mapping[str, Json], names: frozenset[str]) -> tuple[Call, ...]:
        made = []
        for node in self._list(entry.get("inbound_nodes", []), "the calls of a layer"):
            if isinstance(node, dict) and entry.get("class_name") == "GetItem":
                made.append(self._index(node, names))
            elif isinstance(node, dict):
                made.append(self._newer_call(node, names))
            else:
                made.append(self._older_call(self._list(node, "a call"), names))
        return tuple(made)

    def _newer_call(self, node: Mapping[str, Json], names: frozenset[str]) -> Call:
        """As Keras 3 writes it: `args` and `kwargs` with tensors anywhere in them."""
        arguments = list(self._flat(node.get("args", []), names))
        named: dict[str, Reference | int | float | str] = {}
        for key, value in self._dict(node.get("kwargs", {}), "the named arguments of a call").items():
            self._name(named, key, value, names)
        return Call(tuple(item for item in arguments if not isinstance(item, str)), named)

    def _index(self, node: Mapping[str, Json], names: frozenset[str]) -> Call:
        """The call of a tensor's brackets: their contents mean nothing without the lists and slices."""
        arguments = self._list(node.get("args", []), "the arguments of a call")
        if len(arguments) != 2:
            self.wrong(f"an index is called with {len(arguments)} arguments")
        return Call(tuple(self._references(arguments[0], names)), {"index": json.dumps(arguments[1])})

    def _older_call(self, node: Sequence[Json], names: frozenset[str]) -> Call:
        """As Keras 2 writes it: a list of [layer, call, output, named arguments]."""
        if node and isinstance(node[0], str):  # a single tensor, not in a list
            node = [node]
        arguments: list[Reference | int | float] = []
        named: dict[str, Reference | int | float | str] = {}
        for item in node:
            item = self._list(item, "an argument of a call")
            if len(item) not in (3, 4):
                self.wrong(f"an argument of a call has {len(item)} parts")
            if item[0] == "_CONSTANT_VALUE":
                arguments += [value for value in self._flat(item[2], names) if not isinstance(value, str)]
            else:
                arguments.append(self._reference(item[:3], names))
            for key, value in (item[3] if len(item) == 4 and isinstance(item[3], dict) else {}).items():
                self._name(named, key, value, names)
        return Call(tuple(arguments), named)

    def _name(self, named: dict[str, Any], key: str, value: Json, names: frozenset[str]) -> None:
        """A named argument; of several tensors under one name each gets a number."""
        found = list(self._flat(value, names))
        if len(found) == 1 and not isinstance(value, list | dict):
            named[key] = found[0]
            return
        references = [item for item in found if isinstance(item, Reference)]
        if references and len(references) == 1:
            named[key] = references[0]
        else:
            named.update({f"{key}.{number}": item for number, item in enumerate(references)})

    def _flat(self, value: Json, names: frozenset[str]) -> Iterator[Reference | int | float | str]:
        """The tensors and plain values in a value, whatever lists it is made of."""
        if isinstance(value, dict):
            config = value.get("config")
            if value.get("class_name") == "__keras_tensor__" and isinstance(config, dict):
                yield self._reference(config.get("keras_history"), names)
                return
            for item in value.values():
                yield from self._flat(item, names)
        elif isinstance(value, list):
            if _is_reference(value, names):
                yield self._reference(value, names)
                return
            for item in value:
                yield from self._flat(item, names)
        elif isinstance(value, int | float | str):
            yield value

    def _references(self, value: Json, names: frozenset[str]) -> Iterator[Reference]:
        found = [item for item in self._flat(value, names) if isinstance(item, Reference)]
        if not found:
            self.wrong("a model has no inputs or no outputs")
        yield from found

    def _reference(self, value: Json, names: frozenset[str]) -> Reference:
        if not isinstance(value, list) or not _is_reference(value, names):
            self.wrong(f"{json.dumps(value)[:80]} is not an output of a layer")
        return Reference(value[0], value[1], value[2])


def _is_reference(value: Sequence[Json], names: frozenset[str]) -> bool:
    numbers = value[1:3]
    return (
        len(value) in (3, 4)
        and isinstance(value[0], str)
        and value[0] in names
        and all(isinstance(item, int) and not isinstance(item, bool) for item in numbers)
    )


def _called(layer: Layer, calls: tuple[Call, ...], first: int) -> Layer:
    return replace(layer, calls=calls, first=first)


def _origin(title: str, entry: Mapping[str, Json]) -> tuple[str, str]:
    """Who defines a class, and its name there."""
    package, _, op = title.rpartition(">")
    module, registered = entry.get("module"), entry.get("registered_name")
    if isinstance(module, str) and module.split(".")[0] in ("keras", "tf_keras", "tensorflow"):
        return ("ops" if ".ops" in module else ""), op
    if not package and isinstance(registered, str) and ">" in registered:
        package = registered.rpartition(">")[0]
    elif not package and isinstance(module, str) and module != "builtins":
        package = module
    return ("" if op in QUANTISING else package), op


def _ranges(config: Mapping[str, Json], settings: Mapping[str, Json]) -> tuple[str, ...]:
    """What a wrapper keeps ranges of, in its order. Those of settings that are not the usual ones stay unknown."""
    stated = config.get("quantize_config")
    title = stated.get("class_name") if isinstance(stated, dict) else None
    usual = stated.get("config") if isinstance(stated, dict) else None
    if title == "Default8BitOutputQuantizeConfig":
        return ("output",)
    if title not in _USUAL_QUANTISATION or not isinstance(usual, dict):
        return ()
    weights = usual.get("weight_attrs")
    found = [
        "kernel" if name == "depthwise_kernel" else str(name) for name in weights or () if isinstance(weights, list)
    ]
    if usual.get("activation_attrs"):
        activation = _simulated_activation(settings.get("activation"))
        found += ["pre_activation"] if activation in _ROUNDED_BEFORE else []
        found += ["post_activation"] if activation in _ROUNDED_BEHIND else []
    return (*found, "output") if usual.get("quantize_output") is True else tuple(found)


def _simulated_activation(stated: Json) -> str:
    """The name of the function inside of what simulates quantisation."""
    for key in ("config", "activation"):
        stated = stated.get(key) if isinstance(stated, dict) else stated
    title = stated.get("class_name") if isinstance(stated, dict) else stated
    return title if isinstance(title, str) else ""
