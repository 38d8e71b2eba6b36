"""The simulator against known answers, and against sums taken by hand."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.network import Kernel, Layer, Network, Pool
from buildtool.targets.max7800x.simulate import run
from tests.targets.max7800x import known_answers
from tests.targets.max7800x.known_answers import KnownAnswer, words


def one_layer(layer: Layer, channels: int) -> Network:
    return Network("test", MAX78000, (layer,), channels, layer.in_size)


def eltwise(operator: str) -> Network:
    layer = Layer(
        0, "0", "none", (-1,), 4, (12, 12), 0xF, 0, operands=2, eltwise=operator,
        out_channels=4, out_size=(12, 12), output_processors=0xF, out_offset=0x2000,
    )  # fmt: skip
    return one_layer(layer, 8)


def conv1d(name: str, bits: int, shift: int) -> Network:
    weights = np.load(KnownAnswer(name).weights, allow_pickle=False)[0][..., None]
    if bits < 8:
        weights = weights >> (8 - bits)
    kernel = Kernel(weights.astype(np.int8), bits, size=(1, 1), pad=(0, 0))
    layer = Layer(
        0, "0", "conv1d", (-1,), 2, (21, 1), 0x3, 0, pool=Pool("max", (2, 1), (2, 1)), kernel=kernel,
        output_shift=shift, out_channels=len(weights), out_size=(10, 1), out_offset=0x2000,
        output_processors=(1 << (33 if bits == 4 else 52)) - 1,
    )  # fmt: skip
    return one_layer(layer, 2)


def upsampling() -> Network:
    weights = np.load(KnownAnswer("t_upsample_nonsq").weights, allow_pickle=False)[0].astype(np.int8)
    kernel = Kernel(weights, stride=(2, 2), output_pad=(1, 1))
    layer = Layer(
        0, "0", "convtranspose2d", (-1,), 3, (5, 7), 0x7, 0, kernel=kernel,
        out_channels=4, out_size=(10, 14), output_processors=0xF, out_offset=0x2000,
    )  # fmt: skip
    return one_layer(layer, 3)


BY_HAND = {
    "t_eltwise_add": lambda: eltwise("add"),
    "t_eltwise_or": lambda: eltwise("or"),
    "t_conv1d_q4": lambda: conv1d("t_conv1d_q4", 4, -3),
    "t_conv1d_wide": lambda: conv1d("t_conv1d_wide", 8, 0),
    "t_upsample_nonsq": upsampling,
}


@known_answers.exist
@pytest.mark.parametrize("name", BY_HAND)
def test_what_is_left_in_memory_is_the_known_answer(name: str) -> None:
    known = KnownAnswer(name)
    network = BY_HAND[name]()
    assert words(network.layers[-1], run(network, known.sample).result) == known.expected_words()
