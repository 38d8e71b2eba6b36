"""Reads the files of Keras into a `SourceModel`: `.h5`, `.hdf5`, `.keras`, or a `.json` with the weights beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.files import LARGEST_FILE, refuse_holes
from buildtool.importers.keras import archive, hdf5, masks
from buildtool.importers.keras.description import Layer, parse
from buildtool.importers.keras.expansion import Expansion
from buildtool.importers.keras.weights import finder
from buildtool.importers.model import SourceModel, SourceTensor
from buildtool.importers.order import check_names, in_execution_order
from buildtool.wording import near_files

_OLDEST = 2
_NO_MODEL = "save the whole model: model.save('model.keras')"


def read(file: Path, weight_file: Path | None, name: str, asked: Iterable[str] = ()) -> SourceModel:
    """The checked content of a file. `asked`: the tensors that a request names, which may be in TensorFlow's words."""
    where = Where(file=str(file), model=name)
    with ExitStack() as stack:
        source = stack.enter_context(_opened(file, where))
        head = source.read(8)
        source.seek(0)
        if head.startswith(archive.SIGNATURE):
            packed = archive.Archive(source, where)
            text, version = _text(packed.read("config.json"), where), _stated_version(packed, where)
            weights = hdf5.Hdf5(packed.weights() if weight_file is None else _weights(weight_file, stack, name), where)
        elif head == hdf5.SIGNATURE:
            weights = hdf5.Hdf5(source, where)
            text, version = _description(weights, where), weights.root.text("keras_version") or "2"
        elif head.lstrip().startswith(b"{"):
            text = _text(source.read(), where)
            version = _version_of_description(text)
            if weight_file is None:
                raise ModelFileError("the file contains no weights", where=where, remedy="add weight_file_path")
            weights = hdf5.Hdf5(_weights(weight_file, stack, name), Where(file=str(weight_file), model=name))
        else:
            raise ModelFileError(
                "this is not a Keras model", where=where, rule="HDF5, or an archive .keras", remedy=hdf5.DAMAGED
            )
        stack.callback(weights.close)
        major = _major(version, where)
        return _renamed(_model(parse(text, where), weights, major, where), asked)


def _opened(file: Path, where: Where) -> BinaryIO:
    try:
        if not file.is_file():
            raise ModelFileError(
                "the model file does not exist or is not a file",
                where=where,
                remedy=near_files(file) or "correct the path",
            )
        if file.stat().st_size > LARGEST_FILE:
            raise ModelFileError("the model file is too large", where=where, rule=f"at most {LARGEST_FILE} bytes")
        refuse_holes(file, where, hdf5.DAMAGED)
        return file.open("rb")
    except OSError as problem:
        raise ModelFileError(f"the model file cannot be read: {problem.strerror}", where=where) from problem


def _weights(file: Path, stack: ExitStack, name: str) -> BinaryIO:
    return stack.enter_context(_opened(file, Where(file=str(file), model=name)))


def _text(data: bytes, where: Where) -> str:
    try:
        return data.decode("utf-8")
    except ValueError as problem:
        raise ModelFileError("the description of the model is not text", where=where, remedy=hdf5.DAMAGED) from problem


def _description(weights: hdf5.Hdf5, where: Where) -> str:
    text = weights.root.text("model_config")
    if text is None:
        raise ModelFileError(
            "the file contains weights, but no description of the model", where=where, remedy=_NO_MODEL
        )
    return text


def _stated_version(packed: archive.Archive, where: Where) -> str:
    try:
        facts = json.loads(_text(packed.read("metadata.json"), where))
    except (ValueError, RecursionError) as problem:
        raise ModelFileError(
            "the metadata.json of the archive is not JSON", where=where, remedy=hdf5.DAMAGED
        ) from problem
    stated = facts.get("keras_version") if isinstance(facts, dict) else None
    return stated if isinstance(stated, str) else "3"


def _version_of_description(text: str) -> str:
    found = re.search(r'"keras_version": *"([^"]*)"', text)
    return found[1] if found else "3"


def _major(version: str, where: Where) -> int:
    found = re.match(r"(\d{1,4})", version)
    major = int(found[1]) if found else _OLDEST
    if major < _OLDEST:
        raise UnsupportedError(
            f"the model was saved with Keras {version[:20]}",
            where=where,
            rule="Keras 2 and 3",
            remedy="load it with Keras 2 and save it again",
        )
    return major


def _model(layer: Layer, weights: hdf5.Hdf5, major: int, where: Where) -> SourceModel:
    network = layer.network
    assert network is not None
    expansion = Expansion(finder(weights)(network), where)
    outputs = {name: SourceTensor(name, None, None) for name in expansion.network(network)}
    check_names(expansion.nodes, {**expansion.inputs, **expansion.constants}, outputs, where, _NO_MODEL)
    nodes = in_execution_order(expansion.nodes, where)
    masks.check(nodes, where)
    return SourceModel(where, major, "NHWC", expansion.inputs, outputs, {}, expansion.constants, nodes)


def _renamed(model: SourceModel, asked: Iterable[str]) -> SourceModel:
    """Tensors that are asked for in TensorFlow's words (`dense/Softmax:0`) get these words for names."""
    names = model.names()
    new: dict[str, str] = {}
    for name in asked:
        layer = name.removesuffix(":0")
        for own in (layer, layer.rpartition("/")[0]):
            if name not in names and own in names and own not in new:
                new[own] = name
                break
    if not new:
        return model

    def called(name: str) -> str:
        return new.get(name, name)

    return replace(
        model,
        inputs={called(name): replace(item, name=called(name)) for name, item in model.inputs.items()},
        outputs={called(name): replace(item, name=called(name)) for name, item in model.outputs.items()},
        nodes=tuple(
            replace(node, inputs=tuple(map(called, node.inputs)), outputs=tuple(map(called, node.outputs)))
            for node in model.nodes
        ),
    )
