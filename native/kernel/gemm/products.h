// Matrix products with NumPy's broadcasting: a is [batches, rows, depth], b [batches, depth, columns]; an operand of
// rank 1 is a row (a) or a column (b), whose axis the result lacks.
#ifndef LATHE_KERNEL_GEMM_PRODUCTS_H_
#define LATHE_KERNEL_GEMM_PRODUCTS_H_

#include "native/kernel/check.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

struct Products {
  int64_t rows;
  int64_t depth;
  int64_t columns;
  int32_t batch_rank;
  int64_t batch_dims[kMaxRank];
  int64_t a_strides[kMaxRank];  // 0 where the operand is broadcast
  int64_t b_strides[kMaxRank];

  int64_t batches() const {
    int64_t count = 1;
    for (int axis = 0; axis < batch_rank; ++axis) count *= batch_dims[axis];
    return count;
  }
  // Where a batch starts, in elements.
  int64_t OffsetOfA(int64_t batch) const { return Offset(batch, a_strides); }
  int64_t OffsetOfB(int64_t batch) const { return Offset(batch, b_strides); }

 private:
  int64_t Offset(int64_t batch, const int64_t* strides) const {
    int64_t offset = 0;
    for (int axis = batch_rank - 1; axis >= 0; --axis) {
      offset += batch % batch_dims[axis] * strides[axis];
      batch /= batch_dims[axis];
    }
    return offset;
  }
};

// The batch dimensions of `shape` (all but the last two), aligned to the right; false where they do not broadcast.
inline bool AddBatch(const Shape& shape, int64_t matrix, Products* plan, int64_t* strides) {
  const int own = shape.rank > 2 ? shape.rank - 2 : 0;
  int64_t stride = matrix;
  for (int axis = own - 1; axis >= 0; --axis) {
    const int at = plan->batch_rank - own + axis;
    const int64_t size = shape.dims[axis];
    strides[at] = size == 1 ? 0 : stride;
    stride *= size;
    if (size == 1) continue;
    if (plan->batch_dims[at] != 1 && plan->batch_dims[at] != size) return false;
    plan->batch_dims[at] = size;
  }
  return true;
}

// `a` and `b` are positions of inputs of rank 1 or more.
inline Code PlanProducts(PlanContext& context, int a_input, int b_input, Products* plan) {
  const Shape& a = context.input(a_input).shape;
  const Shape& b = context.input(b_input).shape;
  plan->rows = a.rank > 1 ? a[-2] : 1;
  plan->depth = a[-1];
  plan->columns = b.rank > 1 ? b[-1] : 1;
  if ((b.rank > 1 ? b[-2] : b[0]) != plan->depth) return context.Fail(Code::kBadModel, "its inputs differ in depth");
  const int larger = a.rank > b.rank ? a.rank : b.rank;
  plan->batch_rank = larger > 2 ? larger - 2 : 0;
  for (int axis = 0; axis < kMaxRank; ++axis) {
    plan->batch_dims[axis] = 1;
    plan->a_strides[axis] = plan->b_strides[axis] = 0;
  }
  if (!AddBatch(a, plan->rows * plan->depth, plan, plan->a_strides) ||
      !AddBatch(b, plan->depth * plan->columns, plan, plan->b_strides)) {
    return context.Fail(Code::kBadModel, "its batch dimensions do not broadcast");
  }
  Shape expected = {};
  for (; expected.rank < plan->batch_rank; ++expected.rank) {
    expected.dims[expected.rank] = plan->batch_dims[expected.rank];
  }
  if (a.rank > 1) expected.dims[expected.rank++] = plan->rows;
  if (b.rank > 1) expected.dims[expected.rank++] = plan->columns;
  return CheckShape(context, 0, expected);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_PRODUCTS_H_
