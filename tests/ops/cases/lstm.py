"""Cases of lstm."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.lstm import Lstm
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, normal
from tests.ops.recurrent import sequences


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (name, attributes, inputs, lengths) in enumerate(sequences(rng, 4, 2)):
        op = Lstm(**attributes, input_forget=number % 5 == 4)
        peepholes = normal(rng, (3 * inputs[1].shape[1],))
        yield OpCase(op, tuple(inputs), name, (1,) if number % 2 else ())
        if number % 2 == 0:
            yield OpCase(op, (*inputs, peepholes), f"{name}_with_peepholes", (1, 4))
        if number % 3 == 0:
            yield OpCase(op, (*inputs, peepholes, lengths), f"{name}_with_lengths", (1, 4))
    halves = tuple(array.astype("float16") for array in inputs)
    yield OpCase(Lstm(function_f="sigmoid"), halves, "f16", (1,))
