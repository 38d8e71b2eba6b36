"""The card of a model as its framework wrote it: what goes in and out, and its operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from buildtool.errors import LatheError
from buildtool.importers.frameworks import import_model, importer, platform_of, source_model
from buildtool.importers.model import SourceModel, SourceNode, SourceTensor
from buildtool.importers.recognition import model_in, recognise
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ops.registry import registry
from buildtool.reports.table import Table

KIND = "source"
_TRIED = ((2, 64), (3, 96))  # sizes of the first axis and of others, where they are open
_NAMES = {"tensorflow": "TensorFlow", "tflite": "TensorFlow Lite", "keras": "Keras", "pytorch": "PyTorch",
          "caffe": "Caffe", "paddle": "PaddlePaddle", "onnx": "ONNX"}  # fmt: skip


def is_one(path: Path) -> bool:
    """Whether a file or folder is a model of a framework. ONNX files and what Lathe converts have other cards."""
    if path.is_dir():
        return model_in(path) != path
    found = recognise(path)
    if found is not None:
        return found.platform not in ("", "onnx")
    return path.suffix.lower() not in (".pb", ".json") and platform_of(path) not in ("", "onnx")


def card(path: Path, op_paths: Sequence[Path] = ()) -> dict[str, Any]:
    """The document of a model."""
    platform, file = platform_of(path), model_in(path)
    weights = file.with_suffix(".caffemodel") if platform == "caffe" else None
    own = registry(op_paths)
    request = ImportRequest(path.stem, file, weights if weights and weights.is_file() else None, operators=own)
    model = source_model(platform, request)
    nodes = list(_walk(model.nodes))
    counts = Counter(node.title for node in nodes)
    outputs = [_tensor(tensor) for tensor in model.outputs.values()]
    if any(tensor.dtype is None or tensor.shape is None for tensor in model.outputs.values()):
        outputs = _computed(platform, request, model) or outputs
    known = {*importer(platform).supported_operators(), *own}
    return {
        "kind": KIND,
        "path": str(path),
        "name": path.stem,
        "platform": platform,
        "inputs": [_tensor(tensor) for tensor in model.inputs.values()],
        "outputs": outputs,
        "nodes": len(nodes),
        "parameters": sum(array.size for array in model.constants.values()),
        "operators": dict(sorted(counts.items())),
        "unsupported": sorted(title for title in counts if not {title, title.rpartition(".")[2]} & known),
    }


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The document for people."""
    framework = _NAMES.get(document["platform"], document["platform"])
    text = f"{framework} model {document['name']}: {document['nodes']} nodes, {document['parameters']:,} parameters"
    tensors = Table(["", "name", "type", "shape"])
    for kind in ("inputs", "outputs"):
        for tensor in document[kind]:
            tensors.add(kind[:-1], tensor["name"], tensor["dtype"], "x".join(map(str, tensor["shape"])))
    operators = Table(["operator", "nodes", ""], right=frozenset({"nodes"}))
    for name, count in document["operators"].items():
        operators.add(name, count, "cannot be imported" if name in document["unsupported"] else "")
    return [text, tensors, operators, f"next: lathe init {document['path']}"]


def _computed(platform: str, request: ImportRequest, model: SourceModel) -> list[dict[str, Any]]:
    """The outputs of a file that does not say their types: as the importer computes them. Nothing where it cannot.

    Open sizes are computed twice, with two sizes: what differs between them is open.
    """
    found = []
    for batch, length in _TRIED:
        inputs = tuple(
            TensorRequest(tensor.name, _closed(tensor.shape or (), batch, length), "MODEL")
            for tensor in model.inputs.values()
        )
        try:
            found.append(import_model(platform, replace(request, inputs=inputs)).graph.outputs)
        except LatheError:
            return []
    return [
        {
            "name": name,
            "dtype": one.type.dtype.word,
            "shape": [
                a if a == b and isinstance(a, int) else "?" for a, b in zip(one.type.shape, two.type.shape, strict=True)
            ],
        }
        for name, one, two in zip(model.outputs, *found, strict=True)
    ]


def _closed(shape: Sequence[int | str | None], batch: int, length: int) -> tuple[int, ...]:
    return tuple(size if isinstance(size, int) else length if axis else batch for axis, size in enumerate(shape))


def _tensor(tensor: SourceTensor) -> dict[str, Any]:
    shape = [("?" if size is None else size) for size in tensor.shape or ()]
    return {"name": tensor.name, "dtype": tensor.dtype.word if tensor.dtype else "", "shape": shape}


def _walk(nodes: Sequence[SourceNode]) -> Iterator[SourceNode]:
    """The nodes, and those inside of their bodies."""
    for node in nodes:
        yield node
        for body in node.bodies.values():
            yield from _walk(body().nodes)
