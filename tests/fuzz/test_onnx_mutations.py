"""The changes that fuzzing makes to models: repeatable, and such that much of what comes out is still a model."""

from __future__ import annotations

import random

import onnx

from buildtool.importers.onnx import supported_operators
from tests.fuzz import onnx_mutations
from tests.fuzz.onnx_mutations import CHANGES, Mutator
from tests.importers.onnx.mistakes import healthy


def test_changes_are_repeatable_and_mostly_models() -> None:
    mutator = Mutator([healthy()], supported_operators())
    whole = healthy().SerializeToString()
    made = {seed: mutator.changed(whole, 2**16, random.Random(seed)) for seed in range(150)}
    assert all(mutator.changed(whole, 2**16, random.Random(seed)) == data for seed, data in made.items())
    assert len(set(made.values())) > 0.7 * len(made)
    for data in made.values():
        onnx.ModelProto.FromString(data)


def test_every_change_changes_something() -> None:
    mutator = Mutator([healthy()], supported_operators())
    for change, _ in CHANGES:
        results = set()
        for seed in range(40):
            model = healthy()
            try:
                change(mutator, model, random.Random(seed))
            except onnx_mutations.NOTHING_TO_CHANGE:
                continue
            results.add(model.SerializeToString())
        results.discard(healthy().SerializeToString())
        assert results, change.__name__
