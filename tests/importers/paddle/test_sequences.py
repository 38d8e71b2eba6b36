"""Operators on several sequences in one tensor, whose offsets are an input, against what they mean in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.importers.request import TensorRequest
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from tests.importers.paddle.harness import compare, imported, run
from tests.importers.paddle.plain import program_of
from tests.importers.paddle.test_older_operators import _gru, _lstm
from tests.oracles.paddle.programs import random

OFFSETS = {"X": (0, 3, 4, 4, 9), "Y": (0, 1, 4, 6, 8), "Input": (0, 3, 4, 4, 9)}


def _parts(x: Array, offsets: Sequence[int]) -> list[Array]:
    return [x[start:end] for start, end in itertools.pairwise(offsets)]


@dataclass(frozen=True)
class Case:
    """One operator. Every input in `OFFSETS` has offsets beside it."""

    op: str
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    suffix: str = ""
    plain: tuple[str, ...] = ()  # inputs without offsets

    def __str__(self) -> str:
        return f"{self.op}-{self.suffix}".rstrip("-")

    def offsets(self) -> dict[str, Array]:
        kept = [slot for slot in self.inputs if slot in OFFSETS and slot not in self.plain]
        return {f"{slot}_0.lod": np.array(OFFSETS[slot]) for slot in kept}


X, Y, COLUMN = random(9, 4), random(8, 4, seed=1), random(9, 1)
PARTS, OTHERS = _parts(X, OFFSETS["X"]), _parts(Y, OFFSETS["Y"])


def _pools() -> list[Case]:
    functions = {
        "SUM": lambda x: x.sum(0),
        "AVERAGE": lambda x: x.mean(0),
        "SQRT": lambda x: x.sum(0) / np.sqrt(len(x)),
        "MAX": lambda x: x.max(0),
        "FIRST": lambda x: x[0],
        "LAST": lambda x: x[-1],
    }
    return [
        Case(
            "sequence_pool",
            {"X": X},
            {"Out": np.stack([reduce(part) if len(part) else np.full(4, 0.5) for part in PARTS])},
            {"pooltype": kind, "pad_value": 0.5},
            kind,
        )
        for kind, reduce in functions.items()
    ]


def _arithmetic(kind: int, function: Any) -> Array:
    rows = []
    for mine, others in zip(PARTS, OTHERS, strict=True):
        both = min(len(mine), len(others))
        rows += [function(mine[:both], others[:both]), mine[both:]]
    return np.concatenate(rows)


def _cases() -> list[Case]:
    softmax = [np.exp(part) / np.exp(part).sum() for part in _parts(COLUMN, OFFSETS["X"])]
    rows = random(4, 2, seed=3)
    share, weights = random(9, 9), random(3, 9)
    states = [
        _gru(part, weights, np.zeros((1, 3), np.float32), False, True)
        for part in _parts(share, OFFSETS["X"])
        if len(part)
    ]
    cells, none = random(9, 12), (np.zeros((1, 3), np.float32), np.zeros((1, 3), np.float32))
    rows_of_cells = [part for part in _parts(cells, OFFSETS["X"]) if len(part)]
    return [
        *_pools(),
        Case("sequence_softmax", {"X": COLUMN}, {"Out": np.concatenate(softmax)}),
        Case("sequence_reverse", {"X": X}, {"Y": np.concatenate([part[::-1] for part in PARTS])}),
        Case(
            "sequence_expand",
            {"X": rows, "Y": Y},
            {"Out": np.repeat(rows, [len(part) for part in OTHERS], axis=0)},
            plain=("X",),
        ),
        Case(
            "sequence_expand_as",
            {"X": rows, "Y": Y},
            {"Out": np.repeat(rows, [len(part) for part in OTHERS], axis=0)},
            plain=("X",),
        ),
        *(
            Case(op, {"X": X, "Y": Y}, {"Out": _arithmetic(kind, function)}, {"op_type": kind}, name)
            for op in ("sequence_arithmetic", "search_seq_arithmetic")
            for kind, name, function in ((1, "add", np.add), (2, "sub", np.subtract), (3, "mul", np.multiply))
        ),
        Case(
            "gru",
            {"Input": share, "Weight": weights},
            {"Hidden": np.concatenate(states)},
            {"is_reverse": True, "origin_mode": False, "activation": "tanh", "gate_activation": "sigmoid"},
        ),
        *(
            Case(
                "lstm",
                {"Input": cells, "Weight": random(3, 12), "Bias": bias},
                {"Hidden": np.concatenate([_lstm(part, random(3, 12), bias, none, False) for part in rows_of_cells])},
                {"use_peepholes": bias.shape[1] > 12},
                f"{bias.shape[1]}",
            )
            for bias in (random(1, 12), random(1, 21))
        ),
    ]


CASES = _cases()


def _imported(file: Path, inputs: Mapping[str, Array]) -> Any:
    requests = [TensorRequest(name, tuple(array.shape), "NONE") for name, array in inputs.items()]
    return imported(file, requests).graph


@pytest.mark.parametrize("case", CASES, ids=str)
def test_several_sequences(case: Case, tmp_path: Path) -> None:
    program = program_of(case.op, case.inputs, {}, case.attributes, tuple(case.expected))
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    inputs = {**{f"{slot}_0": array for slot, array in case.inputs.items()}, **case.offsets()}
    graph = _imported(tmp_path / "model.pdmodel", inputs)
    wanted = [np.asarray(array, np.float32) for array in case.expected.values()]
    compare(run(graph, inputs), wanted, 2e-5)
    optimise(graph)
    compare(run(graph, inputs), wanted, 2e-5)


def _chained(first: Any, second: Any, inputs: Mapping[str, Array], folder: Path) -> Any:
    """Two operators, of which the second reads the main output of the first as its X."""
    op, attributes, output = first
    program = program_of(op, inputs, {}, attributes, (output,))
    name, more, last = second
    behind = program_of(name, {"X": np.zeros((1, 1), np.float32)}, {}, more, (last,))
    made = behind.blocks[0].ops[1]
    made.inputs[0].arguments[0] = f"{output}_out_0".encode()
    made.outputs[0].arguments[0] = b"result"
    program.blocks[0].ops[-1].inputs[0].arguments[0] = b"result"
    program.blocks[0].ops.insert(len(program.blocks[0].ops) - 1, made)
    (folder / "model.pdmodel").write_bytes(program.SerializeToString())
    feeds = {f"{slot}_0": array for slot, array in inputs.items()}
    feeds |= {f"{slot}_0.lod": np.array(OFFSETS[slot]) for slot in inputs if slot in OFFSETS}
    return run(_imported(folder / "model.pdmodel", feeds), feeds)[0]


_SUM = ("sequence_pool", {"pooltype": "SUM"}, "Out")


def test_offsets_go_through_operators_that_keep_rows(tmp_path: Path) -> None:
    result = _chained(("tanh", {}, "Out"), _SUM, {"X": X}, tmp_path)
    np.testing.assert_allclose(result, np.stack([np.tanh(part).sum(0) for part in PARTS]), atol=1e-5)


def test_offsets_of_rows_that_become_longer(tmp_path: Path) -> None:
    result = _chained(("sequence_reshape", {"new_dim": 2}, "Out"), _SUM, {"X": X}, tmp_path)
    np.testing.assert_allclose(result, np.stack([part.reshape(-1, 2).sum(0) for part in PARTS]), atol=1e-5)


def test_offsets_that_the_program_states(tmp_path: Path) -> None:
    result = _chained(("lod_reset", {"target_lod": [0, 2, 9]}, "Out"), _SUM, {"X": X}, tmp_path)
    np.testing.assert_allclose(result, [X[:2].sum(0), X[2:].sum(0)], atol=1e-5)


def test_sequences_are_joined_one_by_one(tmp_path: Path) -> None:
    program = program_of("sequence_concat", {"X": X, "Y": Y}, {}, {}, ("Out",))
    operator = next(item for item in program.blocks[0].ops if item.type == b"sequence_concat")
    operator.inputs[0].arguments.append(b"Y_0")
    del operator.inputs[1]
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    inputs = {"X_0": X, "Y_0": Y, "X_0.lod": np.array(OFFSETS["X"]), "Y_0.lod": np.array(OFFSETS["Y"])}
    graph = _imported(tmp_path / "model.pdmodel", inputs)
    joined = np.concatenate([part for both in zip(PARTS, OTHERS, strict=True) for part in both])
    np.testing.assert_array_equal(run(graph, inputs)[0], joined)


def test_padding_and_back(tmp_path: Path) -> None:
    """Rows of sequences in a tensor with an axis for them, and the same rows again."""
    program = program_of(
        "sequence_pad",
        {"X": X, "PadValue": np.array([7], np.float32)},
        {},
        {"padded_length": 6},
        ("Out", "Length"),
    )
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    inputs = {"X_0": X, "PadValue_0": np.array([7], np.float32), "X_0.lod": np.array(OFFSETS["X"])}
    padded, lengths = run(_imported(tmp_path / "model.pdmodel", inputs), inputs)
    assert lengths.tolist() == [3, 1, 0, 5]
    for row, part in zip(padded, PARTS, strict=True):
        np.testing.assert_array_equal(row, np.concatenate([part, np.full((6 - len(part), 4), 7)]))
    program = program_of("sequence_unpad", {"X": padded, "Length": lengths}, {}, {}, ("Out",))
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    feeds = {"X_0": padded, "Length_0": lengths}
    np.testing.assert_array_equal(run(_imported(tmp_path / "model.pdmodel", feeds), feeds)[0], X)


def test_repeating_whole_sequences(tmp_path: Path) -> None:
    """Each sequence of X as often as that of Y has rows, and sums of the copies."""
    repeated = [part for part, other in zip(PARTS, OTHERS, strict=True) for _ in other]
    result = _chained(("sequence_expand", {}, "Out"), _SUM, {"X": X, "Y": Y}, tmp_path)
    np.testing.assert_allclose(result, np.stack([part.sum(0) for part in repeated]), atol=1e-5)
    program = program_of("sequence_expand", {"X": X, "Y": Y}, {}, {}, ("Out",))
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    inputs = {"X_0": X, "Y_0": Y, "X_0.lod": np.array(OFFSETS["X"]), "Y_0.lod": np.array(OFFSETS["Y"])}
    np.testing.assert_array_equal(
        run(_imported(tmp_path / "model.pdmodel", inputs), inputs)[0], np.concatenate(repeated)
    )
    without = {name: array for name, array in inputs.items() if name != "Y_0.lod"}
    with pytest.raises(UnsupportedError, match="Y without offsets"):
        _imported(tmp_path / "model.pdmodel", without)


def _tags(scores: Array, table: Array) -> list[int]:
    """The best of all sequences of tags."""
    ways = np.array(list(itertools.product(range(scores.shape[1]), repeat=len(scores))), np.int64)
    if not len(scores):
        return []
    total = table[0, ways[:, 0]] + table[1, ways[:, -1]] + table[2 + ways[:, :-1], ways[:, 1:]].sum(1)
    total += scores[np.arange(len(scores)), ways].sum(1)
    return [int(tag) for tag in ways[total.argmax()]]


@pytest.mark.parametrize("offsets", [OFFSETS["X"], (0, 9)], ids=["several", "one"])
def test_best_tags(offsets: Sequence[int], tmp_path: Path) -> None:
    """A program with run-time rows, whose result has the offsets of the scores."""
    scores, table = random(9, 3), random(5, 3, seed=5)
    program = program_of("crf_decoding", {"Emission": scores, "Transition": table}, {}, {}, ("ViterbiPath",))
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    inputs = {"Emission_0": scores, "Transition_0": table, "Emission_0.lod": np.array(offsets)}
    requests = [TensorRequest(name, tuple(array.shape), "NONE") for name, array in inputs.items()]
    requests[0] = TensorRequest("Emission_0", ((0, 12), 3), "NONE")
    wanted = [tag for part in _parts(scores, offsets) for tag in _tags(part, table)]
    graph = imported(tmp_path / "model.pdmodel", requests).graph
    np.testing.assert_array_equal(run(graph, inputs)[0], np.reshape(wanted, (9, 1)))
    optimise(graph)
    np.testing.assert_array_equal(run(graph, inputs)[0], np.reshape(wanted, (9, 1)))
