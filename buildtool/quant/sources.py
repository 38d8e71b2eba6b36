"""Models that come with quantised operators."""

from __future__ import annotations

from buildtool.errors import Problem, Where
from buildtool.ir.graph import Graph

#: The position of a scale of activations in operators of quantised models.
_SCALES = {"quantize_linear": (1,), "qlinear_conv": (1,), "qlinear_matmul": (1,)}


def is_quantised(graph: Graph) -> bool:
    """Whether an imported model stores what it computes in a few bits, by scales that it holds."""
    return any(
        scale < len(node.inputs) and node.inputs[scale].is_constant and not node.inputs[0].is_constant
        for node in graph.walk()
        for scale in _SCALES.get(node.op.name, ())
    )


def computed_in_float(where: Where) -> Problem:
    return Problem(
        "this model is quantised; it will be computed in float, several times slower",
        where,
        rule="quantised operators are computed in 8 bits where the deployment file says `quantize: 1`",
        remedy="write quantize: 1",
    )
