"""Fuzzes the reader of graphs as text."""

from __future__ import annotations

from tests.fuzz import harness

with harness.instrumented():
    from buildtool.errors import LatheError
    from buildtool.ir import text
    from buildtool.ops.registry import registry

    OPERATORS = registry()

import contextlib
import sys
from pathlib import Path

import numpy as np

from tests.fuzz import onnx_seeds, text_mutations

_SEEDS = Path("build/fuzz/seeds/graph_text")
_WORDS = [
    "f32",
    "s64",
    "bool",
    "u8",
    "0",
    "1",
    "-1",
    "2",
    "4",
    "2147483647",
    "99999999999999999999",
    "nan",
    "-inf",
    "1e400",
    "true",
    '"none"',
    "quant",
    "region",
    "end",
    "named",
    "from",
    "symbol",
    "input",
    "output",
    "constant",
    "//",
    "%",
    "min",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "..",
    "sha256:0",
    "relu",
    "add",
    "reshape",
]


def main() -> None:
    """The target."""
    if "--write-seeds" in sys.argv:
        _write_seeds()
        return
    arrays = {f"sha256:{digit}": np.zeros((2, int(digit)), np.float32) for digit in "0123"}

    def target(data: bytes) -> None:
        graph = text.read(data.decode("utf-8", "replace"), arrays, OPERATORS)
        written, constants = text.write(graph)
        again, _ = text.write(text.read(written, constants, OPERATORS))
        if again != written:
            raise AssertionError("the text form changed on the way")

    harness.fuzz(target, text_mutations.Mutator(_WORDS))


def _write_seeds() -> None:
    """What the models that the ONNX importer is fuzzed with become."""
    from buildtool.importers.onnx import import_model
    from buildtool.importers.request import ImportRequest

    _SEEDS.mkdir(parents=True, exist_ok=True)
    if not onnx_seeds.FOLDER.is_dir():
        onnx_seeds.main()
    for file in sorted(onnx_seeds.FOLDER.glob("*.onnx")):
        with contextlib.suppress(LatheError):
            written, _ = text.write(import_model(ImportRequest("seed", file)).graph)
            (_SEEDS / file.stem).write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
