"""Whole networks from files of TensorLayer's `model.save(file)`: layers and weights in one `.h5`.

The description of the layers is Python source of a dictionary, which TensorLayer evaluates. Here literals are read,
and nothing else.
"""

from __future__ import annotations

import ast
import io
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from buildtool.errors import ConfigError, LatheError, ModelFileError, Problem, UnsupportedError, Where
from buildtool.importers.keras.hdf5 import Hdf5
from buildtool.targets.k210.layers import kinds
from buildtool.targets.k210.layers.layer import Layer, Tensor
from buildtool.targets.k210.layers.model import Model

_MOST_TEXT = 1 << 22  # characters of a description: far more than any network of the chip
_SAVED = "save it with TensorLayer 2: model.save(file)"
_IGNORED = {
    "layer_type", "decay", "is_train", "dtype", "data_format", "in_channels", "num_features", "seed", "antialias",
}  # fmt: skip
_KINDS: Mapping[str, Callable[..., Layer]] = {
    name: getattr(kinds, name)
    for name in (
        "Conv2d", "DepthwiseConv2d", "Dense", "BatchNorm", "MaxPool2d", "MeanPool2d", "GlobalMaxPool2d",
        "GlobalMeanPool2d", "Flatten", "Reshape", "Concat", "ZeroPad2d", "UpSampling2d", "Dropout",
    )
} | {"BatchNorm2d": kinds.BatchNorm, "Elementwise": kinds.Add}  # fmt: skip
_WITH_BIAS = ("Conv2d", "DepthwiseConv2d", "Dense")
_BIASES = ("biases", "b_conv2d", "b_depthwise2d", "b")
_INPUT = "_InputLayer"


def load(file: Path | str) -> Model:
    """The network with its weights. UnsupportedError lists the layers that Lathe does not have."""
    where = Where(file=str(file))
    try:
        data = Path(file).read_bytes()
    except OSError as problem:
        raise ConfigError(f"the model cannot be read: {problem.strerror}", where=where) from None
    if not data.startswith(b"\x89HDF\r\n\x1a\n"):
        raise ModelFileError("this is not an HDF5 file", where=where, remedy=_SAVED)
    text, biased = _opened(data, where)
    if not text:
        raise ModelFileError(
            "the file does not describe layers",
            where=where,
            rule="its attribute 'model_config' does",
            remedy=f"{_SAVED}, or describe the network and use load_weights",
        )
    model = _Reading(_described(text, where), biased, where).model()
    model.load_weights(file)
    return model


def _opened(data: bytes, where: Where) -> tuple[str, frozenset[str]]:
    """The description, and the layers that have biases."""
    try:
        file = Hdf5(io.BytesIO(data), where)
        text = file.root.text("model_config") or ""
        biased = set()
        for layer in file.root.texts("layer_names"):
            group = file.root.group(layer)
            names = group.texts("weight_names") if group is not None else []
            if any(name.rpartition("/")[2].removesuffix(":0") in _BIASES for name in names):
                biased.add(layer)
        file.close()
    except LatheError as problem:
        told = [Problem(one.what, one.where, one.rule, _SAVED) for one in problem.problems]
        raise ModelFileError(told) from problem
    return text, frozenset(biased)


def _described(text: str, where: Where) -> dict[str, Any]:
    try:
        if len(text) > _MOST_TEXT:
            raise ValueError(f"{len(text)} characters")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the text may be, it is no program of the user's
            found = _literal(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError) as problem:
        raise ModelFileError(
            f"its 'model_config' is not a description: {type(problem).__name__}", where=where, remedy=_SAVED
        ) from None
    if not isinstance(found, dict) or not isinstance(found.get("model_architecture"), list):
        raise ModelFileError("its 'model_config' has no list 'model_architecture'", where=where, remedy=_SAVED)
    return found


def _literal(node: ast.expr) -> Any:
    """What a literal stands for; names of TensorFlow's types stand for themselves."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        items = [_literal(item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    if isinstance(node, ast.Dict):
        return {_literal(key): _literal(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value  # type: ignore[operator]
    if isinstance(node, ast.Attribute):
        return node.attr
    raise ValueError("it contains a value that is not a literal")


class _Reading:
    def __init__(self, description: Mapping[str, Any], biased: frozenset[str], where: Where) -> None:
        self._description = description
        self._biased = biased
        self._where = where
        self._problems: list[Problem] = []
        self._tensors: dict[str, Tensor] = {}  # by the names of calls
        self._layers: dict[str, Layer] = {}
        self._inputs: list[Tensor] = []

    def model(self) -> Model:
        calls: Counter[str] = Counter()
        for entry in self._description["model_architecture"]:
            args = entry.get("args") if isinstance(entry, dict) else None
            if not isinstance(args, dict) or not isinstance(args.get("name"), str):
                self._problem("", "a layer without a name", "", _SAVED)
                continue
            name = args["name"]
            made = self._call(str(entry.get("class")), name, args, entry.get("prev_layer"))
            if made is not None:
                self._tensors[f"{name}_node_{calls[name]}"] = made
            calls[name] += 1
        outputs = self._named(self._description.get("outputs"))
        if self._problems:
            raise UnsupportedError(self._problems)
        if len(self._inputs) != 1 or not outputs:
            raise UnsupportedError(
                f"the model has {len(self._inputs)} inputs and {len(outputs)} outputs",
                where=self._where,
                rule="a kmodel has one input, and at least one output",
            )
        name = self._description.get("name")
        return Model(self._inputs[0], outputs, name if isinstance(name, str) else "model")

    def _problem(self, node: str, what: str, rule: str = "", remedy: str = "") -> None:
        self._problems.append(Problem(what, Where(file=self._where.file, node=node), rule, remedy))

    def _call(self, kind: str, name: str, args: Mapping[str, Any], before: object) -> Tensor | None:
        """None where a problem is reported, here or for an earlier layer."""
        if kind == _INPUT:
            shape = args.get("shape")
            made = kinds.Input(tuple(shape) if isinstance(shape, list | tuple) else (), name)
            self._inputs.append(made)
            return made
        sources = self._named(before)
        layer = self._layers.get(name) or self._layer(kind, name, args)
        if layer is None:
            return None
        self._layers[name] = layer
        return layer(sources)

    def _named(self, names: object) -> list[Tensor]:
        """Tensors by the names of calls. Missing ones are reported, unless an earlier layer was."""
        wanted: Sequence[object] = list(names) if isinstance(names, list | tuple) else [names]
        missing = [one for one in wanted if one not in self._tensors]
        if missing and not self._problems:
            self._problem("", f"there is no layer '{missing[0]}'", "layers come after their inputs", _SAVED)
        return [self._tensors[str(one)] for one in wanted if one in self._tensors]

    def _layer(self, kind: str, name: str, args: Mapping[str, Any]) -> Layer | None:
        if kind not in _KINDS:
            known = ", ".join(sorted(_KINDS))
            remedy = "compute it in the program that runs the kmodel, or compose it of these"
            self._problem(name, f"there is no layer for '{kind}'", f"known: {known}", remedy)
            return None
        told = {key: value for key, value in args.items() if key not in _IGNORED and value is not None}
        if args.get("data_format", "channels_last") not in ("channels_last", "NHWC"):
            self._problem(name, f"its channel order is '{args['data_format']}'", "channels come last")
            return None
        if told.get("act") is not None and not isinstance(told["act"], str):
            self._problem(
                name, f"{kind}: its activation is code", "activations are given by name", "use one of TensorFlow's own"
            )
            return None
        if kind == "Elementwise" and told.pop("combine_fn", "add") != "add":
            self._problem(name, "Elementwise: it does not add", "only sums are supported", "use tf.add")
            return None
        if kind == "UpSampling2d" and told.pop("method", "bilinear") not in ("nearest", 1):
            self._problem(name, "UpSampling2d: it does not take the nearest pixel", "", "use method='nearest'")
            return None
        if kind in _WITH_BIAS:
            told["bias"] = name in self._biased
        try:
            return _KINDS[kind](**told)
        except TypeError:
            unknown = ", ".join(sorted(str(key) for key in told if key != "name"))
            self._problem(name, f"{kind}: it has an unknown argument, one of {unknown}")
            return None
