"""What the CPU target builds for, as data."""

from __future__ import annotations

from buildtool.runtimes import Runtime
from buildtool.targets.processors import ABIS
from buildtool.targets.protocol import Capabilities

CPU = Capabilities(
    runtimes=(Runtime.CPU,),
    passes=("fuse_expansions", "fuse_separable_convolutions", "fuse_attention", "fuse_integer_products"),
    abis=ABIS,
)
