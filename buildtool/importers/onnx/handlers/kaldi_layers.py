"""Kaldi's layers without a memory: matrix products, functions of each feature, norms, statistics of frames."""

from __future__ import annotations

from functools import reduce

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.kaldi import (
    added,
    columns,
    count_of,
    frame_count,
    frames_of,
    kaldi_handler,
    linear,
    number,
    scaled,
    weights,
)
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import channels
from buildtool.importers.step import Step
from buildtool.ir.operator import Array

_FUNCTIONS = {
    "Identity": "identity",
    "NoOp": "identity",
    "Dropout": "identity",
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
}
_SOFTMAXES = {"Softmax": "softmax", "LogSoftmax": "log_softmax"}
_LEAST_SQUARE = 1e-6  # what the mean square of a row counts for at least, in parts of what it becomes


@kaldi_handler(*_FUNCTIONS)
def function(step: Step) -> Tensor:
    return step.emit(_FUNCTIONS[step.node.op], step.input(0))


@kaldi_handler(*_SOFTMAXES)
def softmax(step: Step) -> Tensor:
    x = step.input(0)
    return step.emit(_SOFTMAXES[step.node.op], x, axis=step.axis(step.integer("axis", -1), x.rank))


@kaldi_handler("Sum")
def total(step: Step) -> Tensor:
    return reduce(lambda a, b: added(step, a, b), step.present())


@kaldi_handler("Scale")
def scale(step: Step) -> Tensor:
    x = step.input(0)
    if step.has("scale"):
        return step.emit("mul", x, step.constant(np.array(number(step, "scale", 1.0), x.dtype.numpy)))
    return step.emit("mul", x, step.input(1))


@handler("ImageScaler")
@kaldi_handler("ImageScaler")
def image_scaler(step: Step) -> Tensor:
    """x * scale + a bias for each channel, which is axis 1. ONNX had the operator in its first versions."""
    x, bias = step.input(0), np.array(step.reals("bias"))
    if x.rank < 2 or len(bias) != channels(step, x):
        step.malformed(f"{len(bias)} biases do not fit {x.type}")
    offsets = bias.reshape(-1, *(1 for _ in x.shape[2:])).astype(x.dtype.numpy)
    return added(step, scaled(step, x, number(step, "scale", 1.0)), step.constant(offsets))


@kaldi_handler("Affine", "Gemm", "Linear")
def affine(step: Step) -> Tensor:
    """x @ w^T + b; of Affine and Gemm also with blocks of features that are multiplied each for itself."""
    x, matrix = step.input(0), weights(step, 1, "weights", 2)
    bias = None if step.optional(2) is None else weights(step, 2, "bias", 1)
    repeats, blocks = count_of(step, "num_repeats", 1), count_of(step, "num_blocks", 1)
    parts = max(repeats, blocks)
    if parts == 1:
        return linear(step, x, matrix, bias)
    if min(repeats, blocks) > 1 or channels(step, x, -1) != parts * matrix.shape[1] or matrix.shape[0] % blocks:
        step.malformed(f"weights {list(matrix.shape)} for {repeats} repeats or {blocks} blocks of {x.type}")
    split = step.reshape(x, (*x.shape[:-1], parts, matrix.shape[1]))
    if repeats > 1:
        y = linear(step, split, matrix, bias)
        return step.reshape(y, (*x.shape[:-1], parts * matrix.shape[0]))
    return _block_diagonal(step, split, matrix.reshape(blocks, -1, matrix.shape[1]), bias)


def _block_diagonal(step: Step, x: Tensor, matrices: Array, bias: Array | None) -> Tensor:
    """Each block of [..., blocks, K] by a matrix of its own."""
    blocks, rows, _ = matrices.shape
    single = step.reshape(x, (*x.shape[:-1], 1, x.shape[-1]))
    y = step.emit("matmul", single, step.constant(matrices.transpose(0, 2, 1).astype(x.dtype.numpy)))
    y = step.reshape(y, (*x.shape[:-2], blocks * rows))
    return y if bias is None else added(step, y, step.constant(bias.astype(x.dtype.numpy)))


@kaldi_handler("BatchNorm")
def batch_norm(step: Step) -> Tensor:
    """(x - mean) / deviation * target_rms, with stored statistics (test_mode) or those of all frames at hand."""
    x = frames_of(step)
    width = channels(step, x, -1)
    block = step.integer("block_dim", -1)
    block = width if block == -1 else block
    epsilon, target = number(step, "epsilon", 1e-3), number(step, "target_rms", 1.0)
    if block < 1 or width % block or not 0 < epsilon < np.inf or not 0 < target < np.inf:
        step.malformed(f"blocks of {block} of {width} features, epsilon {epsilon}, target_rms {target}")
    if step.integer("test_mode", 0):
        statistics = [weights(step, index, "statistics", 1) for index in (1, 2)]
        if any(array.size != block for array in statistics):
            step.malformed(f"statistics of {[array.size for array in statistics]} features for blocks of {block}")
        means, variances = (np.tile(array, width // block) for array in statistics)
        rows = (np.full(width, target), np.zeros(width), means, np.maximum(variances, 0))
        operands = [step.constant(row.astype(x.dtype.numpy)) for row in rows]
        return step.emit("batch_norm", x, *operands, epsilon=epsilon)
    split = step.reshape(x, (*x.shape[:-1], width // block, block))
    axes = tuple(range(split.rank - 1))
    apart = step.emit("sub", split, step.emit("reduce_mean", split, axes=axes, keepdims=True))
    variance = step.emit("reduce_mean", step.emit("mul", apart, apart), axes=axes, keepdims=True)
    deviation = step.emit("sqrt", added(step, variance, step.constant(np.array(epsilon, x.dtype.numpy))))
    return step.reshape(scaled(step, step.emit("div", apart, deviation), target), x.shape)


@kaldi_handler("Normalize", "TargetRMSNorm")
def target_rms_norm(step: Step) -> Tensor:
    """Rows, or blocks of them, whose root mean square becomes target_rms; on request its logarithm behind each."""
    if step.node.op == "Normalize" and step.optional(1) is not None:
        return added(step, step.emit("mul", step.input(0), step.input(1)), step.input(2))
    x = step.input(0)
    width, target = channels(step, x, x.rank - 1), number(step, "target_rms", 1.0)
    block = step.integer("block_dim", 0) or width
    if block < 1 or width % block or not 0 < target < np.inf:
        step.malformed(f"blocks of {block} of {width} features, target_rms {target}")
    rows = step.reshape(x, (*x.shape[:-1], width // block, block))
    square = step.emit("reduce_mean", step.emit("mul", rows, rows), axes=(rows.rank - 1,), keepdims=True)
    least = step.constant(np.array(_LEAST_SQUARE * target * target, x.dtype.numpy))
    size = step.emit("sqrt", step.emit("maximum", square, least))
    y = scaled(step, step.emit("div", rows, size), target)
    if step.integer("add_log_stddev", 0):
        y = step.emit("concat", y, step.emit("log", size), axis=rows.rank - 1)
        return step.reshape(y, (*x.shape[:-1], width + width // block))
    return step.reshape(y, x.shape)


@kaldi_handler("PNorm")
def p_norm(step: Step) -> Tensor:
    """The norm of each group of neighbouring features."""
    x, groups, power = step.input(0), count_of(step, "output_dim"), number(step, "p", 2.0)
    width = channels(step, x, x.rank - 1)
    if width % groups:
        step.malformed(f"{width} features cannot be divided into {groups} groups")
    rows = step.reshape(x, (*x.shape[:-1], groups, width // groups))
    axes = (rows.rank - 1,)
    if power == 2:
        return step.emit("sqrt", step.emit("reduce_sum", step.emit("mul", rows, rows), axes=axes, keepdims=False))
    sizes = step.emit("abs", rows)
    if power == 0:  # how many are not 0, but for rounding
        least = step.constant(np.array(np.finfo(np.float32).eps, x.dtype.numpy))
        sizes = step.emit("cast", step.emit("less", least, sizes), to=x.dtype)
    elif power != 1:
        step.unsupported(f"a norm of power {power}", "0, 1 and 2 are supported")
    return step.emit("reduce_sum", sizes, axes=axes, keepdims=False)


@kaldi_handler("SumGroup")
def sum_group(step: Step) -> Tensor:
    """The sum of each group of neighbouring features; features behind the last group are left out."""
    x, sizes = step.input(0), step.known_ints(1, "group sizes")
    width = channels(step, x, x.rank - 1)
    if not sizes or min(sizes) < 1 or sum(sizes) > width:
        step.malformed(
            f"{len(sizes)} groups of {width} features: sizes from {min(sizes, default=0)}, in all {sum(sizes)}"
        )
    largest = max(sizes)
    if largest == 1:
        return columns(step, x, 0, len(sizes))
    if min(sizes) == largest:
        rows = step.reshape(columns(step, x, 0, sum(sizes)), (*x.shape[:-1], len(sizes), largest))
    else:
        step.check_table(len(sizes), largest)
        ends = np.cumsum(sizes)
        places = (ends - sizes)[:, None] + np.arange(largest)
        table = np.where(places < ends[:, None], places, width).astype(np.int32)  # shorter groups are filled with zeros
        after = (*(0 for _ in x.shape[:-1]), 1)
        filled = step.emit("pad", x, before=(0,) * x.rank, after=after, mode="constant", value=0.0)
        rows = step.emit("gather", filled, step.constant(table), axis=x.rank - 1)
    return step.emit("reduce_sum", rows, axes=(rows.rank - 1,), keepdims=False)


@kaldi_handler("ExtractPooling")
def extract_pooling(step: Step) -> Tensor:
    """Of windows of frames: the logarithm of how many there are, their mean, and their standard deviation."""
    x = frames_of(step)
    means = _averages(step, x)
    mean = step.emit("matmul", means, x)
    parts = [mean]
    if step.integer("include_variance", 0):
        floor = number(step, "variance_floor", 1e-10)
        if not 0 <= floor < np.inf:
            step.malformed(f"the attribute 'variance_floor' is {floor}")
        square = step.emit("matmul", means, step.emit("mul", x, x))
        variance = step.emit("sub", square, step.emit("mul", mean, mean))
        least = step.constant(np.array(floor, x.dtype.numpy))
        parts.append(step.emit("sqrt", step.emit("maximum", variance, least)))
    logs = step.integer("num_log_count", 0)
    if logs < 0:
        step.malformed(f"the attribute 'num_log_count' is {logs}")
    if logs:
        counts = np.log(np.array(step.reals("counts")))
        step.check_table(len(counts), logs)
        table = step.constant(np.repeat(counts[:, None], logs, axis=1).astype(x.dtype.numpy))
        parts.insert(0, step.emit("broadcast_to", table, shape=(*x.shape[:-2], len(counts), logs)))
    return parts[0] if len(parts) == 1 else step.emit("concat", *parts, axis=x.rank - 1)


def _averages(step: Step, x: Tensor) -> Tensor:
    """A matrix that makes the means of windows out of frames."""
    if not x.dtype.is_float:
        step.malformed(f"statistics of {x.dtype.value}")
    borders, counts = step.integers("forward_indexes"), step.reals("counts")
    if not counts or len(borders) != 2 * len(counts):
        step.malformed(f"{len(counts)} windows with {len(borders)} borders")
    frames = frame_count(step, x)
    step.check_table(len(counts), frames)
    table = np.zeros((len(counts), frames))
    for row, start, end, count in zip(table, borders[::2], borders[1::2], counts, strict=True):
        if not 0 <= start < end <= frames or count != end - start:
            step.malformed(f"a window of {count:g} frames from {start} to {end} of {frames}")
        row[start:end] = 1 / count
    return step.constant(table.astype(x.dtype.numpy))
