"""Fuzzes the importer of Keras models and all that follows without a device.

Run it by `make fuzz FUZZ_TARGET=keras_importer`, or `python -m tests.fuzz keras_importer --seconds 600`. HDF5 is read
by a library that is not instrumented: what the fuzzer sees is how the importer takes what the library gives.
"""

from __future__ import annotations

from tests.fuzz import harness

with harness.instrumented():
    from buildtool.importers.frameworks import import_model
    from buildtool.importers.keras import supported_operators
    from buildtool.importers.request import ImportRequest
    from buildtool.passes.pipeline import optimise
    from tests.fuzz.graph_checks import take_further

    supported_operators()  # loads the handlers, which are to be instrumented too

import sys
from pathlib import Path

from tests.fuzz import byte_mutations
from tests.importers.keras.harness import archive, models

_SEEDS = Path("build/fuzz/seeds/keras_importer")


def main() -> None:
    """The target."""
    if "--write-seeds" in sys.argv:
        _write_seeds()
        return
    folder = harness.FOLDER / "model"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "fuzzed.keras"

    def target(data: bytes) -> None:
        file.write_bytes(data)
        graph = import_model("keras", ImportRequest("fuzzed", file)).graph
        optimise(graph)
        take_further(graph)

    harness.fuzz(target, byte_mutations.mutate)


def _write_seeds() -> None:
    """The models of the tests."""
    _SEEDS.mkdir(parents=True, exist_ok=True)
    for name in models():
        (_SEEDS / name).write_bytes(archive()[name])


if __name__ == "__main__":
    main()
