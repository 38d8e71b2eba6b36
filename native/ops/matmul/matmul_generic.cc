// The matrix product of the rarer element types: floats are added up in double, or as double; integers wrap around.
#include "native/kernel/gemm/products.h"
#include "native/kernel/loops/typed.h"
#include "native/kernel/math/integer.h"

namespace lathe {
namespace {

using MultiplyRow = void (*)(const Products& plan, const Tensor& a, int64_t from_a, const Tensor& b, int64_t from_b,
                             Tensor& y, int64_t to);

struct State {
  MultiplyRow multiply;
};

template <typename T>
struct RowOf {
  // One row of a times all of b.
  static void Apply(const Products& plan, const Tensor& a, int64_t from_a, const Tensor& b, int64_t from_b, Tensor& y,
                    int64_t to) {
    const T* row = a.As<T>() + from_a;
    T* target = y.As<T>() + to;
    for (int64_t j = 0; j < plan.columns; ++j) {
      const T* column = b.As<T>() + from_b + j;
      if constexpr (kIsFloat<decltype(Widen(T()))>) {
        double sum = 0.0;
        for (int64_t k = 0; k < plan.depth; ++k) {
          sum += static_cast<double>(Widen(row[k])) * static_cast<double>(Widen(column[k * plan.columns]));
        }
        target[j] = Convert<T>(sum);
      } else {
        T sum = 0;
        for (int64_t k = 0; k < plan.depth; ++k) {
          sum = Wrapping<T>::Add(sum, Wrapping<T>::Mul(row[k], column[k * plan.columns]));
        }
        target[j] = sum;
      }
    }
  }
};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  State& state = *static_cast<State*>(context.state());
  state.multiply = FindFor<MultiplyRow, RowOf>(context.input(0).dtype, OtherNumbers());
  if (state.multiply == nullptr) return context.Fail(Code::kUnsupported, "this kernel has other input types");
  LATHE_TRY(CheckSameTypes(context));
  for (int i = 0; i < 2; ++i) {
    if (context.input(i).shape.rank < 1) return context.Fail(Code::kBadModel, "its inputs have at least rank 1");
  }
  return Code::kOk;
}

Code PlanRun(PlanContext& context) { return PlanProducts(context, 0, 1, static_cast<Products*>(context.plan())); }

void Run(const RunContext& context) {
  const Products& plan = context.Plan<Products>();
  const State& state = context.State<State>();
  context.For(plan.batches() * plan.rows, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t batch = row / plan.rows;
      const int64_t from_a = plan.OffsetOfA(batch) + (row - batch * plan.rows) * plan.depth;
      state.multiply(plan, context.inputs[0], from_a, context.inputs[1], plan.OffsetOfB(batch), context.outputs[0],
                     row * plan.columns);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::Products),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
