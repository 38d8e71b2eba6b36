"""The container reads back what was written, and refuses everything else."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buildtool.codegen import container, container_writer
from buildtool.codegen.container_writer import Stored
from buildtool.errors import ModelFileError
from buildtool.ir.graph import Graph, Region
from buildtool.ir.types import DType, QuantType, round_to_bf16
from buildtool.plan.plan import Placement, Plan
from buildtool.schemas import container_pb2 as pb
from tests.plan.graphs import OPS, Repeat, add_input, apply, graphs, looping_network, make, small_network


def assert_same(first: Graph, second: Graph) -> None:
    """Equal in everything that the container keeps."""
    assert (first.name, first.symbols) == (second.name, second.symbols)
    names = [(v.name, v.type, v.source_names) for v in first.values()]
    assert names == [(v.name, v.type, v.source_names) for v in second.values()]
    for old, new in zip(first.values(), second.values(), strict=True):
        assert (old.constant is None) == (new.constant is None)
        if old.constant is not None and new.constant is not None:
            np.testing.assert_array_equal(old.constant, new.constant)
            assert new.constant.dtype == old.constant.dtype
    assert_same_region(first, second)


def assert_same_region(first: Region, second: Region) -> None:
    assert [v.name for v in first.inputs + first.outputs] == [v.name for v in second.inputs + second.outputs]
    for old, new in zip(first.nodes, second.nodes, strict=True):
        assert (old.op, old.name) == (new.op, new.name)
        assert [v.name for v in old.inputs + old.outputs] == [v.name for v in new.inputs + new.outputs]
        for inner, other in zip(old.regions, new.regions, strict=True):
            assert_same_region(inner, other)


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_round_trip(graph: Graph) -> None:
    written = container.write(graph, name=graph.name, half=False)
    read, plan = container.read(written.model, written.data, OPS)
    assert plan is None
    assert_same(graph, read)
    assert container.write(read, name=read.name, half=False) == written
    assert container.from_description(container.describe(written.model)) == written.model


def test_plan_and_formats_round_trip() -> None:
    graph = small_network()
    names = [value.name for value in graph.values() if not value.is_constant]
    plan = Plan("host", tuple(("best", "k" * 3) for _ in graph.nodes), tuple(Placement(n, 64, 4) for n in names), 4096)
    written = container.write(
        graph, name="tiny", half=False, plan=plan, input_formats=["NHWC"], output_formats=["NONE"]
    )
    loaded = container.load(written.model, written.data, OPS)
    assert loaded.plan == plan == Plan.from_json(plan.as_json())
    assert (loaded.name, loaded.input_formats, loaded.output_formats) == ("tiny", ("NHWC",), ("NONE",))


def test_regions_round_trip() -> None:
    graph = looping_network()
    plan = Plan("host", (("k",),) * len(list(graph.walk())), (), 0)
    written = container.write(graph, name="loop", half=False, plan=plan)
    read, planned = container.read(written.model, written.data, {**OPS, "repeat": Repeat})
    assert planned == plan
    assert_same(graph, read)


def test_a_region_keeps_its_values_to_itself() -> None:
    graph = looping_network()
    graph.outputs[0] = graph.nodes[-2].regions[0].outputs[0]
    written = container.write(graph, name="loop", half=False)
    with pytest.raises(ModelFileError, match="before it is made"):
        container.read(written.model, written.data, {**OPS, "repeat": Repeat})


def test_equal_constants_are_stored_once_and_aligned() -> None:
    graph = Graph(name="g")
    x = add_input(graph, "x", (4, 20))
    values = np.arange(20, dtype=np.float32)
    for array in (np.ones(3, np.float32), values, values.copy()):
        constant = graph.new_constant("c", array.reshape(-1, 1)[:1] if array.size == 3 else array)
        x = apply(graph, make("mul"), x, constant)
    graph.outputs.append(x)
    written = container.write(graph, name="g", half=False)
    stored = [v.constant for v in pb.Model.FromString(written.model).graph.values if v.HasField("constant")]
    assert [item.offset for item in stored] == [0, 64, 64]
    assert len(written.data) == 64 + 80


@pytest.mark.parametrize(
    ("array", "half", "storage"),
    [
        (np.linspace(-3, 3, 17, dtype=np.float32), DType.F16, DType.F16),
        (np.linspace(-3, 3, 16, dtype=np.float32), DType.F16, DType.F32),  # one line of 64 bytes
        (np.linspace(-3, 3, 16, dtype=np.float32), DType.BF16, DType.F32),
        (np.linspace(-3, 3, 17, dtype=np.float32), None, DType.F32),
        (np.array([70000.0] * 20, np.float32), DType.F16, DType.F32),  # beyond f16
        (np.array([70000.0] * 20, np.float32), DType.BF16, DType.BF16),
        (np.array([3.4e38] * 20, np.float32), DType.BF16, DType.F32),  # would be rounded to infinity
        (np.array([3.38e38] * 20, np.float32), DType.BF16, DType.BF16),
        (np.array([np.inf] * 20, np.float32), DType.F16, DType.F16),
        (np.array([np.inf, np.nan] * 20, np.float32), DType.BF16, DType.BF16),
        (np.arange(20, dtype=np.int32), DType.F16, DType.S32),
    ],
)
def test_half_storage(array: np.ndarray[Any, Any], half: DType | None, storage: DType) -> None:
    own = DType.S32 if storage is DType.S32 else DType.F32
    contents, kind = container_writer.stored_bytes(array, own, half)
    assert kind is storage
    assert len(contents) == array.size * storage.itemsize


def test_half_constants_read_back_rounded_to_f16() -> None:
    graph = small_network()
    written = container.write(graph, name="tiny", half=True)
    read, _ = container.read(written.model, written.data, OPS)
    for old, new in zip(graph.values(), read.values(), strict=True):
        if old.constant is not None and new.constant is not None:
            np.testing.assert_array_equal(new.constant, old.constant.astype(np.float16).astype(np.float32))


def test_bf16_constants_read_back_rounded() -> None:
    graph = small_network()
    written = container.write(graph, name="tiny", stored=Stored(DType.BF16))
    assert pb.Model.FromString(written.model).format_version == 2, "readers of version 2 know bf16"
    read, _ = container.read(written.model, written.data, OPS)
    narrowed = 0
    for old, new in zip(graph.values(), read.values(), strict=True):
        if old.constant is not None and new.constant is not None:
            wide = old.constant.nbytes > 64
            np.testing.assert_array_equal(new.constant, round_to_bf16(old.constant) if wide else old.constant)
            narrowed += wide
    assert narrowed


@given(st.lists(st.floats(width=32, allow_nan=True), min_size=1, max_size=40))
def test_bf16_rounds_to_nearest_even(numbers: list[float]) -> None:
    array = np.array(numbers, np.float32)
    contents, kind = container_writer.stored_bytes(array, DType.BF16)
    assert kind is DType.BF16
    widened = (np.frombuffer(contents, np.uint16).astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(np.isnan(widened), np.isnan(array))
    finite = np.isfinite(array) & np.isfinite(widened)
    assert np.all(np.abs(widened[finite] - array[finite]) <= np.abs(array[finite]) * 2.0**-8 + 2.0**-133)
    again, _ = container_writer.stored_bytes(widened, DType.BF16)
    assert again == contents


def test_quantised_types_round_trip() -> None:
    graph = Graph(name="q")
    x = add_input(graph, "x", (2, 3))
    x.type = dataclasses.replace(x.type, dtype=DType.S8, quant=QuantType((0.5, 0.25, 2.0), (0, 1, -3), axis=1, bits=8))
    graph.outputs.append(x)
    written = container.write(graph, name="q", half=False)
    assert container.read(written.model, written.data, OPS)[0].inputs[0].type == x.type


# --- hostile files ----------------------------------------------------------------------------------------------------


def _model() -> tuple[pb.Model, bytes]:
    graph = small_network()
    names = [value.name for value in graph.values() if not value.is_constant]
    plan = Plan("host", (("k",),) * len(graph.nodes), tuple(Placement(name, 0, 4) for name in names), 64)
    written = container.write(graph, name="tiny", half=False, plan=plan)
    return pb.Model.FromString(written.model), written.data


def _first_constant(model: pb.Model) -> pb.Constant:
    return next(value.constant for value in model.graph.values if value.HasField("constant"))


def _set(path: str, value: object) -> Callable[[pb.Model], None]:
    def change(model: pb.Model) -> None:
        target: Any = model
        *steps, last = path.split(".")
        for step in steps:
            target = target[int(step)] if step.isdigit() else getattr(target, step)
        if last.isdigit():
            target[int(last)] = value
        else:
            setattr(target, last, value)

    return change


def _strides(model: pb.Model) -> pb.Attr:
    return next(attr for attr in model.graph.body.nodes[0].attrs if attr.name == "strides")


HOSTILE: dict[str, Callable[[pb.Model], object]] = {
    "no version": _set("format_version", 0),
    "newer version": _set("format_version", 99),
    "no graph": lambda m: m.ClearField("graph"),
    "other data size": _set("data_size", 1),
    "other checksum": _set("data_sha256", b"\0" * 32),
    "no checksum": _set("data_sha256", b""),
    "unknown operator": _set("graph.body.nodes.0.op", "frobnicate"),
    "empty operator": _set("graph.body.nodes.0.op", ""),
    "attribute missing": lambda m: m.graph.body.nodes[0].attrs.pop(),
    "attribute unknown": _set("graph.body.nodes.0.attrs.0.name", "colour"),
    "attribute twice": lambda m: m.graph.body.nodes[0].attrs.append(m.graph.body.nodes[0].attrs[0]),
    "attribute of another kind": lambda m: setattr(_strides(m), "s", "x"),
    "attribute out of range": lambda m: _strides(m).ints.v.append(2**40),
    "attribute empty": lambda m: _strides(m).ClearField("ints"),
    "strides of zero": lambda m: _strides(m).ints.CopyFrom(pb.Ints(v=[0, 1])),
    "input out of range": _set("graph.body.nodes.0.inputs.0", 1000),
    "input not made yet": lambda m: _set("graph.body.nodes.0.inputs.0", m.graph.body.outputs[0])(m),
    "input missing": lambda m: m.graph.body.nodes[0].inputs.pop(),
    "too many inputs": lambda m: m.graph.body.nodes[1].inputs.append(0),
    "made twice": lambda m: _set("graph.body.nodes.1.outputs.0", m.graph.body.nodes[0].outputs[0])(m),
    "output overwrites input": _set("graph.body.nodes.0.outputs.0", 0),
    "no output": lambda m: m.graph.body.nodes[0].outputs.pop(),
    "graph output out of range": _set("graph.body.outputs.0", 4096),
    "two inputs that are one": lambda m: m.graph.body.inputs.append(m.graph.body.inputs[0]),
    "value without a maker": lambda m: m.graph.body.nodes.pop(),
    "values with one name": lambda m: _set("graph.values.1.name", m.graph.values[0].name)(m),
    "value without a name": _set("graph.values.0.name", ""),
    "unknown element type": _set("graph.values.0.dtype", 77),
    "no element type": _set("graph.values.0.dtype", 0),
    "wrong shape": _set("graph.values.2.dims.0.size", 5),
    "huge dimension": _set("graph.values.0.dims.0.size", 2**63),
    "dimension without kind": lambda m: m.graph.values[0].dims[0].Clear(),
    "dimension with unknown expression": _set("graph.values.0.dims.0.expr", 9),
    "rank nine": lambda m: m.graph.values[0].dims.extend([pb.Dim(size=1)] * 9),
    "constant outside": lambda m: setattr(_first_constant(m), "offset", 2**40),
    "constant offset overflows": lambda m: setattr(_first_constant(m), "offset", 2**64 - 64),
    "constant not aligned": lambda m: setattr(_first_constant(m), "offset", 4),
    "constant too small": lambda m: setattr(_first_constant(m), "size", 4),
    "constant of another type": lambda m: setattr(_first_constant(m), "storage", 5),
    "constant of unknown type": lambda m: setattr(_first_constant(m), "storage", 99),
    "plan too short": lambda m: m.plan.nodes.pop(),
    "plan without kernels": lambda m: m.plan.nodes[0].ClearField("kernels"),
    "plan too long": lambda m: m.plan.nodes.append(pb.NodePlan(kernels=["k"])),
    "placement outside": _set("plan.arena.0.offset", 2**40),
    "placement of nothing": _set("plan.arena.0.value", 999),
    "placement twice": lambda m: m.plan.arena.append(m.plan.arena[0]),
    "symbols with one name": lambda m: m.graph.symbols.extend([pb.Symbol(name="n", low=1, high=2)] * 2),
    "symbol bounds turned round": lambda m: m.graph.symbols.append(pb.Symbol(name="n", low=3, high=2)),
    "symbol without a name": lambda m: m.graph.symbols.append(pb.Symbol(low=1, high=2)),
    "symbol bound too large": lambda m: m.graph.symbols.append(pb.Symbol(name="n", low=1, high=2**32 - 1)),
    "expression empty": lambda m: m.graph.exprs.append(pb.Expr()),
    "expression underflows": lambda m: m.graph.exprs.append(pb.Expr(code=[2])),
    "expression leaves two": lambda m: m.graph.exprs.append(pb.Expr(code=[16, 32])),
    "expression divides by zero": lambda m: m.graph.exprs.append(pb.Expr(code=[16, 0, 5])),
    "expression of unknown symbol": lambda m: m.graph.exprs.append(pb.Expr(code=[1])),
    "expression with unknown code": lambda m: m.graph.exprs.append(pb.Expr(code=[15])),
    "expression too long": lambda m: m.graph.exprs.append(pb.Expr(code=[16] * 2000)),
    "expression too large": lambda m: m.graph.exprs.append(pb.Expr(code=[2**62, 2**62] + [2**62, 4] * 9 + [4])),
    "regions where none belong": lambda m: m.graph.body.nodes[0].regions.add(),
    "quantised along no axis": lambda m: m.graph.values[0].quant.CopyFrom(
        pb.Quant(scales=[1.0], zero_points=[0], axis=9, bits=8)
    ),
    "quantised without scales": lambda m: m.graph.values[0].quant.CopyFrom(pb.Quant(axis=-1, bits=8)),
    "quantised to no bits": lambda m: m.graph.values[0].quant.CopyFrom(
        pb.Quant(scales=[1.0], zero_points=[0], axis=-1, bits=99)
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_models_are_refused(what: str) -> None:
    model, data = _model()
    HOSTILE[what](model)
    with pytest.raises(ModelFileError) as caught:
        container.read(model.SerializeToString(), data, OPS, "m.pb")
    assert "m.pb" in str(caught.value)


def test_regions_nested_too_deep_are_refused() -> None:
    model, data = _model()
    region = model.graph.body
    for _ in range(90):
        region = region.nodes.add(op="relu").regions.add()
    with pytest.raises(ModelFileError):
        container.read(model.SerializeToString(), data, OPS)


@pytest.mark.parametrize("junk", [b"", b"\x00", b"\xff" * 64, b"onnx", b"\x08\x01", bytes(range(256))])
def test_junk_is_refused(junk: bytes) -> None:
    with pytest.raises(ModelFileError):
        container.read(junk, b"", OPS)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_damaged_bytes_never_escape_as_another_error(data: st.DataObject) -> None:
    model, weights = _model()
    contents = bytearray(model.SerializeToString())
    if data.draw(st.booleans()):
        del contents[data.draw(st.integers(0, len(contents) - 1)) :]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            contents[data.draw(st.integers(0, len(contents) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ModelFileError):
        container.read(bytes(contents), weights, OPS)


def _packed(graph: Graph, **packings: str) -> tuple[container.Container, Plan]:
    """The graph in the planned form, where these nodes read packed constants."""
    names = tuple(packings.get(node.name, "") for node in graph.walk())
    plan = Plan("host", (("k",),) * len(names), (), 0, names)
    return container.write(graph, name=graph.name, half=False, plan=plan), plan


def _constants(written: container.Container) -> dict[str, int]:
    message = pb.Model.FromString(written.model)
    return {value.name: value.constant.packing for value in message.graph.values if value.HasField("constant")}


def test_packed_constants_are_stored_once_and_read_back() -> None:
    graph = small_network()
    written, plan = _packed(graph, conv="panels16", dense="panels8")
    assert _constants(written) == {"w.1.panels16": 3, "d.5.panels8": 2}
    read, planned = container.read(written.model, written.data, OPS)
    assert planned == plan == Plan.from_json(plan.as_json())
    assert_same(graph, read)
    for before, after in zip(graph.values(), read.values(), strict=True):
        assert before.name == after.name
        if before.constant is not None:
            assert after.constant is not None
            assert np.array_equal(before.constant, after.constant)
    assert container.write(read, name=graph.name, half=False, plan=planned) == written


def test_transformed_filters_are_read_back_up_to_rounding() -> None:
    graph = small_network()
    written, plan = _packed(graph, conv="winograd4_8")
    read, planned = container.read(written.model, written.data, OPS)
    assert planned == plan
    assert read.nodes[0].inputs[1].name == "w.1"
    before, after = (item.nodes[0].inputs[1].constant for item in (graph, read))
    assert before is not None
    assert after is not None
    assert np.allclose(before, after, atol=1e-6)


def test_a_constant_that_several_read() -> None:
    """Packed once for those who want it the same way, and plain for those who do not."""
    graph = small_network()
    conv, dense = graph.nodes[0], next(node for node in graph.nodes if node.name == "dense")
    graph.nodes.append(graph.new_node(conv.op, conv.inputs, name="again"))
    wide = add_input(graph, "wide", (1, 8, 8, 6))
    grouped = dataclasses.replace(conv.op, groups=2)  # type: ignore[call-arg, type-var]
    graph.nodes.append(graph.new_node(grouped, [wide, conv.inputs[1]], name="groups"))
    graph.outputs += [graph.nodes[-1].outputs[0], graph.nodes[-2].outputs[0]]
    written, plan = _packed(graph, conv="panels8", again="panels8", groups="panels8")
    assert _constants(written) == {"d.5": 0, "w.1.panels8": 2, "w.1.panels8+": 2}
    read, planned = container.read(written.model, written.data, OPS)
    assert planned == plan
    assert len({id(node.inputs[1]) for node in read.nodes if node.op.name == "conv2d"}) == 1
    assert_same(graph, read)
    written, plan = _packed(graph, conv="panels8", again="panels16")
    assert _constants(written) == {"w.1": 0, "d.5": 0, "w.1.panels8": 2, "w.1.panels16": 3}
    graph.outputs.append(dense.inputs[1])
    written, plan = _packed(graph, dense="panels8")
    assert _constants(written) == {"w.1": 0, "d.5": 0, "d.5.panels8": 2}
    read, planned = container.read(written.model, written.data, OPS)
    assert planned == plan
    assert_same(graph, read)


def _packing_code(message: pb.Model, code: int) -> None:
    next(value for value in message.graph.values if value.name == "w.1.panels16").constant.packing = code


def _reshape(message: pb.Model, *dims: int) -> None:
    value = next(value for value in message.graph.values if value.name == "w.1.panels16")
    del value.dims[:]
    value.dims.extend(pb.Dim(size=dim) for dim in dims)


SPOILT_PACKINGS: dict[str, Callable[[pb.Model], object]] = {
    "unknown packing": lambda m: _packing_code(m, 77),
    "another packing": lambda m: _packing_code(m, 2),
    "a transformation": lambda m: _packing_code(m, 6),
    "no plan": lambda m: m.ClearField("plan"),
    "dims that do not fit": lambda m: _reshape(m, 2, 1, 3, 3, 3, 8),
    "another rank": lambda m: _reshape(m, 27, 16),
    "read by another input": lambda m: m.graph.body.nodes[1].inputs.__setitem__(0, m.graph.body.nodes[0].inputs[1]),
    "an output of the graph": lambda m: m.graph.body.outputs.append(m.graph.body.nodes[0].inputs[1]),
    "the name of something else": lambda m: setattr(
        m.graph.values[m.graph.body.nodes[0].inputs[1]], "name", "x.panels16"
    ),
}


@pytest.mark.parametrize("what", SPOILT_PACKINGS)
def test_packings_that_do_not_fit_are_refused(what: str) -> None:
    written, _ = _packed(small_network(), conv="panels16")
    message = pb.Model.FromString(written.model)
    SPOILT_PACKINGS[what](message)
    with pytest.raises(ModelFileError):
        container.read(message.SerializeToString(), written.data, OPS)
