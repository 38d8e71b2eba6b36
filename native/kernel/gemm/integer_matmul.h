// Matrix products of 8-bit numbers: s32 sums of (a - a_zero) * (b - b_zero) with NumPy's broadcasting. The zero points
// of a belong to rows, those of b to columns.
#ifndef LATHE_KERNEL_GEMM_INTEGER_MATMUL_H_
#define LATHE_KERNEL_GEMM_INTEGER_MATMUL_H_

#include "native/kernel/gemm/products.h"
#include "native/kernel/quantised/quantised.h"

namespace lathe {
namespace {

constexpr int kMatmulColumns = 16;  // summed side by side

// Sums wrap around: one beyond s32 is the model's to avoid, but must not be undefined.
typedef uint32_t Sum;

struct MatmulInputs {
  int a;
  int a_zero;
  int b;
  int b_zero;
};

inline Code PrepareIntegerMatmul(PrepareContext& context, const MatmulInputs& inputs) {
  const Tensor& a = context.input(inputs.a);
  const Tensor& b = context.input(inputs.b);
  if (!IsByte(a.dtype) || !IsByte(b.dtype)) return context.Fail(Code::kUnsupported, "its operands are not bytes");
  if (a.shape.rank < 1 || b.shape.rank < 1) return context.Fail(Code::kBadModel, "its inputs have at least rank 1");
  LATHE_TRY(CheckScalarOrRow(context, inputs.a_zero, a.dtype));
  return CheckScalarOrRow(context, inputs.b_zero, b.dtype);
}

inline Code PlanIntegerMatmul(PlanContext& context, const MatmulInputs& inputs) {
  Products& plan = *static_cast<Products*>(context.plan());
  LATHE_TRY(PlanProducts(context, inputs.a, inputs.b, &plan));
  LATHE_TRY(CheckRowLength(context, inputs.a_zero, plan.rows));
  return CheckRowLength(context, inputs.b_zero, plan.columns);
}

// One row times `count` neighbouring columns of b, whose rows are `stride` apart.
template <typename A, typename B>
inline void SumColumns(const A* a, int32_t a_zero, const B* b, const int32_t (&b_zeros)[kMatmulColumns], int64_t stride,
                       int64_t depth, int count, Sum (&sums)[kMatmulColumns]) {
  for (Sum& sum : sums) sum = 0;
  for (int64_t k = 0; k < depth; ++k, b += stride) {
    const int32_t value = a[k] - a_zero;
    for (int j = 0; j < count; ++j) sums[j] += static_cast<Sum>(value * (b[j] - b_zeros[j]));
  }
}

// `store(at, row, column, sums, count)` takes the sums of neighbouring columns, of which the first is element `at`.
template <typename A, typename B, typename Store>
inline void RunIntegerMatmul(const RunContext& context, const MatmulInputs& inputs, const Store& store) {
  const Products& plan = context.Plan<Products>();
  const A* a = context.inputs[inputs.a].As<A>();
  const B* b = context.inputs[inputs.b].As<B>();
  const Tensor& a_zero = context.inputs[inputs.a_zero];
  const Tensor& b_zero = context.inputs[inputs.b_zero];
  const int64_t tiles = (plan.columns + kMatmulColumns - 1) / kMatmulColumns;
  context.For(plan.batches() * plan.rows * tiles, 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t column = item % tiles * kMatmulColumns;
      const int64_t row = item / tiles % plan.rows;
      const int64_t batch = item / tiles / plan.rows;
      const int64_t rest = plan.columns - column;
      const int count = static_cast<int>(rest < kMatmulColumns ? rest : kMatmulColumns);
      int32_t zeros[kMatmulColumns] = {};
      for (int j = 0; j < count; ++j) zeros[j] = ZeroPointAt(b_zero, (column + j) * b_zero.shape.rank);
      const A* from_a = a + plan.OffsetOfA(batch) + row * plan.depth;
      const B* from_b = b + plan.OffsetOfB(batch) + column;
      Sum sums[kMatmulColumns];
      const int32_t zero = ZeroPointAt(a_zero, row * a_zero.shape.rank);
      if (count == kMatmulColumns) {  // a number that the compiler knows
        SumColumns(from_a, zero, from_b, zeros, plan.columns, plan.depth, kMatmulColumns, sums);
      } else {
        SumColumns(from_a, zero, from_b, zeros, plan.columns, plan.depth, count, sums);
      }
      store((batch * plan.rows + row) * plan.columns + column, row, column, sums, count);
    }
  });
}

template <typename Store>
inline void RunIntegerMatmul(const RunContext& context, const MatmulInputs& inputs, const Store& store) {
  const bool signed_a = context.inputs[inputs.a].dtype == DType::kS8;
  const bool signed_b = context.inputs[inputs.b].dtype == DType::kS8;
  if (signed_a && signed_b) return RunIntegerMatmul<int8_t, int8_t>(context, inputs, store);
  if (signed_a) return RunIntegerMatmul<int8_t, uint8_t>(context, inputs, store);
  if (signed_b) return RunIntegerMatmul<uint8_t, int8_t>(context, inputs, store);
  RunIntegerMatmul<uint8_t, uint8_t>(context, inputs, store);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_INTEGER_MATMUL_H_
