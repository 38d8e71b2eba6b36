// The places of all elements that are not zero: counted first, then written, one row of the output per axis.
#include "native/kernel/loops/copy.h"
#include "native/kernel/loops/element_sizes.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  if (SizeOf(context.input(0).dtype) == 0) return context.Fail(Code::kBadModel, "its input has no element type");
  if (context.output(0).dtype != DType::kS64) return context.Fail(Code::kBadModel, "its output is not s64");
  return CheckRank(context, context.output(0), 2, "its output");
}

Code PlanRun(PlanContext& context) {
  const Shape& in = context.input(0).shape;
  const Shape& out = context.output(0).shape;
  if (out[0] != in.rank) return context.Fail(Code::kBadModel, "its output does not have one row per axis");
  if (out[1] < in.Count()) return context.Fail(Code::kBadModel, "its output has too little room");
  return Code::kOk;
}

constexpr bool IsFloat(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF64;
}

// Calls `f` with the position of each element that is not zero. The sign of a float does not count.
template <typename T, typename F>
void ForNonZero(const Tensor& x, const F& f) {
  const T* from = x.As<T>();
  const T all = static_cast<T>(~T{0});
  const T mask = IsFloat(x.dtype) ? static_cast<T>(all >> 1) : all;
  const int64_t count = x.shape.Count();
  for (int64_t i = 0; i < count; ++i) {
    if ((from[i] & mask) != 0) f(i);
  }
}

template <typename T>
void RunOf(const RunContext& context) {
  const Tensor& x = context.inputs[0];
  Tensor& y = context.outputs[0];
  int64_t count = 0;
  ForNonZero<T>(x, [&](int64_t) { ++count; });
  int64_t* to = y.As<int64_t>();
  int64_t column = 0;
  ForNonZero<T>(x, [&](int64_t position) {
    for (int axis = x.shape.rank - 1; axis >= 0; --axis) {
      to[axis * count + column] = position % x.shape[axis];
      position /= x.shape[axis];
    }
    ++column;
  });
  y.shape.dims[1] = count;
}

void Run(const RunContext& context) {
  WithSizeOf(context.inputs[0].dtype,
             [&](auto* element) { RunOf<typename Pointee<decltype(element)>::Type>(context); });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
