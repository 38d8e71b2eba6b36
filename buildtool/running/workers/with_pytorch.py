"""Programs of torch.export and TorchScript: inputs and outputs are known by their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NEEDS = ("torch",)


def compute(torch: Any, request: Mapping[str, Any], inputs: Sequence[Any]) -> list[Any]:
    file = request["model"]
    model = torch.export.load(file).module() if file.endswith(".pt2") else torch.jit.load(file, "cpu").eval()
    with torch.no_grad():
        results = model(*(torch.from_numpy(array.copy()) for array in inputs))
    flat = _flat(results)
    if len(flat) != len(request["outputs"]):
        raise ValueError(f"the model returns {len(flat)} tensors, but {len(request['outputs'])} are requested")
    return [tensor.numpy() for tensor in flat]


def _flat(results: Any) -> list[Any]:
    if isinstance(results, Mapping):
        results = list(results.values())
    return [one for item in results for one in _flat(item)] if isinstance(results, list | tuple) else [results]
