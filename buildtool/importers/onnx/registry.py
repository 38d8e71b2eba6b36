"""The handlers of ONNX, by the titles of its operators: `Conv`, `com.microsoft.QLinearAdd`."""

from __future__ import annotations

from buildtool.importers.registry import Registry

REGISTRY = Registry("onnx", "buildtool.importers.onnx.handlers")
handler, evaluator = REGISTRY.handler, REGISTRY.evaluator
