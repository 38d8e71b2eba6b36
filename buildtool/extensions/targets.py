"""The targets as packages offer them, and the words that deployment files may hold because of them.

What a target is says `buildtool.targets.protocol`; here is only what the rooms below it have to know.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pydantic import BaseModel

from buildtool.errors import Problem
from buildtool.extensions import entry_points
from buildtool.extensions.entry_points import Extension, Found


@dataclass(frozen=True)
class DescriptionFormat:
    """Files of a target that describe a network layer by layer, and that it reads itself."""

    platform: str  # the word of the key `platform`
    runtime: str
    abi: str  # what such a file is for where nobody says so
    key: str  # a YAML file with this key at its top, and no `models`, is one
    section: str = ""  # which of the target's sections the options of the command line go to
    keys: type[BaseModel] | None = None  # what such a file may hold, for its JSON schema and the reference page


class Titled(Protocol):
    """What a target knows of an ABI."""

    @property
    def title(self) -> str:
        """What it is, for people; empty where it is known anyway."""
        ...


class Vocabulary(Protocol):
    """The part of a target's capabilities that says what deployment files may say."""

    @property
    def runtimes(self) -> tuple[str, ...]: ...

    @property
    def abis(self) -> Mapping[str, Titled]: ...


@runtime_checkable
class Offered(Protocol):
    """What every target has."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Vocabulary: ...


@dataclass(frozen=True)
class TargetWords:
    """The words of all targets together."""

    runtimes: tuple[str, ...] = ()
    abis: Mapping[str, str] = field(default_factory=dict)  # with their titles
    chips: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # ABIs by runtime, of firmware
    sections: Mapping[str, type[BaseModel]] = field(default_factory=dict)  # further keys of a model, by name
    sections_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the names of those keys, by runtime
    descriptions: tuple[DescriptionFormat, ...] = ()
    failures: tuple[Problem, ...] = ()

    @property
    def described(self) -> tuple[str, ...]:
        """The platforms whose files say themselves what goes in and comes out."""
        return tuple(each.platform for each in self.descriptions)


@functools.cache
def offered() -> Found:
    """All targets. ToolchainError where not even those of Lathe are there."""
    return entry_points.checked(entry_points.TARGETS, entry_points.require_own(entry_points.TARGETS), _complaint)


@functools.cache
def words() -> TargetWords:
    """What deployment files may say because of the targets that are installed."""
    everything = offered()
    runtimes: dict[str, None] = {}
    abis: dict[str, str] = {}
    chips: dict[str, tuple[str, ...]] = {}
    sections: dict[str, type[BaseModel]] = {}
    sections_of: dict[str, tuple[str, ...]] = {}
    descriptions: list[DescriptionFormat] = []
    libraries = {
        abi
        for one in everything.extensions
        if not getattr(one.value, "makes_firmware", False)
        for abi in one.value.capabilities.abis
    }
    for one in everything.extensions:
        able = one.value.capabilities
        runtimes.update(dict.fromkeys(able.runtimes))
        for abi, known in able.abis.items():
            abis[abi] = abis.get(abi) or known.title
        if getattr(one.value, "makes_firmware", False):
            own_abis = tuple(abi for abi in able.abis if abi not in libraries)
            chips.update(dict.fromkeys(able.runtimes, own_abis))
        own = dict(getattr(able, "sections", {}))
        sections.update(own)
        sections_of.update(dict.fromkeys(able.runtimes, tuple(own)) if own else {})
        descriptions += getattr(able, "descriptions", ())
    return TargetWords(tuple(runtimes), abis, chips, sections, sections_of, tuple(descriptions), everything.failures)


def _complaint(one: Extension, accepted: Sequence[Extension]) -> str:
    """What is against a target, in words; empty where nothing is."""
    target = one.value
    if isinstance(target, type) or not isinstance(target, Offered):
        return "it is not a target: it must be an object with `name`, `capabilities`, `lower` and `emit`"
    lacking = [word for word in ("lower", "emit") if not callable(getattr(target, word, None))]
    lacking += [f"capabilities.{word}" for word in ("runtimes", "abis") if not hasattr(target.capabilities, word)]
    if lacking:
        return f"it has no {' and no '.join(lacking)}"
    for other in accepted:
        if other.value.name == target.name:
            return f"the package '{other.package}' also has a target of this name"
        taken = set(_sections(other.value)) & set(_sections(target))
        if taken:
            return f"the package '{other.package}' has a section '{min(taken)}' already"
    return ""


def _sections(target: Offered) -> Mapping[str, type[BaseModel]]:
    found: Mapping[str, type[BaseModel]] = getattr(target.capabilities, "sections", {})
    return found
