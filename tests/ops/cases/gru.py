"""Cases of gru."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.gru import Gru
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, normal
from tests.ops.recurrent import sequences


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (name, attributes, inputs, lengths) in enumerate(sequences(rng, 3, 1)):
        op = Gru(**attributes, linear_before_reset=number % 4 > 1)
        inputs.append(normal(rng, inputs[1].shape[1:]))
        yield OpCase(op, tuple(inputs), name, (1, 3) if number % 2 else ())
        if number % 3 == 0:
            yield OpCase(op, (*inputs, lengths), f"{name}_with_lengths", (1, 3))
    halves = tuple(array.astype("float16") for array in inputs)
    yield OpCase(Gru(function_f="sigmoid"), halves, "f16", (1, 3))
