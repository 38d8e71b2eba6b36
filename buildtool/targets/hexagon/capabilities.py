"""What the Hexagon target builds for, as data."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from buildtool.runtimes import Runtime
from buildtool.targets.processors import ABIS
from buildtool.targets.protocol import Capabilities

#: The word of kernels that hand their node to the DSP. It goes before the instruction sets of all processors.
_DEVICE = "hexagon"

#: What programs on the DSP have kernels for, the best first. Every DSP of the versions that are built has vectors.
DSP_ISAS = ("hvx", "portable")

HEXAGON = Capabilities(
    # A model that is for the CPU alone may stand beside others in a library.
    runtimes=(Runtime.DSP, Runtime.CPU_DSP, Runtime.CPU),
    abis=MappingProxyType(
        {
            abi: replace(known, isas=(_DEVICE, *known.isas))
            for abi, known in ABIS.items()
            if known.object_format == "elf"
        }
    ),
)
