"""Dilated convolutions as TensorFlow 1 writes them: elements of blocks become images, which are convolved, and go back.

Only the convolution that stands for all three is added; what nobody reads any more is dropped later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from buildtool.importers.model import SourceNode
from buildtool.ir.operator import Array

_CONVOLUTIONS = frozenset({"Conv2D", "DepthwiseConv2dNative"})


def with_dilations(nodes: Sequence[SourceNode]) -> list[SourceNode]:
    """The nodes, with BatchToSpaceND as a dilated convolution where it ends one."""
    makers = {name: node for node in nodes for name in node.outputs}
    return [_dilated(node, makers) or node if node.op == "BatchToSpaceND" else node for node in nodes]


def _dilated(back: SourceNode, makers: Mapping[str, SourceNode]) -> SourceNode | None:
    """The convolution that does all at once."""
    convolution = makers.get(back.inputs[0]) if len(back.inputs) == 3 else None
    if convolution is None or convolution.op not in _CONVOLUTIONS or len(convolution.inputs) != 2:
        return None
    there = makers.get(convolution.inputs[0])
    if there is None or there.op != "SpaceToBatchND" or len(there.inputs) != 3:
        return None
    blocks, again = _numbers(there.inputs[1], makers, 1), _numbers(back.inputs[1], makers, 1)
    pads, crops = _numbers(there.inputs[2], makers, 2), _numbers(back.inputs[2], makers, 2)
    if blocks is None or again is None or pads is None or crops is None or not np.array_equal(blocks, again):
        return None
    plain = (
        convolution.attributes.get("padding") == "VALID"
        and set(_listed(convolution, "strides")) == {1}
        and set(_listed(convolution, "dilations")) <= {1}
        and convolution.attributes.get("data_format", "NHWC") == "NHWC"
    )
    if not plain or blocks.shape != (2,) or pads.shape != (2, 2) or crops.shape != (2, 2) or (pads < crops).any():
        return None
    around = (0, 0, *(int(item) for item in (pads - crops).reshape(-1)), 0, 0)
    attributes = {
        **convolution.attributes,
        "padding": "EXPLICIT",
        "explicit_paddings": around,
        "dilations": (1, *(int(item) for item in blocks), 1),
    }
    return replace(
        convolution,
        name=back.name,
        inputs=(there.inputs[0], convolution.inputs[1]),
        outputs=back.outputs,
        attributes=attributes,
    )


def _listed(node: SourceNode, key: str) -> tuple[object, ...]:
    value = node.attributes.get(key, ())
    return value if isinstance(value, tuple) else (value,)


def _numbers(name: str, makers: Mapping[str, SourceNode], rank: int) -> Array | None:
    """A constant that is a list (rank 1) or a list of pairs (rank 2) of whole numbers."""
    maker = makers.get(name)
    for _ in range(len(makers)):
        if maker is None or maker.op != "Identity" or not maker.inputs:
            break
        maker = makers.get(maker.inputs[0])
    value = maker.attributes.get("value") if maker is not None and maker.op == "Const" else None
    if not isinstance(value, np.ndarray) or value.ndim != rank or value.dtype.kind not in "iu":
        return None
    return value.astype(np.int64)
