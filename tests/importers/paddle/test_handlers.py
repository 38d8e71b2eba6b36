"""Every handler against Paddle, before and after all passes: programs of Paddle 2, and the same ones of Paddle 3."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers.paddle.harness import archive, check, expected, fed, written
from tests.oracles.paddle.cases import CASES
from tests.oracles.paddle.programs import Case

_ATOL = {"fake_quantize_dequantize_abs_max": 0.01}  # which is left out


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_programs_of_paddle_2(case: Case, tmp_path: Path) -> None:
    check(written(case, ".pdmodel", tmp_path), fed(case), expected(case), _ATOL.get(case.op, 2e-5))


@pytest.mark.parametrize(
    "case", [case for case in CASES if f"{case.name}/model.json" in archive()], ids=lambda case: case.name
)
def test_programs_of_paddle_3(case: Case, tmp_path: Path) -> None:
    check(written(case, ".json", tmp_path), fed(case), expected(case), _ATOL.get(case.op, 2e-5))
