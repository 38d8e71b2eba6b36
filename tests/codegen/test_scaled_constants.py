"""Constants that are stored as whole numbers with scales: written, read back, and refused where they are spoilt."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buildtool.codegen import container
from buildtool.codegen.container_writer import Stored
from buildtool.errors import ModelFileError
from buildtool.ir.graph import Graph
from buildtool.ir.types import DType
from buildtool.ops.registry import registry
from buildtool.plan import scaled
from buildtool.plan.plan import Plan
from buildtool.schemas import container_pb2 as pb
from tests.plan.graphs import add_input

OPERATORS = registry()


def network() -> Graph:
    """A convolution of 21 filters, and a matrix, both of them large; their biases are not."""
    graph, generator = Graph(name="net"), np.random.default_rng(5)
    x = add_input(graph, "x", (1, 6, 6, 40))
    shapes = {"conv2d": ((21, 3, 3, 40), (21,)), "fully_connected": ((33, 21), (33,)), "matmul": ((33, 37),)}
    for name, constants in shapes.items():
        weights = [graph.new_constant("w", np.float32(generator.standard_normal(shape))) for shape in constants]
        node = graph.new_node(OPERATORS[name](), [x, *weights], name=name)
        graph.nodes.append(node)
        (x,) = node.outputs
    graph.outputs.append(x)
    return graph


def written(word: str, half: DType | None = None, **packings: str) -> container.Container:
    graph = network()
    names = tuple(packings.get(node.name, "") for node in graph.walk())
    plan = Plan("host", (("k",),) * len(names), (), 0, names) if packings else None
    return container.write(graph, name="net", stored=Stored(half, word), plan=plan)


def constants(files: container.Container) -> dict[str, pb.Constant]:
    message = pb.Model.FromString(files.model)
    return {value.name: value.constant for value in message.graph.values if value.HasField("constant")}


@pytest.mark.parametrize(("word", "storage"), [("int8", DType.S8), ("int16", DType.S16), ("int4", DType.U8)])
def test_large_weights_are_read_back_as_what_they_stand_for(word: str, storage: DType) -> None:
    graph, files = network(), written(word, DType.F16)
    read, _ = container.read(files.model, files.data, OPERATORS)
    assert pb.Model.FromString(files.model).format_version == 3
    chosen = {value.name: weights for value, weights in scaled.chosen(graph, word).items()}
    stored = constants(files)
    assert [name for name in stored if stored[name].HasField("scaled")] == list(chosen) and len(chosen) == 2
    for before, after in zip(graph.values(), read.values(), strict=True):
        if before.constant is None:
            continue
        assert after.constant is not None
        assert (after.name, after.type) == (before.name, before.type)
        if before.name in chosen:
            reduced = scaled.reduced(before.constant, chosen[before.name])
            flat = scaled.expanded(reduced.numbers, reduced.scales, chosen[before.name])
            np.testing.assert_array_equal(after.constant, flat.reshape(before.constant.shape))
            assert stored[before.name].storage == storage.code
        else:
            halved = before.constant.nbytes > 64
            assert stored[before.name].storage == (DType.F16 if halved else DType.F32).code
    sizes = {"int8": 1, "int16": 2, "int4": 0.5}
    large = sum(weights.view.count for weights in chosen.values())
    assert large * sizes[word] < len(files.data) < large * sizes[word] + 4500


def test_without_scaled_numbers_older_readers_take_the_model() -> None:
    graph = network()
    for stored in (Stored(), Stored(DType.F16), Stored(DType.BF16)):
        files = container.write(graph, name="net", stored=stored)
        assert pb.Model.FromString(files.model).format_version == 2
    small = Graph(name="small")
    x = add_input(small, "x", (1, 4))
    node = small.new_node(OPERATORS["fully_connected"](), [x, small.new_constant("w", np.ones((3, 4), np.float32))])
    small.nodes.append(node)
    small.outputs.extend(node.outputs)
    files = container.write(small, name="small", stored=Stored(None, "int8"))
    assert pb.Model.FromString(files.model).format_version == 2, "nothing in it is large"


@pytest.mark.parametrize("word", scaled.FORMS)
def test_packed_weights_are_the_same_numbers(word: str) -> None:
    plain = written(word)
    packed = written(word, conv2d="panels16")
    assert constants(packed)["w.1.panels16"].HasField("scaled")
    first, _ = container.read(plain.model, plain.data, OPERATORS)
    second, plan = container.read(packed.model, packed.data, OPERATORS)
    assert plan is not None
    assert plan.packings[0] == "panels16"
    for one, other in zip(first.values(), second.values(), strict=True):
        if one.constant is not None:
            assert other.constant is not None
            np.testing.assert_array_equal(one.constant, other.constant)


@pytest.mark.parametrize(("word", "most"), [("int16", 2e-4), ("int8", 0.03), ("int4", 0.5)])
@pytest.mark.parametrize(("tile", "points"), [(2, 16), (4, 36)])
def test_transformed_filters_have_scales_of_their_own(word: str, most: float, tile: int, points: int) -> None:
    files = written(word, DType.F16, conv2d=f"winograd{tile}_8")
    stored = constants(files)[f"w.1.winograd{tile}_8"]
    assert (stored.scaled.depth, stored.scaled.width) == (40, 8)
    assert stored.size == scaled.number_bytes(scaled.FORMS[word].storage, points * 3 * 40 * 8)
    read, _ = container.read(files.model, files.data, OPERATORS)
    before, after = (graph.nodes[0].inputs[1].constant for graph in (network(), read))
    assert before is not None
    assert after is not None
    assert 0 < np.abs(before - after).max() < most


@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize("spoilt", [False, True])
def test_transformed_filters_are_not_stored_as_halves(tile: int, spoilt: bool) -> None:
    """Filters of a trained network are small, and some of the points are 1/576 of them: halves lose their last bits."""
    graph = network()
    filters = graph.nodes[0].inputs[1]
    assert filters.constant is not None
    filters.constant = filters.constant * np.float32(0.01)
    if spoilt:
        filters.constant[0, 0, 0, 0] = np.nan
    plan = Plan("host", (("k",),) * 3, (), 0, (f"winograd{tile}_8", "", ""))
    files = container.write(graph, name="net", stored=Stored(DType.F16), plan=plan)
    stored = constants(files)
    packed = stored[f"w.1.winograd{tile}_8"]
    assert packed.storage == (DType.F16 if spoilt else DType.S16).code
    assert packed.HasField("scaled") == (not spoilt)
    assert sum(constant.storage == DType.S16.code for constant in stored.values()) == (not spoilt)
    assert pb.Model.FromString(files.model).format_version == (2 if spoilt else 3)
    if spoilt:
        return
    read, _ = container.read(files.model, files.data, OPERATORS)
    found = read.nodes[0].inputs[1].constant
    assert found is not None
    error = np.sqrt(np.square(found - filters.constant).mean() / np.square(filters.constant).mean())
    assert 0 < error < (1e-4 if tile == 2 else 2e-4)


def _set(field: str, value: int) -> Callable[[pb.Constant], None]:
    return lambda constant: setattr(constant.scaled, field, value)


HOSTILE: dict[str, Callable[[pb.Constant], None]] = {
    "depth 0": _set("depth", 0),
    "width 0": _set("width", 0),
    "block 0": _set("block", 0),
    "block beyond the depth": _set("block", 361),
    "another depth": _set("depth", 359),
    "a huge depth": _set("depth", 2**64 - 1),
    "a huge width": _set("width", 2**63),
    "more scales than there are": _set("block", 1),
    "scales outside": _set("offset", 2**40),
    "scales that are not aligned": _set("offset", 4),
    "scales at the end of all": _set("offset", 2**64 - 64),
    "scales of whole numbers": _set("storage", DType.S8.code),
    "scales of bf16": _set("storage", DType.BF16.code),
    "scales of no type": _set("storage", 99),
    "numbers of another size": lambda constant: setattr(constant, "storage", DType.S16.code),
    "numbers of another kind": lambda constant: setattr(constant, "storage", DType.F16.code),
    "numbers of no kind": lambda constant: setattr(constant, "storage", 99),
    "numbers outside": lambda constant: setattr(constant, "offset", 2**40),
    "too few numbers": lambda constant: setattr(constant, "size", 7559),
    "nothing said": lambda constant: constant.scaled.Clear(),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_spoilt_scales_are_refused(what: str) -> None:
    files = written("int8")
    message = pb.Model.FromString(files.model)
    (constant,) = (value.constant for value in message.graph.values if value.name == "w.1")
    HOSTILE[what](constant)
    with pytest.raises(ModelFileError) as caught:
        container.read(message.SerializeToString(), files.data, OPERATORS, "m.pb")
    assert "m.pb" in str(caught.value)


def test_only_single_precision_is_scaled() -> None:
    files = written("int8")
    message = pb.Model.FromString(files.model)
    next(value for value in message.graph.values if value.name == "w.1").dtype = DType.S8.code
    with pytest.raises(ModelFileError, match="an unknown kind of scaled storage"):
        container.read(message.SerializeToString(), files.data, OPERATORS)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_damaged_scales_never_escape_as_another_error(data: st.DataObject) -> None:
    files = _INT4
    contents = bytearray(files.model)
    for _ in range(data.draw(st.integers(1, 4))):
        contents[data.draw(st.integers(0, len(contents) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ModelFileError):
        container.read(bytes(contents), files.data, OPERATORS)


_INT4 = written("int4")
