"""Fuzzes the importer of Paddle's programs and all that follows without a device.

An input is a model, of whichever form, and its parameters behind it; the last four bytes tell where those begin.

Run it by `make fuzz FUZZ_TARGET=paddle_importer`, or `python -m tests.fuzz paddle_importer --seconds 600`.
"""

from __future__ import annotations

from tests.fuzz import harness

with harness.instrumented():
    from buildtool.importers.frameworks import import_model
    from buildtool.importers.paddle import supported_operators
    from buildtool.importers.request import ImportRequest
    from buildtool.passes.pipeline import optimise
    from tests.fuzz.graph_checks import take_further

    supported_operators()  # loads the handlers, which are to be instrumented too

import struct
import sys
from pathlib import Path

from tests.fuzz import byte_mutations
from tests.importers.paddle.harness import archive
from tests.importers.paddle.test_malformed import seeds
from tests.oracles.paddle.cases import CASES

_SEEDS = Path("build/fuzz/seeds/paddle_importer")


def main() -> None:
    """The target."""
    if "--write-seeds" in sys.argv:
        _write_seeds()
        return
    folder = harness.FOLDER / "model"
    folder.mkdir(parents=True, exist_ok=True)
    model, weights = folder / "fuzzed.pdmodel", folder / "fuzzed.pdiparams"

    def target(data: bytes) -> None:
        size = struct.unpack("<I", data[-4:])[0] if len(data) >= 4 else 0
        model.write_bytes(data[:size])
        weights.write_bytes(data[size:-4])
        graph = import_model("paddle", ImportRequest("fuzzed", model)).graph
        optimise(graph)
        take_further(graph)

    harness.fuzz(target, byte_mutations.mutate)


def _write_seeds() -> None:
    """The models of the tests."""
    _SEEDS.mkdir(parents=True, exist_ok=True)
    files = archive()
    content = dict(seeds())
    for case in CASES:
        weights = files.get(f"{case.name}/model.pdiparams", b"")
        content[f"{case.name}.pdmodel"] = (files[f"{case.name}/model.pdmodel"], weights)
    for file in ("blocks.zip", "control_flow.zip"):
        models = {entry: data for entry, data in archive(file).items() if not entry.endswith(".npy")}
        content |= {entry.replace("/", "-"): (data, b"") for entry, data in models.items()}
    for name, (model, weights) in content.items():
        (_SEEDS / name).write_bytes(model + weights + struct.pack("<I", len(model)))


if __name__ == "__main__":
    main()
