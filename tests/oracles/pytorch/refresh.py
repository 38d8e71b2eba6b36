"""What PyTorch computes for small programs, and how the importer's process writes them as ONNX.

Writes `<program>.onnx` and `<program>.npz` (inputs by name, outputs as output_<n>) per program, and versions.json.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxscript
import torch
from torch import nn

FOLDER = Path(__file__).parent / "expected"
PROCESS = Path(__file__).resolve().parents[3] / "buildtool" / "importers" / "pytorch" / "torch_process.py"


class Pictures(nn.Module):
    """Convolutions of all kinds, a residual, two inputs and two outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.depth = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.point = nn.Conv2d(8, 8, 1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.head = nn.Linear(8, 5)

    def forward(self, image: torch.Tensor, scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = nn.functional.hardswish(self.norm(self.first(image)))
        x = x + nn.functional.silu(self.point(nn.functional.relu6(self.depth(x))))
        features = nn.functional.max_pool2d(x, 2).mean(dim=(2, 3))
        return self.head(features).softmax(dim=1) * scale, self.up(x)


class Words(nn.Module):
    """An embedding, a recurrent layer and attention."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 8)
        self.memory = nn.LSTM(8, 6, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(12)
        self.query, self.key, self.value = nn.Linear(12, 12), nn.Linear(12, 12), nn.Linear(12, 12)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.memory(self.table(words))[0])
        heads = [layer(x).reshape(1, 7, 2, 6).transpose(1, 2) for layer in (self.query, self.key, self.value)]
        return nn.functional.scaled_dot_product_attention(*heads)


class Numbers(nn.Module):
    """A number says which branch is taken and how often something is repeated; others keep their defaults."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x: torch.Tensor, rate: int, scale: float = 2.0, shifted: bool = False) -> torch.Tensor:
        y = self.first(x) if rate == 16000 else self.second(x)
        for number in range(rate % 5):
            y = torch.tanh(y) + number
        if shifted:
            y = y + 1
        return y * scale


def scripts() -> dict[str, tuple[nn.Module, dict[str, torch.Tensor], dict[str, float]]]:
    """Modules that only a script holds, tensors, and numbers, which are given as tensors of one element."""
    x = {"x": torch.randn(2, 4)}
    return {
        "rate": (Numbers(), x, {"rate": 16000}),
        "scaled": (Numbers(), x, {"rate": 8003, "scale": 0.5}),
    }


def programs() -> dict[str, tuple[nn.Module, dict[str, torch.Tensor]]]:
    """Modules, and inputs by the names of their arguments."""
    pictures = {"image": torch.randn(2, 3, 16, 12), "scale": torch.rand(2, 1)}
    return {"pictures": (Pictures(), pictures), "words": (Words(), {"words": torch.randint(0, 20, (1, 7))})}


def write(name: str, kind: str, saved: Path, inputs: dict[str, torch.Tensor]) -> None:
    order: dict[str, Any] = {
        "file": str(saved),
        "kind": kind,
        "target": str(FOLDER / f"{name}_{kind}.onnx"),
        "inputs": [],
    }
    if kind == "script":
        order["inputs"] = [
            {"name": key, "shape": list(value.shape), "bounded": [0], "dtype": str(value.dtype).removeprefix("torch.")}
            for key, value in inputs.items()
        ]
    subprocess.run([sys.executable, "-I", str(PROCESS), json.dumps(order)], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    torch.manual_seed(7)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        for name, (module, inputs) in programs().items():
            module.eval()
            outputs = module(*inputs.values())
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            arrays = {key: value.numpy() for key, value in inputs.items()}
            arrays |= {f"output_{number}": value.numpy() for number, value in enumerate(outputs)}
            np.savez_compressed(FOLDER / f"{name}.npz", **arrays)
            saved = Path(folder) / f"{name}.pt2"
            torch.export.save(torch.export.export(module, tuple(inputs.values())), saved)
            write(name, "exported", saved, inputs)
            script = Path(folder) / f"{name}.pt"
            torch.jit.trace(module, tuple(inputs.values())).save(script)
            write(name, "script", script, inputs)
        for name, (module, inputs, numbers) in scripts().items():
            script = Path(folder) / f"{name}.pt"
            torch.jit.script(module.eval()).save(script)
            tensors = inputs | {key: torch.tensor([number]) for key, number in numbers.items()}
            arrays = {key: value.numpy() for key, value in tensors.items()}
            arrays["output_0"] = module(**inputs, **numbers).numpy()
            np.savez_compressed(FOLDER / f"{name}.npz", **arrays)
            write(name, "script", script, tensors)
    versions = {package.__name__: package.__version__ for package in (torch, onnx, onnxscript)}
    (FOLDER / "versions.json").write_text(json.dumps(versions, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
