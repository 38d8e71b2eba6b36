"""Which operators of TensorFlow work on complex numbers."""

from __future__ import annotations

from buildtool.importers.complex_parts import ComplexOperators

COMPLEX = ComplexOperators(
    making=frozenset({"RFFT", "Complex"}),
    taking=frozenset({"ComplexAbs", "Real", "Imag", "Angle", "IRFFT"}),
    changing=frozenset({"FFT", "IFFT", "Conj"}),
    moving=frozenset(
        {
            *("Add", "AddV2", "ConcatV2", "EnsureShape", "ExpandDims", "GatherNd", "GatherV2", "Identity", "Neg"),
            *("Pack", "Pad", "Reshape", "ReverseV2", "Slice", "Snapshot", "Split", "SplitV", "Squeeze"),
            *("StridedSlice", "Sub", "Sum", "Tile", "Transpose", "Unpack"),
        }
    ),
)
