// e^(x - max) divided by its sum along one axis.
#include "native/kernel/loops/elementwise.h"
#include "native/kernel/math/math.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_math.h"

namespace lathe {
namespace {

constexpr int64_t kBlock = 64;  // vectors that are summed as floats; the results are summed as doubles

struct State {
  int64_t axis;
};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  return ReadInt(context, "axis", 0, context.input(0).shape.rank - 1, &static_cast<State*>(context.state())->axis);
}

Code PlanRun(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

inline Vec LoadUpTo(const float* from, int64_t count) {
  return count >= kLanes ? Load(from) : LoadPart(from, static_cast<int>(count));
}

inline void StoreUpTo(float* to, Vec x, int64_t count) {
  count >= kLanes ? Store(to, x) : StorePart(to, x, static_cast<int>(count));
}

// One row whose elements are neighbours. `to` may be `from`.
void Row(const float* from, int64_t size, float* to) {
  float best = from[0];
  int64_t i = 0;
  if (size >= kLanes) {
    Vec most = Load(from);
    for (i = kLanes; i + kLanes <= size; i += kLanes) most = AtLeast(Load(from + i), most);
    best = MaxLanes(most);
  }
  for (; i < size; ++i) best = from[i] > best ? from[i] : best;
  const Vec top = Fill(best);
  double sum = 0.0;
  for (i = 0; i < size;) {
    const int64_t end = i + kBlock * kLanes < size ? i + kBlock * kLanes : size;
    Vec part = Fill(0.0f);
    for (; i < end; i += kLanes) {
      const int64_t rest = size - i;
      const Vec power = Exp(Sub(LoadUpTo(from + i, rest), top));
      StoreUpTo(to + i, power, rest);
      part = Add(part, rest >= kLanes ? power : Part(power, static_cast<int>(rest)));
    }
    sum += static_cast<double>(SumLanes(part));
  }
  const Vec factor = Fill(static_cast<float>(1.0 / sum));
  MapVectors(to, to, size, [factor](Vec x) { return Mul(x, factor); });
}

// As many columns as a vector has lanes, or fewer, of `size` elements that are `stride` apart. `to` may be `from`.
void Columns(const float* from, int64_t size, int64_t stride, int64_t width, float* to) {
  Vec top = LoadUpTo(from, width);
  for (int64_t i = 1; i < size; ++i) top = AtLeast(LoadUpTo(from + i * stride, width), top);
  double sums[kLanes] = {};
  for (int64_t i = 0; i < size;) {
    const int64_t end = i + kBlock < size ? i + kBlock : size;
    Vec part = Fill(0.0f);
    for (; i < end; ++i) {
      const Vec power = Exp(Sub(LoadUpTo(from + i * stride, width), top));
      StoreUpTo(to + i * stride, power, width);
      part = Add(part, power);
    }
    float lanes[kLanes];
    Store(lanes, part);
    for (int j = 0; j < kLanes; ++j) sums[j] += static_cast<double>(lanes[j]);
  }
  float factors[kLanes];
  for (int j = 0; j < kLanes; ++j) factors[j] = static_cast<float>(1.0 / sums[j]);
  const Vec factor = Load(factors);
  for (int64_t i = 0; i < size; ++i) StoreUpTo(to + i * stride, Mul(LoadUpTo(to + i * stride, width), factor), width);
}

void Run(const RunContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int axis = static_cast<int>(context.State<State>().axis);
  const int64_t size = shape[axis];
  const int64_t inner = shape.Count(axis + 1, shape.rank);
  const int64_t width = inner == 1 ? 1 : kLanes;
  const int64_t tiles = (inner + width - 1) / width;
  const float* from = context.inputs[0].As<float>();
  float* to = context.outputs[0].As<float>();
  if (size == 0) return;
  const int64_t grain = kElementGrain / (size * width < kElementGrain ? size * width : kElementGrain);
  context.For(shape.Count(0, axis) * tiles, grain, [=](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t column = item % tiles * width;
      const int64_t offset = item / tiles * size * inner + column;
      if (inner == 1) {
        Row(from + offset, size, to + offset);
      } else {
        Columns(from + offset, size, inner, inner - column, to + offset);
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
