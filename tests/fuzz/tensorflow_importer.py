"""Fuzzes the importer of TensorFlow models and all that follows without a device.

Run it by `make fuzz FUZZ_TARGET=tensorflow_importer`, or `python -m tests.fuzz tensorflow_importer --seconds 600`.
"""

from __future__ import annotations

from tests.fuzz import harness

with harness.instrumented():
    from buildtool.importers.frameworks import import_model
    from buildtool.importers.request import ImportRequest
    from buildtool.importers.tensorflow import supported_operators
    from buildtool.passes.pipeline import optimise
    from tests.fuzz.graph_checks import take_further

    supported_operators()  # loads the handlers, which are to be instrumented too

import sys
import tempfile
from pathlib import Path

from tests.fuzz import byte_mutations
from tests.importers.tensorflow.harness import cases, network

_SEEDS = Path("build/fuzz/seeds/tensorflow_importer")


def main() -> None:
    """The target: graphs, and SavedModels whose variables stay as they are."""
    if "--write-seeds" in sys.argv:
        _write_seeds()
        return
    graph = harness.FOLDER / "graph" / "model.pb"
    graph.parent.mkdir(parents=True, exist_ok=True)
    saved, _, _ = network("saved_module", Path(tempfile.mkdtemp(dir=harness.FOLDER)))

    def target(data: bytes) -> None:
        file = saved / "saved_model.pb" if data[:2] == b"\x08\x01" else graph
        file.write_bytes(data)
        made = import_model("tensorflow", ImportRequest("fuzzed", file)).graph
        optimise(made)
        take_further(made)

    harness.fuzz(target, byte_mutations.mutate)


def _write_seeds() -> None:
    """The models of the tests."""
    _SEEDS.mkdir(parents=True, exist_ok=True)
    for case in cases():
        (_SEEDS / f"{case.name}.pb").write_bytes(case.graph)
    with tempfile.TemporaryDirectory() as folder:
        saved, _, _ = network("saved_module", Path(folder))
        (_SEEDS / "saved_model.pb").write_bytes((saved / "saved_model.pb").read_bytes())
        for name in ("frozen_recurrent", "plain_recurrent", "loops_v1"):  # loops of both kinds
            (_SEEDS / f"{name}.pb").write_bytes(network(name, Path(folder))[0].read_bytes())


if __name__ == "__main__":
    main()
