"""Finds the targets: every folder of this package that defines `TARGET`."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from buildtool import targets
from buildtool.errors import ConfigError, UnsupportedError, Where
from buildtool.targets.protocol import Target


@functools.cache
def all_targets() -> Mapping[str, Target]:
    """The targets by name."""
    found: dict[str, Target] = {}
    for info in pkgutil.iter_modules(targets.__path__):
        if info.ispkg:
            module = importlib.import_module(f"{targets.__name__}.{info.name}")
            target: Target | None = getattr(module, "TARGET", None)
            if target is not None:  # a package may hold the formats of a chip that nothing is built for yet
                found[target.name] = target
    return MappingProxyType(found)


def abis() -> tuple[str, ...]:
    """Every ABI that some target builds for."""
    return tuple(dict.fromkeys(abi for target in all_targets().values() for abi in target.capabilities.abis))


def target_for(runtime: str, abi: str) -> Target:
    """The target that a model with this `runtime` runs on. ConfigError names what there is."""
    for target in all_targets().values():
        if runtime in target.capabilities.runtimes and abi in target.capabilities.abis:
            return target
    raise ConfigError(
        f"no target runs '{runtime}' on '{abi}'",
        rule="this version builds runtime cpu for " + ", ".join(abis()),
        remedy="change `runtime` or `target_abis`",
    )


def one_target(pairs: Iterable[tuple[str, str]], where: Where) -> Target:
    """The target of all these runtimes and ABIs. UnsupportedError where they need several."""
    targets = [target_for(runtime, abi) for runtime, abi in pairs]
    if any(target.name != targets[0].name for target in targets):
        raise UnsupportedError(
            "the library mixes kinds of targets", where=where, remedy="write one deployment file per kind"
        )
    return targets[0]
