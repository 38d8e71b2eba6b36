"""Masks: which steps of a sequence count. Keras hands them on beside the tensors; what reads one is refused."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.importers.model import SourceNode

#: Layers whose result depends on the mask of their input.
_READERS = frozenset(
    {"LSTM", "GRU", "SimpleRNN", "Bidirectional", "GlobalAveragePooling1D", "MultiHeadAttention", "Attention"}
    | {"AdditiveAttention", "Softmax", "TimeDistributed"}
)
#: Layers that do not hand a mask on.
_ENDS = frozenset({"Flatten", "GlobalMaxPooling1D", "Conv1D", "Reshape", "Dot"})


def check(nodes: Sequence[SourceNode], where: Where) -> None:
    """UnsupportedError for all layers that would read a mask. `nodes` are in execution order."""
    masked: set[str] = set()
    problems = []
    for node in nodes:
        makes = node.op == "Masking" or (node.op == "Embedding" and node.attributes.get("mask_zero"))
        gets = not masked.isdisjoint(node.inputs)
        if gets and node.op in _READERS and not node.domain:
            problems.append(_problem(node, where))
        if makes or (gets and node.op not in _ENDS):
            masked.update(node.outputs)
    if problems:
        raise UnsupportedError(problems)


def _problem(node: SourceNode, where: Where) -> Problem:
    return Problem(
        f"{node.op}: it gets a mask, from an Embedding with mask_zero or from Masking",
        Where(where.file, model=where.model, node=node.name),
        rule="masks are not supported: all steps of a sequence are used",
        remedy="export the model as a SavedModel, which computes its masks: model.export('FOLDER') and"
        " platform: tensorflow; or build it without masks, and cut the sequences to their length",
    )
