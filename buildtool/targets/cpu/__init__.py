"""CPUs under Linux: kernels in C++ behind the C interface, one library per ABI."""

from buildtool.targets.cpu.capabilities import CPU
from buildtool.targets.native_library import NativeTarget

TARGET = NativeTarget("cpu", CPU)
