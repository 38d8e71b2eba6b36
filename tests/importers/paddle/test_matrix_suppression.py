"""What matrix_nms is refused for, and that its loops run natively; cases against Paddle are in tests/oracles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.codegen.container import write
from buildtool.errors import UnsupportedError
from buildtool.passes.pipeline import optimise
from buildtool.runtime import Library
from tests.importers.paddle.harness import compare, expected, fed, imported, written
from tests.importers.paddle.plain import program_of
from tests.native_builds import full_library
from tests.oracles.paddle.cases import CASES
from tests.oracles.paddle.programs import Case

_ATTRIBUTES = {"score_threshold": 0.1, "background_label": -1, "nms_top_k": -1, "keep_top_k": -1}


@pytest.mark.parametrize("case", [case for case in CASES if case.op == "matrix_nms"], ids=str)
def test_native_runs_give_what_paddle_gives(case: Case, tmp_path: Path) -> None:
    graph = imported(written(case, ".pdmodel", tmp_path)).graph
    optimise(graph)
    files = write(graph, name="suppression", half=False)
    session = Library(full_library()).engine(model=files.model, data=files.data, threads=2).session()
    found = session.run(fed(case))
    compare([found[value.name] for value in graph.outputs], expected(case), 2e-5)


@pytest.mark.parametrize(
    ("boxes", "scores", "attributes", "message"),
    [
        ((2, 5, 4), (2, 3, 5), {}, "suppression among"),
        ((1, 5, 8), (1, 3, 5), {}, "suppression among"),
        ((1, 5, 4), (1, 3, 6), {}, "5 boxes with 6 scores of 3 kinds"),
        ((1, 5, 4), (1, 3, 5), {"normalized": False}, "boxes in whole pixels"),
    ],
)
def test_what_is_refused(
    boxes: tuple[int, ...], scores: tuple[int, ...], attributes: dict[str, bool], message: str, tmp_path: Path
) -> None:
    tensors = {"BBoxes": np.zeros(boxes, np.float32), "Scores": np.zeros(scores, np.float32)}
    program = program_of("matrix_nms", tensors, {}, {**_ATTRIBUTES, **attributes}, ("Out", "Index", "RoisNum"))
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    with pytest.raises(UnsupportedError, match=message):
        imported(tmp_path / "model.pdmodel")
