"""What `lathe validate --layers` found: as data, as MACE's log.csv, as a picture, and for people."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.reports import drift, gpu
from buildtool.reports.table import Table, number


@dataclass(frozen=True)
class LayersReport:
    """The layers of all models on all ABIs and devices."""

    library: str
    folder: Path
    models: tuple[dict[str, Any], ...]

    @property
    def passed(self) -> bool:
        return all(model["passed"] for model in self.models)

    def as_json(self) -> dict[str, Any]:
        models = [{**model, "files": [str(file) for file in self._files_of(model)]} for model in self.models]
        return {"library": self.library, "folder": str(self.folder), "passed": self.passed, "models": models}

    def files(self) -> dict[Path, bytes]:
        """What is written into the build."""
        return {path: contents for model in self.models for path, contents in self._files_of(model).items()}

    def _files_of(self, model: Mapping[str, Any]) -> dict[Path, bytes]:
        devices = {other["device"] for other in self.models if other["abi"] == model["abi"]}
        device = "" if len(devices) == 1 else "-" + re.sub(r"[^A-Za-z0-9_.-]", "_", model["device"])
        folder = self.folder / "report" / "layers" / f"{model['abi']}{device}" / model["model"]
        files = {folder / "layers.json": (json.dumps(model, indent=1) + "\n").encode()}
        if model["layers"]:
            title = f"{model['model']} on {model['abi']}"
            files[folder / "log.csv"] = log(model["layers"]).encode()
            files[folder / "drift.svg"] = drift.picture(title, model["layers"])
        return files


def log(layers: list[dict[str, Any]]) -> str:
    """The columns that MACE writes: its SQNR is a ratio, not in decibels."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["output_name", "similarity", "sqnr", "pixel_accuracy"])
    for layer in layers:
        ratio = "inf" if layer["sqnr"] is None and layer["max_abs"] == 0 else _ratio(layer["sqnr"])
        name = layer["source_names"][0] if layer["source_names"] else layer["value"]
        writer.writerow([name, layer["cosine"], ratio, layer["pixel_accuracy"]])
    return buffer.getvalue()


def _ratio(decibels: float | None) -> str:
    return "0" if decibels is None else f"{10 ** (decibels / 10):.6g}"


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """A table per model, and the first divergence."""
    shown: list[str | Table] = []
    for model in document["models"]:
        if model["layers"]:
            shown.append(_table(model))
        if "search" in model:
            search = model["search"]
            shown.append(
                f"{model['model']} on {model['abi']}: {len(search['probes'])} values of {search['nodes']} nodes were "
                f"compared, with at most {search['most_held']} tensors at once"
            )
        first = model["first"]
        where = f"{model['model']} on {model['abi']}, {model['device']}"
        shown.append(f"{where}: first divergence: {first['what']}" if first else f"{where}: no layer diverges")
        shown += [f"wrote {file}" for file in model["files"]]
    return shown


def _table(model: Mapping[str, Any]) -> Table:
    right = frozenset({"#", "cosine", "max rel", "own error", "allowed"})
    columns = ["#", "node", "op", "value", "shape", "cosine", "max rel", "own error", "allowed", "reference", "result"]
    ran_on = f", {gpu.words(model['gpu'])}" if "gpu" in model else ""
    table = Table(columns, title=f"{model['model']} on {model['abi']}, {model['device']}{ran_on}", right=right)
    table.optional = ("reference", "shape", "max rel", "value")
    for layer in model["layers"]:
        table.add(
            layer["index"],
            layer["node"],
            layer["op"],
            layer["source_names"][0] if layer["source_names"] else layer["value"],
            "x".join(map(str, layer["shape"])),
            f"{layer['cosine']:.6f}",
            number(layer["max_rel"], 3),
            number(layer["own"]["max_abs"], 3),
            number(layer["allowed"], 3),
            layer["reference"],
            "passed" if layer["passed"] else "failed",
        )
    return table
