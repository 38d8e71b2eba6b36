"""The handlers of TensorFlow, by the names of its operators."""

from __future__ import annotations

from buildtool.importers.registry import Registry

REGISTRY = Registry("tensorflow", "buildtool.importers.tensorflow.handlers")
handler, evaluator = REGISTRY.handler, REGISTRY.evaluator
