"""Exports architectures to ONNX, with what PyTorch computes.

`python -m tests.gallery.export FOLDER NAME ...` runs in the environment that has PyTorch. `--entries MODULE` takes the
architectures of another module than the gallery's. Each architecture has a folder: model.onnx, case.json and, for
each size, `inputs_<n>.npz` and `outputs_<n>.npz`; or error.txt where the exporter failed.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import random
import traceback
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch

from tests.gallery import custom, language, vision
from tests.gallery.entries import Entry, flat
from tests.gallery.names import folder_name

ENTRIES: dict[str, Entry] = {**vision.ENTRIES, **language.ENTRIES, **custom.ENTRIES}
SEED = 7


def export(entry: Entry, folder: Path) -> None:
    """Write what the comparison needs."""
    torch.manual_seed(SEED)
    random.seed(SEED)
    np.random.seed(SEED)
    module = entry.make().eval()
    _settle(module, entry)
    drawn = torch.Generator().manual_seed(SEED)
    data = [[item.tensor(size, drawn) for item in entry.inputs.values()] for size in (0, 1)]
    if all(item.shapes()[0] == item.shapes()[1] for item in entry.inputs.values()):
        del data[1]
    names: list[str] = []
    for size, inputs in enumerate(data):
        with torch.no_grad():
            results = flat(module(*inputs))
        names = [f"output_{index}" for index in range(len(results))]
        np.savez(folder / f"inputs_{size}.npz", **{key: x.numpy() for key, x in zip(entry.inputs, inputs, strict=True)})
        np.savez(folder / f"outputs_{size}.npz", **{key: x.numpy() for key, x in zip(names, results, strict=True)})
    _write(module, entry, tuple(data[0]), names, folder / "model.onnx")
    graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
    case = {
        "family": entry.family,
        "exporter": f"{entry.exporter} {entry.opset}",
        "nodes": len(graph.node),
        "inputs": [item.name for item in graph.input],
        "outputs": [item.name for item in graph.output],
        "parameters": sum(parameter.numel() for parameter in module.parameters()),
        "sizes": len(data),
        "has_ties": entry.has_ties,
    }
    (folder / "case.json").write_text(json.dumps(case, indent=1))


def _settle(module: torch.nn.Module, entry: Entry) -> None:
    """Statistics of batch normalisation that fit random weights, so that numbers neither vanish nor explode."""
    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms or entry.family in ("detection", "optical flow"):
        return
    drawn = torch.Generator().manual_seed(SEED + 1)
    for norm in norms:
        norm.train()
        norm.momentum = None
    with torch.no_grad():
        for _ in range(2):
            inputs = [item.tensor(1, drawn) for item in entry.inputs.values()]
            batch = [torch.cat([x, x * 0.7 + 0.1]) if x.is_floating_point() else torch.cat([x, x]) for x in inputs]
            module(*batch)
    module.eval()


def _write(
    module: torch.nn.Module, entry: Entry, inputs: tuple[torch.Tensor, ...], outputs: list[str], file: Path
) -> None:
    axes = {name: dict(entry.axes.get(name) or item.varying(name)) for name, item in entry.inputs.items()}
    axes = {name: found for name, found in axes.items() if found}
    if entry.exporter == "torchscript":
        torch.onnx.export(
            module,
            inputs,
            file,
            dynamo=False,
            opset_version=entry.opset,
            input_names=list(entry.inputs),
            output_names=outputs,
            dynamic_axes=axes,
        )
        return
    sizes: dict[str, object] = {}
    shapes = [
        {axis: sizes.setdefault(word, torch.export.Dim.AUTO) for axis, word in axes[name].items()}
        if name in axes
        else None
        for name in entry.inputs
    ]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(module.forward).parameters.values())
    torch.onnx.export(
        module,
        inputs,
        file,
        dynamo=True,
        opset_version=entry.opset,
        input_names=list(entry.inputs),
        output_names=outputs,
        dynamic_shapes=((tuple(shapes),) if variadic else tuple(shapes)) if axes else None,
        external_data=False,
        verbose=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--entries", default="tests.gallery.export", help="the module whose ENTRIES has the names")
    options = parser.parse_args()
    entries: dict[str, Entry] = importlib.import_module(options.entries).ENTRIES
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    for name in options.names:
        folder = options.folder / folder_name(name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "error.txt").write_text("the exporter ended the process")
        try:
            export(entries[name], folder)
        except Exception:  # whatever an exporter raises is the result
            (folder / "error.txt").write_text(traceback.format_exc())
        else:
            (folder / "error.txt").unlink()
        print(name, "failed" if (folder / "error.txt").exists() else "exported", flush=True)


if __name__ == "__main__":
    main()
