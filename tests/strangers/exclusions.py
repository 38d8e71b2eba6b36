"""What is no finding: refusals that are documented, and faults of onnxruntime's own, each with its reason."""

from __future__ import annotations

import re

from tests.strangers.judge import Verdict

#: Parts of what Lathe says, and why it may say so.
REFUSALS: dict[str, str] = {
    "is defined twice: here and by an input": "torch exports a model that returns its input as a graph that is none",
    r"^ModelFileError: MaxPool: its window spans \d+ elements of an axis that has \d+": "torch's exporter gives an "
    "adaptive pool behind one with ceil_mode a window for the size that ONNX computed before opset 19",
}


def reason(verdict: Verdict) -> str:
    """Why a verdict is no finding; empty where it is one."""
    if verdict.kind == "invalid":
        return "onnxruntime refuses the model"
    if verdict.kind != "refused":
        return ""
    return next((why for pattern, why in REFUSALS.items() if re.search(pattern, verdict.what)), "")
