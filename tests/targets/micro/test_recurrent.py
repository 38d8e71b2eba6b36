"""Recurrent layers of integers: the bytes of LiteRT, computed by one kernel, on this machine and on emulated boards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.ir.operator import Array
from buildtool.targets.micro import curves, reference
from buildtool.targets.micro.network import Network
from buildtool.targets.micro.processors import PROCESSORS
from tests.targets.micro import boards
from tests.targets.micro.quantised_models import inputs_of, litert, network_of
from tests.targets.micro.recurrent_models import lstm, streaming, svdf
from tests.targets.micro.test_fallback import run_here

_LSTM: tuple[dict[str, Any], ...] = (
    {},
    {"batches": 3, "units": 16},
    {"batches": 2, "time_major": True, "bits": 11},
    {"bits": 10, "clip": 3.0, "steps": 40},
    {"bits": 15, "deep": 1, "units": 1},
    {"bits": 9, "deep": 35, "units": 6},
)
_RUNS = 9
_QUICK = ("cortex-m4", "cortex-m55", "rv32imac")  # one of each instruction set


@pytest.mark.parametrize("number", range(len(_LSTM)))
def test_lstm_computes_what_litert_computes(number: int, tmp_path: Path) -> None:
    pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")
    for seed in range(4):
        data = lstm(seed, **_LSTM[number])
        network = network_of(data, tmp_path)
        assert [layer.kind for layer in network.layers] == ["lstm"]
        inputs = inputs_of(network, seed)
        (expected,) = litert(data, list(inputs.values()))
        (found,) = reference.evaluate(network, inputs).values()
        np.testing.assert_array_equal(found, expected)
        assert len(np.unique(expected)) > 10


def _past(network: Network, seed: int) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    x, state = network.inputs
    return {
        x.name: random.integers(-128, 128, x.shape).astype(np.int8),
        state.name: random.integers(-(1 << 15), 1 << 15, state.shape).astype(np.int16),
    }


@pytest.mark.parametrize(("rank", "batches"), [(1, 1), (2, 1), (3, 2)])
def test_svdf_computes_what_litert_computes(rank: int, batches: int, tmp_path: Path) -> None:
    """Over several runs, from zero on."""
    runtime = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    for seed in range(3):
        data = svdf(seed, rank, batches=batches)
        network = streaming(data, tmp_path)
        assert [layer.kind for layer in network.layers] == ["svdffilters", "svdftimes"]
        assert network.storage(network.outputs[1]) is network.storage(network.inputs[1])
        interpreter = runtime.Interpreter(
            model_content=data, experimental_op_resolver_type=runtime.OpResolverType.BUILTIN_REF
        )
        interpreter.allocate_tensors()
        state = np.zeros(network.inputs[1].shape, np.int16)
        for run in range(_RUNS):
            x = _past(network, run)["x"]
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
            interpreter.invoke()
            found = reference.evaluate(network, {"x": x, "state": state})
            state = found["state:next"].astype(np.int16)
            expected = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
            np.testing.assert_array_equal(found["y"].reshape(expected.shape), expected)
            assert run < 3 or len(np.unique(expected)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(_LSTM)))
def test_lstm_stays_in_its_memory(number: int, tmp_path: Path) -> None:
    network = network_of(lstm(7, **_LSTM[number]), tmp_path)
    inputs = inputs_of(network, 8)
    (expected,) = reference.evaluate(network, inputs).values()
    assert run_here(network, tmp_path, inputs) == expected.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "batches"), [(1, 1), (3, 2)])
def test_svdf_stays_in_its_memory(rank: int, batches: int, tmp_path: Path) -> None:
    network = streaming(svdf(6, rank, batches=batches), tmp_path)
    inputs = _past(network, 3)
    expected = b"".join(each.tobytes() for each in reference.evaluate(network, inputs).values())
    assert run_here(network, tmp_path, inputs) == expected


@pytest.mark.arm
@pytest.mark.parametrize(
    "abi",
    [
        pytest.param(abi, marks=[] if abi in _QUICK else [pytest.mark.slow])
        for abi, processor in PROCESSORS.items()
        if processor.board
    ],
)
def test_boards(abi: str, tmp_path: Path) -> None:
    """Sums of 17, 21 and 11 products: those of the DSP extension and of MVE have tails."""
    for network, inputs in (
        (found := network_of(lstm(3, units=17, deep=21), tmp_path), inputs_of(found, 4)),
        (found := streaming(svdf(4, 2, deep=21, filters=6, memory=11), tmp_path), _past(found, 5)),
    ):
        ran = boards.run(network, abi, tmp_path, inputs)
        for name, expected in reference.evaluate(network, inputs).items():
            np.testing.assert_array_equal(ran.result.outputs[name].ravel(), expected.ravel(), name)
        assert 0 < ran.result.stack_bytes <= 1024


def test_curves_are_close_to_the_functions() -> None:
    values = np.arange(-(1 << 15), 1 << 15, dtype=np.int64)
    for bits in range(7):
        exact = np.tanh(values / 2.0 ** (15 - bits)) * (1 << 15)
        assert np.abs(curves.tanh(values, bits) - exact).max() < 16
    assert np.abs(curves.sigmoid(values) - (1 << 15) / (1 + np.exp(-values / 4096.0))).max() < 16
