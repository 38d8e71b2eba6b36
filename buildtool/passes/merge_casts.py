"""Merges casts in a row where the first one loses nothing."""

from __future__ import annotations

import numpy as np

from buildtool.ir.graph import Graph
from buildtool.ir.types import DType
from buildtool.ops.cast import Cast
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class MergeCasts(Pass):
    name = "merge_casts"
    summary = "remove a cast to a wider type that is followed by another cast"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            first = editor.producer(node.inputs[0]) if isinstance(node.op, Cast) else None
            if first is None or not isinstance(first.op, Cast):
                continue
            if _loses_nothing(first.inputs[0].type.dtype, first.op.to):
                editor.set_inputs(node, first.inputs)
                editor.remove_if_unused(first)
        return editor.changed


def _loses_nothing(source: DType, target: DType) -> bool:
    if target is DType.BOOL or DType.BF16 in (source, target):
        return source is target or (source is DType.BF16 and target in (DType.F32, DType.F64))
    return bool(np.can_cast(source.numpy, target.numpy, "safe"))
