// Weighted sums of a few elements along one axis, as tables say. Whatever the tables hold, nothing outside of the
// axis is read.
#ifndef LATHE_OPS_RESAMPLE_RESAMPLE_LINES_H_
#define LATHE_OPS_RESAMPLE_RESAMPLE_LINES_H_

#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

struct State {
  int64_t axis;
};

template <typename T>
Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 3, 3, 1));
  if (context.input(0).dtype != DTypeOf<T>::value || context.input(1).dtype != DType::kS32 ||
      context.input(2).dtype != DTypeOf<T>::value || context.output(0).dtype != DTypeOf<T>::value) {
    return context.Fail(Code::kUnsupported, "this kernel has other types");
  }
  LATHE_TRY(CheckRank(context, context.input(1), 2, "its table of places"));
  LATHE_TRY(CheckRank(context, context.input(2), 2, "its table of weights"));
  return ReadInt(context, "axis", 0, context.input(0).shape.rank - 1, &static_cast<State*>(context.state())->axis);
}

inline Code PlanRun(PlanContext& context) {
  const int axis = static_cast<int>(static_cast<const State*>(context.state())->axis);
  const Shape& tables = context.input(1).shape;
  if (tables != context.input(2).shape) return context.Fail(Code::kBadModel, "its tables differ in shape");
  Shape expected = context.input(0).shape;
  if (expected[axis] < 1) return context.Fail(Code::kBadModel, "its input is empty");
  expected.dims[axis] = tables[0];
  return CheckShape(context, 0, expected);
}

// One element of the axis: `inner` neighbours at once.
template <typename T>
void RunLine(const T* from, int64_t size, int64_t inner, const int32_t* places, const T* weights, int64_t taps, T* to) {
  for (int64_t i = 0; i < inner; ++i) to[i] = 0;
  for (int64_t t = 0; t < taps; ++t) {
    const int64_t wanted = places[t] < 0 ? 0 : places[t];
    const T* line = from + (wanted < size ? wanted : size - 1) * inner;
    const T weight = weights[t];
    for (int64_t i = 0; i < inner; ++i) to[i] += weight * line[i];
  }
}

template <typename T>
void Run(const RunContext& context) {
  const int axis = static_cast<int>(context.State<State>().axis);
  const Shape& in = context.inputs[0].shape;
  const int64_t size = in[axis];
  const int64_t inner = in.Count(axis + 1, in.rank);
  const int64_t count = context.inputs[1].shape[0];
  const int64_t taps = context.inputs[1].shape[1];
  const T* from = context.inputs[0].As<T>();
  const int32_t* places = context.inputs[1].As<int32_t>();
  const T* weights = context.inputs[2].As<T>();
  T* to = context.outputs[0].As<T>();
  const int64_t grain = kElementGrain / (inner < 1 ? 1 : (inner < kElementGrain ? inner : kElementGrain));
  context.For(in.Count(0, axis) * count, grain, [=](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t i = item % count;
      RunLine(from + item / count * size * inner, size, inner, places + i * taps, weights + i * taps, taps,
              to + item * inner);
    }
  });
}

template <typename T>
constexpr KernelFunctions ResampleKernel() {
  return {
      .state_size = sizeof(State),
      .prepare = Prepare<T>,
      .plan = PlanRun,
      .run = Run<T>,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_RESAMPLE_RESAMPLE_LINES_H_
