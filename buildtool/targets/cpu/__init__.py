"""CPUs under Linux: kernels in C++ behind the C interface, one library per ABI."""

from buildtool.targets.cpu.target import CpuTarget

TARGET = CpuTarget()
