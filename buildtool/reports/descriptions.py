"""What files say that a target reads itself: descriptions of networks, and files of the target's own kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from buildtool.errors import Problem
from buildtool.reports.table import Table
from buildtool.targets.protocol import DescribedModel, DescribingTarget, FirmwareTarget, InspectedTarget
from buildtool.targets.registry import all_targets


def kinds() -> dict[str, InspectedTarget]:
    """The kinds of files that targets know, with their targets."""
    able = (target for target in all_targets().values() if isinstance(target, InspectedTarget))
    return {kind: target for target in able for kind in target.kinds}


def suffixes() -> dict[str, str]:
    """The kinds of files by the ends of their names."""
    return {suffix: kind for kind, target in kinds().items() for suffix in target.kinds[kind]}


def inspect(kind: str, file: Path) -> dict[str, Any]:
    """The document of a file of one of `kinds`."""
    return {"kind": kind, **kinds()[kind].inspect(kind, file)}


def parts(document: Mapping[str, Any], verbose: bool = False) -> list[str | Table]:
    """It for people."""
    shown = kinds()[document["kind"]].show(document, verbose=verbose)
    return [part if isinstance(part, str) else Table.of(part) for part in shown]


def reader_of(platform: str) -> DescribingTarget | None:
    """The target that reads models of a platform itself."""
    for target in all_targets().values():
        reads = isinstance(target, FirmwareTarget) and target.capabilities.reads(platform)
        if reads and isinstance(target, DescribingTarget):
            return target
    return None


def documents(models: Sequence[DescribedModel], abis: Sequence[str]) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Each model for each chip, and what their authors should know. ConfigError with all that is wrong with one."""
    found: list[dict[str, Any]] = []
    notes: list[Problem] = []
    for model in models:
        reader = reader_of(model.platform)
        for abi in abis if reader is not None else ():
            assert reader is not None
            one, more = reader.describe(model, abi)
            found.append({"kind": reader.description_kind, **one})
            notes += more
    return found, list(dict.fromkeys(notes))
