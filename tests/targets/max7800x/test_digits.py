"""The digits of the examples, from ONNX to the accelerator: how often each form of the network is right."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.passes.pipeline import optimise
from buildtool.targets.max7800x.devices import DEVICES, MAX78000
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.lowering import lower
from buildtool.targets.max7800x.lowering.lower import Lowered, Settings
from buildtool.targets.max7800x.simulation import simulate
from tests.targets.k210.generating import calibrate
from tests.targets.max7800x import machine

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"
ALLOWED_LOSS = 0.01  # of the test set, against floats


def digits() -> Graph:
    """Optimised, with the ranges of the 20 pictures that come with the example: none of them is in the test set."""
    graph = import_model("onnx", ImportRequest("digits", DIGITS / "digits.onnx")).graph
    optimise(graph, quantised=True)
    calibrate(graph, [{"image": picture[None]} for picture in np.load(DIGITS / "pictures.npy")])
    return graph


def test_set() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    with np.load(DIGITS / "test.npz") as data:
        return data["pictures"].astype(np.float32)[:, None] / 16, data["labels"]


test_set.__test__ = False  # type: ignore[attr-defined]


def on_the_machine(lowered: Lowered, pictures: NDArray[np.float32]) -> list[NDArray[np.int64]]:
    """The sums that the model of the chip leaves for each picture: configured once, and started again and again."""
    first = program.make(lowered.network, lowered.input.stored(pictures[0]))
    script = machine.script_of(first)
    for number, picture in enumerate(pictures):
        if number:
            for given in program.make(lowered.network, lowered.input.stored(picture)).inputs:
                assert given.address is not None
                script.write_words(given.address, given.words)
            script.write_all(first.register_writes["cnn_start"])
            script.wait()
        for block in first.expected:
            script.read(block.address, len(block.words))
    outcome = script.run()
    assert not outcome.complaints
    assert outcome.interrupts == len(pictures)
    words = np.array(outcome.words, np.uint32).view(np.int32).reshape(len(pictures), -1)
    return list(words.astype(np.int64))


@pytest.mark.slow
def test_digits_are_read() -> None:
    graph = digits()
    lowered = lower.lower(graph, MAX78000)
    pictures, labels = test_set()
    (port,) = lowered.outputs
    real = np.array([evaluate(graph, {"image": picture})[graph.outputs[0].name] for picture in pictures])
    traces = [simulate.run(lowered.network, lowered.input.stored(picture)) for picture in pictures]
    simulated = np.array([port.real(trace.outputs[port.layer]) for trace in traces])
    sums = on_the_machine(lowered, pictures)
    assert all(np.array_equal(trace.result.reshape(-1), found) for trace, found in zip(traces, sums, strict=True))
    right = [float((one.reshape(len(labels), -1).argmax(axis=1) == labels).mean()) for one in (real, simulated)]
    machines = float((np.array(sums).argmax(axis=1) == labels).mean())
    told = f"floats {right[0]:.4f}, simulator {right[1]:.4f}, machine {machines:.4f}"
    sys.stdout.write(f"digits, right of {len(labels)}: {told}\n")
    assert right[0] >= 0.98
    assert right[1] >= right[0] - ALLOWED_LOSS
    assert machines == right[1]
    assert np.abs(simulated - real).mean() < 0.01, "probabilities, softmax done by the program"


def test_four_bits_lose_little_and_all_chips_agree() -> None:
    """On a part of the test set: 4 bits lose little, and each chip computes the same."""
    graph = digits()
    pictures, labels = test_set()
    pictures, labels = pictures[:120], labels[:120]
    right = {}
    for bits in (8, 4, 2):
        found = []
        for device in DEVICES.values():
            lowered = lower.lower(graph, device, Settings(most_bits=bits))
            assert set(lowered.bits.values()) == {bits}
            results = [
                simulate.run(lowered.network, lowered.input.stored(picture)).result.reshape(-1) for picture in pictures
            ]
            found.append(float((np.array(results).argmax(axis=1) == labels).mean()))
        assert found[0] == found[1]
        right[bits] = found[0]
    sys.stdout.write(f"digits, right of {len(labels)}, by bits of weights: {right}\n")
    assert right[8] >= 0.97
    assert right[4] >= right[8] - 0.05
    assert right[2] < right[8]
