// e^(x - max) divided by its sum along any axis.
#include "native/ops/softmax/softmax_row.h"

namespace lathe {
namespace {

struct State {
  int64_t axis;
};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  return ReadInt(context, "axis", 0, context.input(0).shape.rank - 1, &static_cast<State*>(context.state())->axis);
}

Code PlanRun(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

// Rows of two elements: each lane has the other one of its row beside it.
void Pairs(const float* from, int64_t count, float* to) {
  MapVectors(from, to, count, [](Vec x) {
    const Vec power = Exp(Sub(x, AtLeast(SwapPairs(x), x)));
    return Div(power, Add(power, SwapPairs(power)));
  });
}

constexpr int64_t kWide = 4;     // vectors of columns at a time
constexpr int64_t kAtHand = 64;  // the longest columns whose powers are kept apart from the output

// `vectors` vectors of columns, or the first `width` columns of one, of `size` elements that are `stride` apart. `to`
// may be `from`.
template <int vectors>
void Columns(const float* from, int64_t size, int64_t stride, int64_t width, float* to) {
  const auto load = [=](const float* at, int v) { return LoadUpTo(at + v * kLanes, vectors > 1 ? kLanes : width); };
  float at_hand[vectors > 1 ? kAtHand * vectors * kLanes : 1];
  // Rows far apart share places of the cache: they are written once.
  const bool apart = vectors > 1 && size <= kAtHand;
  float* const powers = apart ? at_hand : to;
  const int64_t step = apart ? vectors * kLanes : stride;
  Vec top[vectors];
  for (int v = 0; v < vectors; ++v) top[v] = load(from, v);
  for (int64_t i = 1; i < size; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) top[v] = AtLeast(load(from + i * stride, v), top[v]);
  }
  double sums[vectors * kLanes] = {};
  for (int64_t i = 0; i < size;) {
    const int64_t end = i + kBlock < size ? i + kBlock : size;
    Vec part[vectors];
    for (int v = 0; v < vectors; ++v) part[v] = Fill(0.0f);
    for (; i < end; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        const Vec power = Exp(Sub(load(from + i * stride, v), top[v]));
        StoreUpTo(powers + i * step + v * kLanes, power, vectors > 1 ? kLanes : width);
        part[v] = Add(part[v], power);
      }
    }
    float lanes[vectors * kLanes];
    for (int v = 0; v < vectors; ++v) Store(lanes + v * kLanes, part[v]);
    for (int j = 0; j < vectors * kLanes; ++j) sums[j] += static_cast<double>(lanes[j]);
  }
  float factors[vectors * kLanes];
  for (int j = 0; j < vectors * kLanes; ++j) factors[j] = static_cast<float>(1.0 / sums[j]);
  for (int64_t i = 0; i < size; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const Vec x = Mul(load(powers + i * step, v), Load(factors + v * kLanes));
      StoreUpTo(to + i * stride + v * kLanes, x, vectors > 1 ? kLanes : width);
    }
  }
}

// Up to so many rows as a vector has lanes, all shorter than it: turned into columns and back.
void ShortRows(const float* from, int64_t size, int64_t rows, float* to) {
  float columns[kLanes * kLanes] = {};
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < size; ++i) columns[i * kLanes + row] = from[row * size + i];
  }
  Columns<1>(columns, size, kLanes, rows, columns);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < size; ++i) to[row * size + i] = columns[i * kLanes + row];
  }
}

// Rows [begin, end) whose elements are neighbours.
void AllRows(const float* from, int64_t size, int64_t begin, int64_t end, float* to) {
  if (size == 2) return Pairs(from + 2 * begin, 2 * (end - begin), to + 2 * begin);
  if (size < kLanes) {
    for (int64_t row = begin; row < end; row += kLanes) {
      ShortRows(from + row * size, size, end - row < kLanes ? end - row : kLanes, to + row * size);
    }
    return;
  }
  for (int64_t row = begin; row < end; ++row) Row(from + row * size, size, to + row * size);
}

void Run(const RunContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int axis = static_cast<int>(context.State<State>().axis);
  const int64_t size = shape[axis];
  const int64_t inner = shape.Count(axis + 1, shape.rank);
  const int64_t width = inner == 1 ? 1 : inner < kWide * kLanes ? kLanes : kWide * kLanes;
  const int64_t tiles = (inner + width - 1) / width;
  const float* from = context.inputs[0].As<float>();
  float* to = context.outputs[0].As<float>();
  if (size == 0) return;
  const int64_t grain = kElementGrain / (size * width < kElementGrain ? size * width : kElementGrain);
  context.For(shape.Count(0, axis) * tiles, grain, [=](int64_t begin, int64_t end, int) {
    if (inner == 1) return AllRows(from, size, begin, end, to);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % tiles * width, last = first + width < inner ? first + width : inner;
      const int64_t offset = item / tiles * size * inner;
      if (last - first == kWide * kLanes) {
        Columns<kWide>(from + offset + first, size, inner, 0, to + offset + first);
        continue;
      }
      for (int64_t column = first; column < last; column += kLanes) {
        Columns<1>(from + offset + column, size, inner, last - column, to + offset + column);
      }
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
