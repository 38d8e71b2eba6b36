"""PyTorch on the same GPU: the zoo's architectures of torchvision and timm, with weights of no meaning."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

_TORCHVISION = {
    "mobilenet_v2": "mobilenet_v2",
    "squeezenet_v11": "squeezenet1_1",
    "resnet18": "resnet18",
    "shufflenet_v2": "shufflenet_v2_x1_0",
}


def times(name: str, size: int, half: bool, rounds: int) -> dict[str, float]:
    """Milliseconds of a run, copies of input and output included: eager, and as a CUDA graph; empty without a GPU."""
    try:
        import torch
    except ImportError:
        return {}
    if not torch.cuda.is_available():
        return {}
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    dtype = torch.float16 if half else torch.float32
    network = _network(name).eval().to("cuda", dtype, memory_format=torch.channels_last)
    given = torch.rand(1, 3, size, size).pin_memory()
    on_gpu = torch.empty(1, 3, size, size, device="cuda", dtype=dtype).contiguous(memory_format=torch.channels_last)

    with torch.inference_mode():

        def eager() -> Any:
            on_gpu.copy_(given)
            return network(on_gpu).cpu()

        found = {"eager": median_ms(eager, rounds)}
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = network(on_gpu)

        def replayed() -> Any:
            on_gpu.copy_(given)
            graph.replay()
            return out.cpu()

        found["graph"] = median_ms(replayed, rounds)
    return found


def _network(name: str) -> Any:
    if name in _TORCHVISION:
        import torchvision

        return getattr(torchvision.models, _TORCHVISION[name])(weights=None)
    import timm

    return timm.create_model("mobilenetv1_100", pretrained=False)


def median_ms(run: Callable[[], object], rounds: int) -> float:
    """Of so many runs, after ten others."""
    for _ in range(10):
        run()
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        found.append((time.perf_counter() - began) * 1000)
    return statistics.median(found)
