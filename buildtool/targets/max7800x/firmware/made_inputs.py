"""Inputs that programs make themselves, for which no sample has to be stored.

What a program writes are words, and the sample that a simulator needs is read back out of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.max7800x.firmware import data_memory
from buildtool.targets.max7800x.firmware.data_memory import ALL, InputBlock
from buildtool.targets.max7800x.firmware.registers import Placed
from buildtool.targets.max7800x.firmware.registers_control import first_of

FIXED = (0x55555555, 0xAAAAAAAA)  # in turns
_BYTES = 4  # of a word, and of the index of a number


def chosen(placed: Placed, sample: NDArray[Any]) -> NDArray[Any]:
    """The sample, or what the options want in its place; of the same shape."""
    options = placed.options
    if not options.fixed_input and options.input_step is None:
        return sample
    made = np.zeros(sample.shape, np.int64)
    indexes = _indexes(placed, sample)
    for index, block in zip(indexes, data_memory.inputs(placed.network, first_of(placed), sample), strict=True):
        if options.fixed_input:
            words = np.resize(np.array(FIXED, np.int64), len(block.words))
        else:
            words = _stepped(np.array(block.words, np.int64), options.input_step or 0, options.input_words)
        for lane in range(_BYTES):
            there = index[:, lane] >= 0
            values = (words >> 8 * lane & 0xFF).astype(np.uint8).view(np.int8)
            made.reshape(-1)[index[there, lane]] = values[there]
    return made


def masks(placed: Placed, sample: NDArray[Any]) -> list[int]:
    """Of each block of input the bytes that hold numbers of the sample."""
    blocks = _used(placed, sample)
    return [int(np.bitwise_or.reduce(np.array(block.words, np.int64))) for block in blocks]


def _stepped(words: NDArray[np.int64], step: int, count: int) -> NDArray[np.int64]:
    """The first words again and again, each run of them more than the one before; bytes carry into the next one."""
    at = np.arange(len(words))
    return words[at % count] + at // count * step & ALL


def _indexes(placed: Placed, sample: NDArray[Any]) -> list[NDArray[np.int64]]:
    """Of each block of input, for each word and byte: which number of the sample it is, -1 where it is none."""
    network, first = placed.network, first_of(placed)
    numbers = np.arange(sample.size).reshape(sample.shape)
    parts = [data_memory.inputs(network, first, numbers >> 8 * part & 0xFF) for part in range(_BYTES)]
    found = []
    for blocks in zip(_used(placed, sample), *parts, strict=True):
        bytes_of = [_bytes(np.array(block.words, np.int64)) for block in blocks]
        index = sum(part << 8 * at for at, part in enumerate(bytes_of[1:]))
        found.append(np.where(bytes_of[0] == 0xFF, index, -1))
    return found


def _used(placed: Placed, sample: NDArray[Any]) -> tuple[InputBlock, ...]:
    """Blocks of input with every bit set that a number of the sample has."""
    return data_memory.inputs(placed.network, first_of(placed), np.full(sample.shape, 0xFF))


def _bytes(words: NDArray[np.int64]) -> NDArray[np.int64]:
    return words[:, None] >> np.arange(0, 8 * _BYTES, 8) & 0xFF
