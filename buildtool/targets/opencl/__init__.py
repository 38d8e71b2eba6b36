"""GPUs with OpenCL, together with the CPU beside them: the same libraries, with parts of models in device regions."""

from buildtool.targets.opencl.capabilities import OPENCL
from buildtool.targets.opencl.target import OpenclTarget

TARGET = OpenclTarget("opencl", OPENCL)
