"""Which operators of TensorFlow work on complex numbers."""

from __future__ import annotations

from collections.abc import Mapping

from buildtool.importers.complex_parts import ComplexOperators
from buildtool.importers.model import AttributeValue
from buildtool.schemas import tensorflow_graph_pb2 as pb

#: A Cast has two names more: files do not have these.
TO_COMPLEX, FROM_COMPLEX = "Cast to complex numbers", "Cast from complex numbers"
COMPLEX = ComplexOperators(
    making=frozenset({"RFFT", "Complex", TO_COMPLEX}),
    taking=frozenset({"ComplexAbs", "Real", "Imag", "Angle", "IRFFT", FROM_COMPLEX}),
    changing=frozenset({"FFT", "IFFT", "Conj"}),
    moving=frozenset(
        {
            *("Add", "AddV2", "ConcatV2", "EnsureShape", "ExpandDims", "GatherNd", "GatherV2", "Identity", "Neg"),
            *("Pack", "Pad", "Reshape", "ReverseV2", "Slice", "Snapshot", "Split", "SplitV", "Squeeze"),
            *("Mean", "StridedSlice", "Sub", "Sum", "Tile", "Transpose", "Unpack"),
        }
    ),
    computing=frozenset({"Div", "Exp", "Mul", "RealDiv", "Square"}),
)


def titled(op: str, attributes: Mapping[str, AttributeValue]) -> str:
    """The operator, and what it does with complex numbers where only its types tell."""
    ends = [attributes.get(key) == pb.DT_COMPLEX64 for key in ("SrcT", "DstT")]
    if op != "Cast" or ends[0] == ends[1]:
        return op
    return TO_COMPLEX if ends[1] else FROM_COMPLEX
