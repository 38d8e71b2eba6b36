// Kernels of two tensors of bytes with NumPy's broadcasting.
//
// An operation is a struct of `static Code Read(PrepareContext&, const Stored (&)[3], BytePair*)`, which is given how
// a, b and y are stored, and `static float Mix(const BytePair&, int32_t a, int32_t b)`: what two elements give in steps
// of y. Zero points are taken off already. `static constexpr bool kSums`: that is the sum of both, times their factors.
#ifndef LATHE_KERNEL_QUANTISED_BYTE_BROADCAST_H_
#define LATHE_KERNEL_QUANTISED_BYTE_BROADCAST_H_

#include "native/kernel/loops/broadcast.h"
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/sixteen.h"

namespace lathe {
namespace {

struct BytePair {
  int32_t zeros[2];
  float factors[2];
  Steps steps;
};

// A stretch of an operand, its zero point taken off. One that does not move is the same everywhere.
inline Sixteen LoadOperand(const int8_t* from, int64_t count, bool moves, int32_t zero) {
  if (!moves) return Sixteen::Fill(static_cast<float>(*from - zero));
  if (count >= kStretch) return Sixteen::OfBytes(from, zero);
  int8_t bytes[kStretch];
  LoadSome(from, count, bytes);
  return Sixteen::OfBytes(bytes, zero);
}

template <typename Operation>
struct ByteBinary {
  static Code Prepare(PrepareContext& context) {
    BytePair& state = *static_cast<BytePair*>(context.state());
    LATHE_TRY(CheckArity(context, 2, 2, 1));
    const Tensor* tensors[] = {&context.input(0), &context.input(1), &context.output(0)};
    Stored stored[3];
    for (int i = 0; i < 3; ++i) {
      if (tensors[i]->dtype != DType::kS8)
        return context.Fail(Code::kUnsupported, "this kernel has other element types");
      LATHE_TRY(ReadStored(context, *tensors[i], stored + i));
      if (i < 2) state.zeros[i] = stored[i].zero;
    }
    state.steps = WholeSteps(stored[2].zero);
    return Operation::Read(context, stored, &state);
  }

  static void ApplyStretches(const BytePair& state, const int8_t* a, bool a_moves, const int8_t* b, bool b_moves,
                             int8_t* to, int64_t count) {
    const BytePair own = state;
#if defined(__HVX__)
    if constexpr (Operation::kSums) {
      const HvxSum<2> sum(own.zeros, own.factors, own.steps);
      const int8_t* const operands[] = {a, b};
      if (a_moves && b_moves && count >= kStretch && sum.usable())
        return sum.Run(operands, count, to, [&](const int8_t* const* x, int i) {
          const Sixteen first = LoadOperand(x[0] + i, 1, false, own.zeros[0]);
          const Sixteen second = LoadOperand(x[1] + i, 1, false, own.zeros[1]);
          int8_t exact = 0;
          StoreSome(Operation::Mix(own, first, second), own.steps, &exact, 1);
          return exact;
        });
    }
#endif
    const Sixteen left = LoadOperand(a, 1, false, own.zeros[0]), right = LoadOperand(b, 1, false, own.zeros[1]);
    int64_t i = 0;
    for (; i + kStretch <= count; i += kStretch) {
      const Sixteen first = a_moves ? Sixteen::OfBytes(a + i, own.zeros[0]) : left;
      const Sixteen second = b_moves ? Sixteen::OfBytes(b + i, own.zeros[1]) : right;
      Operation::Mix(own, first, second).Store(own.steps, to + i);
    }
    const int64_t rest = count - i;
    if (rest == 0) return;
    const Sixteen first = LoadOperand(a + (a_moves ? i : 0), rest, a_moves, own.zeros[0]);
    const Sixteen second = LoadOperand(b + (b_moves ? i : 0), rest, b_moves, own.zeros[1]);
    StoreSome(Operation::Mix(own, first, second), own.steps, to + i, rest);
  }

  static void Run(const RunContext& context) {
    const BytePair& state = context.State<BytePair>();
    const Broadcast& plan = context.Plan<Broadcast>();
    const int8_t* a = context.inputs[0].As<int8_t>();
    const int8_t* b = context.inputs[1].As<int8_t>();
    int8_t* to = context.outputs[0].As<int8_t>();
    const bool a_moves = plan.strides[0][plan.rank - 1] != 0;
    const bool b_moves = plan.strides[1][plan.rank - 1] != 0;
    context.For(context.outputs[0].shape.Count(), kElementGrain, [&](int64_t begin, int64_t end, int) {
      plan.ForStretches(begin, end, [&](int64_t at, const int64_t* offsets, int64_t count) {
        ApplyStretches(state, a + offsets[0], a_moves, b + offsets[1], b_moves, to + at, count);
      });
    });
  }
};

template <typename Operation>
constexpr KernelFunctions ByteBinaryKernel() {
  using Kernel = ByteBinary<Operation>;
  return {
      .state_size = sizeof(BytePair),
      .plan_size = sizeof(Broadcast),
      .prepare = Kernel::Prepare,
      .plan = PlanBroadcast,
      .run = Kernel::Run,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_BYTE_BROADCAST_H_
