"""Opens the files of a TensorFlow model: a graph in its binary or text form, or the folder of a SavedModel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message

from buildtool.errors import ModelFileError, Where
from buildtool.importers.files import read_bytes
from buildtool.importers.recognition import is_saved_model
from buildtool.importers.tensorflow.tensors import DAMAGED
from buildtool.importers.tensorflow.variables import Variables
from buildtool.schemas import tensorflow_graph_pb2 as pb

_TEXT = (".pbtxt", ".prototxt")
_SAVED = "saved_model"
_SIGNATURE, _TAG = "serving_default", "serve"
_TOO_LARGE = "save it as a SavedModel, which has its variables in files of their own"
_Kind = TypeVar("_Kind", bound=Message)


@dataclass(frozen=True)
class Loaded:
    """A graph, its variables, and what its signature names."""

    graph: pb.GraphDef
    variables: Variables
    inputs: Mapping[str, pb.TensorInfo] = field(default_factory=dict)
    outputs: Mapping[str, pb.TensorInfo] = field(default_factory=dict)


def load(file: Path, where: Where) -> Loaded:
    """Whatever kind of model it is."""
    if file.is_dir():
        file = next((file / (_SAVED + end) for end in (".pb", *_TEXT) if (file / (_SAVED + end)).is_file()), file)
        if file.is_dir():
            raise ModelFileError(
                "there is no saved_model.pb in the folder", where=where, remedy="give the folder of a SavedModel"
            )
    if file.stem == _SAVED or is_saved_model(file):
        return _saved_model(_parsed(pb.SavedModel(), file, where), file.parent, where)
    graph = _parsed(pb.GraphDef(), file, where)
    return Loaded(graph, Variables(file.parent / "variables", where))


def _parsed(message: _Kind, file: Path, where: Where) -> _Kind:
    data = read_bytes(file, where, _TOO_LARGE, DAMAGED)
    try:
        if file.suffix in _TEXT:
            text_format.Parse(data.decode("utf-8"), message, allow_unknown_field=True)
        else:
            message.ParseFromString(data)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError, RecursionError, ValueError) as problem:
        what = "SavedModel" if isinstance(message, pb.SavedModel) else "graph of TensorFlow"
        at = f" (line {problem.GetLine()})" if isinstance(problem, text_format.ParseError) else ""
        raise ModelFileError(f"this is no {what}{at}", where=where, remedy=DAMAGED) from problem
    return message


def _saved_model(saved: pb.SavedModel, folder: Path, where: Where) -> Loaded:
    """The graph for serving, and its signature."""
    graphs = [graph for graph in saved.meta_graphs if _TAG in graph.meta_info_def.tags] or list(saved.meta_graphs)
    if not graphs:
        raise ModelFileError("the SavedModel has no graph", where=where, remedy=DAMAGED)
    signatures = {name: item for name, item in graphs[0].signature_def.items() if item.outputs}
    name = _SIGNATURE if _SIGNATURE in signatures else next(iter(sorted(signatures)), "")
    if not name:
        raise ModelFileError(
            "the SavedModel has no signature",
            where=where,
            rule="the signature 'serving_default' says what the inputs and outputs are",
            remedy="save it with one: tf.saved_model.save(model, folder, signatures=...), or model.export(folder)",
        )
    signature = signatures[name]
    variables = Variables(folder / "variables", where)
    return Loaded(graphs[0].graph_def, variables, dict(signature.inputs), dict(signature.outputs))
