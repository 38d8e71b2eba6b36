"""Decoders of Paddle 1 that search with beams, against Paddle: evaluated before and after all passes, and native."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.codegen.container import write
from buildtool.errors import UnsupportedError
from buildtool.importers.request import TensorRequest
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from buildtool.runtime import Library
from buildtool.schemas import paddle_program_pb2 as pb
from tests.importers.paddle.harness import archive, array, compare, imported, run
from tests.importers.paddle.plain import program_of
from tests.native_builds import full_library
from tests.oracles.paddle.programs import random

_NAMES = ("beam_search", "beam_search_parents")
_INPUTS = ("first_ids", "first_scores", "state", "table", "weight")


def _file(name: str, folder: Path) -> Path:
    model = folder / "model.pdmodel"
    model.write_bytes(archive("searches.zip")[f"{name}/model.pdmodel"])
    return model


def _runs(name: str) -> list[tuple[dict[str, Array], list[Array]]]:
    """What is fed, and the words, scores and offsets of the sentences: up to the limit, and up to the last end."""
    files = archive("searches.zip")
    return [
        (
            {key: array(files[f"{name}/{number}_in_{key}.npy"]) for key in _INPUTS},
            [array(files[f"{name}/{number}_{kind}.npy"]) for kind in ("out_0", "out_1", "offsets")],
        )
        for number in range(5)
    ]


def _graph(name: str, folder: Path) -> Graph:
    outputs = ("sentences", "sentence_scores", "sentences.lod")
    return imported(_file(name, folder), (), [TensorRequest(key, None, "NONE") for key in outputs]).graph


@pytest.mark.parametrize("name", _NAMES)
def test_sentences_are_those_of_paddle(name: str, tmp_path: Path) -> None:
    graph = _graph(name, tmp_path)
    assert any(len(outputs[0]) < 24 for _, outputs in _runs(name))  # the search ends before the limit
    for _ in range(2):
        for inputs, outputs in _runs(name):
            compare(run(graph, inputs), outputs, 2e-5)
        optimise(graph)
    files = write(graph, name=name, half=False)
    session = Library(full_library()).engine(model=files.model, data=files.data, threads=2).session()
    for inputs, outputs in _runs(name):
        found = session.run(inputs)
        compare([found[value.name] for value in graph.outputs], outputs, 2e-5)


def test_a_search_among_several_sentences_is_refused(tmp_path: Path) -> None:
    model = _file("beam_search", tmp_path)
    program = pb.Program()
    program.ParseFromString(model.read_bytes())
    for variable in program.blocks[0].vars:
        if variable.name in (b"first_ids", b"first_scores", b"state"):
            variable.type.lod_tensor.tensor.dims[0] = 2
    model.write_bytes(program.SerializeToString())
    with pytest.raises(UnsupportedError, match="sequence_expand: 2 rows that 1 hypotheses continue") as raised:
        imported(model)
    assert "one sentence" in (raised.value.problems[0].remedy or "")


def test_steps_without_a_search_are_refused(tmp_path: Path) -> None:
    tensors = {"Ids": np.zeros((4, 3, 1), np.int64), "Scores": random(4, 3, 1)}
    attributes = {"beam_size": 3, "end_id": 1}
    program = program_of("beam_search_decode", tensors, {}, attributes, ("SentenceIds", "SentenceScores"))
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    with pytest.raises(UnsupportedError, match="steps that no search in a loop has written"):
        imported(tmp_path / "model.pdmodel")


@pytest.mark.parametrize(("rows", "count"), [(1, 2), (2, 4)])
def test_a_beam_that_does_not_fit_is_refused(rows: int, count: int, tmp_path: Path) -> None:
    tensors = {
        "pre_ids": np.zeros((rows, 1), np.int64),
        "pre_scores": random(rows, 1),
        "ids": np.zeros((rows, count), np.int64),
        "scores": random(rows, count),
    }
    program = program_of(
        "beam_search",
        tensors,
        {},
        {"beam_size": 3, "end_id": 1, "level": 0},
        ("selected_ids", "selected_scores", "parent_idx"),
    )
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    with pytest.raises(UnsupportedError, match=f"beam of 3 among {rows} rows with {count} candidates"):
        imported(tmp_path / "model.pdmodel")
