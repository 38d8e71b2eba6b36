"""Options of MACE's tools that say nothing here: taken with a note, so that command lines need not be edited."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, ClassVar

import typer

from buildtool.cli.output import Output
from buildtool.errors import Problem

_SAID = {
    "address_sanitizer": "the runtime is tested with it, and libraries are built without",
    "report": "--json prints the result, and report/ of the build keeps it",
    "report_dir": "--json prints the result, and report/ of the build keeps it",
}


@dataclass(frozen=True)
class MaceWords:
    """The options; each is None or False where it was not given."""

    topic: ClassVar[str] = "Accepted from MACE"

    address_sanitizer: Annotated[bool, typer.Option("--address-sanitizer", hidden=True)] = False
    report: Annotated[bool, typer.Option("--report", hidden=True)] = False
    report_dir: Annotated[str | None, typer.Option("--report-dir", hidden=True)] = None

    def tell(self, out: Output) -> None:
        """A note for each that was given."""
        for field in fields(self):
            if getattr(self, field.name) not in (None, False):
                option = "--" + field.name.replace("_", "-")
                out.note(Problem(f"{option} has no effect", rule=_SAID[field.name]))
