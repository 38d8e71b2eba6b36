"""Manifests of device units are read strictly, and units found by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.errors import ConfigError
from buildtool.ir.dims import symbol
from buildtool.ir.graph import Graph, Node
from buildtool.ir.types import DType, QuantType
from buildtool.plan import units
from tests.plan.graphs import OPS, add_input, apply, make

GOOD = """\
op: relu
priority: 10
inputs: [f32]
when: rank(0) == 4
"""


def write(root: Path, text: str, name: str = "swift_relu", *, without: str = "") -> Path:
    folder = root / units.FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text(text)
    for suffix in {".cc", ".cl"} - {without}:
        (folder / f"{name}{suffix}").write_text("")
    return root


def own(*texts: str, root: Path) -> units.DeviceUnits:
    """Units of relu with these manifests."""
    for number, text in enumerate(texts):
        write(root, f"op: relu\n{text}\n", f"relu{number}")
    return units.load([root])


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lathe has no units of its own."""
    monkeypatch.setattr(resources, "root", lambda: tmp_path / "none")


def relu(*shape: int, dtype: DType = DType.F32) -> Node:
    graph = Graph(name="g")
    apply(graph, make("relu"), add_input(graph, "x", shape, dtype))
    return graph.nodes[0]


def test_units_of_lathe_are_good() -> None:
    for name, found in units.load().units.items():
        assert name in OPS or name in ("to_device", "from_device"), name
        for unit in found:
            assert f"LATHE_OPENCL_PLAN({unit.plan})(" in (resources.root() / unit.code).read_text(), unit.name
            if name in OPS:
                assert unit.when.names() <= set(OPS[name].attribute_kinds()), unit.name


@pytest.mark.usefixtures("alone")
def test_manifest_of_a_user(tmp_path: Path) -> None:
    unit = units.load([write(tmp_path, GOOD)]).of("relu")[0]
    assert (unit.op, unit.priority, unit.always) == ("relu", 10, False)
    assert (unit.inputs, unit.outputs) == ((frozenset({DType.F32}),), (frozenset({DType.F32}),))


@pytest.mark.usefixtures("alone")
def test_units_share_a_source(tmp_path: Path) -> None:
    (unit,) = units.load([write(tmp_path / "own", GOOD)]).of("relu")
    assert (unit.code, unit.plan) == ("native/opencl/ops/swift_relu.cc", "swift_relu")
    root = write(tmp_path / "shared", f"{GOOD}source: elementwise\nplan: unary\n", without=".cc")
    (root / "native/opencl/elementwise.cc").write_text("")
    (unit,) = units.load([root]).of("relu")
    assert (unit.code, unit.plan) == ("native/opencl/elementwise.cc", "unary")


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("change", "line", "what"),
    [
        (("op: relu", "op: Relu"), 1, "`op` is 'Relu'"),
        (("op: relu\n", ""), 1, "`op` is None"),
        (("priority: 10", "priority: first"), 2, "`priority` is 'first'"),
        (("priority: 10", "priority: true"), 2, "`priority` is True"),
        (("priority: 10", "speed: 10"), 2, "`speed` is not a key"),
        (("priority: 10", "source: ops/relu.cc"), 2, "`source` is 'ops/relu.cc'"),
        (("priority: 10", "source: shared"), 2, "the file shared.cc does not exist"),
        (("priority: 10", "plan: PlanRelu"), 2, "`plan` is 'PlanRelu'"),
        (("inputs: [f32]", "inputs: f32"), 3, "`inputs` is 'f32'"),
        (("inputs: [f32]", "inputs: []"), 3, "`inputs` is []"),
        (("inputs: [f32]", "inputs: [f32|f16]"), 3, "'f16' is not an element type of devices"),
        (("inputs: [f32]", "inputs: [f32]\noutputs: [u8]"), 4, "`outputs`: 'u8'"),
        (("rank(0) == 4", "import os"), 4, "`when`"),
        (("rank(0) == 4", "4"), 4, "a condition"),
        (("when: rank(0) == 4", "always: perhaps"), 4, "`always` is 'perhaps'"),
        (("op: relu", "op: [relu"), 2, "not a YAML file"),
        ((GOOD, "- relu"), 1, "a manifest is a mapping"),
        ((GOOD, ""), 1, "a manifest is a mapping"),
    ],
)
def test_mistakes_are_found_with_their_line(tmp_path: Path, change: tuple[str, str], line: int, what: str) -> None:
    with pytest.raises(ConfigError) as caught:
        units.load([write(tmp_path, GOOD.replace(*change))])
    problem = next(item for item in caught.value.problems if what in item.what or what in item.rule)
    assert problem.where.line == line
    assert problem.where.file.endswith("swift_relu.yaml")


@pytest.mark.usefixtures("alone")
def test_files_belong_together(tmp_path: Path) -> None:
    for suffix in (".cc", ".cl"):
        with pytest.raises(ConfigError, match=rf"swift_relu\{suffix} does not exist"):
            units.load([write(tmp_path / suffix, GOOD, without=suffix)])
    with pytest.raises(ConfigError, match="is not the name of a unit"):
        units.load([write(tmp_path / "name", GOOD, "Swift")])
    (write(tmp_path / "lost", GOOD) / units.FOLDER / "lost.cc").write_text("")
    with pytest.raises(ConfigError, match="this unit has no manifest"):
        units.load([tmp_path / "lost"])
    with pytest.raises(ConfigError, match="already has a manifest"):
        units.load([write(tmp_path / "one", GOOD), write(tmp_path / "two", GOOD)])


@pytest.mark.usefixtures("alone")
def test_the_best_unit_that_fits_goes_first(tmp_path: Path) -> None:
    known = own(
        "inputs: [f32]\npriority: 1",
        "inputs: [f32]\npriority: 9\nwhen: dim(0, 3) % 4 == 0",
        "inputs: [f32]\npriority: 5\nalways: true\nwhen: rank(0) == 4",
        root=tmp_path,
    )
    assert [unit.name for unit in known.units_for(relu(1, 2, 2, 8))] == ["relu1", "relu2"]
    assert [unit.name for unit in known.units_for(relu(1, 2, 2, 7))] == ["relu2"]
    assert [unit.name for unit in known.units_for(relu(2, 8))] == ["relu0"]
    assert known.why_not(relu(2, 8)) == ""


@pytest.mark.usefixtures("alone")
def test_why_nothing_fits_is_told(tmp_path: Path) -> None:
    known = own("inputs: [f32]\nwhen: rank(0) == 4", "inputs: [s32|s64]", root=tmp_path)
    assert known.why_not(relu(2, 8)) == "relu0 needs rank(0) == 4; relu1 takes s32|s64 as input 0"
    assert known.units_for(relu(2, 8)) == ()
    assert known.why_not(relu(2, 8, dtype=DType.S32)) == "relu0 takes f32 as input 0; relu1 gives f32 as output 0"
    graph = Graph(name="g")
    apply(graph, make("softmax", axis=1), add_input(graph, "x", (2, 3)))
    assert known.why_not(graph.nodes[0]) == "there is no unit for softmax"


@pytest.mark.usefixtures("alone")
def test_sizes_that_only_the_runtime_knows_do_not_fit_conditions(tmp_path: Path) -> None:
    known = own("inputs: [f32]\nwhen: dim(0, 0) == 1", root=tmp_path)
    graph = Graph(name="g")
    apply(graph, make("relu"), add_input(graph, "x", (symbol("n", 1, 9), 4)))
    assert known.units_for(graph.nodes[0]) == ()


@pytest.mark.usefixtures("alone")
def test_quantised_numbers_are_nothing_for_devices(tmp_path: Path) -> None:
    known = own("inputs: [s32]\noutputs: [s32]", root=tmp_path)
    node = relu(1, 4, dtype=DType.S32)
    assert known.units_for(node)
    for value in (*node.inputs, *node.outputs):
        value.type = replace(value.type, quant=QuantType((1.0,), (0,)))
    assert known.why_not(node) == "relu0 takes no quantised values"


@pytest.mark.usefixtures("alone")
def test_tensors_without_elements_are_nothing_for_devices(tmp_path: Path) -> None:
    known = own("inputs: [f32]", root=tmp_path)
    assert known.units_for(relu(1, 4))
    assert known.why_not(relu(0, 4)) == "relu0 takes no tensors without elements"
