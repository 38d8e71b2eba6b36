"""A deployment file for models: what stands in the models, written down, so that nothing is left to guess."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from buildtool.errors import ConfigError, ModelFileError, UnsupportedError, Where
from buildtool.importers.frameworks import SUFFIXES, import_model, importer, platform_of
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.dims import Dim, bounds
from buildtool.ir.graph import Value
from buildtool.wording import near_files

DATA_TYPES = ("fp32_fp32", "fp16_fp32", "bf16_fp32", "fp16_fp16")


@dataclass(frozen=True)
class _Opened:
    """An input of a source model: the sizes that are open are None."""

    name: str
    sizes: tuple[int | None, ...]


def write(
    models: Sequence[Path],
    *,
    relative_to: Path,
    library_name: str | None = None,
    target_abis: Sequence[str] = ("host",),
    shapes: Mapping[str, str] | None = None,
    data_type: str = "fp16_fp32",
    trust_model_code: bool = False,
) -> str:
    """The text of a deployment file for these models. `shapes` gives the sizes that the models leave open."""
    if data_type not in DATA_TYPES:
        raise ConfigError(f"--data-type cannot be '{data_type}'", rule=f"allowed: {', '.join(DATA_TYPES)}")
    given = dict(shapes or {})
    name = library_name or _word(models[0].stem)
    lines = [
        "# Written by `lathe init`. Every key: `lathe schema`.",
        f"library_name: {name}",
        f"target_abis: [{', '.join(target_abis)}]",
        "model_graph_format: file",
        "model_data_format: file",
        "models:",
    ]
    taken: set[str] = set()
    for file in models:
        entry = _unique(_word(file.stem), taken)
        lines += _model_lines(entry, file, relative_to, given, data_type, trust_model_code)
    if given:
        raise ConfigError(f"no model has an input '{next(iter(given))}'", remedy="see: lathe inspect MODEL")
    return "\n".join(lines) + "\n"


def _model_lines(
    entry: str, file: Path, relative_to: Path, given: dict[str, str], data_type: str, trusted: bool
) -> list[str]:
    if (file / "saved_model.pb").is_file():
        file /= "saved_model.pb"
    platform = platform_of(file)
    if not platform:
        raise UnsupportedError(
            f"files that end in '{file.suffix}' cannot be imported by this version",
            where=Where(file=str(file)),
            rule=f"known: {', '.join(SUFFIXES)}",
            remedy="convert it to ONNX",
        )
    try:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as problem:
        raise ModelFileError(
            f"the model cannot be read: {problem.strerror}", where=Where(file=str(file)), remedy=near_files(file)
        ) from problem
    opened = _inputs(file) if platform == "onnx" else _stated_inputs(platform, file, given, trusted)
    requests = tuple(_request(item, file, given) for item in opened)
    weights = _weights(file) if platform == "caffe" else None
    if platform == "paddle" and file.with_suffix(".pdiparams").is_file():
        weights = file.with_suffix(".pdiparams")
    imported = import_model(platform, ImportRequest(entry, file, weights, inputs=requests, trust_model_code=trusted))
    return [
        f"  {entry}:",
        f"    platform: {platform}",
        f"    model_file_path: {_text(os.path.relpath(file.resolve(), relative_to.resolve()))}",
        f"    model_sha256_checksum: {digest}",
        *_weight_lines(weights, relative_to),
        "    subgraphs:",
        *_tensor_lines("input", imported.graph.inputs, imported.input_formats, "      - "),
        *_tensor_lines("output", imported.graph.outputs, imported.output_formats, "        "),
        "    runtime: cpu",
        f"    data_type: {data_type}",
    ]


def _weights(prototxt: Path) -> Path:
    """The caffemodel of a prototxt: that of the same name, or the only one beside it."""
    found = sorted(prototxt.parent.glob("*.caffemodel"))
    same = [file for file in found if file.stem == prototxt.stem]
    if not same and len(found) != 1:
        raise ConfigError(
            f"there is no '{prototxt.stem}.caffemodel'" + (f", but {len(found)} of other names" if found else ""),
            where=Where(file=str(prototxt)),
            remedy="put the weights next to the prototxt, with the same name and the suffix .caffemodel",
        )
    return (same or found)[0]


def _weight_lines(weights: Path | None, relative_to: Path) -> list[str]:
    if weights is None:
        return []
    try:
        digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    except OSError as problem:
        raise ModelFileError(
            f"the weights cannot be read: {problem.strerror}", where=Where(file=str(weights))
        ) from problem
    return [
        f"    weight_file_path: {_text(os.path.relpath(weights.resolve(), relative_to.resolve()))}",
        f"    weight_sha256_checksum: {digest}",
    ]


def _tensor_lines(kind: str, values: Sequence[Value], formats: Sequence[str], indent: str) -> list[str]:
    shapes = [",".join(_size(dim) for dim in value.type.shape) for value in values]
    texts = {
        f"{kind}_tensors": [_text(value.name) for value in values],
        f"{kind}_shapes": [f'"{shape}"' for shape in shapes],
        f"{kind}_data_types": [value.type.dtype.word for value in values],
        f"{kind}_data_formats": list(formats),
    }
    if all(word == "float32" for word in texts[f"{kind}_data_types"]):
        del texts[f"{kind}_data_types"]  # the default
    lines = [f"{key}: [{', '.join(words)}]" for key, words in texts.items()]
    return [indent + lines[0], *(" " * len(indent) + line for line in lines[1:])]


def _inputs(file: Path) -> list[_Opened]:
    """The inputs of an ONNX file that are no weights."""
    import onnx

    try:
        graph = onnx.load(file, load_external_data=False).graph
    except Exception as problem:  # protobuf's own classes differ between versions
        raise ModelFileError(
            "this is not an ONNX model: it is damaged, truncated or of another kind", where=Where(file=str(file))
        ) from problem
    weights = {tensor.name for tensor in graph.initializer}
    return [
        _Opened(item.name, tuple(dim.dim_value or None for dim in item.type.tensor_type.shape.dim))
        for item in graph.input
        if item.name not in weights
    ]


def _stated_inputs(platform: str, file: Path, given: Mapping[str, str], trusted: bool) -> list[_Opened]:
    """The inputs of a file that states a size for every axis, or needs some `given`, in the order of the model."""
    if platform == "pytorch" and given:
        return [_Opened(name, ()) for name in given]
    declared = getattr(importer(platform), "declared_inputs", None)
    if declared is not None:
        return [_Opened(name, sizes) for name, sizes in declared(ImportRequest("model", file)).items()]
    inputs = import_model(platform, ImportRequest("model", file, trust_model_code=trusted)).graph.inputs
    return [_Opened(value.name, tuple(bounds(dim)[1] for dim in value.type.shape)) for value in inputs]


def _request(opened: _Opened, file: Path, given: dict[str, str]) -> TensorRequest:
    """The shape that the user gave, or that of the model with a batch of one."""
    where = Where(file=str(file), value=opened.name)
    text = given.pop(opened.name, None)
    if text is not None:
        return TensorRequest(opened.name, _parse(text, opened.name), "MODEL", where=where)
    sizes = list(opened.sizes)
    if len(sizes) > 1 and sizes[0] is None:
        sizes[0] = 1
    if any(size is None for size in sizes):
        shown = ",".join("?" if size is None else str(size) for size in opened.sizes)
        raise ConfigError(
            f"the model leaves the shape [{shown}] of '{opened.name}' open",
            where=where,
            remedy=f"give it: --input-shape {opened.name}=1,3,224,224 (1..8 for a size that may vary)",
        )
    return TensorRequest(opened.name, tuple(size for size in sizes if size is not None), "MODEL", where=where)


def _parse(text: str, name: str) -> tuple[int | tuple[int, int], ...]:
    sizes: list[int | tuple[int, int]] = []
    for word in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:\.\.(\d+))?\s*", word)
        if match is None:
            raise ConfigError(
                f"'{word}' is not a dimension, in --input-shape {name}={text}", rule="1,3,224,224 or 1..8,3,64,64"
            )
        low, high = int(match[1]), int(match[2] or match[1])
        sizes.append(low if low == high else (low, high))
    return tuple(sizes)


def _size(dim: Dim) -> str:
    """A size of an output that only the data decides may be 0, which deployment files do not say: it counts as 1."""
    low, high = bounds(dim)
    return str(low) if low == high else f"{max(low, 1)}..{high}"


def _text(text: str) -> str:
    """A YAML scalar inside a list in brackets, quoted where it has to be."""
    plain = re.fullmatch(r"[A-Za-z_/][\w./-]*", text) and yaml.safe_load(text) == text
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _word(stem: str) -> str:
    word = re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_") or "model"
    return f"m_{word}" if word[0].isdigit() else word


def _unique(word: str, taken: set[str]) -> str:
    name, count = word, 2
    while name in taken:
        name, count = f"{word}_{count}", count + 1
    taken.add(name)
    return name
