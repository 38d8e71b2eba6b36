"""The ten known answers: what another tool generated for ten networks, in shared/data.

The rule by which values become words in memory is written down here once more, so that nothing of the package is needed
to compare.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.network import Layer, Network

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "max7800x"
NAMES = (
    "mnist",
    "mnist_extrasmall",
    "t_cifar10_bias_q4",
    "t_conv1d_q4",
    "t_conv1d_wide",
    "t_eltwise_add",
    "t_eltwise_or",
    "t_fifostream_cifar_hwc",
    "t_fire_cifar10",
    "t_upsample_nonsq",
)
exist = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the known answers are not here: {FOLDER}")


@dataclass(frozen=True)
class KnownAnswer:
    """One of them."""

    name: str

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def description(self) -> Path:
        return self.folder / "network.yaml"

    @property
    def weights(self) -> Path | None:
        """A checkpoint or an array; eltwise layers have none."""
        files = [self.folder / name for name in ("checkpoint.pth.tar", "weights.npy")]
        return next((file for file in files if file.is_file()), None)

    @cached_property
    def sample(self) -> NDArray[np.int64]:
        values: NDArray[np.int64] = np.load(self.sample_file, allow_pickle=False)
        return values

    @cached_property
    def network(self) -> Network:
        options = description.Options(fifo="--fifo" in (self.folder / "options.txt").read_text().split())
        return description.read(
            self.description, weights=self.weights, sample=self.sample_file, device=MAX78000, options=options
        ).network

    @property
    def sample_file(self) -> Path:
        return self.folder / "sample.npy"

    @cached_property
    def expected(self) -> dict[str, Any]:
        with gzip.open(self.folder / "expected.json.gz") as file:
            content: dict[str, Any] = json.load(file)
        return content

    def expected_words(self) -> dict[int, tuple[int, int]]:
        """By address: the mask and the word under it."""
        words: dict[int, tuple[int, int]] = {}
        for start, mask, values in self.expected["expected_output"]:
            for position, value in enumerate(values):
                words[int(start, 16) + 4 * position] = (int(mask, 16), value)
        return words


def words(layer: Layer, output: NDArray[np.int64]) -> dict[int, tuple[int, int]]:
    """What a layer of the MAX78000 leaves in memory: by address, the mask of what it wrote and the word."""
    channels, rows, columns = output.shape
    passes = ceil(channels / 64)
    per_pass = channels if passes == 1 else ceil(ceil(channels / passes) / 4) * 4
    processors = [processor for processor in range(64) if layer.output_processors >> processor & 1]
    step = layer.output_width // 8
    memory: dict[int, tuple[int, int]] = {}
    for channel in range(channels):
        turn, processor = channel // per_pass, processors[channel % per_pass]
        instance = 0x50400000 + processor // 16 * 0x400000 + processor % 16 // 4 * 0x8000 + layer.out_offset
        for pixel in range(rows * columns):
            value = int(output[channel].reshape(-1)[pixel])
            address = instance + (pixel * step * passes + turn * step) * (layer.write_gap + 1) * 4
            if layer.output_width == 32:
                memory[address + processor % 4 * 4] = (0xFFFFFFFF, value & 0xFFFFFFFF)
            else:
                shift = processor % 4 * 8
                mask, word = memory.get(address, (0, 0))
                memory[address] = (mask | 0xFF << shift, word | (value & 0xFF) << shift)
    return memory
