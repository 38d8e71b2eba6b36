"""Frozen graphs and SavedModels with TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

NEEDS = ("tensorflow",)


def compute(tensorflow: Any, request: Mapping[str, Any], inputs: Sequence[Any]) -> list[Any]:
    file, fed = Path(request["model"]), dict(zip(request["inputs"], inputs, strict=True))
    folder = file.parent if file.name in ("saved_model.pb", "saved_model.pbtxt") else file
    if folder.is_dir():
        return _of_saved(tensorflow, folder, fed, request["outputs"])
    graph = tensorflow.Graph()
    with graph.as_default():
        tensorflow.import_graph_def(_definition(tensorflow, file), name="")
    with tensorflow.compat.v1.Session(graph=graph) as session:
        feeds = {_tensor(name): array for name, array in fed.items()}
        return list(session.run([_tensor(name) for name in request["outputs"]], feeds))


def _definition(tensorflow: Any, file: Path) -> Any:
    definition = tensorflow.compat.v1.GraphDef()
    if file.suffix == ".pbtxt":
        from google.protobuf import text_format

        return text_format.Parse(file.read_text(encoding="utf-8"), definition)
    definition.ParseFromString(file.read_bytes())
    return definition


def _tensor(name: str) -> str:
    return name if ":" in name else f"{name}:0"


def _of_saved(tensorflow: Any, folder: Path, fed: Mapping[str, Any], outputs: Sequence[str]) -> list[Any]:
    signatures = tensorflow.saved_model.load(str(folder)).signatures
    call = signatures.get("serving_default") or next(iter(signatures.values()))
    results = call(**{name: tensorflow.constant(array) for name, array in fed.items()})
    return [results[name].numpy() for name in outputs]
