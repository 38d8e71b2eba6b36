"""Microcontrollers: a model of 8-bit integers becomes C without an interpreter and without a heap.

`lowering` reads a graph into a `network`, whose layers compute exactly what LiteRT's reference kernels compute
(`reference`); `planning` places its tensors in one arena; `emitting` writes sources, constants and projects.
"""

from buildtool.targets.micro.target import MicroTarget

TARGET = MicroTarget()
