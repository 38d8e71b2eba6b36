// Real numbers, or bytes with another scale, as bytes: sixteen at a time, rounded as everywhere.
#include "native/kernel/loops/elementwise.h"
#include "native/kernel/quantised/quantised.h"
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/sixteen.h"

namespace lathe {
namespace {

// `conversion.zero` is not read: real numbers have none. What is not a number stands for nothing.
inline void StoreReals(const ByteConversion& conversion, const float* from, int8_t* to, int64_t count) {
  const ByteConversion own = conversion;
  const Sixteen factor = Sixteen::Fill(own.factor);
  int64_t i = 0;
  for (; i + kStretch <= count; i += kStretch) {
    float numbers[kStretch];
    for (int k = 0; k < kStretch; ++k) numbers[k] = from[i + k] == from[i + k] ? from[i + k] : 0.0f;
    (Sixteen::OfFloats(numbers) * factor).Store(own.steps, to + i);
  }
#if defined(__clang__)
#pragma clang loop vectorize(disable)  // fewer than a stretch
#endif
  for (; i < count; ++i) to[i] = Quantised<int8_t>(from[i] * own.factor, own.steps.zero);
}

inline Code PrepareRequantizeBytes(PrepareContext& context) {
  ByteConversion& conversion = *static_cast<ByteConversion*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  const Tensor& x = context.input(0);
  const Tensor& y = context.output(0);
  if (x.dtype == DType::kS8) return ReadConversion(context, x, y, &conversion);
  if (x.dtype != DType::kF32 || y.dtype != DType::kS8)
    return context.Fail(Code::kUnsupported, "this kernel has other element types");
  Stored to = {};
  LATHE_TRY(ReadStored(context, y, &to));
  conversion.steps = WholeSteps(to.zero);
  return ReadFactor(context, 1.0f, to.scale, &conversion.factor);
}

inline Code PlanRequantizeBytes(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

void RunRequantizeBytes(const RunContext& context) {
  const ByteConversion& conversion = context.State<ByteConversion>();
  const Tensor& x = context.inputs[0];
  int8_t* y = context.outputs[0].As<int8_t>();
  context.For(x.shape.Count(), kElementGrain, [&](int64_t begin, int64_t end, int) {
    if (x.dtype == DType::kF32) return StoreReals(conversion, x.As<float>() + begin, y + begin, end - begin);
    ConvertBytes(conversion, x.As<int8_t>() + begin, y + begin, end - begin);
  });
}

constexpr KernelFunctions RequantizeBytesKernel() {
  return {
      .state_size = sizeof(ByteConversion),
      .prepare = PrepareRequantizeBytes,
      .plan = PlanRequantizeBytes,
      .run = RunRequantizeBytes,
  };
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::RequantizeBytesKernel();
