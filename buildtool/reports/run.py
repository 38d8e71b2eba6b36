"""What a run gave, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from buildtool.reports import cycles, emulated, gpu
from buildtool.reports.table import Table, number


def parts(document: Mapping[str, Any], *, memory: bool = False) -> list[str | Table]:
    """The tables of the document of `lathe run`."""
    table = Table(
        ["model", "abi", "device", "output", "shape", "least", "largest", "mean"],
        right=frozenset({"least", "largest", "mean"}),
    )
    ran_on = ["ran on"] if any(run.get("gpu") for run in document["runs"]) else []
    times = Table(
        ["model", "abi", "threads", "rounds", "milliseconds", *ran_on], right=frozenset({"rounds", "milliseconds"})
    )
    for run in document["runs"]:
        for output in run["outputs"]:
            table.add(
                run["model"],
                run["abi"],
                run["device"],
                output["name"],
                "x".join(map(str, output["shape"])),
                *(number(output[key], 5) for key in ("least", "largest", "mean")),
            )
        figures = (run["threads"] or "all", run["rounds"], number(run["milliseconds"], 4))
        times.add(run["model"], run["abi"], *figures, *(gpu.words(run.get("gpu")) for _ in ran_on))
    files = [f"wrote {output['file']}" for run in document["runs"] for output in run["outputs"] if output.get("file")]
    on_chips: list[str | Table] = []
    for run in document["runs"]:
        if "estimate" in run:
            on_chips += [f"{run['model']} on the {run['abi']}, estimated:", *cycles.parts(run["estimate"])]
    on_boards = [{**run, **run["emulated"]} for run in document["runs"] if "emulated" in run]
    on_chips += emulated.parts(on_boards) if on_boards else []
    return [table, times, *([_memory(document)] if memory else []), *on_chips, *files]


def _memory(document: Mapping[str, Any]) -> Table:
    """The bytes of a session, and what the whole process had at most."""
    columns = ("arena", "scratch", "weights_allocated", "weights_mapped")
    table = Table(["model", "abi", "device", *columns, "process_peak"], right=frozenset({*columns, "process_peak"}))
    for run in document["runs"]:
        bytes_ = (f"{run['memory'].get(name, 0):,}" for name in columns)
        table.add(run["model"], run["abi"], run["device"], *bytes_, f"{run['process_peak']:,}")
    return table
