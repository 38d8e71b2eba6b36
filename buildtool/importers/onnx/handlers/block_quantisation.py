"""MatMulNBits and GatherBlockQuantized of com.microsoft: weights of a few bits, with a scale per block."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.dims import ceil_div
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

_BITS = (2, 4, 8)


@handler("com.microsoft.MatMulNBits")
def product_of_few_bits(step: Step) -> Tensor:
    """Inputs: A, the weights [N, blocks, bytes], their scales, zero points, an order of rows, bias."""
    bits, block = _width(step), step.integer("block_size")
    rows, columns = step.integer("N"), step.integer("K")
    if step.integer("weight_prepacked", 0):
        step.unsupported(f"the attribute 'weight_prepacked' is {step.integer('weight_prepacked')}", "export it with 0")
    if step.optional(4) is not None:
        step.unsupported("the input 'g_idx'", "export the model without an order of rows")
    if min(rows, columns, block) < 1:
        step.malformed(f"its weights have {rows} rows and {columns} columns in blocks of {block}")
    blocks = -(-columns // block)
    packed = _bytes(step, 1, "weights", rows * blocks * (block * bits // 8))
    stored = _unpacked(packed.reshape(rows, -1), bits)[:, :columns]
    scales = step.reshape(step.input(2), (rows, blocks))
    weights = _real(step, stored, scales, _zeros(step, bits, (rows, blocks)), block)
    bias = step.optional(5)
    rest = () if bias is None else (bias,)
    return step.emit("fully_connected", step.input(0), weights, *rest, **NO_ACTIVATION)


def _width(step: Step) -> int:
    bits = step.integer("bits", 4)
    if bits not in _BITS:
        step.unsupported(f"the attribute 'bits' is {bits}", f"supported: {', '.join(map(str, _BITS))}")
    return bits


def _bytes(step: Step, index: int, what: str, count: int) -> Array:
    """The content of an input of packed numbers."""
    packed = step.known(index, what)
    if packed.dtype != np.uint8 or packed.size != count:
        step.malformed(f"its {what} (input {index}) are {packed.size} elements of {packed.dtype}, not {count} bytes")
    return packed


def _unpacked(packed: Array, bits: int) -> Array:
    """Bytes of several numbers along the last axis, the lowest bits first -> a byte for each."""
    if bits == 8:
        return packed
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    apart = (packed[..., None] >> shifts) & np.uint8(2**bits - 1)
    return np.asarray(apart.reshape(*packed.shape[:-1], packed.shape[-1] * len(shifts)))


def _zeros(step: Step, bits: int, shape: tuple[int, int]) -> Tensor:
    """A zero point per block: packed like the weights, or real numbers."""
    given = step.optional(3)
    if given is None:
        return step.constant(np.full(shape, 2 ** (bits - 1), np.uint8))
    if given.dtype is not DType.U8:
        return step.reshape(given, shape)
    rows, blocks = shape
    packed = _bytes(step, 3, "zero points", rows * -(-blocks * bits // 8))
    return step.constant(_unpacked(packed.reshape(rows, -1), bits)[:, :blocks])


def _real(step: Step, stored: Array, scales: Tensor, zeros: Tensor, block: int) -> Tensor:
    """The numbers that blocks of weights stand for."""
    if zeros.dtype is DType.U8:
        return step.emit("dequantize_linear", step.constant(stored), scales, zeros, axis=1, block=block)
    shift, factors = (
        np.repeat(step.known(index, what).reshape(scales.shape), block, axis=1)[:, : stored.shape[1]]
        for index, what in ((3, "zero points"), (2, "scales"))
    )
    return step.constant(((stored - shift) * factors).astype(scales.dtype.numpy))


@handler("com.microsoft.GatherBlockQuantized")
def gather_of_few_bits(step: Step) -> Tensor:
    """Rows of a table whose elements are stored in blocks: the rows are taken out first."""
    indices, scales, zeros = step.input(1), step.input(2), step.optional(3)
    bits, block = _width(step), step.integer("block_size", 128)
    data = step.input(0)
    if step.integer("gather_axis", 0):
        step.unsupported(f"the attribute 'gather_axis' is {step.integer('gather_axis')}", "gather along axis 0")
    axis = step.axis(step.integer("quantize_axis", 1), data.rank)
    if not axis:
        step.unsupported(f"the attribute 'quantize_axis' is {axis}", "quantise the table along another axis")
    if data.dtype is DType.U8 and _is_packed(step, data, scales, axis, block):
        data = step.constant(_unpacked(step.known(0, "table"), bits))
        if zeros is None:
            zeros = step.constant(np.full(step.known(2, "scales").shape, 2 ** (bits - 1), np.uint8))
        else:
            zeros = step.constant(_unpacked(step.known(3, "zero points"), bits)[..., : scales.shape[-1]])
    tables = [table for table in (data, scales, zeros) if table is not None]
    rows = [step.emit("gather", table, indices, axis=0) for table in tables]
    return step.emit("dequantize_linear", *rows, axis=axis + indices.rank - 1, block=block)


def _is_packed(step: Step, data: Tensor, scales: Tensor, axis: int, block: int) -> bool:
    """Whether the bytes hold several elements each: tables of the type uint4 were unpacked when the file was read."""
    last, found = step.size(data, -1), step.size(scales, -1)
    expected = ceil_div(last, block) if axis == data.rank - 1 else last
    return expected != found or step.has("bits")
