"""Fuzzes the importer of TFLite models and all that follows without a device.

Run it by `make fuzz FUZZ_TARGET=tflite_importer`, or `python -m tests.fuzz tflite_importer --seconds 600`.
"""

from __future__ import annotations

from tests.fuzz import harness

with harness.instrumented():
    from buildtool.importers.frameworks import import_model
    from buildtool.importers.request import ImportRequest
    from buildtool.importers.tflite import supported_operators
    from buildtool.passes.pipeline import optimise
    from tests.fuzz.graph_checks import take_further

    supported_operators()  # loads the handlers, which are to be instrumented too

import sys
from pathlib import Path

from tests.fuzz import byte_mutations
from tests.importers.tflite.cases import CASES
from tests.importers.tflite.quantised_cases import QUANTISED
from tests.importers.tflite.test_malformed import healthy

_SEEDS = Path("build/fuzz/seeds/tflite_importer")


def main() -> None:
    """The target."""
    if "--write-seeds" in sys.argv:
        _write_seeds()
        return
    folder = harness.FOLDER / "model"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "fuzzed.tflite"

    def target(data: bytes) -> None:
        file.write_bytes(data)
        graph = import_model("tflite", ImportRequest("fuzzed", file)).graph
        optimise(graph)
        take_further(graph)

    harness.fuzz(target, byte_mutations.mutate)


def _write_seeds() -> None:
    """The models of the tests."""
    _SEEDS.mkdir(parents=True, exist_ok=True)
    (_SEEDS / "healthy.tflite").write_bytes(healthy())
    for number, case in enumerate((*CASES, *QUANTISED)):
        (_SEEDS / f"{number}-{case.op}.tflite").write_bytes(case.file())


if __name__ == "__main__":
    main()
