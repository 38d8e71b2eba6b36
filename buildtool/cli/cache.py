"""`lathe cache`: what is kept between builds, and how to make room."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output
from buildtool.errors import ConfigError


def cache(
    prune: Annotated[bool, typer.Option("--prune", help="Remove entries that were not used for a while.")] = False,
    older_than: Annotated[
        float | None,
        typer.Option(
            "--older-than", metavar="DAYS", help="With --prune: remove entries unused for this long (default: 30)."
        ),
    ] = None,
    max_size: Annotated[
        str | None,
        typer.Option(
            "--max-size",
            metavar="SIZE",
            help="With --prune: remove the least recently used entries until at most this size is left, such as 2G.",
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="With --prune: remove everything.")] = False,
    *,
    out: Output,
) -> None:
    """Show what is kept between builds, or make room. Builds that run at the same time are safe."""
    from buildtool.builders import cache as store
    from buildtool.reports.table import Table
    from buildtool.resources import cache_dir

    if not prune and (older_than is not None or max_size is not None or everything):
        raise ConfigError("--older-than, --max-size and --all go with --prune", remedy="add --prune")
    folder = cache_dir()
    removed = None
    if prune:
        days = 0.0 if everything else 30.0 if older_than is None else older_than
        removed = store.prune(folder, days=days, most=None if max_size is None else store.size_of(max_size))
    found = store.entries(folder)
    kinds = {
        kind: {"what": text, "entries": len(own), "bytes": sum(entry.bytes for entry in own)}
        for kind, text in store.kinds().items()
        for own in [[entry for entry in found if entry.kind == kind]]
    }
    table = Table(("kind", "entries", "bytes", "what"), right=frozenset({"entries", "bytes"}))
    for kind, facts in kinds.items():
        table.add(kind, f"{facts['entries']:,}", f"{facts['bytes']:,}", facts["what"])
    total = sum(entry.bytes for entry in found)
    document: dict[str, Any] = {"folder": str(folder), "bytes": total, "kinds": kinds}
    text = f"{folder}: {total:,} bytes\n"
    if removed is not None:
        document["removed"] = vars(removed)
        text += f"removed: {removed.entries:,} entries, {removed.bytes:,} bytes\n"
    out.document(document, table, text)


def register(app: typer.Typer) -> None:
    command(app, "cache")(cache)
