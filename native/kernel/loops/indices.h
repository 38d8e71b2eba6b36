// Indices that are data: s32 or s64, negative ones count from the end.
//
// Those that are constant are checked when a run is planned. Those that are computed at run time cannot be refused,
// since `run` cannot fail: what reads limits them to the axis, what writes leaves wrong ones out.
#ifndef LATHE_KERNEL_LOOPS_INDICES_H_
#define LATHE_KERNEL_LOOPS_INDICES_H_

#include "native/kernel/check.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

inline Code CheckIndices(const PrepareContext& context, int input) {
  const DType dtype = context.input(input).dtype;
  if (dtype == DType::kS32 || dtype == DType::kS64) return Code::kOk;
  return context.Fail(Code::kUnsupported, "this kernel has other types of indices");
}

inline int64_t IndexAt(const Tensor& indices, int64_t at) {
  return indices.dtype == DType::kS32 ? indices.As<int32_t>()[at] : indices.As<int64_t>()[at];
}

// The index counted from the start; -1 where it is outside.
inline int64_t FromStart(int64_t index, int64_t size) {
  if (index >= size || index < -size) return -1;
  return index < 0 ? index + size : index;
}

// The index counted from the start and limited to an axis that is not empty.
inline int64_t Limited(int64_t index, int64_t size) {
  if (index >= size) return size - 1;
  if (index < 0) return index < -size ? 0 : index + size;
  return index;
}

// Fails where `indices` are constant and every `step`-th of them, from `first`, does not lie on an axis of `size`.
inline Code CheckConstantIndices(const PlanContext& context, const Tensor& indices, int64_t size, int64_t first = 0,
                                 int64_t step = 1) {
  const int64_t count = indices.is_constant() ? indices.shape.Count() : 0;
  for (int64_t i = first; i < count; i += step) {
    if (FromStart(IndexAt(indices, i), size) < 0) return context.Fail(Code::kBadModel, "an index is out of range");
  }
  return Code::kOk;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_INDICES_H_
