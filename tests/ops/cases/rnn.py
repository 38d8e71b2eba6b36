"""Cases of rnn."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.rnn import Rnn
from tests.ops.case import OpCase
from tests.ops.inputs import Rng
from tests.ops.recurrent import sequences


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (name, attributes, inputs, lengths) in enumerate(sequences(rng, 1, 1)):
        if "clip" not in attributes:
            attributes["function_f"] = ("tanh", "relu", "sigmoid")[number % 3]
        op = Rnn(**attributes)
        yield OpCase(op, tuple(inputs), name, (1,) if number % 2 else (1, 2))
        if number % 3 == 0:
            yield OpCase(op, (*inputs, lengths), f"{name}_with_lengths", (1,))
    halves = tuple(array.astype("float16") for array in inputs)
    yield OpCase(Rnn(function_f="tanh"), halves, "f16", (1,))
