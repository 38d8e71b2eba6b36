"""What is measured: the five networks of the zoo, or the networks that people run (`tests/bench/real`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from buildtool.ir.operator import Array
from tests.bench.peers.environment import ROOT
from tests.bench.real import files, names
from tests.zoo.networks import NETWORKS, cached
from tests.zoo.quantised import quantised, quantised_file

FOLDER = ROOT / "build" / "bench-peers"
SIZE = 224
_SAMPLES = 4


@dataclass(frozen=True)
class Suite:
    """Networks as ONNX files with fixed sizes. `make`: what has to be there before, with a Python that has PyTorch."""

    networks: tuple[str, ...]
    in_bytes: tuple[str, ...]  # those that are measured in 8 bits
    make: Callable[[Sequence[str], str | None], None]
    file: Callable[[str], Path]
    inputs: Callable[[str], dict[str, Array]]
    quantised: Callable[[str], Path]


def _zoo_inputs(_: str) -> dict[str, Array]:
    data = np.random.default_rng(0).uniform(-1, 1, (1, 3, SIZE, SIZE))
    return {"input": data.astype(np.float32)}


def _quantised_real(name: str) -> Path:
    drawn = np.random.default_rng(7)
    given = files.inputs(name)
    samples = [
        {key: drawn.permutation(x.ravel()).reshape(x.shape) for key, x in given.items()} for _ in range(_SAMPLES)
    ]
    return quantised_file(files.file(name), samples)


SUITES = {
    "zoo": Suite(
        tuple(NETWORKS),
        tuple(NETWORKS),
        lambda _, __: None,
        lambda name: cached(name, FOLDER / "onnx", SIZE),
        _zoo_inputs,
        lambda name: quantised(name, FOLDER / "onnx", SIZE),
    ),
    "real": Suite(
        names.NETWORKS,
        tuple(name for name in names.NETWORKS if names.family(name) == "vision"),
        files.make,
        files.file,
        files.inputs,
        _quantised_real,
    ),
}


def suite_of(network: str) -> Suite:
    """The one that has it."""
    return next(suite for suite in SUITES.values() if network in suite.networks)


ALL = tuple(network for suite in SUITES.values() for network in suite.networks)
