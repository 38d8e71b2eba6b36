"""Tailored libraries: what they hold, what they show, what they need."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool import resources
from buildtool.builders import elf, library
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.builders.toolchain import probe
from buildtool.codegen.library import AbiSources, LibrarySources, emit
from buildtool.codegen.native_sources import NativeSources
from buildtool.errors import BuildError, RunError, UnsupportedError
from buildtool.ir.graph import Graph
from buildtool.ir.types import DType
from buildtool.plan import manifest
from buildtool.runtime import Library
from buildtool.targets.cpu import TARGET
from buildtool.targets.native_library import write_container
from buildtool.targets.protocol import LibrarySource, TargetProgram
from tests.builders.conftest import ABI_NAMES, ABIS, Build, lowered, relu_network, source
from tests.plan.graphs import OPS, add_input, apply, make, small_network

Relu: Any = OPS["relu"]


class Nonesuch(Relu):  # type: ignore[misc]
    """An operator that nobody wrote a kernel for."""

    name = "nonesuch"


class DoubleIt(Relu):  # type: ignore[misc]
    """An operator of a user."""

    name = "double_it"


FORBIDDEN = re.compile(r"_Zn|_Zd|__cxa|__gxx|_Unwind|_ZNSt|_ZSt")


@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.slow
def test_a_library_holds_its_kernels_and_nothing_else(build: Build, abi: str) -> None:
    built = build(source(), abi)
    expected = {name for model in lowered(source(), abi)[0][0].models for names in model.plan.kernels for name in names}
    twin = elf.defined_symbols(built.unstripped)
    assert set(built.info.kernels) == expected
    assert {name.removeprefix("lathe_kernel_") for name in twin if name.startswith("lathe_kernel_")} == expected
    assert not [name for name in twin if FORBIDDEN.match(name)]
    assert elf.defined_symbols(built.shared) == ()
    for path in (built.shared, built.unstripped, built.static):
        info = elf.inspect_library(path)
        assert (info.library, info.kernels) == ("tiny", built.info.kernels)
        assert info.exported == ("lathe_api_tiny",)


@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.slow
def test_a_library_needs_little_and_an_old_glibc(build: Build, abi: str) -> None:
    info = build(source(), abi).info
    assert all(name.startswith(("libc.so", "libm.so", "libpthread.so", "ld-linux")) for name in info.needed)
    assert tuple(int(part) for part in info.glibc.split(".")) <= (2, 17)
    assert info.bytes_stripped == info.path.stat().st_size
    assert abs(elf.inspect_library(build(source(), abi).unstripped).bytes_stripped - info.bytes_stripped) < 4096


@pytest.mark.slow
def test_a_change_of_the_model_compiles_nothing(build: Build) -> None:
    build(source())
    again = build(source(graphs=[small_network(scale=2.0)], code=True))
    assert again.compiled == 0
    assert again.reused > 10


@pytest.mark.slow
def test_sizes_are_told_by_kernel_and_operator(build: Build) -> None:
    built = build(source(code=True))
    sizes = built.sizes
    assert set(sizes.kernels) >= set(built.info.kernels)
    assert all(size > 0 for size in sizes.kernels.values())
    assert set(sizes.operators) == {
        "conv2d",
        "relu",
        "reshape",
        "fully_connected",
        "softmax",
        "shared kernel code",
    }
    assert sizes.group("models") > 10 * 256 * 4
    assert sum(sizes.kernels.values()) + sizes.group("core") + sizes.group("models") < sizes.total


@pytest.mark.parametrize("abi", ABIS)
def test_activations_are_those_of_the_models(build: Build, abi: str) -> None:
    graphs = [small_network("none"), small_network("some", activation="hard_swish")]
    built = build(source(graphs=graphs, code=True), abi)
    held = [name for name in elf.defined_symbols(built.unstripped) if name.startswith("lathe_activate_")]
    assert held and all(name.startswith("lathe_activate_hard_swish__") for name in held)


def test_a_model_with_another_activation_is_refused_by_name(build: Build) -> None:
    made = Library(build(source(graphs=[small_network("some", activation="hard_swish")], code=True)).shared)
    made.engine(model_name="some")
    (program,), _ = lowered(source(graphs=[small_network("other", activation="tanh")]))
    files = write_container(program.models[0])
    with pytest.raises(RunError, match="the library holds no activation 'tanh'; build it with this model"):
        made.engine(model=files.model, data=files.data)


def _turned(name: str, dtype: DType) -> Graph:
    graph = Graph(name=name)
    x = add_input(graph, "x", (2, 3), dtype)
    graph.outputs.append(apply(graph, make("transpose", perm=(1, 0)), x))
    return graph


@pytest.mark.parametrize("abi", ABIS)
def test_copies_are_for_the_elements_of_the_models(build: Build, abi: str) -> None:
    built = build(source(graphs=[_turned("bytes", DType.S8), _turned("longs", DType.S64)], code=True), abi)
    held = {name for name in elf.defined_symbols(built.unstripped) if name.startswith("lathe_strided_copy__")}
    assert held == {"lathe_strided_copy__1", "lathe_strided_copy__8"}


def test_a_model_with_elements_of_another_size_is_refused(build: Build) -> None:
    made = Library(build(source(graphs=[_turned("floats", DType.F32)], code=True)).shared)
    (program,), _ = lowered(source(graphs=[_turned("longs", DType.S64)]))
    files = write_container(program.models[0])
    with pytest.raises(RunError, match="the library moves no elements of 8 bytes; build it with this model"):
        made.engine(model=files.model, data=files.data)


PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include "lathe/one.h"
#include "lathe/two.h"

static int run(const lathe_api* api, const char* name, float* result) {
  lathe_engine* engine = NULL;
  lathe_session* session = NULL;
  lathe_error error;
  lathe_engine_options options;
  void* input;
  const void* output;
  size_t bytes;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  if (strcmp(api->library, name) != 0) return 1;
  if (api->engine_create(&options, &engine, &error) != LATHE_OK ||
      api->session_create(engine, NULL, &session, &error) != LATHE_OK ||
      api->input_data(session, 0, &input, &bytes, &error) != LATHE_OK) {
    puts(error.message);
    return 1;
  }
  for (size_t i = 0; i < bytes / 4; ++i) ((float*)input)[i] = (float)i - 4.0f;
  if (api->run(session, &error) != LATHE_OK || api->output_data(session, 0, &output, &bytes, &error) != LATHE_OK) {
    puts(error.message);
    return 1;
  }
  *result = ((const float*)output)[bytes / 4 - 1];
  api->session_destroy(session);
  api->engine_destroy(engine);
  return 0;
}

int main(void) {
  float first, second;
  if (run(lathe_api_one(), "one", &first) || run(lathe_api_two(), "two", &second)) return 1;
  printf("%zu %zu %g %g\n", lathe_api_one()->kernel_count(), lathe_api_two()->kernel_count(), first, second);
  return 0;
}
"""


@pytest.mark.parametrize("kind", ["shared", "static", "mixed"])
@pytest.mark.slow
def test_two_libraries_live_in_one_program(build: Build, tmp_path: Path, kind: str) -> None:
    sources = [source("one", [relu_network()], code=True), source("two", [small_network()], code=True)]
    built = [build(item, owner=item.name) for item in sources]
    kernels = []
    for item in sources:
        (program,), tree = lowered(item)
        kernels.append(str(len(program.kernels)))
        tree.write(tmp_path / "tree" / item.name)
    (tmp_path / "main.c").write_text(PROGRAM)
    files = [
        built[0].static if kind == "static" else built[0].shared,
        built[1].shared if kind == "shared" else built[1].static,
    ]
    command: list[str | Path] = ["gcc", "-Wall", "-Wextra", "-Werror", "-o", tmp_path / "main", tmp_path / "main.c"]
    command += [f"-I{tmp_path}/tree/one/include", f"-I{tmp_path}/tree/two/include", *files, "-lm", "-lpthread"]
    folders = [path.parent for path in files]
    command += [f"-Wl,-rpath,{folder}" for folder in folders]
    subprocess.run(command, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    one, two, first, second = done.stdout.split()
    assert [one, two] == kernels
    assert first == "5"
    assert np.isfinite(float(second))


def test_an_operator_without_a_kernel_stops_the_build_early() -> None:
    graph = relu_network(op=Nonesuch())
    with pytest.raises(UnsupportedError, match="no kernel runs nonesuch"):
        lowered(source(graphs=[graph]))


USER_KERNEL = """\
#include "native/runtime/kernel.h"
#include "native/ops/double_it/factor.h"

namespace {
lathe::Code Prepare(lathe::PrepareContext&) { return lathe::Code::kOk; }
void Run(const lathe::RunContext& context) {
  const float* x = context.inputs[0].As<float>();
  float* y = context.outputs[0].As<float>();
  for (int64_t i = 0; i < context.inputs[0].shape.Count(); ++i) y[i] = x[i] * Factor();
}
}  // namespace

LATHE_KERNEL = {.prepare = Prepare, .run = Run};
"""


@pytest.mark.slow
def test_an_operator_of_the_user_is_built_in(build: Build, tmp_path: Path) -> None:
    folder = tmp_path / "native" / "ops" / "double_it"
    folder.mkdir(parents=True)
    (folder / "op.yaml").write_text(
        "op: double_it\nkernels:\n- variant: simple\n  types: [f32]\n  isas: [portable]\n"
        "  inputs: [type]\n  outputs: [type]\n"
        "  tolerance: {rtol: 0.0, atol: 0.0}\n"
    )
    (folder / "double_it.cc").write_text(USER_KERNEL)
    (folder / "factor.h").write_text("float Factor();\n")
    (folder / "factor.cc").write_text('#include "native/ops/double_it/factor.h"\nfloat Factor() { return 2.0f; }\n')
    built = build(source("mine", [relu_network(op=DoubleIt())], [tmp_path]), owner="mine")
    assert built.info.kernels == ("double_it_f32_simple__portable",)
    assert "_Z6Factorv" in elf.defined_symbols(built.unstripped)


BAD_LIBRARY = """\
#include <math.h>
struct Loud { Loud(); ~Loud(); };
Loud::Loud() {}
Loud::~Loud() {}
Loud loud;
extern "C" int* lathe_api_bad() { return new int(1); }
extern "C" double other(double x) { return exp(x); }
"""


def test_broken_promises_are_named(tmp_path: Path) -> None:
    (tmp_path / "bad.cc").write_text(BAD_LIBRARY)
    path = tmp_path / "libbad.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-o", path, tmp_path / "bad.cc"], check=True)
    with pytest.raises(BuildError) as caught:
        elf.check_library(path, "lathe_api_bad", "2.17")
    text = str(caught.value)
    for part in (
        "exports",
        "other",
        "libstdc++.so",
        "_Znwm",
        "when it is loaded",
        "exp need glibc 2.29",
        "glibc_floor",
    ):
        assert part in text
    assert elf.inspect_library(path).kernels == ()


@pytest.mark.parametrize("contents", [b"", b"\x7fELF", b"!<arch>\n", b"!<arch>\njunk" * 20, b"text\n", b"\x7fELF" * 99])
def test_files_that_are_no_library(tmp_path: Path, contents: bytes) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(contents)
    with pytest.raises(BuildError, match="not a library"):
        elf.inspect_library(path)


def test_a_library_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="cannot be read"):
        elf.inspect_library(tmp_path / "lib.so")


@pytest.mark.slow
def test_the_same_bytes_in_any_folder(tmp_path: Path) -> None:
    results = []
    for folder in (tmp_path / "a", tmp_path / "some" / "where else"):
        programs, tree = lowered(source(code=True))
        built = library.build(programs[0], tree, cache=ObjectCache(folder), owner=str(folder))
        assert built is not None
        results.append([tree.files, *(path.read_bytes() for path in (built.shared, built.static, built.unstripped))])
        assert str(tmp_path).encode() not in built.unstripped.read_bytes() + built.static.read_bytes()
    assert results[0] == results[1]


def test_a_dry_run_lists_commands_and_compiles_nothing(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path, Processes(dry_run=True))
    programs, tree = lowered(source())
    assert library.build(programs[0], tree, cache=cache) is None
    assert len(cache.processes.commands) == 4
    assert not list(tmp_path.rglob("*.o"))
    assert str(probe("host").cxx) in cache.processes.commands[0]


@pytest.mark.parametrize(
    "abi",
    ["host", *(pytest.param(abi, marks=[pytest.mark.arm, pytest.mark.sweep]) for abi in ABI_NAMES[1:])],
)
@pytest.mark.slow
def test_every_kernel_keeps_the_promises(cache: ObjectCache, abi: str) -> None:
    kernels = tuple(kernel for kernel in manifest.load() if kernel.isa in TARGET.capabilities.abis[abi].isas)
    empty = LibrarySource("all", "all", ())
    part = AbiSources(abi, tuple(item.name for item in kernels), tuple(item.source for item in kernels))
    tree = emit(LibrarySources("all", "all", (part,)), NativeSources((resources.root(),)))
    built = library.build(TargetProgram("cpu", abi, empty, (), kernels), tree, cache=cache, owner=f"all-{abi}")
    assert built is not None
    assert len(built.info.kernels) == len(kernels)


class _InterruptedOnce(Processes):
    """Ctrl-C after three commands: when everything is compiled and nothing linked."""

    def run(self, command: Sequence[str | Path], **keywords: Any) -> str:
        if len(self.commands) == 3:
            self.commands.append("interrupted")
            raise KeyboardInterrupt
        return super().run(command, **keywords)


@pytest.mark.slow
def test_an_interrupted_build_can_be_repeated(tmp_path: Path) -> None:
    programs, tree = lowered(source())
    with pytest.raises(KeyboardInterrupt):
        library.build(programs[0], tree, cache=ObjectCache(tmp_path, _InterruptedOnce()), owner="x")
    assert not list(tmp_path.rglob("results"))
    built = library.build(programs[0], tree, cache=ObjectCache(tmp_path), owner="x")
    assert built is not None
    assert built.compiled == 0
