"""ONNX models with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NEEDS = ("onnxruntime",)


def compute(onnxruntime: Any, request: Mapping[str, Any], inputs: Sequence[Any]) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what fails raises an exception that says so
    options.add_session_config_entry("session.x64quantprecision", "1")  # no sums that saturate in 16 bits
    session = onnxruntime.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])
    return list(session.run(request["outputs"], dict(zip(request["inputs"], inputs, strict=True))))
