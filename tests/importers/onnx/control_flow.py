"""Models with branches and loops, as exporters write them, and inputs for which they go different ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
import onnx.parser

from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.operator import Array
from buildtool.ops.registry import registry

Shapes: TypeAlias = Mapping[str, tuple[int | tuple[int, int], ...]]


@dataclass(frozen=True)
class Model:
    """A model in the text form of ONNX. Each run gives all inputs by name."""

    text: str
    runs: Sequence[Mapping[str, Array]]
    holds: tuple[str, ...] = ("loop",)  # operators of the graph that are left after import
    bounded: Shapes | None = None  # shapes that are asked for
    weights: Mapping[str, Array] = field(default_factory=dict)  # those that are too many for the text
    opset: int = 17

    def proto(self) -> onnx.ModelProto:
        proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {self.opset}]> model {self.text}')
        proto.graph.initializer.extend(onnx.numpy_helper.from_array(array, key) for key, array in self.weights.items())
        return proto


def _floats(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _whole(*numbers: int) -> Array:
    return np.array(numbers[0] if len(numbers) == 1 else numbers, np.int64)


def _runs(**inputs: Sequence[Any]) -> list[dict[str, Array]]:
    """One run for each position of the lists."""
    return [dict(zip(inputs, items, strict=True)) for items in zip(*inputs.values(), strict=True)]


_STEP = """{
    scaled = Mul(s, w)
    s2 = Add(scaled, x)
    twice = Add(s2, s2)
    c2 = Identity(c)
  }"""

MODELS: dict[str, Model] = {
    # The trip count is clipped, so that its scan output is bounded; the condition is handed through.
    "clipped_trip_count": Model(
        f"""(float[2,3] x, int64 n) => (float[2,3] y, float[k,2,3] all)
        <bool yes = {{1}}, int64 five = {{5}}, float[3] w = {{0.5, -1, 2}}> {{
  m = Min(n, five)
  y, all = Loop(m, yes, x) <body = b (int64 i, bool c, float[2,3] s) => (bool c2, float[2,3] s2, float[2,3] twice)
  {_STEP}>
}}""",
        _runs(x=[_floats(2, 3)] * 4, n=[_whole(item) for item in (3, 0, 9, 1)]),
    ),
    # An initial value bounds it, early exit ends it.
    "early_exit": Model(
        """(float[3] x) => (float[3] y, float[k] sums) <bool yes = {1}, int64 limit = {20}, float most = {30}> {
  y, sums = Loop(limit, yes, x) <body = b (int64 i, bool c, float[3] s) => (bool go, float[3] s2, float sum) {
    s2 = Add(s, x)
    sum = ReduceSum<keepdims = 0>(s2)
    go = Less(sum, most)
  }>
}""",
        _runs(x=[np.array(item, np.float32) for item in ([1, 2, 3], [20, 20, 1], [0, 0, 0.5], [-1, 0, 0])]),
    ),
    # Nothing is scanned, so that there need be no bound; the number of the iteration is used, and a list of one.
    "while": Model(
        """(float[4] x, int64 n) => (float[4] y, int64 steps) <float one = {1}, int64 zero = {0}> {
  y, steps = Loop(n, , x, zero) <body = b (int64[1] i, bool c, float[4] s, int64 count) =>
      (bool go, float[4] s2, int64 count2) {
    scale = Cast<to = 1>(i)
    more = Mul(x, scale)
    s2 = Add(s, more)
    axis = Constant<value = int64[1] {0}>()
    count2 = Squeeze(i, axis)
    top = ReduceMax<keepdims = 0>(s2)
    limit = Constant<value = float {100}>()
    go = Less(top, limit)
  }>
}""",
        _runs(x=[_floats(4), np.full(4, 9, np.float32), _floats(4)], n=[_whole(7), _whole(100), _whole(0)]),
    ),
    # Carried values change places, one never changes, one is the result of a view.
    "exchange": Model(
        """(float[2,2] a, float[2,2] b, int64 n) => (float[2,2] p, float[2,2] q, float[2,2] r) <bool yes = {1}> {
  p, q, r = Loop(n, yes, a, b, a) <body = g (int64 i, bool c, float[2,2] u, float[2,2] v, float[2,2] same) =>
      (bool c2, float[2,2] v2, float[2,2] u2, float[2,2] same2) {
    c2 = Identity(c)
    v2 = Identity(v)
    shape = Constant<value = int64[2] {2, 2}>()
    u2 = Reshape(u, shape)
    same2 = Identity(same)
  }>
}""",
        _runs(a=[_floats(2, 2)] * 3, b=[_floats(2, 2, seed=1)] * 3, n=[_whole(item) for item in (1, 2, 0)]),
    ),
    # A loop in a loop, which reads values of both graphs around it.
    "nested": Model(
        """(float[3] x, int64 n) => (float[3] y, float[k,3] all) <bool yes = {1}, int64 two = {2}, int64 four = {4}> {
  m = Min(n, four)
  y, all = Loop(m, yes, x) <body = outer (int64 i, bool c, float[3] s) => (bool c2, float[3] last, float[3] sum) {
    t = Neg(s)
    last, parts = Loop(two, yes, s) <body = inner (int64 j, bool d, float[3] u) => (bool d2, float[3] u2, float[3] u3) {
      first = Add(u, t)
      u2 = Add(first, x)
      u3 = Sigmoid(u2)
      d2 = Identity(d)
    }>
    axis = Constant<value = int64[1] {0}>()
    sum = ReduceSum<keepdims = 0>(parts, axis)
    c2 = Identity(c)
  }>
}""",
        _runs(x=[_floats(3)] * 3, n=[_whole(item) for item in (3, 0, 8)]),
    ),
    # How often is a size of the input.
    "size_of_the_input": Model(
        """(float[N,3] x) => (float[3] y, float[N,3] all) <bool yes = {1}, int64 zero = {0}, float[3] none = {0,0,0}> {
  shape = Shape(x)
  n = Gather(shape, zero)
  y, all = Loop(n, yes, none) <body = b (int64 i, bool c, float[3] s) => (bool c2, float[3] s2, float[3] s3) {
    row = Gather(x, i)
    s2 = Add(s, row)
    s3 = Relu(s2)
    c2 = Identity(c)
  }>
}""",
        _runs(x=[_floats(4, 3), _floats(1, 3), _floats(6, 3)]),
        bounded={"x": ((1, 6), 3)},
    ),
    # In each iteration only the data decides how much there is.
    "sizes_in_a_body": Model(
        """(float[3,4] x) => (int64[4] found, float[3] sums)
        <bool yes = {1}, int64 three = {3}, int64[4] none = {0,0,0,0}> {
  found, sums = Loop(three, yes, none) <body = b (int64 i, bool c, int64[4] s) => (bool c2, int64[4] s2, float sum) {
    row = Gather(x, i)
    places = NonZero(row)
    axis = Constant<value = int64[1] {0}>()
    flat = Squeeze(places, axis)
    kept = Gather(row, flat)
    doubled = Add(kept, kept)
    sum = ReduceSum<keepdims = 0>(doubled)
    one = Constant<value = int64[1] {1}>()
    unit = Cast<to = 7>(row)
    s2 = Add(s, unit)
    c2 = Identity(c)
  }>
}""",
        _runs(x=[np.array([[1, 0, 2, 0], [0, 0, 0, 0], [4, 5, 6, 7]], np.float32), np.ones((3, 4), np.float32)]),
    ),
    # A branch reads what stands around it, and gives one of its constants.
    "if": Model(
        """(float[3] x, float limit) => (float[3] y, float[3] z) <float[3] w = {1, -2, 3}> {
  top = ReduceMax<keepdims = 0>(x)
  r = Relu(x)
  c = Less(top, limit)
  p, z = If(c) <then_branch = a () => (float[3] p1, float[3] q1) { p1 = Add(x, r)  q1 = Identity(w) },
      else_branch = b () => (float[3] p2, float[3] q2) { t = Mul(r, w)  p2 = Exp(t)  q2 = Neg(p2) }>
  y = Add(p, r)
}""",
        _runs(x=[_floats(3), _floats(3)], limit=[np.array(item, np.float32) for item in (-5, 5)]),
        ("if_else",),
    ),
    # Branches of different sizes: what stands behind them follows.
    "sizes_of_branches": Model(
        """(float[4] x, bool c) => (float[k] y, float[1] sum) <int64[1] zero = {0}, int64[1] two = {2}> {
  part = If(c) <then_branch = a () => (float[2] h) { h = Slice(x, zero, two) },
      else_branch = b () => (float[n] all) {
        nz = NonZero(x)
        axis = Constant<value = int64[1] {0}>()
        flat = Squeeze(nz, axis)
        all = Gather(x, flat)
      }>
  y = Neg(part)
  sum = ReduceSum<keepdims = 1>(y, zero)
}""",
        _runs(
            x=[_floats(4), _floats(4), np.array([0, 1, 0, 2], np.float32), np.zeros(4, np.float32)],
            c=[np.array(True), np.array(False), np.array(False), np.array(False)],
        ),
        ("if_else",),
    ),
    # A branch in a loop, and a loop in a branch.
    "mixed": Model(
        """(float[2] x, int64 n) => (float[2] y, float[k,2] all) <bool yes = {1}, int64 six = {6}, float zero = {0}> {
  m = Min(n, six)
  y, all = Loop(m, yes, x) <body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] s2, float[2] s3) {
    sum = ReduceSum<keepdims = 0>(s)
    low = Less(sum, zero)
    s2 = If(low) <then_branch = t () => (float[2] up) {
        two = Constant<value = int64 {2}>()
        up = Loop(two, yes, s) <body = inner (int64 j, bool d, float[2] u) => (bool d2, float[2] u2) {
          a = Abs(u)
          u2 = Add(u, a)
          d2 = Identity(d)
        }>
      }, else_branch = e () => (float[2] down) { down = Sub(s, x) }>
    s3 = Add(s2, x)
    c2 = Identity(c)
  }>
}""",
        _runs(x=[np.array([1, -0.25], np.float32), np.array([-3, 1], np.float32)], n=[_whole(6), _whole(4)]),
        ("loop", "if_else"),
    ),
    # A recurrent network written out, over a sequence of run-time length, in both directions.
    "rnn_in_scan": Model(
        """(float[T,2,3] x, float[2,4] h) => (float[2,4] last, float[T,2,4] all, float[2,T,4] back) {
  last, all = Scan<num_scan_inputs = 1, body = f (float[2,4] p, float[2,3] s) => (float[2,4] q, float[2,4] r) {
    a = MatMul(s, w)
    b = MatMul(p, u)
    sum = Add(a, b)
    biased = Add(sum, bias)
    q = Tanh(biased)
    r = Identity(q)
  }>(h, x)
  unused, back = Scan<num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
      scan_output_axes = [1], body = g (float[2,4] p, float[2,3] s) => (float[2,4] q, float[2,4] r) {
    a = MatMul(s, w)
    sum = Add(a, p)
    q = Sigmoid(sum)
    r = Relu(sum)
  }>(h, x)
}""",
        _runs(x=[_floats(5, 2, 3), _floats(1, 2, 3), _floats(7, 2, 3)], h=[_floats(2, 4, seed=3)] * 3),
        bounded={"x": ((1, 7), 2, 3), "h": (2, 4)},
        weights={"w": _floats(3, 4, seed=1), "u": _floats(4, 4, seed=2), "bias": _floats(4, seed=4)},
    ),
    # Pictures in a loop: layouts change at its borders and within.
    "convolutions": Model(
        """(float[1,2,5,5] x, int64 n) => (float[1,2,5,5] y) <bool yes = {1}> {
  r = Relu(x)
  y = Loop(n, yes, r) <body = b (int64 i, bool c, float[1,2,5,5] s) => (bool c2, float[1,2,5,5] s3) {
    s1 = Conv<pads = [1, 1, 1, 1]>(s, k)
    s2 = Relu(s1)
    s3 = Add(s2, r)
    c2 = Identity(c)
  }>
}""",
        _runs(x=[_floats(1, 2, 5, 5)] * 2, n=[_whole(3), _whole(0)]),
        weights={"k": _floats(2, 2, 3, 3, seed=5) * 0.2},
    ),
}


def model(name: str) -> onnx.ModelProto:
    return MODELS[name].proto()


def request(folder: Path, name: str) -> ImportRequest:
    """What asks for a model in the shapes that it is tested in."""
    return request_for(folder, model(name), MODELS[name].bounded)


def request_for(folder: Path, proto: onnx.ModelProto, shapes: Shapes | None = None) -> ImportRequest:
    file = folder / "model.onnx"
    onnx.save(proto, file)

    def tensor(info: onnx.ValueInfoProto) -> TensorRequest:
        pictures = len(info.type.tensor_type.shape.dim) == 4
        return TensorRequest(info.name, (shapes or {}).get(info.name), "NCHW" if pictures else "NONE", None)

    inputs, outputs = (tuple(map(tensor, items)) for items in (proto.graph.input, proto.graph.output))
    return ImportRequest("control", file, None, inputs, outputs, registry(()))
