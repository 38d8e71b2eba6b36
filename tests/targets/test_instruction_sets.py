"""`isa` of a deployment leaves the kernels for other instruction sets out of its library."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.config import load_deployment
from buildtool.errors import ConfigError
from buildtool.targets.cpu import TARGET
from buildtool.targets.processors import AARCH64, X86_64
from buildtool.targets.protocol import LibrarySource, ModelSource
from tests.passes.harness import Maker

_TEXT = """
library_name: one
isa: {isa}
models:
  one:
    platform: onnx
    model_file_path: one.onnx
    input_tensors: [x]
    input_shapes: ["1,8"]
    output_tensors: [y]
    output_shapes: ["1,8"]
    runtime: cpu
"""


def _read(folder: Path, isa: str) -> tuple[str, ...]:
    file = folder / "one.yml"
    file.write_text(_TEXT.format(isa=isa), encoding="utf-8")
    return load_deployment(file, environment={}).deployment.isas


def test_the_key(tmp_path: Path) -> None:
    assert _read(tmp_path, "[avx2]") == ("avx2",)
    assert _read(tmp_path, "avx2,neonv7") == ("avx2", "neonv7")
    with pytest.raises(ConfigError, match="avx2"):
        _read(tmp_path, "[avx]")


def test_what_every_machine_runs_remains() -> None:
    assert X86_64.only(["avx2"]).isas == ("avx2", "portable")
    assert AARCH64.only(["avx2"]).isas == ("neon", "portable")
    assert AARCH64.only(["dotprod"]).half == ""
    assert AARCH64.only(["fp16"]).half == "fp16"


def test_kernels_of_other_sets_are_left_out() -> None:
    make = Maker()
    graph = make.finish(make.conv(make.input(1, 9, 9, 16), 16))
    library = LibrarySource("one", "one", (ModelSource("one", graph),))
    every = {kernel.isa for kernel in TARGET.lower(library, "x86_64").kernels}
    few = TARGET.lower(LibrarySource("one", "one", library.models, isas=("avx2",)), "x86_64")
    assert every == {"avx512", "avx2", "portable"}
    assert {kernel.isa for kernel in few.kernels} == {"avx2", "portable"}
    assert few.library.isas == ("avx2",)
