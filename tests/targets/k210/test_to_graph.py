"""Kmodels as graphs: the reference gives what the simulator gives, layer by layer."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.targets.k210.format import cpu_layers as cpu
from buildtool.targets.k210.format import layout
from buildtool.targets.k210.format.arguments import ConvShape
from buildtool.targets.k210.format.kmodel import EIGHT_BIT_WEIGHTS, Kmodel, Output
from buildtool.targets.k210.format.kpu_layers import AddPadding, Conv, Upload
from buildtool.targets.k210.format.layer import Layer
from buildtool.targets.k210.simulation.layerwise import compare
from buildtool.targets.k210.simulation.simulator import Simulator
from buildtool.targets.k210.simulation.to_graph import INPUT, Unrolled, to_graph
from tests.targets.k210.generating import generated, given, pictures
from tests.targets.k210.samples import HALF_RAM, Drawn, draw, input_for, models, on_floats
from tests.targets.k210.test_generate import NETS, residual
from tests.targets.k210.test_random_networks import drawn

MODELS = dict(models())


def made_by(simulator: Simulator, layer: Layer) -> Array:
    """What a layer has just written, as the graph has it."""
    if isinstance(layer, Conv) and not layer.to_main:
        planes = layout.download(simulator.ram, layer.argument.dst, *layer.out_shape)
    elif isinstance(layer, Conv):
        planes = simulator.main.u8(layer.main_out, layer.out_bytes).reshape(layer.out_shape)
    elif isinstance(layer, Upload):
        planes = layout.download(simulator.ram, layer.kpu_out, layer.c, layer.h, layer.w)
    elif isinstance(layer, AddPadding):
        planes = layout.download(simulator.ram, layer.kpu_out, layer.channels, 4, 4)
    else:
        (target,) = layer.writes()
        if target.element == 4:
            return simulator.main.f32(target.start, target.bytes // 4)
        return simulator.main.u8(target.start, target.bytes)
    channels_last: Array = planes.transpose(1, 2, 0)[None]
    return channels_last


def steps_off(unrolled: Unrolled, model: Kmodel, data: bytes) -> dict[str, float]:
    """By layer, how far the graph's reference is from the simulator: in steps of a byte, or of 255 of a list."""
    (value,) = unrolled.graph.inputs
    is_list = value.type.rank == 1
    array = np.frombuffer(data, "<f4" if is_list else np.uint8).astype(np.float32)
    found = evaluate(unrolled.graph, {INPUT: array.reshape([int(str(dim)) for dim in value.type.shape])}, keep=True)
    simulator = Simulator(model)
    simulator.load(data)
    alone = False  # planes of which only the first pixels mean anything
    off = {}
    for number, (layer, made) in enumerate(zip(model.layers, unrolled.values, strict=True)):
        simulator.step(layer)
        wanted = made_by(simulator, layer).astype(np.float64)
        got = made.constant if made.constant is not None else found[made.name]
        alone = wanted.ndim == 4 and (alone or isinstance(layer, AddPadding))
        if alone:
            wanted, got = wanted[:, 0, 0], got[:, 0, 0]
        if got.size != wanted.size:  # a list of bytes that is read as numbers
            wanted = np.frombuffer(wanted.astype(np.uint8).tobytes(), "<f4").astype(np.float64)
        step = 1.0
        if wanted.dtype != np.uint8 and not np.array_equal(wanted, np.rint(wanted)):
            step = max(float(np.ptp(wanted)), float(np.abs(wanted).max())) / 255 or 1.0
        assert got.shape == wanted.shape
        off[f"layer {number} {layer.TYPE.name}"] = float(np.abs(got - wanted).max() / step) if got.size else 0.0
    for number, output in enumerate(model.outputs):
        raw = simulator.main.u8(output.address, output.size).tobytes()
        got = found[f"output{number}"]
        wanted = np.frombuffer(raw, np.uint8 if got.size == output.size else "<f4")
        step = max(float(np.abs(wanted).max()) / 255, 1e-30)
        off[f"output {number}"] = float(np.abs(got - wanted).max() / step)
    return off


def worst(model: Kmodel, data: bytes) -> float:
    return max(steps_off(to_graph(model), model, data).values())


@pytest.mark.parametrize("name", MODELS)
def test_every_layer(name: str) -> None:
    model = MODELS[name]
    assert worst(model, input_for(model, np.random.default_rng(8))) < 0.01


def whole(graph: Graph) -> float:
    made = generated(graph)
    return worst(made.model, given(made, next(iter(pictures(graph, 1)[0].values()))))


@pytest.mark.parametrize("name", NETS)
def test_networks(name: str) -> None:
    assert whole(NETS[name]()) < 0.01


@pytest.mark.parametrize("seed", range(200, 206))
def test_random_networks(seed: int) -> None:
    assert whole(drawn(seed)) < 0.01


def test_zero_points_are_those_that_tensors_are_stored_with() -> None:
    made = generated(residual())
    unrolled = to_graph(made.model)
    assert made.input.stored is not None
    assert unrolled.zero_points["layer0"] == 0, "behind relu"
    assert set(unrolled.zero_points) >= {f"layer{number}" for number, layer in enumerate(made.model.layers)
                                         if isinstance(layer, Conv) and not layer.to_main}  # fmt: skip


def test_memory_that_is_read_in_another_form() -> None:
    bytes_of_floats = on_floats([cpu.Requantize(1, 64, 320, 16, bytes(256))], 320, 16)
    with pytest.raises(UnsupportedError, match=r"layer 1, type 13 .*\n.*elements of 4 bytes are stored there"):
        to_graph(bytes_of_floats)
    rng = np.random.default_rng(1)
    first = draw(Drawn(ConvShape((4, 8, 8), 4), main_out=None), rng)
    second = draw(Drawn(ConvShape((4, 4, 16), 4), src=HALF_RAM, dst=0), rng)
    other_planes = Kmodel(EIGHT_BIT_WEIGHTS, 256, (Output(0, 256),), (first, second))
    with pytest.raises(UnsupportedError, match=r"planes of 4 x 16 at unit 16384.*\n.*planes of 8 x 8 are stored there"):
        to_graph(other_planes)


# -- layer by layer ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["residual", "branches", "strides", "large_product"])
def test_layers_are_near_to_those_of_the_network(name: str) -> None:
    graph = NETS[name]()
    made = generated(graph)
    (sample,) = pictures(graph, 1)
    data = given(made, next(iter(sample.values())))
    found = compare(graph, made, sample, data)
    assert min(one.cosine for one in found) > 0.97
    assert len({one.tensor for one in found}) == len(found) > len(made.report.layers) // 2


def test_the_first_layer_that_is_wrong_is_found() -> None:
    graph = residual()
    made = generated(graph)
    (sample,) = pictures(graph, 1)
    data = given(made, next(iter(sample.values())))
    layers = list(made.model.layers)
    third, layer = next((number, one) for number, one in enumerate(layers) if number > 1 and isinstance(one, Conv))
    layers[third] = dataclasses.replace(layer, weights=layer.weights[::-1])
    broken = dataclasses.replace(made, model=dataclasses.replace(made.model, layers=tuple(layers)))
    far = [one.layer for one in compare(graph, broken, sample, data) if one.cosine < 0.9]
    assert min(far) >= third
    assert not [one for one in compare(graph, made, sample, data) if one.cosine < 0.97]
