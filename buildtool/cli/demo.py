"""`lathe demo`: runs the demonstrations of the examples, also from an installed wheel."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output
from buildtool.errors import ConfigError, RunError
from buildtool.wording import did_you_mean


def demonstrations() -> dict[str, tuple[Path, str]]:
    """The scripts by name, each with what it shows."""
    from buildtool import resources

    scripts = {file.parent.name: file for file in sorted(resources.examples_dir().glob("*/demo.py"))}
    return {name: (file, _summary(file)) for name, file in scripts.items()}


def _summary(script: Path) -> str:
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def demo(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The demonstration; without it, all are listed.")
    ] = None,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS", help="What it works on instead of its own files.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where it writes.")] = Path(
        "build/demo"
    ),
    *,
    out: Output,
) -> None:
    """List the demonstrations, or run one: each builds a library from a model and shows what it does."""
    known = demonstrations()
    if name is None:
        _list(known, out)
        return
    if name not in known:
        remedy = did_you_mean(name, list(known)) or "`lathe demo` lists them"
        raise ConfigError(f"there is no demonstration '{name}'", rule=f"there are {', '.join(known)}", remedy=remedy)
    if out.json:
        raise ConfigError("a demonstration prints text, and no JSON document", remedy="remove --json")
    environment = {**os.environ, "LATHE_DEMO_FOLDER": str(output.absolute())}
    done = subprocess.run([sys.executable, str(known[name][0]), *(words or [])], env=environment, check=False)
    if done.returncode:
        raise RunError(f"the demonstration '{name}' failed", remedy="the lines above say why")


def _list(known: dict[str, tuple[Path, str]], out: Output) -> None:
    from buildtool.reports.table import Table

    table = Table(["demonstration", "what it shows"])
    for name, (_, summary) in known.items():
        table.add(name, summary)
    document = {"demonstrations": [{"name": name, "summary": summary} for name, (_, summary) in known.items()]}
    out.document(document, table, "run one with: lathe demo NAME")


def register(app: typer.Typer) -> None:
    command(app, "demo")(demo)
