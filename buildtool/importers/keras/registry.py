"""The handlers of Keras, by the names of its layer classes; functions of `keras.ops` are `ops.Name`."""

from __future__ import annotations

from buildtool.importers.registry import Registry

REGISTRY = Registry("keras", "buildtool.importers.keras.handlers")
handler = REGISTRY.handler
