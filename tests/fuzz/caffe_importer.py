"""Fuzzes the importer of Caffe's networks and all that follows without a device.

An input is a prototxt, and behind a mark the caffemodel. Run it by `make fuzz FUZZ_TARGET=caffe_importer`, or
`python -m tests.fuzz caffe_importer --seconds 600`.
"""

from __future__ import annotations

from tests.fuzz import harness

with harness.instrumented():
    from buildtool.importers.caffe import supported_operators
    from buildtool.importers.frameworks import import_model
    from buildtool.importers.request import ImportRequest
    from buildtool.passes.pipeline import optimise
    from tests.fuzz.graph_checks import take_further

    supported_operators()  # loads the handlers, which are to be instrumented too

import random
import re
import sys
from pathlib import Path

from tests.fuzz import byte_mutations
from tests.fuzz.text_mutations import Mutator
from tests.importers.caffe.more_cases import CASES

_SEEDS = Path("build/fuzz/seeds/caffe_importer")
_MARK = b"\n# weights\n"


def main() -> None:
    """The target."""
    if "--write-seeds" in sys.argv:
        _write_seeds()
        return
    folder = harness.FOLDER / "model"
    folder.mkdir(parents=True, exist_ok=True)
    prototxt, caffemodel = folder / "fuzzed.prototxt", folder / "fuzzed.caffemodel"

    def target(data: bytes) -> None:
        text, _, weights = data.partition(_MARK)
        prototxt.write_bytes(text)
        caffemodel.write_bytes(weights)
        graph = import_model("caffe", ImportRequest("fuzzed", prototxt, caffemodel if weights else None)).graph
        optimise(graph)
        take_further(graph)

    words = sorted({word for case in CASES for word in re.findall(r"\w+", case.prototxt())})
    change_text = Mutator(words)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        text, mark, weights = data.partition(_MARK)
        if mark and random.Random(seed).random() < 0.3:
            weights = byte_mutations.mutate(weights, most, seed)
        else:
            text = change_text(text, most, seed)
        changed = text + mark + weights
        return changed if len(changed) <= most else data

    harness.fuzz(target, mutate)


def _write_seeds() -> None:
    """The networks of the tests."""
    _SEEDS.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        (_SEEDS / case.name).write_bytes(
            case.prototxt().encode() + _MARK + (case.caffemodel() if case.weights else b"")
        )


if __name__ == "__main__":
    main()
