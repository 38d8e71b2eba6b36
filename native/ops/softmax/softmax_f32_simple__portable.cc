// e^(x - max) divided by its sum along one axis.
#include "native/core/elementwise.h"
#include "native/core/math.h"

namespace lathe {
namespace {

constexpr int64_t kWidth = 16;  // neighbours that are handled together where the axis is not the last

struct State {
  int64_t axis;
};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  return ReadInt(context, "axis", 0, context.input(0).shape.rank - 1, &static_cast<State*>(context.state())->axis);
}

Code PlanRun(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

// `width` columns of `size` elements that are `stride` apart. `to` may be `from`.
void Columns(const float* from, int64_t size, int64_t stride, int64_t width, float* to) {
  float best[kWidth];
  double sums[kWidth];
  for (int64_t j = 0; j < width; ++j) {
    best[j] = from[j];
    sums[j] = 0.0;
  }
  for (int64_t i = 1; i < size; ++i) {
    for (int64_t j = 0; j < width; ++j) best[j] = from[i * stride + j] > best[j] ? from[i * stride + j] : best[j];
  }
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const float power = Expf(from[i * stride + j] - best[j]);
      to[i * stride + j] = power;
      sums[j] += power;
    }
  }
  for (int64_t j = 0; j < width; ++j) sums[j] = 1.0 / sums[j];
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < width; ++j) to[i * stride + j] = static_cast<float>(to[i * stride + j] * sums[j]);
  }
}

void Run(const RunContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int axis = static_cast<int>(context.State<State>().axis);
  const int64_t size = shape[axis];
  const int64_t inner = shape.Count(axis + 1, shape.rank);
  const int64_t tiles = (inner + kWidth - 1) / kWidth;
  const float* from = context.inputs[0].As<float>();
  float* to = context.outputs[0].As<float>();
  if (size == 0) return;
  const int64_t grain = kElementGrain / (size < kElementGrain ? size : kElementGrain);
  context.For(shape.Count(0, axis) * tiles, grain, [=](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t column = item % tiles * kWidth;
      const int64_t offset = item / tiles * size * inner + column;
      Columns(from + offset, size, inner, inner - column < kWidth ? inner - column : kWidth, to + offset);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL(softmax_f32_simple__portable) = {
    "softmax_f32_simple__portable", "softmax", sizeof(lathe::State), 0, 0, lathe::Prepare, lathe::PlanRun, lathe::Run};
