"""The MAX78002 against the manufacturer's public tool, which was run on five networks with drawn weights.

A file in `known_max78002` holds the description, how its numbers are drawn, the registers that the tool wrote, in
order, and digests of its arrays of words. `sums` has operands of two passes, pools behind sums, upsampling and
flattening; `stream` a FIFO, data that is read ahead and pools that overlap; `depthwise` biases in all quadrants and
stretched pools; `four` outputs that are computed four at a time (calcx4); `signal` dilation of both kinds and weights
of one bit.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.targets.max7800x import description, settings
from buildtool.targets.max7800x.devices import MAX78002
from buildtool.targets.max7800x.firmware import program, sources
from buildtool.targets.max7800x.firmware.program import Program
from buildtool.targets.max7800x.options import Options

FOLDER = Path(__file__).parent / "known_max78002"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
each = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("known")


@functools.cache
def made(name: str, folder: Path) -> tuple[dict[str, Any], Program]:
    known = json.loads((FOLDER / f"{name}.json").read_text())
    file = folder / f"{name}.yaml"
    file.write_text(known["yaml"])
    rng = np.random.default_rng(known["seed"])
    np.save(folder / f"{name}_sample.npy", rng.integers(-128, 128, known["sample"]))
    with (folder / f"{name}_weights.npy").open("wb") as weights:
        for *shape, bits in known["weights"]:
            np.save(weights, rng.integers(-(1 << bits - 1), 1 << bits - 1, shape))
    with (folder / f"{name}_bias.npy").open("wb") as biases:
        for count in known["bias"] or ():
            np.save(biases, rng.integers(-128, 128, count))
    described = description.read(
        file,
        device=MAX78002,
        weights=folder / f"{name}_weights.npy",
        bias=folder / f"{name}_bias.npy" if known["bias"] else None,
        sample=folder / f"{name}_sample.npy",
        options=description.Options(fifo="--fifo" in known["options"]),
    )
    assert described.sample is not None
    return known, program.make(described.network, described.sample, Options(overlap_data=True))


def digest(words: Iterable[int]) -> str:
    return hashlib.sha256(" ".join(f"{word:08x}" for word in words).encode()).hexdigest()


def test_there_are_known_answers() -> None:
    assert NAMES == ["depthwise", "four", "signal", "stream", "sums"]


@each
@pytest.mark.parametrize("function", ["cnn_init", "cnn_configure", "cnn_start"])
def test_registers(name: str, function: str, folder: Path) -> None:
    known, found = made(name, folder)
    written = [f"{address:08x} {value:08x}" for address, value in found.register_writes[function]]
    assert written == known["registers"][function]


@each
def test_kernels_biases_input_and_output(name: str, folder: Path) -> None:
    known, found = made(name, folder)
    held = {"KERNELS": sources.kernel_array(found), "SAMPLE_OUTPUT": sources.output_array(found)}
    held |= {f"BIAS_{quadrant}": list(found.placed.biases.bytes[quadrant]) for quadrant in range(4)}
    held |= {f"SAMPLE_INPUT_{block.name}": list(block.words) for block in found.inputs}
    assert {array: digest(words) for array, words in held.items() if words} == known["digests"]


def test_calcx4_of_all_layers_is_that_of_every_one(folder: Path) -> None:
    """Without the key in its layers, and with the setting for all of them, `four` is the same."""
    known, found = made("four", folder)
    layers = tuple(replace(layer, hints={}) for layer in found.network.layers)
    network = settings.with_hints(replace(found.network, layers=layers), ("calcx4",))
    again = program.make(network, found.sample, found.options)
    written = [f"{address:08x} {value:08x}" for address, value in again.register_writes["cnn_configure"]]
    assert written == known["registers"]["cnn_configure"]
    assert digest(sources.kernel_array(again)) == known["digests"]["KERNELS"]
