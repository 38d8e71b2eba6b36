"""Options that look inside of networks: `--dump` and `--trap-nan`, and what stands behind `--layers`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from buildtool.cli.output import Output
from buildtool.errors import ConfigError
from buildtool.settings import Options, Overrides, Progress, RunSettings

_LAYERS = re.compile(r"all|search|-?[0-9]+|(-?[0-9]+)?:(-?[0-9]+)?")


@dataclass(frozen=True)
class InsideOptions:
    """What a run tells of its inner values."""

    topic: ClassVar[str] = "Inner values"

    dump: Annotated[
        Path | None, typer.Option("--dump", metavar="FOLDER", help="Write what every node computed there, too: .npy.")
    ] = None
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            metavar="FOLDER|FILE",
            help="Compare a simulated chip with what --dump wrote, or with words of its memory: the first wrong value.",
        ),
    ] = None
    trap_nan: Annotated[
        bool, typer.Option("--trap-nan", help="Fail at the first node that produces NaN or infinity.")
    ] = False

    def look(
        self, file: Path, replaced: Overrides, options: Options, settings: RunSettings, progress: Progress, out: Output
    ) -> None:
        """Do what was asked for, in runs of their own."""
        from buildtool import workflow

        if self.dump is not None:
            for folder in workflow.dump(file, replaced, options, settings, progress, folder=self.dump):
                out.say(f"wrote {folder}")
        if self.compare is not None:
            for line in workflow.compare_dumped(file, replaced, options, settings, progress, folder=self.compare):
                out.say(line)
        if self.trap_nan:
            workflow.trap(file, replaced, options, settings, progress)


def with_values(arguments: list[str]) -> list[str]:
    """The command line where `--layers` has a value: without one of its own it means all."""
    found: list[str] = []
    for index, word in enumerate(arguments):
        following = arguments[index + 1] if index + 1 < len(arguments) else ""
        bare = word == "--layers" and not _LAYERS.fullmatch(following)
        found.append("--layers=all" if bare else word)
    return found


def nodes_of(words: str) -> slice:
    """Which nodes: as Python's slices are written, or one number."""
    if not _LAYERS.fullmatch(words):
        raise ConfigError(f"--layers cannot be '{words}'", rule="allowed: all, search, a number of a node, FROM:TO")
    if words in ("all", "search"):
        return slice(None)
    first, colon, last = words.partition(":")
    if not colon:
        return slice(int(first), int(first) + 1 or None)
    return slice(int(first) if first else None, int(last) if last else None)
