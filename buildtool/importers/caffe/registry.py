"""The handlers of Caffe, by the types of its layers."""

from __future__ import annotations

from buildtool.importers.registry import Registry

REGISTRY = Registry("caffe", "buildtool.importers.caffe.handlers")
handler = REGISTRY.handler
