"""ONNX has channels first; but models converted from elsewhere often take or give images with channels last."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.model import SourceNode

_FROM_CHANNELS_LAST = (0, 3, 1, 2)
_TO_CHANNELS_LAST = (0, 2, 3, 1)


def channels_last(nodes: Sequence[SourceNode]) -> frozenset[str]:
    """The tensors that are turned to channels first by all that read them, or are results turned to channels last."""
    read = {name for node in nodes for name in node.reads}
    read_as_they_are = {name for node in nodes if not _turns(node, _FROM_CHANNELS_LAST) for name in node.reads}
    results = {name for node in nodes if _turns(node, _TO_CHANNELS_LAST) for name in node.outputs} - read
    return frozenset(read - read_as_they_are | results) - {""}


def _turns(node: SourceNode, perm: tuple[int, ...]) -> bool:
    found = node.attributes.get("perm")  # of any type, in a file of any origin
    return node.op == "Transpose" and isinstance(found, tuple) and found == perm
