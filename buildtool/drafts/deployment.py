"""A deployment file for models: the facts of the models, written out, so that no guess is left."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from buildtool.digests import sha256_of
from buildtool.drafts import inputs
from buildtool.drafts.inputs import Ask, Opened, OpenSizes
from buildtool.errors import ConfigError, ModelFileError, Problem, UnsupportedError, Where
from buildtool.importers.frameworks import SUFFIXES, import_model, importer, platform_of
from buildtool.importers.recognition import folder, model_in, recognise
from buildtool.importers.request import ImportRequest
from buildtool.ir.dims import Dim, bounds
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Operator
from buildtool.ir.types import DType
from buildtool.ops.registry import registry
from buildtool.passes.pipeline import optimise
from buildtool.quant.sources import is_quantised
from buildtool.targets.protocol import FirmwareTarget
from buildtool.targets.registry import all_targets, chips_of
from buildtool.wording import did_you_mean, near_files

DATA_TYPES = ("fp32_fp32", "fp16_fp32", "bf16_fp32", "fp16_fp16")
_NAMELESS = ("saved_model", "__model__", "inference")
_USUAL = (-1.0, 1.0)  # what deployments assume


@dataclass(frozen=True)
class _Draft:
    """What the lines of all models have in common."""

    relative_to: Path
    operators: Mapping[str, type[Operator]]
    data_type: str
    trusted: bool
    sizes: OpenSizes
    ranges: dict[str, tuple[float, float]]  # of inputs, by name, as the user gives them; those that are used leave
    target: FirmwareTarget | None  # where the models go to chips


def write(
    models: Sequence[Path],
    *,
    relative_to: Path,
    library_name: str | None = None,
    target_abis: Sequence[str] = ("host",),
    shapes: Mapping[str, str] | None = None,
    ranges: Mapping[str, str] | None = None,
    data_type: str = "fp16_fp32",
    trust_model_code: bool = False,
    op_paths: Sequence[Path] = (),
    ask: Ask | None = None,
    note: Callable[[Problem], None] | None = None,
) -> str:
    """The text of a deployment file for these models. `shapes` gives the sizes that the models leave open, `ranges` the
    numbers between which inputs lie; `ask` is asked for other sizes, and `note` hears of those that were chosen.
    """
    if data_type not in DATA_TYPES:
        raise ConfigError(
            f"--data-type cannot be '{data_type}'",
            rule=f"allowed: {', '.join(DATA_TYPES)}",
            remedy=did_you_mean(data_type, DATA_TYPES) or "write one of them",
        )
    sizes = OpenSizes(dict(shapes or {}), ask, note)
    name = library_name or _word(_stem(models[0]))
    lines = [
        "# Written by `lathe init`. Every key: `lathe schema`.",
        f"library_name: {name}",
        f"target_abis: [{', '.join(target_abis)}]",
        "model_graph_format: file",
        "model_data_format: file",
        *([f"op_paths: [{', '.join(_text(_relative(path, relative_to)) for path in op_paths)}]"] if op_paths else []),
        "models:",
    ]
    given = {key: inputs.parse_range(text, key) for key, text in (ranges or {}).items()}
    draft = _Draft(relative_to, registry(op_paths), data_type, trust_model_code, sizes, given, _chip(target_abis))
    taken: set[str] = set()
    for model in models:
        lines += _model_lines(_unique(_word(_stem(model)), taken), model_in(model), draft)
    sizes.check_all_used()
    inputs.check_all_used(given)
    return "\n".join(lines) + "\n"


def _stem(model: Path) -> str:
    """What a model is called: a file that every model of its framework has says nothing, its folder does."""
    file = model_in(model)
    return file.resolve().parent.name if file.stem in _NAMELESS else file.stem


def _chip(abis: Sequence[str]) -> FirmwareTarget | None:
    for target in all_targets().values():
        if isinstance(target, FirmwareTarget) and set(abis) & set(chips_of(target)):
            return target
    return None


def _model_lines(entry: str, file: Path, draft: _Draft) -> list[str]:
    platform = _platform(file)
    try:
        digest = sha256_of(file)
    except OSError as problem:
        raise ModelFileError(
            f"the model cannot be read: {problem.strerror}",
            where=Where(file=str(file)),
            remedy=near_files(file) or "name the file of the model",
        ) from problem
    weights = _weights(file) if platform == "caffe" else None
    opened = inputs.of_onnx(file) if platform == "onnx" else _stated_inputs(platform, file, draft)
    requests = draft.sizes.requests(file, opened)
    if platform == "paddle" and file.with_suffix(".pdiparams").is_file():
        weights = file.with_suffix(".pdiparams")
    request = ImportRequest(
        entry, file, weights, inputs=requests, operators=draft.operators, trust_model_code=draft.trusted
    )
    with draft.sizes.blamed():
        imported = import_model(platform, request)
    if not imported.graph.inputs:
        raise UnsupportedError(
            "the model has no inputs: its outputs are always the same",
            where=Where(file=str(file), model=entry),
            rule="a deployment names the inputs of each model",
            remedy="compute the outputs once, and store them in the application",
        )
    empty = [value for value in (*imported.graph.inputs, *imported.graph.outputs) if _is_empty(value)]
    if empty:
        raise UnsupportedError(
            f"'{empty[0].name}' has no elements: its shape is [{','.join(map(str, empty[0].type.shape))}]",
            where=Where(file=str(file), model=entry, value=empty[0].name),
            rule="each size of an input or output is at least 1",
            remedy="correct the model, or name other outputs in a deployment file",
        )
    return [
        f"  {entry}:",
        f"    platform: {platform}",
        f"    model_file_path: {_text(_relative(file, draft.relative_to))}",
        f"    model_sha256_checksum: {digest}",
        *_weight_lines(weights, draft.relative_to),
        "    subgraphs:",
        *_tensor_lines("input", imported.graph.inputs, imported.input_formats, "      - "),
        *_range_lines(imported.graph, draft),
        *_tensor_lines("output", imported.graph.outputs, imported.output_formats, "        "),
        *_runtime_lines(entry, imported.graph, draft),
    ]


def _platform(file: Path) -> str:
    """What imports a file or folder. LatheError that says what it is instead."""
    if found := platform_of(file):
        return found
    content = recognise(file) if file.is_file() else folder(file) if file.is_dir() else None
    if content is not None:
        raise UnsupportedError(
            f"this is {content.what}, which cannot be imported", where=Where(file=str(file)), remedy=content.remedy
        )
    if not file.exists():
        raise ModelFileError(
            "the model cannot be read: there is no such file", where=Where(file=str(file)), remedy=near_files(file)
        )
    if file.is_dir():
        what, remedy = "this folder holds no model that Lathe knows", "name the file of the model itself"
    else:
        what, remedy = "this is no model that Lathe knows", "convert it to ONNX"
    raise UnsupportedError(what, where=Where(file=str(file)), rule=f"known: {', '.join(SUFFIXES)}", remedy=remedy)


def _range_lines(graph: Graph, draft: _Draft) -> list[str]:
    """Between which numbers the inputs lie, where the user or the model says so; for chips always, to be edited."""
    ranges = [draft.ranges.pop(value.name, None) or _range(value, graph) for value in graph.inputs]
    if not any(ranges) and draft.target is None:
        return []
    texts = ", ".join(f'"{low:.6g},{high:.6g}"' for low, high in (found or _USUAL for found in ranges))
    remark = "" if all(ranges) else "  # an assumption: write the range of your data"
    return [f"        input_ranges: [{texts}]{remark}"]


def _range(value: Value, graph: Graph) -> tuple[float, float] | None:
    """What a real input is rounded to, which tells between which numbers it lies."""
    if value.type.dtype is not DType.F32:
        return None
    if (quant := graph.range_of(value)) is not None and len(quant.scales) == 1:
        return _ends(float(quant.scales[0]), int(quant.zero_points[0]), signed=True)
    for node in graph.nodes:
        if node.op.name == "quantize_linear" and node.inputs[0] is value:
            scale, zero = node.inputs[1].constant, node.inputs[2].constant if len(node.inputs) > 2 else None
            dtype = node.outputs[0].type.dtype
            if scale is not None and scale.size == 1 and dtype in (DType.S8, DType.U8):
                return _ends(float(scale), 0 if zero is None else int(zero), signed=dtype is DType.S8)
    return None


def _ends(scale: float, zero: int, *, signed: bool) -> tuple[float, float]:
    low = -128 if signed else 0
    return scale * (low - zero), scale * (low + 255 - zero)


def _runtime_lines(entry: str, graph: Graph, draft: _Draft) -> list[str]:
    if draft.target is not None:
        return [
            f"    runtime: {draft.target.capabilities.runtimes[0]}",
            "    quantize: 1",
            *(
                []
                if draft.target.capabilities.keeps_stored or _stores_few_bits(graph)
                else [f"    quantize_range_file: {entry}.ranges"]
            ),
        ]
    quantised = ["    quantize: 1"] if _stores_few_bits(graph) else []
    halves = draft.data_type == "fp16_fp32" and not quantised
    remark = "  # weights in 16 bits, computed in 32; fp32_fp32 stores 32" if halves else ""
    return ["    runtime: cpu", f"    data_type: {draft.data_type}{remark}", *quantised]


def _stores_few_bits(graph: Graph) -> bool:
    """Whether a model says itself how its tensors, and not only its weights, are stored in a few bits."""
    if graph.ranges or not is_quantised(graph):
        return bool(graph.ranges)
    optimised = graph.clone()  # as a build does: a scale that no other node reads is no range of a tensor
    optimise(optimised, quantised=True)
    return bool(optimised.ranges)


def _stated_inputs(platform: str, file: Path, draft: _Draft) -> list[Opened]:
    """The inputs of a file that states a size for every axis, or needs some given, in the order of the model."""
    if platform == "pytorch" and draft.sizes.given:
        return [Opened(name, ()) for name in draft.sizes.given]
    declared = getattr(importer(platform), "declared_inputs", None)
    if declared is not None:
        return [Opened(name, sizes) for name, sizes in declared(ImportRequest("model", file)).items()]
    request = ImportRequest("model", file, operators=draft.operators, trust_model_code=draft.trusted)
    found = import_model(platform, request).graph.inputs
    return [Opened(value.name, tuple(bounds(dim)[1] for dim in value.type.shape)) for value in found]


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
        digest = sha256_of(weights)
    except OSError as problem:
        raise ModelFileError(
            f"the weights cannot be read: {problem.strerror}", where=Where(file=str(weights))
        ) from problem
    return [
        f"    weight_file_path: {_text(_relative(weights, relative_to))}",
        f"    weight_sha256_checksum: {digest}",
    ]


def _tensor_lines(kind: str, values: Sequence[Value], formats: Sequence[str], indent: str) -> list[str]:
    shapes = [",".join(_size(dim) for dim in value.type.shape) for value in values]
    texts = {
        f"{kind}_tensors": [_text(value.name) for value in values],
        f"{kind}_shapes": [f'"{shape}"' if shape else "[]" for shape in shapes],
        f"{kind}_data_types": [value.type.dtype.word for value in values],
        f"{kind}_data_formats": list(formats),
    }
    if all(word == "float32" for word in texts[f"{kind}_data_types"]):
        del texts[f"{kind}_data_types"]  # the default
    lines = [f"{key}: [{', '.join(words)}]" for key, words in texts.items()]
    return [indent + lines[0], *(" " * len(indent) + line for line in lines[1:])]


def _is_empty(value: Value) -> bool:
    return any(bounds(dim)[1] == 0 for dim in value.type.shape)


def _relative(path: Path, folder: Path) -> str:
    return os.path.relpath(path.resolve(), folder.resolve())


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
