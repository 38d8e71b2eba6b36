"""Models that compute with the sizes of their inputs, and inputs of several sizes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from buildtool.importers.request import ImportRequest
from buildtool.ir.operator import Array
from tests.importers.onnx.control_flow import Model, Shapes, request_for


def _floats(*shape: int) -> Array:
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def _sized(
    text: str,
    holds: tuple[str, ...],
    bounded: Shapes,
    *shapes: Mapping[str, tuple[int, ...]],
    opset: int = 17,
    **weights: Array,
) -> Model:
    """A model with one run for each mapping of its inputs to shapes."""
    runs = [{name: _floats(*shape) for name, shape in mapping.items()} for mapping in shapes]
    return Model(text, runs, holds, bounded, weights, opset)


def _grid(picture: str, scale: str, name: str) -> str:
    """Nodes that make the centres of all pixels."""
    return f"""{name}_sizes = Shape({picture})
  {name}_h = Gather({name}_sizes, two)
  {name}_w = Gather({name}_sizes, three)
  {name}_y = Range(zero, {name}_h, one)
  {name}_x = Range(zero, {name}_w, one)
  {name}_area = Shape<start = 2>({picture})
  {name}_tall = Unsqueeze({name}_y, minus)
  {name}_rows = Expand({name}_tall, {name}_area)
  {name}_columns = Expand({name}_x, {name}_area)
  {name}_rows1 = Unsqueeze({name}_rows, minus)
  {name}_columns1 = Unsqueeze({name}_columns, minus)
  {name}_pairs = Concat<axis = 2>({name}_columns1, {name}_rows1)
  {name}_real = Cast<to = 1>({name}_pairs)
  {name}_centred = Add({name}_real, half)
  {name}_scaled = Mul({name}_centred, {scale})
  {name} = Reshape({name}_scaled, form)"""


_D = ("dimensions",)

MODELS: dict[str, Model] = {
    # Positions behind a cache, a causal mask by comparison, attention over cache and new keys; the cache may be empty.
    "decoder": _sized(
        """(float[1,t,8] x, float[1,p,8] keys, float[1,p,8] values) => (float[1,t,8] y, float[1,s,8] k, float[1,s,8] v)
        <int64 zero = {0}, int64 one = {1}, int64[1] axis0 = {0}, int64[1] axis1 = {1}, float low = {-1000}> {
  k = Concat<axis = 1>(keys, x)
  twice = Add(x, x)
  v = Concat<axis = 1>(values, twice)
  sizes = Shape(x)
  t = Gather(sizes, one)
  cached = Shape(keys)
  past = Gather(cached, one)
  all = Add(past, t)
  steps = Range(zero, t, one)
  rows = Add(steps, past)
  columns = Range(zero, all, one)
  tall = Unsqueeze(rows, axis1)
  wide = Unsqueeze(columns, axis0)
  seen = LessOrEqual(wide, tall)
  place = Cast<to = 1>(tall)
  wave = Sin(place)
  q = Add(x, wave)
  kt = Transpose<perm = [0, 2, 1]>(k)
  scores = MatMul(q, kt)
  masked = Where(seen, scores, low)
  shares = Softmax<axis = -1>(masked)
  y = MatMul(shares, v)
}""",
        _D,
        {"x": (1, (1, 6), 8), "keys": (1, (0, 12), 8), "values": (1, (0, 12), 8)},
        {"x": (1, 3, 8), "keys": (1, 0, 8), "values": (1, 0, 8)},
        {"x": (1, 1, 8), "keys": (1, 3, 8), "values": (1, 3, 8)},
        {"x": (1, 6, 8), "keys": (1, 12, 8), "values": (1, 12, 8)},
    ),
    "crops and borders": _sized(
        """(float[2,h,w] x, float[a,b] like) => (float[2,g,a] y, float[2,h,6] z)
        <int64[1] five = {5}, int64[1] six = {6}> {
  sizes = Shape(like)
  a = Shape<start = 0, end = 1>(like)
  goal = Concat<axis = 0>(five, a)
  y = CenterCropPad<axes = [-2, 2]>(x, goal)
  z = CenterCropPad<axes = [-1]>(x, six)
}""",
        ("pad", "slice"),
        {"x": (2, (1, 9), (1, 9)), "like": ((1, 9), 1)},
        *({"x": (2, *x), "like": (a, 1)} for x, a in (((1, 1), 9), ((9, 9), 1), ((4, 7), 4), ((8, 5), 8), ((5, 6), 6))),
        opset=18,
    ),
    "norms of windows": _sized(
        """(float[n,c,h,7] x) => (float[n,c,i,j] y, float[n,c,k,l] z) {
  y = LpPool<kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 1, 1], dilations = [1, 2]>(x)
  z = LpPool<kernel_shape = [2, 2], p = 3, auto_pad = "SAME_UPPER", strides = [2, 2]>(x)
}""",
        ("avg_pool2d",),
        {"x": (1, (1, 4), (3, 9), 7)},
        *({"x": (1, c, h, 7)} for c, h in ((1, 3), (4, 9), (3, 4))),
        opset=18,
    ),
    "mean": _sized(
        """(float[b,t,3] x) => (float[b,3] y) <int64[1] axis1 = {1}> {
  total = ReduceSum<keepdims = 0>(x, axis1)
  size = Shape<start = 1, end = 2>(x)
  count = Cast<to = 1>(size)
  y = Div(total, count)
}""",
        _D,
        {"x": ((1, 4), (1, 50), 3)},
        *({"x": (b, t, 3)} for b, t in ((1, 1), (4, 50), (2, 7))),
    ),
    # Half of an odd size is no integer.
    "fractions": _sized(
        """(float[t] x) => (float[1] half, float[1] up, float[1] down, float[1] third, int64[1] cut,
         float[n] y)
        <float[1] two = {2}, float[1] three = {3}, float[1] five = {5}, float[1] quarter = {0.75},
         int64[1] zero = {0}> {
  size = Shape(x)
  t = Cast<to = 1>(size)
  half = Div(t, two)
  up = Ceil(half)
  down = Floor(half)
  third = Div(t, three)
  less = Sub(t, five)
  below = Div(less, two)
  cut = Cast<to = 7>(below)
  part = Mul(t, quarter)
  whole = Ceil(part)
  end = Cast<to = 7>(whole)
  y = Slice(x, zero, end)
}""",
        _D,
        {"x": ((1, 20),)},
        *({"x": (t,)} for t in (1, 2, 3, 4, 11, 20)),
    ),
    # Integers are cut towards zero, also below it.
    "integers": _sized(
        """(float[t,u] x) => (int64[2] sizes, int64 a, int64 b, int64 c, int64 d, int64 e, int64[2] f)
        <int64 zero = {0}, int64 one = {1}, int64 three = {3}, int64 seven = {7}> {
  sizes = Shape(x)
  t = Gather(sizes, zero)
  u = Gather(sizes, one)
  less = Sub(t, seven)
  a = Div(less, three)
  b = Mod(less, three)
  c = Abs(less)
  d = Div(less, u)
  minus = Neg(three)
  e = Div(less, minus)
  f = Mul(sizes, a)
}""",
        _D,
        {"x": ((0, 12), (1, 9))},
        *({"x": shape} for shape in ((0, 1), (6, 9), (12, 2), (7, 3))),
    ),
    "ranges": _sized(
        """(float[t] x) => (int64[t] up, int64[t] down, float[n] halves, int64[m] behind, int32[t] small,
         int64[k] every) <int64 zero = {0}, int64 one = {1}, int64 minus = {-1}, int64 ten = {10}, int64 three = {3},
         float start = {-1}, float step = {0.5}> {
  vector = Shape(x)
  t = Squeeze(vector)
  up = Range(zero, t, one)
  before = Sub(t, one)
  down = Range(before, minus, minus)
  real = Cast<to = 1>(t)
  halves = Range(start, real, step)
  behind = Range(t, ten, three)
  t32 = Cast<to = 6>(t)
  zero32 = Cast<to = 6>(zero)
  one32 = Cast<to = 6>(one)
  small = Range(zero32, t32, one32)
  product = Mul(t, ten)
  every = Range(zero, product, t)
}""",
        (),
        {"x": ((1, 30),)},
        *({"x": (t,)} for t in (1, 9, 10, 30)),
    ),
    # What is told by the bounds alone is not computed; the rest is decided when the model runs.
    "comparisons": _sized(
        """(float[t] x, float[u] z) => (float[t] y, bool same, bool more, bool[2] both)
        <int64 zero = {0}, int64 four = {4}, int64[2] limits = {5, 9}> {
  tv = Shape(x)
  uv = Shape(z)
  t = Squeeze(tv)
  u = Squeeze(uv)
  long = Less(four, t)
  minus = Neg(x)
  y = Where(long, x, minus)
  same = Equal(t, u)
  longer = Add(t, u)
  more = Greater(longer, t)
  both = GreaterOrEqual(limits, tv)
}""",
        _D,
        {"x": ((1, 9),), "z": ((1, 9),)},
        *({"x": (t,), "z": (u,)} for t, u in ((1, 1), (4, 9), (5, 5), (9, 4))),
    ),
    # A branch that is taken by a size, with a size in one of the branches.
    "branches": _sized(
        """(float[t] x) => (float[t] y) <int64 five = {5}> {
  vector = Shape(x)
  t = Squeeze(vector)
  long = Greater(t, five)
  y = If(long) <then_branch = a () => (float[t] p) {
    n = Cast<to = 1>(t)
    p = Div(x, n)
  }, else_branch = b () => (float[t] q) {
    n2 = Cast<to = 1>(t)
    q = Mul(x, n2)
  }>
}""",
        ("dimensions", "if_else"),
        {"x": ((1, 9),)},
        *({"x": (t,)} for t in (1, 5, 6, 9)),
    ),
    # Longer than one node lists; elements that occur twice, of rank 2, and constants between them.
    "lists": _sized(
        """(float[t] x) => (int64[40] y, int64[2,3] pairs, double[3] wide, float16[1] narrow)
        <int64 zero = {0}, int64 one = {1}, int64 forty = {40}, int64[2] rest = {-7, 4000000000},
         int64[2] form = {2, 3}> {
  steps = Range(zero, forty, one)
  t = Shape(x)
  y = Add(steps, t)
  list = Concat<axis = 0>(t, rest)
  again = Concat<axis = 0>(list, list)
  pairs = Reshape(again, form)
  wide = Cast<to = 11>(list)
  narrow = Cast<to = 10>(t)
}""",
        _D,
        {"x": ((1, 9),)},
        *({"x": (t,)} for t in (1, 9)),
    ),
    # As many windows as ceil(size / stride), with more padding behind or before: a pyramid and the way back.
    "same": _sized(
        """(float[b,3,h,w] x) => (float[b,4,p,q] y, float[b,4,h2,w2] small, float[b,4,h3,w3] mean, float[b,4,h4,w4] all,
         float[b,4,h,w] up) {
  a = Conv<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, w1)
  b = Conv<auto_pad = "SAME_LOWER", strides = [2, 3], group = 4>(a, w2)
  y = Conv<auto_pad = "SAME_UPPER", strides = [3, 2]>(b, w3)
  small = MaxPool<auto_pad = "SAME_UPPER", strides = [2, 2], kernel_shape = [3, 3]>(a)
  mean = AveragePool<auto_pad = "SAME_LOWER", strides = [3, 2], kernel_shape = [4, 2]>(a)
  all = AveragePool<auto_pad = "SAME_UPPER", strides = [2, 2], kernel_shape = [3, 3], count_include_pad = 1>(a)
  rest = Shape<start = 2>(x)
  start = Shape<end = 2>(a)
  sizes = Concat<axis = 0>(start, rest)
  up = Resize<mode = "linear">(a, , , sizes)
}""",
        ("resize2d",),
        {"x": ((1, 2), 3, (1, 40), (1, 40))},
        *({"x": (b, 3, h, w)} for b, h, w in ((1, 1, 1), (2, 40, 40), (1, 13, 18), (1, 6, 31), (2, 2, 3))),
        w1=_floats(4, 3, 3, 3),
        w2=_floats(4, 1, 5, 2),
        w3=_floats(4, 4, 1, 1),
    ),
    # The same padding, computed by the model.
    "padded": _sized(
        """(float[1,2,h] x) => (float[1,2,n] y, float[1,2,m] cut) <int64 two = {2}, int64 one = {1}, int64 zero = {0},
         int64[2] flat = {0, 0}, int64[1] axis0 = {0}, int64[1] minus = {-1}, float half = {0.5}> {
  hv = Shape<start = 2>(x)
  h = Squeeze(hv)
  more = Add(h, one)
  windows = Div(more, two)
  steps = Sub(windows, one)
  span = Mul(steps, two)
  reach = Add(span, two)
  whole = Add(reach, one)
  missing = Sub(whole, h)
  total = Max(missing, zero)
  front = Div(total, two)
  back = Sub(total, front)
  f = Unsqueeze(front, axis0)
  b = Unsqueeze(back, axis0)
  pads = Concat<axis = 0>(flat, f, flat, b)
  wide = Pad(x, pads, half)
  y = AveragePool<kernel_shape = [3], strides = [2]>(wide)
  less = Mul(pads, minus)
  cut = Pad(x, less)
}""",
        (),
        {"x": (1, 2, (3, 40))},
        *({"x": (1, 2, h)} for h in (3, 4, 17, 40)),
    ),
    # To the size of another tensor, whatever the ratio is.
    "resized": _sized(
        """(float[1,2,h,w] x, float[1,2,p,q] z) => (float[1,2,p,q] linear, float[1,2,p,q] corners,
         float[1,2,p,q] near) {
  sizes = Shape(z)
  a = Resize<mode = "linear", coordinate_transformation_mode = "half_pixel">(x, , , sizes)
  linear = Add(a, z)
  b = Resize<mode = "linear", coordinate_transformation_mode = "align_corners">(x, , , sizes)
  corners = Add(b, z)
  c = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, , , sizes)
  near = Add(c, z)
}""",
        ("resize2d",),
        {"x": (1, 2, (1, 20), (1, 20)), "z": (1, 2, (1, 20), (1, 20))},
        {"x": (1, 2, 20, 20), "z": (1, 2, 20, 20)},
        {"x": (1, 2, 7, 3), "z": (1, 2, 13, 9)},
        {"x": (1, 2, 16, 11), "z": (1, 2, 5, 20)},
        {"x": (1, 2, 1, 1), "z": (1, 2, 3, 1)},
    ),
    # Resizes that are computed one axis at a time.
    "tables": _sized(
        """(float[1,2,h,w] x, float[1,2,p,q] z) => (float[1,2,p,q] cubic, int32[1,2,p,q] whole,
         float[1,2,h,k] scaled, float[1,2,h2,w2] middle)
        <float[4] scales = {1, 1, 1, 1.5}, float[4] parts = {1, 1, 0.75, 0.5}> {
  sizes = Shape(z)
  cubic = Resize<mode = "cubic">(x, , , sizes)
  i = Cast<to = 6>(x)
  whole = Resize<mode = "nearest", nearest_mode = "ceil">(i, , , sizes)
  scaled = Resize<mode = "cubic", coordinate_transformation_mode = "pytorch_half_pixel">(x, , scales)
  middle = Resize<mode = "linear", coordinate_transformation_mode = "half_pixel_symmetric">(x, , parts)
}""",
        (),
        {"x": (1, 2, (2, 20), (2, 20)), "z": (1, 2, (1, 20), (1, 20))},
        {"x": (1, 2, 20, 20), "z": (1, 2, 20, 20)},
        {"x": (1, 2, 7, 3), "z": (1, 2, 13, 9)},
        {"x": (1, 2, 16, 11), "z": (1, 2, 5, 1)},
    ),
    # Positions that are halfway between two elements but for rounding.
    "halves": _sized(
        """(float[1,1,h,w] x, float[1,1,p,q] z) => (int32[1,1,p,q] below, int32[1,1,p,q] above) <float ten = {1000}> {
  sizes = Shape(z)
  many = Mul(x, ten)
  i = Cast<to = 6>(many)
  below = Resize<mode = "nearest", nearest_mode = "round_prefer_floor">(i, , , sizes)
  above = Resize<mode = "nearest", nearest_mode = "round_prefer_ceil", coordinate_transformation_mode = "asymmetric">
    (i, , , sizes)
}""",
        (),
        {"x": (1, 1, (2, 70), (2, 70)), "z": (1, 1, (1, 200), (1, 200))},
        {"x": (1, 1, 70, 70), "z": (1, 1, 155, 20)},
        {"x": (1, 1, 28, 56), "z": (1, 1, 166, 78)},
        {"x": (1, 1, 7, 13), "z": (1, 1, 2, 4)},
        {"x": (1, 1, 13, 11), "z": (1, 1, 14, 26)},
    ),
    # The centres of the cells of two scales, as detectors have them.
    "grids": _sized(
        f"""(float[1,1,h,w] x) => (float[n,2] near, float[m,2] far) <int64[1] minus = {{-1}}, int64[2] form = {{-1, 2}},
         float half = {{0.5}}, int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64 three = {{3}},
         float eight = {{8}}, float sixteen = {{16}}> {{
  a = MaxPool<kernel_shape = [1, 1], strides = [8, 8]>(x)
  {_grid("a", "eight", "near")}
  b = MaxPool<kernel_shape = [1, 1], strides = [16, 16]>(x)
  {_grid("b", "sixteen", "far")}
}}""",
        (),
        {"x": (1, 1, (32, 96), (32, 96))},
        *({"x": (1, 1, h, w)} for h, w in ((32, 32), (96, 96), (64, 33))),
    ),
    # One and three axes.
    "axes": _sized(
        """(float[b,2,l] x, float[b,2,d,h,w] v) => (float[b,3,l2] y, float[b,2,l3] pooled, float[b,3,d2,h2,w2] z,
         float[b,2,d3,h3,w3] boxes) {
  y = Conv<auto_pad = "SAME_UPPER", strides = [3]>(x, w1)
  pooled = AveragePool<kernel_shape = [3], strides = [2], auto_pad = "SAME_UPPER">(x)
  z = Conv<strides = [1, 2, 2], auto_pad = "SAME_UPPER">(v, w3)
  boxes = MaxPool<kernel_shape = [2, 3, 3], strides = [2, 2, 2], pads = [0, 1, 1, 1, 1, 1]>(v)
}""",
        (),
        {"x": ((1, 3), 2, (4, 30)), "v": ((1, 3), 2, (2, 9), (2, 9), (2, 9))},
        {"x": (1, 2, 4), "v": (1, 2, 2, 2, 2)},
        {"x": (3, 2, 30), "v": (3, 2, 9, 9, 9)},
        {"x": (2, 2, 17), "v": (2, 2, 5, 8, 3)},
        w1=_floats(3, 2, 4),
        w3=_floats(3, 2, 2, 3, 3),
    ),
    # The sizes of what the data decides, in a branch and outside of it.
    "found": Model(
        """(float[t] x, bool c) => (float[1] y, float[1] z) {
  places = NonZero(x)
  count = Shape<start = 1, end = 2>(places)
  y = Cast<to = 1>(count)
  z = If(c) <then_branch = a () => (float[1] p) {
    minus = Neg(x)
    high = Relu(minus)
    inner = NonZero(high)
    n = Shape<start = 1, end = 2>(inner)
    p = Cast<to = 1>(n)
  }, else_branch = b () => (float[1] q) {
    q = Cast<to = 1>(count)
  }>
}""",
        [
            {"x": np.array(x, np.float32), "c": np.array(c)}
            for x, c in (([0, 1, -1, 0], True), ([1, 2], False), ([-1, -2, -3], True), ([0.0], True))
        ],
        ("dimensions", "if_else"),
        {"x": ((1, 9),)},
    ),
}


def request(folder: Path, name: str) -> ImportRequest:
    return request_for(folder, MODELS[name].proto(), MODELS[name].bounded)
