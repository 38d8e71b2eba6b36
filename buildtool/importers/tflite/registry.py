"""The handlers of TFLite, by the names of its built-in operators and the codes of custom ones."""

from __future__ import annotations

from buildtool.importers.registry import Registry

REGISTRY = Registry("tflite", "buildtool.importers.tflite.handlers")
handler, evaluator = REGISTRY.handler, REGISTRY.evaluator
