"""What is no finding: refusals that are documented, and faults of onnxruntime's own, each with its reason."""

from __future__ import annotations

import re

from tests.strangers.judge import Verdict

#: Parts of what Lathe says, and why it may say so.
REFUSALS: dict[str, str] = {}


def reason(verdict: Verdict) -> str:
    """Why a verdict is no finding; empty where it is one."""
    if verdict.kind == "invalid":
        return "onnxruntime refuses the model"
    if verdict.kind != "refused":
        return ""
    return next((why for pattern, why in REFUSALS.items() if re.search(pattern, verdict.what)), "")
