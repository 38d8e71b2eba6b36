"""The reference models of MLPerf Tiny on a Cortex-M4: outputs of LiteRT, in less RAM than an interpreter takes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.micro import budget, reference
from tests.targets.micro import boards
from tests.targets.micro.quantised_models import inputs_of, litert, network

FOLDER = Path(os.environ.get("LATHE_MLPERF_TINY", Path(__file__).parents[4] / "shared" / "data" / "mlperf-tiny"))
#: By file: the most RAM of tensors and work buffers, and the most instructions.
_MOST = {
    "ad01_int8": (800, 480_000),
    "kws_ref_model": (9_200, 5_000_000),
    "pretrainedResnet_quant": (35_000, 17_500_000),
    "vww_96_int8": (43_000, 15_500_000),
}
pytestmark = [
    pytest.mark.arm,
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the models of MLPerf Tiny are not here (LATHE_MLPERF_TINY)"),
]


def test_visual_wake_words_in_the_memory_of_its_input(tmp_path: Path) -> None:
    """In bands: the input alone has 27,648 bytes."""
    whole = network(FOLDER / "vww_96_int8.tflite", "m")
    found = budget.search(whole, "dsp", 28_300).found
    assert found is not None and found.stretches
    inputs = inputs_of(whole, 5)
    ran = boards.run(found.network, "cortex-m4", tmp_path, inputs)
    for name, expected in reference.evaluate(whole, inputs).items():
        assert np.array_equal(ran.result.outputs[name], expected)
    assert ran.result.arena_bytes <= 28_300
    assert ran.instructions <= 15_100_000


@pytest.mark.parametrize("name", _MOST)
def test_models_equal_litert(name: str, tmp_path: Path) -> None:
    pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")
    file = FOLDER / f"{name}.tflite"
    found = network(file, name)
    inputs = inputs_of(found, 5)
    ran = boards.run(found, "cortex-m4", tmp_path, inputs)
    (expected,) = litert(file.read_bytes(), list(inputs.values()))
    (output,) = ran.result.outputs.values()
    assert np.array_equal(output.ravel(), expected.ravel())
    (own,) = reference.evaluate(found, inputs).values()
    assert np.array_equal(output, own)
    ram, instructions = _MOST[name]
    assert ran.result.arena_bytes <= ram
    assert ran.instructions <= instructions
    assert ran.result.stack_bytes <= 512
