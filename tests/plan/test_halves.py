"""Which nodes are computed in half precision, by ABI, and with which kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.codegen.container_writer import Stored
from buildtool.ir.graph import Graph, Node
from buildtool.ir.types import DType
from buildtool.plan import halves
from buildtool.plan.conditions import Condition
from buildtool.plan.manifest import KernelInfo, Manifests
from buildtool.targets.cpu import TARGET
from buildtool.targets.native_library import write_container
from buildtool.targets.processors import AARCH64, ARMHF, X86_64
from buildtool.targets.protocol import AbiCapabilities, LibrarySource, ModelSource
from tests.plan.graphs import add_input, apply, make, small_network


def _kernel(types: str, isa: str, variant: str = "a") -> KernelInfo:
    allowed = (frozenset({DType(types)}),)
    facts = (
        f"relu_{types}_{variant}__{isa}",
        "relu",
        types,
        variant,
        isa,
        allowed,
        allowed,
        Condition(""),
        None,
        0,
        0,
        0,
        Path(),
    )
    return KernelInfo(*facts)


def _relu(dtype: DType) -> Node:
    graph = Graph()
    apply(graph, make("relu"), add_input(graph, "x", (2, 8), dtype))
    return graph.nodes[0]


def _objection(abi: AbiCapabilities, *kernels: KernelInfo) -> str:
    baseline = abi.baseline_of(ModelSource("m", Graph(), half_arithmetic=True))
    manifests = Manifests({"relu": kernels})
    return halves.objection(
        _relu(DType.F32), _relu(DType.F16), manifests, isas=abi.isas, baseline=baseline, half_isa=abi.half
    )


def test_half_precision_needs_kernels_that_are_as_good() -> None:
    vectors, slow = _kernel("f32", "neon"), _kernel("f32", "portable")
    assert _objection(AARCH64, vectors, slow) == "no kernel of relu computes it in half precision"
    lesser = "its kernels are for 'neon' in single precision, and for 'portable' in half"
    assert _objection(AARCH64, vectors, slow, _kernel("f16", "portable")) == lesser
    assert _objection(AARCH64, vectors, slow, _kernel("f16", "portable"), _kernel("f16", "fp16")) == ""
    assert _objection(AARCH64, slow, _kernel("f16", "portable")) == ""


def test_kernels_that_compute_one_number_after_the_other_are_worth_two_casts() -> None:
    single, half = _kernel("f32", "portable"), _kernel("f16", "portable", "generic")
    assert _objection(AARCH64, single, half) == "its kernel for half precision computes one number after the other"
    assert _objection(AARCH64, single, half, _kernel("f16", "portable")) == ""
    assert _objection(AARCH64, single, half, _kernel("f16", "fp16")) == ""
    assert _objection(AARCH64, _kernel("f32", "portable", "generic"), half) == ""
    assert _objection(X86_64, single, half) == ""


def test_without_half_precision_only_baseline_kernels_count() -> None:
    single = (_kernel("f32", "avx2"), _kernel("f32", "portable"))
    assert _objection(X86_64, *single, _kernel("f16", "portable")) == ""
    single = (_kernel("f32", "neonv7"), _kernel("f32", "portable"))
    assert "'neonv7'" in _objection(ARMHF, *single, _kernel("f16", "portable"))


@pytest.mark.parametrize("obscured", [False, True])
@pytest.mark.parametrize("arithmetic", [False, True])
def test_the_portable_form_is_that_of_no_abi(arithmetic: bool, obscured: bool) -> None:
    """Here 32-bit ARM computes in single precision, and the host in half: the portable form does not go by either."""
    source = ModelSource("m", small_network(), Stored(DType.F16), half_arithmetic=arithmetic, obscured=obscured)
    library = LibrarySource("m", "m", (source,))
    planned = [TARGET.lower(library, abi).models[0] for abi in ("host", "aarch64-linux-gnu", "arm-linux-gnueabihf")]
    assert len({write_container(model, planned=False) for model in planned}) == 1
    assert len({write_container(model) for model in planned}) == 3
    assert (len({len(model.kept) for model in planned}) > 1) == arithmetic
    assert (b"dense" in write_container(planned[0], planned=False).model) != obscured


def test_half_arithmetic_adds_an_instruction_set_to_the_baseline() -> None:
    halved, plain = (ModelSource("m", Graph(), half_arithmetic=flag) for flag in (True, False))
    assert AARCH64.baseline_of(halved) == ("fp16", "neon", "portable")
    assert AARCH64.baseline_of(plain) == ("neon", "portable")
    assert X86_64.baseline_of(halved) == X86_64.baseline


@pytest.mark.parametrize("abi", ["host", "aarch64-linux-gnu", "arm-linux-gnueabihf"])
def test_a_network_for_every_abi(abi: str) -> None:
    """With the kernels that there are: no kernel for machines without half precision stands behind one that has it."""
    models = (
        ModelSource("tiny", small_network(), Stored(DType.F16), half_arithmetic=True),
        ModelSource("plain", small_network()),
    )
    program = TARGET.lower(LibrarySource("net", "net", models), abi)
    halved, plain = program.models
    dtypes = {n.name: n.outputs[0].type.dtype for n in halved.source.graph.nodes if n.op.name != "cast"}
    assert (dtypes["conv"] is DType.F16) == (abi != "arm-linux-gnueabihf")
    assert [value.type.dtype for value in (*halved.source.graph.inputs, *halved.source.graph.outputs)] == [
        DType.F32
    ] * 2
    assert {value.type.dtype for value in plain.source.graph.values()} == {DType.F32}
    assert {node.node for node in halved.kept} == {name for name, dtype in dtypes.items() if dtype is DType.F32}
    said = " ".join(note.what for note in program.notes)
    assert ("half precision is slow" in said) == (abi != "aarch64-linux-gnu")
    assert ("stay in single precision" in said) == bool(halved.kept)
    for names in halved.plan.kernels:
        assert not names[0].endswith("__fp16") or len(names) == 1
    assert all(len(names) > 1 for names in plain.plan.kernels if names[0].endswith("__fp16"))


def test_an_operator_has_a_kernel_where_one_reads_halves_in_this_instruction_set() -> None:
    manifests = Manifests({"relu": (_kernel("f16", "fp16"), _kernel("f32", "neon"))})
    found = {isa: halves.has_kernel("relu", manifests, isa) for isa in ("fp16", "neon", "portable")}
    assert found == {"fp16": True, "neon": False, "portable": False}
