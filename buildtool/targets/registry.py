"""Finds the targets: the entry points `lathe.targets` of Lathe itself and of other packages."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from buildtool.errors import ConfigError, Problem, UnsupportedError, Where
from buildtool.extensions.targets import offered
from buildtool.passes import pipeline
from buildtool.runtimes import Runtime
from buildtool.targets.protocol import FirmwareTarget, LibraryTarget, Target


@functools.cache
def all_targets() -> Mapping[str, Target]:
    """The targets by name: Lathe's own first."""
    return MappingProxyType({one.value.name: one.value for one in offered().extensions})


def not_loaded() -> tuple[Problem, ...]:
    """Packages that should add targets or passes to Lathe, and cannot."""
    return (*offered().failures, *pipeline.failures())


def abis() -> tuple[str, ...]:
    """Every ABI that some target builds for."""
    return tuple(dict.fromkeys(abi for target in all_targets().values() for abi in target.capabilities.abis))


def library_targets() -> tuple[LibraryTarget, ...]:
    """Those that make libraries."""
    return tuple(target for target in all_targets().values() if not isinstance(target, FirmwareTarget))


def chips_of(target: FirmwareTarget) -> tuple[str, ...]:
    """The ABIs that only firmware is built for: some also build for machines that have libraries."""
    machines = {abi for each in library_targets() for abi in each.capabilities.abis}
    return tuple(abi for abi in target.capabilities.abis if abi not in machines)


def library_target(runtime: Runtime, abi: str) -> LibraryTarget:
    """The target whose libraries run a model with this `runtime`. ConfigError where there is none."""
    target = target_for(runtime, abi)
    if isinstance(target, FirmwareTarget):
        raise no_library(target, Where())
    return target


def no_library(target: FirmwareTarget, where: Where) -> UnsupportedError:
    """Somebody asked for what only a library can do."""
    return UnsupportedError(
        f"{target.name} builds firmware, and this command works with libraries",
        where=where,
        rule="`lathe build`, `lathe convert` and `lathe package` make firmware; `lathe quantize` finds its ranges; "
        "`lathe run`, `lathe validate` and `lathe bench` simulate the chip",
        remedy="try the model on this machine: set `runtime: cpu` and `target_abis: [host]`",
    )


def target_for(runtime: Runtime, abi: str, where: Where = Where()) -> Target:  # noqa: B008 (frozen)
    """The target that a model with this `runtime` runs on. ConfigError names what there is."""
    for target in all_targets().values():
        if runtime in target.capabilities.runtimes and abi in target.capabilities.abis:
            return target
    known = [target.capabilities for target in all_targets().values()]
    theirs = dict.fromkeys(str(each) for one in known if abi in one.abis for each in one.runtimes)
    places = dict.fromkeys(each for one in known if runtime in one.runtimes for each in one.abis)
    rules = [f"runtime {', '.join(theirs)} is for {abi}"] if theirs else []
    raise ConfigError(
        f"no target runs '{runtime}' on '{abi}'",
        where=where,
        rule="; ".join([*rules, f"runtime {runtime} is for {', '.join(places)}"]),
        remedy="change `runtime` or `target_abis`",
    )


def one_target(pairs: Iterable[tuple[Runtime, str]], where: Where, firmware: bool = False) -> Target:
    """The target of all these runtimes and ABIs. UnsupportedError where they need several.

    `firmware`: of several, one that makes firmware.
    """
    pairs = tuple(pairs)
    targets = [target_for(runtime, abi, where) for runtime, abi in pairs]
    everything = all_targets().values()
    for target in sorted(everything, key=lambda each: isinstance(each, FirmwareTarget) != firmware):
        known = target.capabilities
        if all(runtime in known.runtimes and abi in known.abis for runtime, abi in pairs):
            return target
    if any(target.name != targets[0].name for target in targets):
        kinds = {target.name: abi for target, (_, abi) in zip(targets, pairs, strict=True)}
        raise UnsupportedError(
            "the library mixes kinds of targets",
            where=where,
            rule=f"{' and '.join(kinds.values())} are built in different ways: libraries, or firmware of a chip",
            remedy="write one deployment file per kind",
        )
    return targets[0]
