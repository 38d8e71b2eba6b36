"""Damaged files: a model or one clear error each, quickly, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format

from buildtool.errors import InternalError, LatheError, ModelFileError
from buildtool.importers.request import ImportRequest
from buildtool.importers.tensorflow import import_model
from buildtool.passes.pipeline import optimise
from buildtool.schemas import tensorflow_graph_pb2 as pb
from tests.importers.tensorflow.harness import Case, cases, network, placeholder

MOST_SECONDS = 5.0


def _attempt(path: Path) -> bool:
    """Whether there was an error. Any other than a typed one ends the test."""
    started = time.monotonic()
    try:
        optimise(import_model(ImportRequest("hostile", path)).graph)
    except LatheError as problem:
        assert not isinstance(problem, InternalError), problem
        assert all(one.where.file == str(path) for one in problem.problems), problem
        return True
    finally:
        assert time.monotonic() - started < MOST_SECONDS
    return False


def _damaged(whole: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Some bytes changed, a piece left out, or a piece twice."""
    dice = np.random.default_rng(seed)
    for number in range(count):
        data = bytearray(whole)
        first, second = sorted(int(place) for place in dice.integers(0, len(whole), 2))
        second = min(second, first + 40)
        if number % 3 == 0:
            for position in dice.choice(len(whole), size=int(dice.integers(1, 4))):
                data[position] ^= 1 << int(dice.integers(8))
        elif number % 3 == 1:
            del data[first:second]
        else:
            data[first:first] = data[first:second]
        yield bytes(data)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SavedModel with functions, a branch, a loop and variables, whose sizes are fixed."""
    folder, _, _ = network("saved_module", tmp_path_factory.mktemp("saved"))
    assert not _attempt(folder)
    return folder


@pytest.mark.parametrize(
    ("name", "count", "needed"),  # how much of the file no model can do without
    [
        ("saved_model.pb", 60, 0.5),
        ("variables/variables.index", 60, 1.0),
        ("variables/variables.data-00000-of-00001", 9, 0.05),
    ],
)
def test_damaged_saved_models(name: str, count: int, needed: float, saved: Path) -> None:
    file = saved / name
    whole = file.read_bytes()
    try:
        for data in _damaged(whole, count, 1):
            file.write_bytes(data)
            _attempt(saved)
        for size in range(0, int(len(whole) * needed), len(whole) // 20):
            file.write_bytes(whole[:size])
            assert _attempt(saved)
        file.unlink()
        assert _attempt(saved)
    finally:
        file.write_bytes(whole)


def test_damaged_frozen_graphs(tmp_path: Path) -> None:
    file, _, _ = network("frozen_keras", tmp_path)
    whole = file.read_bytes()
    for data in _damaged(whole, 30, 2):
        file.write_bytes(data)
        _attempt(file)


def test_damaged_texts(tmp_path: Path) -> None:
    file, _, _ = network("dilated", tmp_path)
    whole = file.read_bytes()
    assert not _attempt(file)
    for data in _damaged(whole, 30, 3):
        file.write_bytes(data)
        _attempt(file)


@pytest.mark.parametrize("case", cases()[::7], ids=str)
def test_damaged_operators(case: Case, tmp_path: Path) -> None:
    """Inputs change places or are left out, attributes vanish or become others, shapes change."""
    dice, file = np.random.default_rng(4), tmp_path / "model.pb"
    for _ in range(12):
        graph = pb.GraphDef.FromString(case.graph)
        node = graph.node[int(dice.integers(len(graph.node)))]
        keys = sorted(node.attr)
        match int(dice.integers(5)):
            case 0 if node.input:
                inputs = list(node.input)
                del node.input[:]
                node.input.extend(inputs[::-1] if dice.integers(2) else inputs[:-1])
            case 1 if keys:
                del node.attr[str(dice.choice(keys))]
            case 2 if keys:
                node.attr[str(dice.choice(keys))].i = int(dice.choice([-1, 0, 2**31, -(2**63)]))
            case 3 if keys:
                node.attr[str(dice.choice(keys))].list.i.extend([0, -1, 7])
            case _:
                if "value" in node.attr:
                    node.attr["value"].tensor.tensor_shape.dim.add(size=int(dice.choice([0, 1, 2**20])))
                elif "shape" in node.attr:
                    node.attr["shape"].shape.dim.add(size=int(dice.choice([0, 1, 2**30])))
        file.write_bytes(graph.SerializeToString())
        _attempt(file)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("model.pb", b"", "empty"),
        ("model.pb", b"\xff" * 40, "no graph of TensorFlow"),
        ("model.pb", b"\n\0", "lacks its name"),
        ("model.pbtxt", b"node {", r"no graph of TensorFlow \(line"),
        ("model.pbtxt", b"\xff", "no graph of TensorFlow"),
        ("model.pbtxt", b"versions { producer: 7 }", "no nodes"),
        ("saved_model.pb", b"\x08\x01", "no graph"),
        ("saved_model.pb", b"\xff" * 40, "no SavedModel"),
    ],
)
def test_files_that_are_no_model_are_errors(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    with pytest.raises(ModelFileError, match=message):
        import_model(ImportRequest("none", file))


def test_folders_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"no saved_model\.pb in the folder"):
        import_model(ImportRequest("none", tmp_path))
    graph = pb.MetaGraphDef(graph_def=pb.GraphDef(node=[placeholder("x", 1)]))
    (tmp_path / "saved_model.pb").write_bytes(pb.SavedModel(meta_graphs=[graph]).SerializeToString())
    with pytest.raises(ModelFileError, match="no signature"):
        import_model(ImportRequest("none", tmp_path))


def test_texts_that_hold_more_than_is_read(tmp_path: Path) -> None:
    graph = pb.GraphDef(node=[placeholder("x", 1), pb.NodeDef(name="y", op="Neg", input=["x"])])
    file = tmp_path / "model.pbtxt"
    file.write_text(text_format.MessageToString(graph) + "versions { producer: 27 }\n", encoding="utf-8")
    assert not _attempt(file)
