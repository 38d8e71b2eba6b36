"""What does not fit: one error for each limit, with where, by how much, and what helps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x.devices import MAX78000, MAX78002
from buildtool.targets.max7800x.firmware import bias_memory, kernel_memory, program
from buildtool.targets.max7800x.firmware.hardware import layers_of
from buildtool.targets.max7800x.network import Kernel, Layer, Network, Pool, Source
from tests.targets.max7800x.test_sources import classifier, kernel, layer, sample

RNG = np.random.default_rng(0)
EVERY = (1 << 64) - 1


def refusal(network: Network) -> str:
    with pytest.raises(UnsupportedError) as caught:
        program.make(network, sample(network))
    return caught.value.render()


def placed(operation: str = "conv2d", device: Any = MAX78000, **what: Any) -> Network:
    """A layer of 4 channels that go in and out, with places."""
    given = {"kernel": kernel(RNG, 4, 4, 3, 3), "processors": 0xF, "output_processors": 0xF, "in_offset": 0}
    told = {"out_offset": 0x2000, "operation": operation, "source": Source("net.yaml", 7), "output_shift": -3}
    one = layer(0, 4, (8, 8), (4, 8, 8), **{**given, **told, **what})
    return Network("one", device, (one,), 4, (8, 8))


def test_kernel_memory_that_is_full_names_each_layer_and_how_many_columns_are_missing() -> None:
    wide = [
        layer(
            at, 64, (4, 4), (64, 4, 4), kernel=kernel(np.random.default_rng(at), 64, 64, 3, 3), processors=EVERY,
            output_processors=EVERY, in_offset=0x1000 * at, out_offset=0x1000 * (at + 1), output_shift=-5,
        )
        for at in range(14)
    ]  # fmt: skip
    with pytest.raises(UnsupportedError) as caught:
        kernel_memory.place(MAX78000, layers_of(Network("deep", MAX78000, tuple(wide), 64, (4, 4))))
    first, second = caught.value.problems
    assert "64 columns in a row are needed on each of 64 processors, 0 are left; 64 too many" in first.what
    assert first.rule.startswith("768 columns of 9 bytes") and "hold 768 of processor 0" in first.rule
    assert "fewer bits" in first.remedy
    assert (first.where.node, second.where.node) == ("layer 12", "layer 13")


def test_the_same_kernels_are_stored_once() -> None:
    shared = kernel(RNG, 4, 4, 3, 3, biased=False)
    layers = [
        layer(at, 4, (4, 4), (4, 4, 4), kernel=shared, processors=0xF, output_processors=0xF, in_offset=0, out_offset=0)
        for at in range(3)
    ]
    memory = kernel_memory.place(MAX78000, layers_of(Network("same", MAX78000, tuple(layers), 4, (4, 4))))
    assert {found.start for found in memory.placed.values()} == {0}
    assert sum(len(chunk.data) for chunk in memory.chunks()) == 4 * 4 * 9


def test_bias_memory_that_is_full_says_how_many_bytes_are_missing() -> None:
    biased = [
        layer(
            at, 1, (1, 1), (64, 1, 1), processors=1, output_processors=EVERY, in_offset=0, out_offset=4,
            kernel=kernel(np.random.default_rng(at), 64, 1, 1, 1, pad=(0, 0)),
        )
        for at in range(9)
    ]  # fmt: skip
    layers = layers_of(Network("biased", MAX78000, tuple(biased), 1, (1, 1)))
    with pytest.raises(UnsupportedError) as caught:
        bias_memory.place(MAX78000, layers, [0])
    (problem,) = caught.value.problems
    assert "64 bytes are needed, 0 are left; 64 too many" in problem.what and "512 bytes" in problem.rule
    assert bias_memory.place(MAX78000, layers, [0, 1]).bytes[1]


def test_outputs_over_what_is_still_read_are_refused() -> None:
    assert "over" in refusal(placed(out_offset=0))


def stretched(**what: Any) -> Kernel:
    return replace(kernel(RNG, 4, 4, 3, 3), **what)


FAULTS: dict[str, tuple[Network, str]] = {
    "kernels of another size": (
        placed(kernel=replace(kernel(RNG, 4, 4, 2, 2), pad=(1, 1)), out_size=(9, 9)), "there is no conv2d of 2x2"
    ),
    "steps": (placed(kernel=stretched(stride=(2, 2)), out_size=(4, 4)), "a conv2d steps by 2x2"),
    "dilation": (placed(kernel=stretched(dilation=(2, 2), pad=(2, 2))), "a conv2d is dilated"),
    "groups": (placed(kernel=replace(kernel(RNG, 4, 1, 3, 3), groups=4)), "4 groups for 4 channels"),
    "pools that step unevenly": (
        placed(pool=Pool("max", (2, 2), (1, 2)), out_size=(7, 4)), "a pool steps by 1x2"
    ),
    "large pools": (
        placed(
            "none", kernel=None, output_shift=0, in_size=(20, 20), pool=Pool("max", (17, 17), (1, 1)), out_size=(4, 4)
        ),
        "a pool of 17x17 is too large",
    ),
    "too few processors": (placed(processors=0x7), "4 channels go in, with 3 processors"),
    "the first quadrant": (placed(processors=0xF0000, output_processors=0xF0000), "no layer uses the first quadrant"),
    "places that are left out": (placed(in_offset=-1), "has no offset in data memory"),
    "plus and minus one": (
        placed(kernel=replace(kernel(RNG, 4, 4, 3, 3, bits=1), bits=-1)), "weights are plus and minus one"
    ),
    "hints of the other chip": (placed(hints={"readahead": True}), "the MAX78000 has no 'readahead'"),
    "read gaps": (placed(in_skip=1), "leaves nothing out"),
    "operands before biases": (
        placed(device=MAX78002, operands=2, eltwise="add"), "operands before a convolution with biases"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_every_limit_has_its_error(name: str) -> None:
    network, what = FAULTS[name]
    (one,) = network.layers
    given = Network(network.name, network.device, (one,), one.in_channels * one.operands, one.in_size)
    told = refusal(given)
    assert what in told
    assert "net.yaml:7" in told or name == "the first quadrant"


def test_a_network_with_too_many_layers_is_refused() -> None:
    one = classifier().layers[0]
    copies = tuple(
        replace(
            one, index=at, sources=(at - 1,), in_channels=3, out_channels=3, output_processors=one.processors,
            kernel=kernel(RNG, 3, 3, 3, 3, biased=False),
        )
        for at in range(33)
    )  # fmt: skip
    assert "the network has 33 layers" in refusal(Network("long", MAX78000, copies, 3, (8, 8)))


def test_flattening_and_pooling_are_two_layers() -> None:
    flat: Layer = layer(
        0, 4, (4, 4), (5, 1, 1), operation="linear", flatten=True, kernel=kernel(RNG, 5, 16, 1, 1, pad=(0, 0)),
        pool=Pool("max", (2, 2), (2, 2)), processors=0xF, output_processors=0x1F, in_offset=0, out_offset=0x1000,
        output_shift=-3,
    )  # fmt: skip
    assert "a layer that flattens pools" in refusal(Network("flat", MAX78000, (flat,), 4, (4, 4)))
