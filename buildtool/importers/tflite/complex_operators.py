"""Which operators of TFLite work on complex numbers."""

from __future__ import annotations

from buildtool.importers.complex_parts import ComplexOperators

COMPLEX = ComplexOperators(
    making=frozenset({"RFFT2D"}),
    taking=frozenset({"COMPLEX_ABS", "REAL", "IMAG"}),
    changing=frozenset(),
    moving=frozenset({"EXPAND_DIMS", "RESHAPE", "SLICE", "SQUEEZE", "STRIDED_SLICE", "TRANSPOSE"}),
)
