"""Manifests are read strictly, conditions safely, and kernels chosen by them."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ConfigError, UnsupportedError
from buildtool.ir.dims import Dim, symbol
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.plan import manifest, select
from buildtool.plan.conditions import Condition, ConditionError
from buildtool.plan.manifest import KernelInfo, Manifests
from tests.plan.graphs import add_input, apply, make, small_network
from tests.plan.test_packing import convolution

GOOD = """\
op: shift
kernels:
  - variant: simple
    types: [f32]
    isas: [portable]
    inputs: [type]
    outputs: [f32]
    tolerance: {rtol: 1.0e-5, atol: 0.0}
"""


def write(root: Path, text: str, *sources: str) -> Path:
    folder = root / "native" / "ops" / "shift"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "op.yaml").write_text(text)
    for name in sources or ("shift_simple",):
        (folder / f"{name}.cc").write_text("")
    return root


def test_manifests_of_lathe_are_good() -> None:
    kernels = list(manifest.load())
    assert kernels
    assert {kernel.isa for kernel in kernels} >= {"portable"}


def test_manifest_of_a_user(tmp_path: Path) -> None:
    (kernel,) = manifest.load([write(tmp_path, GOOD)]).of("shift")
    assert (kernel.dtype, kernel.variant, kernel.isa) == ("f32", "simple", "portable")
    assert (kernel.inputs, kernel.in_place, kernel.priority) == ((frozenset({DType.F32}),), None, 0)
    assert (kernel.name, kernel.code) == ("shift_f32_simple__portable", "native/ops/shift/shift_simple.cc")
    assert kernel.source == "native/units/shift/shift_f32_simple__portable.cc"


def test_an_entry_is_a_kernel_for_each_type_and_instruction_set(tmp_path: Path) -> None:
    text = GOOD.replace("[f32]\n    isas: [portable]", "[f32, s32]\n    isas: [avx2, portable]")
    kernels = manifest.load([write(tmp_path, text)]).of("shift")
    assert [kernel.name for kernel in kernels] == [
        f"shift_{dtype}_simple__{isa}" for dtype in ("f32", "s32") for isa in ("avx2", "portable")
    ]
    assert [kernel.inputs[0] for kernel in kernels] == [frozenset({DType.F32})] * 2 + [frozenset({DType.S32})] * 2


@pytest.mark.parametrize("most", range(4))
def test_the_source_of_the_most_particular_name_is_compiled(tmp_path: Path, most: int) -> None:
    names = ["shift_f32_simple__avx2", "shift_f32_simple", "shift_simple", "shift"][most:]
    text = GOOD.replace("isas: [portable]", "isas: [avx2]")
    if most == 0:
        (kernel,) = manifest.load([write(tmp_path, text, names[0])]).of("shift")
        assert kernel.code == "native/ops/shift/shift_f32_simple__avx2.cc"
        return
    root = write(tmp_path, text, *names)
    with pytest.raises(ConfigError, match="no kernel is compiled from") if len(names) > 1 else nullcontext():
        manifest.load([root])
    for name in names[1:]:
        (root / "native" / "ops" / "shift" / f"{name}.cc").unlink()
    (kernel,) = manifest.load([root]).of("shift")
    assert kernel.code == f"native/ops/shift/{names[0]}.cc"


@pytest.mark.parametrize(
    ("change", "line", "what"),
    [
        (("op: shift", "op: sift"), 1, "`op` is 'sift'"),
        (("variant: simple", "variant: Simple"), 3, "`variant` is 'Simple'"),
        (("types: [f32]", "types: [f31]"), 3, "`types`: 'f31' is not one"),
        (("types: [f32]", "types: f32"), 3, "`types` is 'f32'"),
        (("isas: [portable]", "isas: []"), 3, "`isas` is []"),
        (("variant: simple", "variant: other"), 3, "has no source"),
        (("tolerance:", "source: lost\n    tolerance:"), 3, "has no source"),
        (("tolerance:", "parameters: [3]\n    tolerance:"), 3, "`parameters`"),
        (("inputs: [type]", "inputs: f32"), 3, "`inputs`"),
        (("inputs: [type]", "inputs: [f32|f99]"), 3, "'f99' is not an element type"),
        (("inputs: [type]", "inputs: []"), 3, "empty"),
        (("outputs: [f32]", "output: [f32]"), 3, "`output` is not a key"),
        (("rtol: 1.0e-5", "rtol: 1e-5"), 3, "tolerance"),
        (("atol: 0.0", "atol: -1.0"), 3, "tolerance"),
        (("tolerance:", "when: import os\n    tolerance:"), 3, "`when`"),
        (("tolerance:", "in_place: -1\n    tolerance:"), 3, "`in_place`"),
        (("tolerance:", "pack: {1: panels5}\n    tolerance:"), 3, "`pack`"),
        (("tolerance:", "pack: {0: panels8}\n    tolerance:"), 3, "`pack`"),
        (("tolerance:", "pack: panels8\n    tolerance:"), 3, "`pack`"),
        (("tolerance:", "takes: {1: panels8}\n    tolerance:"), 3, "`takes`"),
        (("tolerance:", "takes: {1: [[]]}\n    tolerance:"), 3, "`takes`"),
        (("tolerance:", "algorithm: winograd4\n    tolerance:"), 3, "`algorithm`"),
        (("tolerance:", "reads_stored: f16\n    tolerance:"), 3, "`reads_stored`"),
        (("tolerance:", "pack: {1: panels8}\n    reads_stored: f32\n    tolerance:"), 3, "`reads_stored`"),
        (("tolerance:", "priority: high\n    tolerance:"), 3, "`priority`"),
        (("kernels:", "kernel:"), 1, "has the keys"),
        (("op: shift", "op: [shift"), 2, "not a YAML file"),
    ],
)
def test_mistakes_are_found_with_their_line(tmp_path: Path, change: tuple[str, str], line: int, what: str) -> None:
    with pytest.raises(ConfigError) as caught:
        manifest.load([write(tmp_path, GOOD.replace(*change))])
    problem = next(item for item in caught.value.problems if what in item.what)
    assert problem.where.line == line
    assert problem.where.file.endswith("op.yaml")


def test_sources_that_no_kernel_is_compiled_from_are_found(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no kernel is compiled from shift_lost\.cc"):
        manifest.load([write(tmp_path, GOOD, "shift_simple", "shift_lost")])


def test_two_manifests_of_one_operator_clash(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="already has a manifest"):
        manifest.load([write(tmp_path / "a", GOOD), write(tmp_path / "b", GOOD)])


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "(lambda: 1)()",
        "x.y",
        "[i for i in (1, 2)]",
        "rank()",
        "rank(0, 1)",
        "dim(i=0)",
        "open('f')",
        "1 if True else 2",
        "f'{rank(0)}'",
        "a := 1",
        "2 ** 99",
        "1 / 2",
        "b'x'",
        "...",
        "",
    ],
)
def test_conditions_know_nothing_dangerous(text: str) -> None:
    if not text:
        assert Condition(text).holds(_conv())
        return
    with pytest.raises(ConditionError):
        Condition(text)


def _conv() -> Node:
    return small_network().nodes[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("groups == 1", True),
        ("groups == 1 and strides == (1, 1)", True),
        ("strides[0] > 1 or not is_constant(0)", True),
        ("is_constant(1) and not is_constant(2)", True),
        ("rank(0) == 4 and dim(0, -1) == 3 and rank(2) == -1", True),
        ("dim(0, 3) * 2 % 4 == 2", True),
        ("activation in ('relu', 'none')", True),
        ("activation not in ['relu', 'none']", False),
        ("1 < dim(1, 0) <= 4", True),
        ("dim(2, 0) == 4", False),  # there is no input 2
        ("dim(2, 0) != 4", False),
        ("-dim(0, 1) == -8", True),
    ],
)
def test_conditions(text: str, expected: bool) -> None:
    assert Condition(text).holds(_conv()) is expected


def test_unknown_dimensions_decide_nothing() -> None:
    graph = Graph(name="g")
    apply(graph, make("relu"), add_input(graph, "x", (symbol("n", 1, 4), 8)))
    node = graph.nodes[0]
    assert not Condition("dim(0, 0) == 2").holds(node)
    assert not Condition("not dim(0, 0) == 2").holds(node)
    assert Condition("dim(0, 0) == 2 or rank(0) == 2").holds(node)
    assert Condition("not (dim(0, 0) == 2 and rank(0) == 3)").holds(node)


def test_conditions_on_attributes_that_do_not_exist() -> None:
    with pytest.raises(ConditionError, match="colour"):
        Condition("colour == 1").holds(_conv())
    assert Condition("colour == 1 and rank(0)").names() == {"colour"}


def test_every_condition_of_lathe_reads_known_attributes() -> None:
    from tests.plan.graphs import OPS

    for kernel in manifest.load():
        assert kernel.when.names() <= set(OPS[kernel.op].attribute_kinds()), kernel.name


def _kernel(
    variant: str,
    *,
    priority: int = 0,
    isa: str = "portable",
    when: str = "",
    types: str = "f32",
    in_place: int | None = None,
    op: str = "relu",
    pack: str = "",
    takes: tuple[str, ...] = (),
    algorithm: str = "",
    reads_stored: DType | None = None,
) -> KernelInfo:
    allowed = (frozenset({DType(types)}),)
    name = f"{op}_{types}_{variant}__{isa}"
    facts = (name, op, types, variant, isa, allowed, allowed, Condition(when), in_place, priority, 0, 0, Path())
    return KernelInfo(*facts, pack=pack, takes=frozenset(takes), algorithm=algorithm, reads_stored=reads_stored)


def _relu() -> Graph:
    graph = Graph(name="net")
    graph.outputs.append(apply(graph, make("relu"), add_input(graph, "x", (2, 8)), name="act"))
    return graph


def test_the_best_kernel_that_fits_is_chosen() -> None:
    kernels = (
        _kernel("wide", priority=9, isa="avx512"),
        _kernel("eight", priority=5, when="dim(0, 1) == 16"),
        _kernel("simple"),
        _kernel("quick", isa="avx2"),
        _kernel("half", priority=8, types="f16"),
    )
    chosen = select.select(_relu(), Manifests({"relu": kernels}), abi="host", isas=("avx2", "portable"))
    assert [choice.names for choice in chosen] == [("relu_f32_quick__avx2", "relu_f32_simple__portable")]
    chosen = select.select(_relu(), Manifests({"relu": kernels}), abi="host", isas=("portable",))
    assert [choice.names for choice in chosen] == [("relu_f32_simple__portable",)]


def test_a_list_ends_with_what_every_machine_has() -> None:
    kernels = (_kernel("half", isa="fp16"), _kernel("four", isa="neon"), _kernel("simple", priority=9))
    manifests = Manifests({"relu": kernels})
    isas = ("fp16", "neon", "portable")
    (choice,) = select.select(_relu(), manifests, abi="aarch64-linux-gnu", isas=isas, baseline=isas[1:])
    assert choice.names == ("relu_f32_half__fp16", "relu_f32_four__neon")
    (choice,) = select.select(_relu(), manifests, abi="aarch64-linux-gnu", isas=isas)
    assert [kernel.variant for kernel in choice.kernels] == ["half", "four", "simple"]
    with pytest.raises(UnsupportedError, match="relu_f32_half__fp16 fits, but needs an instruction set"):
        select.select(_relu(), Manifests({"relu": kernels[:1]}), abi="aarch64-linux-gnu", isas=isas)


def test_kernels_that_work_in_place_differently_work_beside() -> None:
    same = (_kernel("quick", isa="avx2", in_place=0), _kernel("simple", in_place=0))
    other = (_kernel("quick", isa="avx2", in_place=0), _kernel("simple"))
    for kernels, expected in ((same, 0), (other, None)):
        (choice,) = select.select(_relu(), Manifests({"relu": kernels}), abi="host", isas=("avx2", "portable"))
        assert choice.in_place == expected


ISAS = ("avx512", "avx2", "portable")


def _packed(*kernels: KernelInfo, algorithm: str = "", node: Node | None = None) -> tuple[list[str], str]:
    """The variants of the kernels that are chosen for a convolution, and the packing."""
    node = node or convolution(8, 3)
    graph = Graph(nodes=[node])
    manifests = Manifests({"conv2d": kernels})
    (choice,) = select.select(graph, manifests, abi="host", isas=ISAS, algorithms={node: algorithm})
    return [f"{kernel.variant}__{kernel.isa}" for kernel in choice.kernels], choice.packing


def test_all_kernels_of_a_list_read_the_packing_of_the_first() -> None:
    best = _kernel("gemm", isa="avx512", op="conv2d", pack="panels16")
    other = _kernel("gemm", isa="avx2", op="conv2d", pack="panels8")
    able = _kernel("tile", op="conv2d", takes=("panels8", "panels16"))
    unable = _kernel("plain", op="conv2d", priority=1)
    assert _packed(best, other, able, unable) == (["gemm__avx512", "tile__portable"], "panels16")
    assert _packed(other, able) == (["gemm__avx2", "tile__portable"], "panels8")
    # Without one for every machine that reads it, nothing is packed.
    assert _packed(best, other, unable) == (["gemm__avx512", "gemm__avx2", "plain__portable"], "")
    node = convolution(8, 3)
    node.inputs[1] = Value("w", node.inputs[1].type)
    assert _packed(best, able, node=node) == (["gemm__avx512", "tile__portable"], "")


@pytest.mark.parametrize(
    ("rows", "stored", "expected"),
    [
        (1, DType.F16, ["stored__avx2", "tile__portable"]),
        (4, DType.F16, ["stored__avx2", "tile__portable"]),
        (symbol("n", 1, 64), DType.F16, ["stored__avx2", "tile__portable"]),
        (5, DType.F16, ["gemm__avx512", "gemm__avx2", "tile__portable"]),
        (symbol("n", 5, 64), DType.F16, ["gemm__avx512", "gemm__avx2", "tile__portable"]),
        (1, DType.S8, ["gemm__avx512", "gemm__avx2", "tile__portable"]),
        (1, None, ["gemm__avx512", "gemm__avx2", "tile__portable"]),
    ],
)
def test_few_rows_read_weights_as_they_are_stored(rows: Dim, stored: DType | None, expected: list[str]) -> None:
    graph = Graph()
    x = add_input(graph, "x", (rows, 8))
    weights = graph.new_constant("w", np.zeros((3, 8), np.float32))
    y = apply(graph, make("fully_connected"), x, weights)
    graph.outputs.append(y)
    kernels = (
        _kernel("gemm", isa="avx512", op="fully_connected", pack="panels16"),
        _kernel("gemm", isa="avx2", op="fully_connected", pack="panels16"),
        _kernel("stored", isa="avx2", op="fully_connected", pack="panels16", reads_stored=DType.F16),
        _kernel("tile", op="fully_connected", takes=("panels16",)),
    )
    chosen = partial(select.select, graph, Manifests({"fully_connected": kernels}), abi="host", isas=ISAS)
    types = {weights: stored} if stored else {}
    (choice,) = chosen(stored=types)
    assert [f"{kernel.variant}__{kernel.isa}" for kernel in choice.kernels] == expected
    (choice,) = chosen(stored=types, unpacked=graph.nodes)  # of a part for a device
    assert choice.kernels[0].variant == "gemm"


def test_algorithms_are_for_the_nodes_that_are_worth_it() -> None:
    winograd = _kernel("winograd4", isa="avx2", op="conv2d", pack="winograd4_16", algorithm="winograd4")
    slow = _kernel("winograd4", op="conv2d", pack="winograd4_16", algorithm="winograd4")
    gemm = _kernel("gemm", isa="avx2", op="conv2d", pack="panels16")
    tile = _kernel("tile", op="conv2d", takes=("panels16",))
    usual = (["gemm__avx2", "tile__portable"], "panels16")
    assert _packed(winograd, slow, gemm, tile) == usual
    assert _packed(winograd, slow, gemm, tile, algorithm="winograd2") == usual
    assert _packed(winograd, gemm, tile, algorithm="winograd4") == usual  # nothing stands in for it
    chosen = _packed(winograd, slow, gemm, tile, algorithm="winograd4")
    assert chosen == (["winograd4__avx2", "winograd4__portable"], "winograd4_16")


def test_better_instruction_sets_compute_as_usual_where_they_read_the_same_filters() -> None:
    best = _kernel("gemm", isa="avx512", op="conv2d", pack="panels16")
    winograd = _kernel("winograd2", isa="avx2", op="conv2d", pack="panels16", algorithm="winograd2")
    gemm = _kernel("gemm", isa="avx2", op="conv2d", pack="panels16", priority=1)
    tile = _kernel("tile", op="conv2d", takes=("panels16",))
    kernels = (best, winograd, gemm, tile)
    chosen = (["gemm__avx512", "winograd2__avx2", "tile__portable"], "panels16")
    assert _packed(*kernels, algorithm="winograd2") == chosen
    assert _packed(*kernels) == (["gemm__avx512", "gemm__avx2", "tile__portable"], "panels16")
    assert _packed(winograd, best, tile) == (["gemm__avx512", "tile__portable"], "panels16")  # not worth it


def test_all_nodes_without_a_kernel_are_reported() -> None:
    graph = _relu()
    graph.outputs = [apply(graph, make("abs"), graph.outputs[0], name="size")]
    kernels = {"relu": (_kernel("half", types="f16"), _kernel("big", when="dim(0, 1) > 100"))}
    with pytest.raises(UnsupportedError) as caught:
        select.select(graph, Manifests(kernels), abi="host", isas=("portable",), model="m")
    text = str(caught.value)
    assert len(caught.value.problems) == 2
    for part in ("model 'm', node 'act'", "node 'size'", "takes f16 as input 0", "needs dim(0, 1) > 100", "new-op abs"):
        assert part in text
    assert "no kernel runs relu (f32[2, 8]) -> (f32[2, 8]) on host" in text


@pytest.mark.parametrize(("bits", "fits"), [(8, True), (7, False)])
def test_kernels_of_stored_numbers_use_the_full_range_of_their_type(bits: int, fits: bool) -> None:
    allowed = (frozenset({DType.U8}),)
    facts = ("relu_u8_a__portable", "relu", "u8", "a", "portable", allowed, allowed, Condition(""))
    kernel = KernelInfo(*facts, None, 0, 0, 0, Path(), quantised="any")
    quant = QuantType((0.5,), (3,), None, bits)
    graph = Graph()
    x = Value("x", TensorType(DType.U8, (4,), quant))
    node = graph.new_node(make("relu"), [x], stored=[(DType.U8, quant)])
    assert (select.misfit(kernel, node) is None) is fits
