"""Errors planted into libraries on purpose: a weight that is flipped, a kernel that is off by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from buildtool.codegen.native_sources import NativeSources
from buildtool.ir.types import dtype_from_code
from buildtool.schemas import container_pb2 as pb

SIGN, EXPONENT = 31, 29  # bits of a float; the second makes it larger or smaller by many powers of two

_OFF_BY_ONE = """
namespace lathe {{
namespace {{

// The last row is written one place too far.
void OffByOne(const RunContext& context) {{
  lathe_kernel.run(context);
  const Tensor& out = context.outputs[0];
  const int64_t size = out.shape[-1], rows = out.shape.Count() / size;
  float* row = static_cast<float*>(out.data) + (rows - 1) * out.RowStep();
  for (int64_t i = size - 1; i > 0; --i) row[i] = row[i - 1];
}}

constexpr KernelFunctions Planted() {{
  KernelFunctions kernel = lathe_kernel;
  kernel.run = OffByOne;
  return kernel;
}}

}}  // namespace
}}  // namespace lathe

LATHE_DEFINE_KERNEL({facts}, lathe::Planted());
"""


def off_by_one(kernel: str, patch: pytest.MonkeyPatch) -> None:
    """From now on builds take this kernel from a copy that is wrong."""
    right = NativeSources.read

    def read(sources: NativeSources, path: str) -> bytes:
        contents = right(sources, path)
        if not path.endswith(f"/{kernel}.cc") or b"OffByOne" in contents:
            return contents
        head, _, definition = contents.decode().partition("LATHE_DEFINE_KERNEL(")
        return (head + _OFF_BY_ONE.format(facts=definition.rpartition(", lathe_kernel")[0])).encode()

    patch.setattr(NativeSources, "read", read)


@dataclass(frozen=True)
class Weight:
    """One number of a constant, in the file of a planned model."""

    file: Path
    node: str  # the first that reads it
    offset: int
    value: float

    def flip(self, bit: int) -> None:
        """Flip a bit of it; twice is as before."""
        with self.file.open("r+b") as stream:
            stream.seek(self.offset)
            (bits,) = np.frombuffer(stream.read(4), "<u4")
            stream.seek(self.offset)
            stream.write(np.asarray(bits ^ np.uint32(1 << bit), "<u4").tobytes())


def weights(model: Path) -> Iterator[tuple[str, tuple[Weight, ...]]]:
    """The nodes of a planned model in order, with the numbers of their largest constant of floats."""
    message = pb.Model.FromString(model.with_suffix(".pb").read_bytes())
    data = model.with_suffix(".data").read_bytes()
    for node in message.graph.body.nodes:
        stored = [message.graph.values[index] for index in node.inputs]
        floats = [
            value.constant
            for value in stored
            if value.HasField("constant") and dtype_from_code(value.constant.storage).numpy == np.float32
        ]
        if not floats:
            continue
        constant = max(floats, key=lambda item: item.size)
        array = np.frombuffer(data, "<f4", constant.size // 4, constant.offset)
        file = model.with_suffix(".data")
        yield (
            node.name,
            tuple(Weight(file, node.name, constant.offset + 4 * i, float(x)) for i, x in enumerate(array) if x),
        )
