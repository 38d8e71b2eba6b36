"""What other engines execute for the same networks, one thread, warm: counted in the same way.

Those of the zoo at 224 x 224 are below, those of the suite `real` in peers.json, which `count_peers.py` writes.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

_NETWORKS = ("mobilenet_v1", "mobilenet_v2", "squeezenet_v11", "resnet18", "shufflenet_v2")
#: Million instructions, in the order of _NETWORKS, by processor and element type.
_COUNTS: dict[tuple[str, str], dict[str, tuple[float, ...]]] = {
    ("neoverse-n1", "fp32"): {
        "ncnn": (171.7, 101.2, 75.6, 239.4, 50.6),
        "MNN": (173.2, 110.1, 80.6, 267.1, 54.2),
        "LiteRT": (202.4, 120.5, 130.4, 639.2, 75.8),
        "onnxruntime": (246.1, 180.7, 136.4, 665.3, 76.1),
    },
    ("neoverse-n1", "fp16"): {
        "ncnn": (90.4, 54.1, 43.9, 130.1, 36.6),
        "MNN": (90.9, 57.4, 43.1, 141.1, 31.1),
    },
    ("neoverse-n1", "int8"): {
        "ncnn": (62.0, 92.4, 40.1, 155.3, 32.4),
        "LiteRT": (64.0, 49.2, 39.3, 178.9, 26.6),
        "onnxruntime": (79.2, 64.3, 54.3, 200.0, 47.1),
    },
    ("max", "int8"): {
        "ncnn": (45.5, 84.7, 29.7, 98.0, 28.5),
        "LiteRT": (50.0, 44.2, 32.5, 136.5, 24.0),
    },
    ("cortex-a7", "fp32"): {"ncnn": (191.8, 114.1, 89.6, 280.6, 57.5)},
    ("rv64,v=true,vext_spec=v1.0,vlen=128", "fp32"): {"ncnn": (336.6, 190.2, 149.6, 469.6, 100.5)},
}


#: By network, by processor and element type, by engine: instructions, or why there is no count.
FILE = Path(__file__).with_name("peers.json")
Counts = dict[str, dict[str, dict[str, int | str]]]


@functools.cache
def of_real() -> Counts:
    found: Counts = json.loads(FILE.read_text())
    return found


def record(network: str, cpu: str, dtype: str, engine: str, found: int | str) -> None:
    """Keep what was counted."""
    counts: Counts = json.loads(FILE.read_text()) if FILE.exists() else {}
    counts.setdefault(network, {}).setdefault(f"{cpu} {dtype}", {})[engine] = found
    FILE.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")


def counted(network: str, cpu: str, dtype: str, size: int) -> dict[str, int]:
    """Instructions by engine; empty where none was counted."""
    if network not in _NETWORKS:
        known = of_real().get(network, {}).get(f"{cpu} {dtype}", {})
        return {engine: number for engine, number in known.items() if isinstance(number, int)}
    if size != 224:
        return {}
    place = _NETWORKS.index(network)
    return {engine: round(counts[place] * 1e6) for engine, counts in _COUNTS.get((cpu, dtype), {}).items()}


def best(network: str, cpu: str, dtype: str, size: int) -> int | None:
    """The fewest instructions that any of them needs; None where none was counted."""
    return min(counted(network, cpu, dtype, size).values(), default=None)
