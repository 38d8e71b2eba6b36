// Recurrent layers whose products go by panels of weights (panels.h) and whose gates are vectors.
//
// A cell is a struct with `kForm`, `Code Read(PrepareContext&)` and `void Step(const CellStep&) const`.
#ifndef LATHE_KERNEL_SEQUENCE_VECTOR_CELLS_H_
#define LATHE_KERNEL_SEQUENCE_VECTOR_CELLS_H_

#include "native/kernel/sequence/cells.h"
#include "native/kernel/sequence/state_products.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_math.h"

namespace lathe {
namespace {

// Calls `f(i, count)` for vectors of `count` elements from `i` on. One copy of an f that is long.
template <typename F>
inline void ForVectors(int64_t elements, const F& f) {
  for (int64_t i = 0; i < elements; i += kLanes) {
    f(i, elements - i < kLanes ? static_cast<int>(elements - i) : kLanes);
  }
}

// The ends of rows, once: they are long where there are no masks.
__attribute__((noinline)) inline Vec LoadEnd(const float* from, int count) { return LoadPart(from, count); }
__attribute__((noinline)) inline void StoreEnd(float* to, Vec x, int count) { StorePart(to, x, count); }
inline Vec LoadSome(const float* from, int count) { return count == kLanes ? Load(from) : LoadEnd(from, count); }
inline void StoreSome(float* to, Vec x, int count) {
  if (count == kLanes) {
    Store(to, x);
  } else {
    StoreEnd(to, x, count);
  }
}
// a + b.
inline Vec SumSome(const float* a, const float* b, int count) { return Add(LoadSome(a, count), LoadSome(b, count)); }

#if defined(LATHE_ISA_PORTABLE)
// Kernels for every machine read what is packed for those of any other instruction set.
constexpr uint32_t kCellPackings = PackingBit(Packing::kPanels8) | PackingBit(Packing::kPanels16);
#else
constexpr uint32_t kCellPackings = PackingBit(kPanelPacking);
#endif

template <typename Cell>
struct CellKernel {
  struct State {
    CellState common;  // the first
    Cell cell;
  };

  static Code Prepare(PrepareContext& context) {
    LATHE_TRY(PrepareCells(context, Cell::kForm, kPanelWidth));
    return static_cast<State*>(context.state())->cell.Read(context);
  }

  static Code Plan(PlanContext& context) { return PlanCells(context, Cell::kForm, kPanelWidth); }

  static void Run(const RunContext& context) {
    RunCells(context, Cell::kForm, kPanelWidth,
             [](const CellStep& step) { static_cast<const State*>(step.state)->cell.Step(step); });
  }
};

template <typename Cell>
constexpr KernelFunctions CellFunctions() {
  using Kernel = CellKernel<Cell>;
  return {
      .state_size = sizeof(typename Kernel::State),
      .plan_size = sizeof(CellPlan),
      .prepare = Kernel::Prepare,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
      .packings = kCellPackings,
  };
}

// The products with the weights of all gates.
template <typename Cell>
inline void ProductOfAll(const CellStep& step) {
  RunStateProduct(step, Cell::kForm.gates * step.hidden, 0, step.row / kPanelWidth, step.sums[0]);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SEQUENCE_VECTOR_CELLS_H_
