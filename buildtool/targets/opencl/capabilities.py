"""What the OpenCL target builds for, as data."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from buildtool.runtimes import Runtime
from buildtool.targets.processors import ABIS
from buildtool.targets.protocol import Capabilities

#: The word of kernels that hand their node to a device. It goes before the instruction sets of all processors.
_DEVICE = "opencl"

OPENCL = Capabilities(
    # A model that is for the CPU alone may stand beside others in a library.
    runtimes=(Runtime.GPU, Runtime.CPU_GPU, Runtime.CPU),
    abis=MappingProxyType(
        {
            abi: replace(known, isas=(_DEVICE, *known.isas))
            for abi, known in ABIS.items()
            if known.object_format == "elf"
        }
    ),
)
