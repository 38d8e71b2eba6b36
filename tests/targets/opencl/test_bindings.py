"""Inputs and outputs in memory of the application: the device works right there where it fits, else it is copied."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import TensorType, dtype_of
from buildtool.ops.gather import Gather
from buildtool.ops.leaky_relu import LeakyRelu
from tests.native_builds import build, opencl_shim
from tests.targets.opencl.device_library import MODES, Mode, device_library, on_device

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

_IMPORTS = "with:cl_arm_import_memory,with:cl_arm_import_memory_host"
_PAGE = "a+0,b+0"  # where the input and the output are
_TENSOR = 2560  # bytes: 40 lines of a cache
_STEADY = 5  # runs that follow others


@dataclass(frozen=True)
class Model:
    """A network that one library runs, and what goes into a run."""

    graph: Graph
    given: Callable[[np.random.Generator], dict[str, Array]]


def _activation() -> Model:
    graph = Graph(name="activation")
    x = Value("x", TensorType(dtype_of(np.zeros(1, np.float32)), (1, 8, 8, 10)))
    graph.inputs = [x]
    graph.nodes = [graph.new_node(LeakyRelu(0.1), [x], name="leaky_relu")]
    graph.outputs = list(graph.nodes[0].outputs)
    return Model(graph, lambda rng: {"x": rng.standard_normal((1, 8, 8, 10), np.float32)})


def _lookup(dtype: type[np.integer]) -> Model:
    """Two inputs, both of which are outputs as well."""
    graph = Graph(name="lookup")
    x = Value("x", TensorType(dtype_of(np.zeros(1, np.float32)), (16, 32)))
    ids = Value("ids", TensorType(dtype_of(np.zeros(1, dtype)), (16,)))
    graph.inputs = [x, ids]
    graph.nodes = [graph.new_node(Gather(0), [x, ids], name="gather")]
    graph.outputs = [*graph.nodes[0].outputs, ids, x]

    def given(rng: np.random.Generator) -> dict[str, Array]:
        return {"x": rng.standard_normal((16, 32), np.float32), "ids": rng.integers(-16, 16, 16).astype(dtype)}

    return Model(graph, given)


Run = Callable[..., Mapping[str, int]]


@pytest.fixture
def run(program_store: Path, tmp_path: Path) -> Run:
    """Runs a model, once for each list of places, compares the results, and tells how often OpenCL was called."""
    program = build("opencl_bindings") / "tests" / "opencl_bindings"

    def run(places: Sequence[str], model: Model | None = None, shim: str = "", mode: Mode = MODES[0]) -> dict[str, int]:
        used = model if model is not None else _activation()
        library = device_library({"leaky_relu", "gather"})
        written = container.write(on_device(used.graph, mode), name="bound")
        rng = np.random.default_rng(len(places))
        inputs = [used.given(rng) for _ in places]
        names = ("model", "data", "inputs", "outputs", "calls")
        files = {name: tmp_path / name for name in names}
        files["model"].write_bytes(written.model)
        files["data"].write_bytes(written.data)
        files["inputs"].write_bytes(b"".join(array.tobytes() for item in inputs for array in item.values()))
        words: list[str | Path] = [
            library.path,
            f"lathe_api_{library.name}",
            files["model"],
            files["data"],
            program_store,
        ]
        told = ",".join(filter(None, (shim, f"calls:{files['calls']}")))
        done = subprocess.run(
            [program, *words, files["inputs"], files["outputs"], *places],
            env={**os.environ, "LATHE_OPENCL_LIBRARY": str(opencl_shim()), "LATHE_SHIM": told},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        _compare(used.graph, inputs, files["outputs"].read_bytes(), mode)
        return dict(_calls(files["calls"]))

    return run


def _compare(graph: Graph, inputs: Sequence[Mapping[str, Array]], got: bytes, mode: Mode) -> None:
    at = 0
    for given in inputs:
        for wanted in evaluate(graph, given).values():
            array = np.frombuffer(got, wanted.dtype, wanted.size, at).reshape(wanted.shape)
            np.testing.assert_allclose(array, wanted, atol=1e-6 if mode.storage == "f32" else 4e-3)
            at += wanted.nbytes
    assert at == len(got)


def _calls(report: Path) -> Iterator[tuple[str, int]]:
    for line in report.read_text(encoding="utf-8").splitlines():
        name, calls, failed = line.split()
        yield name, int(calls) - int(failed)


def _of_a_run(run: Run, places: str, **words: object) -> dict[str, int]:
    """Calls of one run whose memory is that of the run before."""
    run([places], **words)  # builds programs that are not in the store yet
    few, many = (run([places] * count, **words) for count in (2, 2 + _STEADY))
    assert all((many[name] - few.get(name, 0)) % _STEADY == 0 for name in many)
    return {name: (many[name] - few.get(name, 0)) // _STEADY for name in many if many[name] != few.get(name, 0)}


def _made(calls: Mapping[str, int]) -> int:
    return sum(calls.get(name, 0) for name in ("CreateBuffer", "CreateImage", "ImportMemoryARM"))


_KERNELS = {"EnqueueNDRangeKernel": 3, "Finish": 1}
_MAPPED = {**_KERNELS, "EnqueueMapBuffer": 2, "EnqueueUnmapMemObject": 2}


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_the_device_works_in_memory_that_fits(mode: Mode, run: Run) -> None:
    assert run([_PAGE], mode=mode)["HostBuffer"] == 2
    assert _of_a_run(run, _PAGE, mode=mode) == _MAPPED


@pytest.mark.parametrize(
    ("places", "copied", "shim"),
    [
        ("a+16,b+0", 1, ""),  # nothing reads there: the session has a copy
        ("a+0,b+36", 1, ""),
        ("a+64,b+192", 2, ""),  # where kernels of the CPU work, but not this device
        (_PAGE, 2, "device:unified=0"),
        (_PAGE, 2, "device:unified=0," + _IMPORTS),
        (_PAGE, 2, "fail:CreateBuffer:-37:2"),  # two are for copies
        (_PAGE, 1, "fail:CreateBuffer:-37:3"),
        (_PAGE, 2, "fail:ImportMemoryARM:-59," + _IMPORTS),
    ],
)
def test_other_memory_is_copied(places: str, copied: int, shim: str, run: Run) -> None:
    steady = _of_a_run(run, places, shim=shim)
    # What the session has itself, instead of memory that does not fit, is lent where the other piece is.
    assert steady == _MAPPED | ({"CopiedBytes": copied * _TENSOR} if copied == 2 or shim else {})


def test_memory_of_arm_drivers_is_imported(run: Run) -> None:
    assert run([_PAGE], shim=_IMPORTS)["ImportMemoryARM"] == 2
    assert _of_a_run(run, "a+64,b+192", shim=_IMPORTS) == _KERNELS


def test_a_page_is_imported_once(run: Run) -> None:
    calls = run([f"a+0,a+{_TENSOR}"] * 3, shim=_IMPORTS)
    assert calls["ImportMemoryARM"] == 1
    assert calls["CopiedBytes"] == 3 * _TENSOR


@pytest.mark.parametrize("shim", ["", _IMPORTS])
def test_memory_may_change_from_run_to_run(shim: str, run: Run) -> None:
    moved = [
        "a+0,b+0",
        "c+0,b+0",
        "c+0,d+0",
        "b+0,a+0",
        "a+0,b+0",
        "own,b+0",
        "a+4,b+0",
        "a+0,b+4",
        "own,own",
        "a+0,b+0",
    ]
    calls = run(moved, shim=shim)
    assert _made(calls) == calls["ReleaseMemObject"]
    made = calls["ImportMemoryARM" if shim else "HostBuffer"]
    # Inputs of seven runs and outputs of eight are new to the device and fit; an import is made anew with each change.
    assert made >= (14 if shim else 9)
    assert calls["EnqueueNDRangeKernel"] == 3 * len(moved)


def test_buffers_are_made_for_new_memory_only(run: Run) -> None:
    few = run(["a+0,b+0", "c+0,b+0"])
    many = run(["a+0,b+0", "c+0,b+0", "c+0,b+0", "c+0,b+0"])
    assert (few["HostBuffer"], many["HostBuffer"]) == (3, 3)
    assert few["CreateBuffer"] == many["CreateBuffer"] == 5  # two for copies
    # An address that was bound before may have other pages by now, which what was imported does not know.
    assert run(["a+0,b+0", "c+0,b+0", "c+0,b+0"], shim=_IMPORTS)["ImportMemoryARM"] == 4
    swapped = run(["a+0,b+0", "b+0,a+0", "a+0,b+0"])
    assert swapped["HostBuffer"] == 6
    assert swapped["CopiedBytes"] == 0


def test_results_may_take_the_place_of_the_input(run: Run) -> None:
    """Two buffers over one memory are undefined, so one of them is copied."""
    for places in ("a+0,a+0", "a+0,a+256", "a+256,a+0"):
        calls = run([places] * 3)
        assert (calls["HostBuffer"], calls["CopiedBytes"]) == (1, 3 * _TENSOR), places


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("shim", ["", _IMPORTS])
def test_inputs_that_are_outputs_as_well(dtype: type[np.integer], shim: str, run: Run) -> None:
    """Indices are copied in both directions: they live in one memory on the device, and some have 64 bits."""
    places = ["a+0,b+0,c+0,d+0,e+0", "e+0,b+0,c+0,d+0,a+0", "own,own,own,own,own", "a+4,b+8,c+4,d+8,e+4"]
    calls = run(places, _lookup(dtype), shim)
    assert _made(calls) == calls["ReleaseMemObject"]
    steady = _of_a_run(run, places[0], model=_lookup(dtype), shim=shim)
    assert steady["CopiedBytes"] == 2 * 16 * 4
    assert steady["EnqueueMapBuffer"] == 2 + (0 if shim else 3)
    assert not {"CreateBuffer", "SetKernelArg", "EnqueueWriteBuffer", "EnqueueReadBuffer"} & set(steady)
