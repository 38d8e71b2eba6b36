"""The operators of a model, each alone, where numbers are stored in bytes."""

from __future__ import annotations

from pathlib import Path

from buildtool.benchmark import single_operators
from buildtool.codegen import container
from buildtool.plan import arena, manifest
from buildtool.plan.plan import Plan
from tests.ops.stored import stored_cases


def test_nodes_on_stored_numbers(tmp_path: Path) -> None:
    """They are named by their sizes like others, and stay as they are stored."""
    native = next(iter(stored_cases("conv2d")))
    (kernel,) = (item for item in manifest.load().of("conv2d") if item.name == "conv2d_s8_gemm__portable")
    memory = arena.plan(native.graph, [kernel])
    plan = Plan("host", ((kernel.name,),), memory.placements, memory.size, ())
    files = container.write(native.graph, name="net", half=False, plan=plan)
    folder = tmp_path / "model" / "host"
    folder.mkdir(parents=True)
    (folder / "net.pb").write_bytes(files.model)
    (folder / "net.data").write_bytes(files.data)
    (case,) = single_operators.of_model(tmp_path, "host", "net", (), "conv2d/")
    assert case.name == "conv2d/1x1x1-k1x1-o1/conv2d_s8_gemm__portable"
    (alone,), (own,) = case.graph.nodes, native.graph.nodes
    assert [value.type for value in (*alone.inputs, *alone.outputs)] == [
        value.type for value in (*own.inputs, *own.outputs)
    ]
    assert single_operators.encode([case]).startswith(b"LATHEBENCH")
