// Kernels of two tensors of bytes with NumPy's broadcasting.
//
// An operation is a struct of `static Code Read(PrepareContext&, const Stored (&)[3], BytePair*)`, which is given how
// a, b and y are stored, and `static float Mix(const BytePair&, int32_t a, int32_t b)`: what two elements give in steps
// of y. Zero points are taken off already. `static constexpr ByteMixture kMixture`: what that is.
#ifndef LATHE_KERNEL_QUANTISED_BYTE_BROADCAST_H_
#define LATHE_KERNEL_QUANTISED_BYTE_BROADCAST_H_

#include "native/kernel/loops/broadcast.h"
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/copy_bytes.h"
#include "native/kernel/simd/sixteen.h"

namespace lathe {
namespace {

enum class ByteMixture {
  kSum,         // of both times their factors
  kDifference,  // the same
  kProduct,     // of both and the first factor
  kOther
};

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

#if defined(__HVX__)

struct NoVectors {
  NoVectors(const int32_t*, const float*, const Steps&) {}
  static constexpr bool usable() { return false; }
  template <typename Exact>
  void Run(const HvxOperand (&)[2], int64_t, int8_t*, const Exact&) const {}
};

template <ByteMixture mixture>
struct VectorsOf {
  using Type = NoVectors;
};
template <>
struct VectorsOf<ByteMixture::kSum> {
  using Type = HvxSum<2>;
};
template <>
struct VectorsOf<ByteMixture::kDifference> {
  using Type = HvxDifference;
};
template <>
struct VectorsOf<ByteMixture::kProduct> {
  using Type = HvxProduct;
};

#endif

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

#if defined(__HVX__)
  using Vectors = typename VectorsOf<Operation::kMixture>::Type;

  static constexpr int kMostPeriod = 2048;

  static void ApplyVectors(const Vectors& vectors, const BytePair& state, const HvxOperand (&operands)[2], int8_t* to,
                           int64_t count) {
    vectors.Run(operands, count, to, [&](const int8_t* const* x, int i) {
      const Sixteen first = LoadOperand(x[0] + i, 1, false, state.zeros[0]);
      const Sixteen second = LoadOperand(x[1] + i, 1, false, state.zeros[1]);
      int8_t exact = 0;
      StoreSome(Operation::Mix(state, first, second), state.steps, &exact, 1);
      return exact;
    });
  }

  // Rows of one operand, and a row of the other that is the same for all of them: repeated until it is a vector, it is
  // walked as one stretch. False where there is something else.
  static bool ApplyRows(const RunContext& context, const Vectors& vectors, const BytePair& state, const Broadcast& plan,
                        const int8_t* a, const int8_t* b, int8_t* to) {
    if (plan.rank != 2 || plan.dims[1] > kMostPeriod) return false;
    const int row = static_cast<int>(plan.dims[1]);
    const int same = plan.strides[0][0] == 0 ? 0 : 1;
    if (plan.strides[same][0] != 0 || plan.strides[same][1] != 1) return false;
    if (plan.strides[1 - same][0] != row || plan.strides[1 - same][1] != 1) return false;
    const int period = (kHvxBytes + row - 1) / row * row;
    int8_t repeated[kMostPeriod + 3 * kHvxBytes];
    for (int at = 0; at < period + kHvxBytes; at += row) {
      const int left = period + kHvxBytes - at;
      CopyBytes(repeated + at, same == 0 ? a : b, left < row ? left : row);
    }
    const int8_t* moving = same == 0 ? b : a;
    context.For(plan.dims[0], kElementGrain / row + 1, [&](int64_t begin, int64_t end, int) {
      const HvxOperand other = {moving + begin * row, true, 0}, own = {repeated, true, period};
      const int64_t count = (end - begin) * row;
      if (same == 0) return ApplyVectors(vectors, state, {own, other}, to + begin * row, count);
      ApplyVectors(vectors, state, {other, own}, to + begin * row, count);
    });
    return true;
  }
#endif

  static void Run(const RunContext& context) {
    const BytePair& state = context.State<BytePair>();
    const Broadcast& plan = context.Plan<Broadcast>();
    const int8_t* a = context.inputs[0].As<int8_t>();
    const int8_t* b = context.inputs[1].As<int8_t>();
    int8_t* to = context.outputs[0].As<int8_t>();
    const bool a_moves = plan.strides[0][plan.rank - 1] != 0;
    const bool b_moves = plan.strides[1][plan.rank - 1] != 0;
#if defined(__HVX__)
    const Vectors vectors(state.zeros, state.factors, state.steps);
    if (vectors.usable() && ApplyRows(context, vectors, state, plan, a, b, to)) return;
#endif
    context.For(context.outputs[0].shape.Count(), kElementGrain, [&](int64_t begin, int64_t end, int) {
      plan.ForStretches(begin, end, [&](int64_t at, const int64_t* offsets, int64_t count) {
#if defined(__HVX__)
        if (vectors.usable() && count >= kStretch)
          return ApplyVectors(vectors, state, {{a + offsets[0], a_moves, 0}, {b + offsets[1], b_moves, 0}}, to + at,
                              count);
#endif
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
