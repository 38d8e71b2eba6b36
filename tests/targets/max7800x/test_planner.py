"""Networks without places get some: nothing overlaps, as another program checks, and they compute what they did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x.devices import MAX78002
from buildtool.targets.max7800x.firmware import kernel_memory, program
from buildtool.targets.max7800x.firmware.hardware import layers_of
from buildtool.targets.max7800x.network import INPUT, Kernel, Network, Pool
from buildtool.targets.max7800x.planning import overlap, plan_sizes, planner
from buildtool.targets.max7800x.simulation import simulate
from tests.targets.max7800x import known_answers, machine
from tests.targets.max7800x.known_answers import KnownAnswer
from tests.targets.max7800x.sketches import Sketch, halved


def chain() -> Sketch:
    """One layer behind the other, flattened at the end."""
    net = Sketch(1, (28, 28))
    x = net.conv(INPUT, out=60)
    x = net.conv(x, out=60, pool=halved())
    x = net.conv(x, out=56, pool=halved())
    x = net.conv(x, out=12, pool=halved("average"))
    net.linear(x, 10)
    return net


def residual() -> Sketch:
    """Additions in front of convolutions; one operand is wanted by itself, too."""
    net = Sketch(3, (32, 32))
    x = net.conv(INPUT, out=16)
    y = net.conv(net.conv(x, out=16), out=16)
    x = net.conv(y, x, out=20, operands=2, eltwise="add")
    y = net.conv(net.conv(x, out=20, pool=halved()), out=20)
    x = net.add(net.passed(x, pool=halved()), y)
    net.linear(net.conv(x, out=8, pool=Pool("average", (4, 4), (4, 4))), 10)
    return net


def upwards() -> Sketch:
    """Down and up again, with what was left out put beside it."""
    net = Sketch(3, (32, 32))
    one = net.conv(INPUT, out=8)
    two = net.conv(one, out=16, pool=halved())
    low = net.conv(two, out=30, pool=halved())
    x = net.conv(net.up(low, 18), two, out=14)
    x = net.conv(net.up(x, 6), one, out=8)
    net.conv(x, out=2, size=1, activation=None)
    return net


def dense() -> Sketch:
    """Everything that came before, again and again; and in another order."""
    net = Sketch(4, (16, 16))
    a = net.conv(INPUT, out=8)
    b = net.conv(a, out=12)
    c = net.conv(a, b, out=16)
    d = net.conv(a, b, c, out=4)
    net.conv(c, a, d, out=8)
    return net


def wide() -> Sketch:
    """More channels than processors: passes, and parts that are read in turn."""
    net = Sketch(3, (16, 16))
    x = net.conv(INPUT, out=100, pool=halved())
    y = net.conv(x, out=48, size=1)
    z = net.conv(x, out=48, size=1)
    x = net.conv(y, z, out=132, size=1, pool=halved())
    x = net.add(x, net.conv(x, out=132, size=1, bits=2))
    net.linear(x, 20)
    return net


def joins() -> Sketch:
    """Parts that would lie in two passes: of layers that can be split, and of data that others want whole."""
    net = Sketch(4, (12, 12))
    x = net.conv(INPUT, out=64)
    y = net.conv(x, net.conv(x, out=32), out=16)  # 64 is wanted whole, 32 need not be cut
    a, b = net.conv(y, out=96, size=1), net.conv(y, out=96)
    x = net.conv(a, b, out=72, size=1)  # both are split
    x = net.passed(x, net.passed(x, pool=None), y)  # 72 + 72 + 16
    net.conv(x, out=10, size=1, pool=halved())
    return net


def lines() -> Sketch:
    """One dimension."""
    net = Sketch(64, (128, 1))
    x = net.line(INPUT, 100, 1)
    x = net.line(x, 48, 3)
    x = net.line(x, 64, 5, Pool("max", (2, 1), (2, 1)))
    net.linear(net.line(x, 16, 9, Pool("average", (8, 1), (8, 1))), 21)
    return net


def outputs() -> Sketch:
    """Two results, and the same data twice."""
    net = Sketch(4, (20, 20))
    x = net.conv(INPUT, out=12)
    y = net.conv(x, out=5, is_output=True)
    z = net.add(x, x)
    net.conv(z, y, out=9)
    return net


NETWORKS: dict[str, Callable[[], Sketch]] = {
    one.__name__: one for one in (chain, residual, upwards, dense, wide, joins, lines, outputs)
}


def placed(network: Network) -> Network:
    found = planner.place(network)
    assert [problem.render() for problem in overlap.check(found)] == []
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_places_are_found(name: str) -> None:
    sketch = NETWORKS[name]()
    network, sample = sketch.network(name), sketch.sample()
    found = placed(network)
    before, after = simulate.run(network, sample), simulate.run(found, sample)
    assert [result.tolist() for result in before.results.values()] == [
        result.tolist() for result in after.results.values()
    ]


@pytest.mark.parametrize("name", NETWORKS)
def test_places_are_found_again(name: str) -> None:
    once = placed(NETWORKS[name]().network(name))
    again = placed(planner.unplaced(once))
    assert len(again.layers) == len(once.layers)
    assert placed(once) == once, "what is written is kept"


def test_written_places_are_kept() -> None:
    network = chain().network()
    first, second, *rest = network.layers
    written = replace(second, processors=0x0FFF_FFFF_FFFF_FFFF, in_offset=0x2000, out_offset=0x400)
    found = placed(replace(network, layers=(first, written, *rest)))
    assert found.layers[1].processors == found.layers[0].output_processors == 0x0FFF_FFFF_FFFF_FFFF
    assert (found.layers[1].in_offset, found.layers[0].out_offset, found.layers[1].out_offset) == (
        0x2000,
        0x2000,
        0x400,
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_the_machine_computes_what_the_simulator_does(name: str) -> None:
    sketch = NETWORKS[name]()
    assert_machine_agrees(placed(sketch.network(name)), sketch.sample())


@known_answers.exist
@pytest.mark.parametrize("name", known_answers.NAMES)
def test_known_networks_without_their_places(name: str) -> None:
    """What others placed by hand is placed again, and gives the same results."""
    known = KnownAnswer(name)
    bare = planner.unplaced(known.network)
    if name == "t_fifostream_cifar_hwc":  # it is streamed although it need not be
        assert_machine_agrees(placed(bare), known.sample)
        layers = tuple(replace(layer, streaming=False) for layer in bare.layers)
        bare = replace(bare, layers=layers, fifo=False)
    found = placed(bare)
    assert (
        simulate.run(found, known.sample).result.tolist() == simulate.run(known.network, known.sample).result.tolist()
    )
    assert_machine_agrees(found, known.sample)


def assert_machine_agrees(network: Network, sample: NDArray[np.int64]) -> None:
    found, outcome = machine.differences(program.make(network, sample))
    assert not found
    assert not outcome.complaints


def test_large_pictures_are_streamed() -> None:
    net = Sketch(3, (128, 128))
    x = net.conv(INPUT, out=16)
    x = net.conv(x, out=32, pool=halved())
    x = net.conv(x, out=32, pool=halved())
    net.linear(net.conv(x, out=16, pool=Pool("max", (4, 4), (4, 4))), 10)
    found = placed(net.network())
    assert [layer.streaming for layer in found.layers] == [True, True, False, False, False]
    assert found.fifo and found.layers[0].processors == 0b111
    assert_machine_agrees(found, net.sample())


def test_planes_take_a_quarter() -> None:
    """A picture that does not fit with its channels side by side, and whose first layer is pooled."""
    net = Sketch(3, (120, 120))
    net.conv(net.conv(INPUT, out=16, pool=Pool("max", (4, 4), (4, 4))), out=4)
    found = placed(net.network())
    assert found.layers[0].big_data and found.layers[0].processors == 0x111
    assert_machine_agrees(found, net.sample())


def test_networks_that_do_not_fit_are_refused() -> None:
    net = Sketch(3, (90, 90))
    x = net.conv(INPUT, out=64)
    net.add(x, net.conv(x, out=64))
    with pytest.raises(UnsupportedError) as caught:
        planner.place(net.network())
    assert "bytes in each data memory" in str(caught.value) and "holds 32768 bytes" in str(caught.value)


def test_kernels_that_do_not_fit_are_told() -> None:
    net = Sketch(64, (4, 4))
    x = INPUT
    for _ in range(14):
        x = net.conv(x, out=64)
    with pytest.raises(UnsupportedError) as caught:
        planner.place(net.network())
    assert [problem.where.node for problem in caught.value.problems] == ["layer 12", "layer 13"]
    assert "64 columns in a row are needed on each of 64 processors, 0 are left" in str(caught.value)
    small = Sketch(64, (4, 4))
    x = INPUT
    for number in range(14):
        x = small.conv(x, out=64, bits=4 if number % 2 else 8)
    placed(small.network())


def test_the_larger_chip_holds_more() -> None:
    net = Sketch(64, (4, 4), MAX78002)
    x = INPUT
    for _ in range(60):
        x = net.conv(x, out=64)
    placed(net.network())


def test_depthwise_layers_keep_their_processors() -> None:
    """Or become dense ones, where what they put out has to lie elsewhere."""
    net = Sketch(3, (8, 8), MAX78002)
    x = net.conv(INPUT, out=40)
    y = net.conv(x, out=40)
    z = net.conv(x, y, out=16)
    network = net.network()
    kernel = network.layers[1].kernel
    assert kernel is not None
    alone = replace(kernel, weights=kernel.weights[:, :1], groups=40)
    layers = list(network.layers)
    layers[1] = replace(layers[1], kernel=alone)
    layers[2] = replace(layers[2], sources=(1,), in_channels=40, kernel=_fewer(layers[2].kernel, 40))
    assert z == 2
    found = placed(replace(network, layers=tuple(layers)))
    assert found.layers[1].processors == found.layers[1].output_processors
    assert_machine_agrees(found, net.sample())


def _fewer(kernel: Kernel | None, channels: int) -> Kernel:
    assert kernel is not None
    return replace(kernel, weights=kernel.weights[:, :channels])


def test_depthwise_layers_become_dense_on_need() -> None:
    net = Sketch(3, (8, 8), MAX78002)
    x = net.conv(INPUT, out=24)
    net.conv(x, net.conv(x, out=24), out=16)
    network = net.network()
    layers = list(network.layers)
    kernel = layers[1].kernel
    assert kernel is not None
    layers[1] = replace(layers[1], kernel=replace(kernel, weights=kernel.weights[:, :1], groups=24))
    network = replace(network, layers=tuple(layers))
    found = placed(network)
    dense = found.layers[1].kernel
    assert dense is not None and dense.groups == 1
    sample = net.sample()
    assert np.array_equal(simulate.run(network, sample).result, simulate.run(found, sample).result)
    assert_machine_agrees(found, sample)


def test_layers_that_cannot_be_joined_are_refused() -> None:
    net = Sketch(3, (8, 8))
    x = net.conv(INPUT, out=30)
    net.conv(x, net.conv(x, out=52), out=8)
    with pytest.raises(UnsupportedError, match=r"it joins 30 \+ 14 \+ 38 = 82 channels"):
        planner.place(net.network())


@pytest.mark.parametrize("name", NETWORKS)
def test_kernels_take_the_columns_that_were_counted(name: str) -> None:
    found = placed(NETWORKS[name]().network(name))
    for hardware in layers_of(found):
        if hardware.weights is not None:
            assert plan_sizes.columns(hardware.layer) == len(kernel_memory.pack(hardware).columns[0])


# -- the check knows what is wrong -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("layer", "change", "told"),
    [
        (1, {"in_offset": 4}, "it finds"),
        (2, {"out_offset": 0x10}, "it finds"),
        (2, {"processors": 0xFF}, "60 channels have the processors 0x00000000000000ff, 8 of them"),
        (3, {"out_offset": 0x7FFC}, "bytes after the end of the memory"),
        (2, {"in_offset": 2}, "the input is at 2"),
        (3, {"write_gap": 1}, "it finds"),
    ],
)
def test_wrong_places_are_found(layer: int, change: dict[str, int], told: str) -> None:
    network = placed(chain().network())
    layers = list(network.layers)
    assert replace(layers[layer], **change) != layers[layer]  # type: ignore[arg-type]
    layers[layer] = replace(layers[layer], **change)  # type: ignore[arg-type]
    problems = overlap.check(replace(network, layers=tuple(layers)))
    assert any(told in problem.what for problem in problems), [problem.what for problem in problems]


def test_a_layer_does_not_write_over_what_it_reads() -> None:
    network = placed(chain().network())
    layers = list(network.layers)
    layers[1] = replace(layers[1], out_offset=layers[1].in_offset, output_processors=layers[1].processors)
    layers[2] = replace(layers[2], in_offset=layers[1].in_offset, processors=layers[1].processors)
    told = [problem.what for problem in overlap.check(replace(network, layers=tuple(layers)))]
    assert any("over what it reads" in what for what in told), told


def test_live_data_may_not_be_overwritten() -> None:
    """Layer 0 puts out what the last layer but one wants; layer 2 writes over it."""
    network = placed(upwards().network())
    layers = list(network.layers)
    layers[2] = replace(layers[2], out_offset=layers[0].out_offset, output_processors=0x3FFF_FFFF)
    layers[3] = replace(layers[3], in_offset=layers[0].out_offset, processors=0x3FFF_FFFF)
    layers[0] = replace(layers[0], output_processors=0xFF)
    layers[1] = replace(layers[1], processors=0xFF)
    layers[6] = replace(layers[6], processors=0x3FFF)
    told = [problem.what for problem in overlap.check(replace(network, layers=tuple(layers)))]
    assert any("it finds what" in what or "is at processor" in what for what in told)


def test_results_stay_until_the_end() -> None:
    network = placed(outputs().network())
    layers = list(network.layers)
    result, last = layers[1], layers[-1]
    layers[-1] = replace(last, out_offset=result.out_offset, output_processors=0x1FF)
    layers[1] = replace(result, output_processors=0x1F)
    told = [problem.what for problem in overlap.check(replace(network, layers=tuple(layers)))]
    assert any("a later layer overwrites its output" in what for what in told), told
