"""What a caller may say about a build or a run, and how it hears of the progress. No stage is known here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from buildtool.errors import Problem


class Progress(Protocol):
    """Who wants to know what is going on."""

    def stage(self, name: str) -> None:
        """A stage begins, and the one before it is over."""

    def step(self, text: str) -> None:
        """Something inside the stage begins, or says something."""

    def note(self, problem: Problem) -> None:
        """Something the user should know although nothing is wrong."""


class Silent:
    """Nobody wants to know."""

    def stage(self, name: str) -> None:
        pass

    def step(self, text: str) -> None:
        pass

    def note(self, problem: Problem) -> None:
        pass


@dataclass(frozen=True)
class Overrides:
    """What holds instead of the keys of the same names in the deployment file."""

    target_abis: tuple[str, ...] = ()
    library_name: str | None = None
    model_graph_format: str | None = None
    model_data_format: str | None = None
    messages: bool | None = None
    mace_compat: str | None = None
    toolchain: Path | None = None  # a CMake toolchain file: it is the one target, by the name that target_abis gives
    op_paths: tuple[Path, ...] = ()  # beside those of the file


@dataclass(frozen=True)
class Options:
    """Where results go, and what is written beside them."""

    output: Path = Path("build")
    emit: frozenset[str] = frozenset()  # ir, plan, source
    after: str = ""  # with ir: the graph behind the first run of this pass, too
    allow_unverified: bool = False
    archive: bool = True  # whether the build is packed, too


@dataclass(frozen=True)
class RunSettings:
    """How models are run and validated."""

    model: str | None = None  # all, where it is None
    inputs: Mapping[str, Path] = field(default_factory=dict)  # the rest gets random numbers
    output_folder: Path | None = None
    rounds: int = 1
    profile: bool = False  # whether as many runs are timed node by node, too
    threads: int = -1  # one per core
    seed: int = 0
    cpu: str = ""  # what an emulator imitates
    timeout: float = 600.0
    reference: str = "auto"  # onnxruntime, litert, numpy
    reference_python: Path | None = None  # an interpreter that has the framework of the model
    all_variants: bool = False
    kinds: tuple[str, ...] = ("shared", "static")


SILENT = Silent()
NOTHING = Overrides()
DEFAULTS = Options()
EVERYTHING = RunSettings()
