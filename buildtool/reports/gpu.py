"""What ran the parts of a model that were built for a GPU or DSP, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def words(gpu: Mapping[str, Any] | None) -> str:
    """Of what a run tells under `gpu`; a model without such parts tells nothing."""
    if not gpu or gpu["kind"] == "cpu":
        return "CPU"
    name = f"GPU {gpu['name']}, {gpu['driver']}" if gpu["kind"] == "gpu" else gpu["name"]
    return f"{name}, and the CPU" if gpu["reason"] else name
