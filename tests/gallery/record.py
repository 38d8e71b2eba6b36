"""Keeps the graphs of small architectures for `make test`: `python -m tests.gallery.record`, after `make gallery`."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.gallery.__main__ import FOLDER, RESULT
from tests.gallery.names import folder_name
from tests.gallery.stripping import strip

RECORDED = Path(__file__).with_name("recorded.zip")
MOST_PARAMETERS = 3_000_000
MOST_BYTES = 24_000  # of a graph, compressed
MOST_NODES = 400


def described(folder: Path, case: dict[str, Any]) -> dict[str, Any]:
    """The inputs at each size."""
    data = [np.load(folder / f"inputs_{size}.npz") for size in range(case["sizes"])]
    inputs = []
    for name in case["inputs"]:
        arrays = [arrays[name] for arrays in data]
        highest = max(int(array.max(initial=0)) for array in arrays) if arrays[0].dtype.kind == "i" else 0
        shapes = [list(array.shape) for array in arrays]
        below = highest + 1 if highest > 1 else 0
        inputs.append(
            {"name": name, "shapes": [*shapes, shapes[-1]][:2], "dtype": str(arrays[0].dtype), "below": below}
        )
    return {"inputs": inputs, "sizes": case["sizes"]}


def main() -> None:
    results = json.loads(RESULT.read_text())["results"]
    with zipfile.ZipFile(RECORDED, "w", zipfile.ZIP_LZMA) as archive:
        for result in results:
            if result["status"] != "right" or result["parameters"] > MOST_PARAMETERS or result["nodes"] > MOST_NODES:
                continue
            name = folder_name(result["model"])
            folder = FOLDER / "models" / name
            graph = strip(onnx.load(folder / "model.onnx")).SerializeToString(deterministic=True)
            if len(_compressed(graph)) > MOST_BYTES:
                continue
            case = described(folder, json.loads((folder / "case.json").read_text()))
            for suffix, content in (("onnx", graph), ("json", json.dumps(case).encode())):
                archive.writestr(zipfile.ZipInfo(f"{name}.{suffix}"), content, zipfile.ZIP_LZMA)


def _compressed(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("graph", content)
    return buffer.getvalue()


if __name__ == "__main__":
    main()
