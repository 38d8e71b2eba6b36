// Between floats and halves on aarch64, which has instructions for that whatever it computes in.
#ifndef LATHE_OPS_CAST_HALVES_H_
#define LATHE_OPS_CAST_HALVES_H_

#include <arm_neon.h>

#include "native/kernel/check.h"
#include "native/kernel/math/convert.h"

namespace lathe {
namespace {

constexpr int64_t kLanes = 8;

inline void ConvertLanes(const float* from, Half* to) {
  const float16x4_t low = vcvt_f16_f32(vld1q_f32(from));
  vst1q_u16(&to->bits, vreinterpretq_u16_f16(vcvt_high_f16_f32(low, vld1q_f32(from + 4))));
}
inline void ConvertLanes(const Half* from, float* to) {
  const float16x8_t halves = vreinterpretq_f16_u16(vld1q_u16(&from->bits));
  vst1q_f32(to, vcvt_f32_f16(vget_low_f16(halves)));
  vst1q_f32(to + 4, vcvt_high_f32_f16(halves));
}

template <typename From, typename To>
struct HalfCast {
  static constexpr DType kFrom = sizeof(From) == 2 ? DType::kF16 : DType::kF32;
  static constexpr DType kTo = sizeof(To) == 2 ? DType::kF16 : DType::kF32;

  static Code Prepare(PrepareContext& context) {
    LATHE_TRY(CheckArity(context, 1, 1, 1));
    int64_t to = 0;
    LATHE_TRY(context.Int("to", &to));
    if (context.input(0).dtype != kFrom || context.output(0).dtype != kTo) {
      return context.Fail(Code::kUnsupported, "this kernel converts between other types");
    }
    if (to == static_cast<int64_t>(kTo)) return Code::kOk;
    return context.Fail(Code::kBadModel, "attribute 'to' is not the type of its output");
  }

  static Code Plan(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

  static void Run(const RunContext& context) {
    const From* from = context.inputs[0].As<From>();
    To* to = context.outputs[0].As<To>();
    context.For(context.outputs[0].shape.Count(), 4096, [=](int64_t begin, int64_t end, int) {
      int64_t i = begin;
      for (; i + 2 * kLanes <= end; i += 2 * kLanes) {
        ConvertLanes(from + i, to + i);
        ConvertLanes(from + i + kLanes, to + i + kLanes);
      }
      for (; i < end; ++i) to[i] = Convert<To>(from[i]);
    });
  }
};

template <typename From, typename To>
constexpr KernelFunctions HalfCastKernel() {
  using Kernel = HalfCast<From, To>;
  return {
      .prepare = Kernel::Prepare,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CAST_HALVES_H_
