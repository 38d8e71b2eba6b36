// Functions of one number on bytes: a table of all that a byte may be. It is made when the engine is, by the functions
// of double precision that the kernel of other floats has: they use no libm, so that all machines have the same table,
// and a model file needs none.
#ifndef LATHE_KERNEL_QUANTISED_BYTE_TABLE_H_
#define LATHE_KERNEL_QUANTISED_BYTE_TABLE_H_

#include "native/kernel/loops/typed.h"
#include "native/kernel/quantised/quantised.h"
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/look_up.h"

namespace lathe {
namespace {

template <typename Operation>
struct ByteTableState {
  Operation operation;
  uint8_t table[256];  // by the bits of x
};

// The nearest byte, ties to even; what is not a number is the zero point.
inline uint8_t StoredAs(DType dtype, double steps, int32_t zero) {
  constexpr double kNoFraction = 6755399441055744.0;  // 1.5 * 2^52
  if (steps != steps) steps = 0.0;
  steps = steps < 512.0 ? steps : 512.0;
  steps = steps > -512.0 ? steps : -512.0;
  const int32_t sum = static_cast<int32_t>((steps + kNoFraction) - kNoFraction) + zero;
  const int32_t low = dtype == DType::kS8 ? INT8_MIN : 0, high = low + UINT8_MAX;
  return static_cast<uint8_t>(sum < low ? low : sum > high ? high : sum);
}

template <typename Operation>
struct ByteTable {
  using State = ByteTableState<Operation>;

  static Code Prepare(PrepareContext& context) {
    State& state = *static_cast<State*>(context.state());
    LATHE_TRY(CheckArity(context, 1, 1, 1));
    const Tensor& x = context.input(0);
    const Tensor& y = context.output(0);
    if (!IsByte(x.dtype) || !IsByte(y.dtype))
      return context.Fail(Code::kUnsupported, "this kernel has other element types");
    Stored from = {}, to = {};
    LATHE_TRY(ReadStored(context, x, &from));
    LATHE_TRY(ReadStored(context, y, &to));
    LATHE_TRY(state.operation.Read(context));
#if defined(__clang__)
#pragma clang loop vectorize(disable)  // it runs once, and qemu 7.2 has no vectors of RISC-V that truncate
#endif
    for (int bits = 0; bits < 256; ++bits) {
      const int byte = x.dtype == DType::kS8 && bits > INT8_MAX ? bits - 256 : bits;
      const double real = static_cast<double>(byte - from.zero) * static_cast<double>(from.scale);
      const double result = static_cast<double>(state.operation(real));
      state.table[bits] = StoredAs(y.dtype, result / static_cast<double>(to.scale), to.zero);
    }
    return Code::kOk;
  }

  static Code Plan(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

  static void Run(const RunContext& context) {
    const uint8_t* table = context.State<State>().table;
    const uint8_t* from = context.inputs[0].As<uint8_t>();
    uint8_t* to = context.outputs[0].As<uint8_t>();
    context.For(context.outputs[0].shape.Count(), kElementGrain,
                [=](int64_t begin, int64_t end, int) { LookUp(table, from + begin, to + begin, end - begin); });
  }
};

template <typename Operation>
constexpr KernelFunctions ByteTableKernel() {
  using Kernel = ByteTable<Operation>;
  return {
      .state_size = sizeof(typename Kernel::State),
      .prepare = Kernel::Prepare,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_BYTE_TABLE_H_
