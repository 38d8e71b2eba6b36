"""Einsum, which frameworks have in common."""

from __future__ import annotations

from buildtool.importers.einsum import einsum
from buildtool.importers.onnx.registry import handler

handler("Einsum")(einsum)
