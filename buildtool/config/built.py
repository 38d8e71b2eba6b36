"""What a deployment file may say already although Lathe does not build it yet.

Such a value is no mistake of the file: loading gives a note, `lathe check` and `lathe build` an error of its own.
"""

from __future__ import annotations

from buildtool.config.abis import targets
from buildtool.config.deployment import Deployment, ModelConfig
from buildtool.config.models import PLATFORMS, PRECISIONS, RUNTIMES
from buildtool.errors import Problem, Where
from buildtool.extensions.targets import words
from buildtool.wording import listed, quoted

# What there is no importer or no kernels for yet, by key.
_UNBUILT: dict[str, frozenset[str]] = {
    "platform": frozenset({"megengine"}),
    "data_type": frozenset({"uint8"}),
}


def is_built(key: str, value: str) -> bool:
    """Whether something can be built with this value of a key: the targets that are installed decide it."""
    if key == "target_abis":
        return value in words().abis
    return value in words().runtimes if key == "runtime" else value not in _UNBUILT.get(key, ())


def _values_of(key: str) -> tuple[str, ...]:
    """All values that a key may have."""
    if key == "target_abis":
        return tuple(targets())
    readers = {"platform": PLATFORMS, "runtime": RUNTIMES, "data_type": PRECISIONS}
    return readers[key].names if key in readers else ()


def unbuilt(deployment: Deployment) -> tuple[Problem, ...]:
    """One problem for each value that is known but cannot be built yet."""
    found = [_problem("target_abis", abi, deployment.where_of_abi(abi)) for abi in deployment.target_abis]
    for model in deployment.models:
        found += [_problem(key, value, model.where_of(key)) for key, value in _values(model).items()]
    return tuple(problem for problem in found if problem is not None)


def _values(model: ModelConfig) -> dict[str, str]:
    return {
        "platform": model.platform,
        "runtime": str(model.runtime),
        "data_type": model.data_type,
    }


def _problem(key: str, value: str, where: Where) -> Problem | None:
    if is_built(key, value):
        return None
    possible = sorted(word for word in _values_of(key) if is_built(key, word))
    remedy = f"for now use {listed(possible)}" if possible else f"remove {quoted(key)}"
    return Problem(f"{quoted(key)} {quoted(value)} is known but not built yet", where, remedy=remedy)
