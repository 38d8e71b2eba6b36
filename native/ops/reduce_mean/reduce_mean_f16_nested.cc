// The mean of halves, added up as floats.
#include <arm_neon.h>
#include "native/kernel/loops/reduce.h"

namespace lathe {
namespace {

struct MeanFold {
  static constexpr bool kEmptyAllowed = false;
  static float Initial() { return 0.0f; }
  static float Add(float a, float b) { return a + b; }
  static float Result(float sum, int64_t count) { return sum / static_cast<float>(count); }
};
using Means = Reduce<Half, float, MeanFold>;

constexpr int64_t kColumns = 16;

// The means of kColumns neighbours.
inline void FoldVectors(const ReducePlan& plan, const Half* from, int64_t outer, Half* to) {
  float32x4_t sums[kColumns / 4] = {};
  const Axes last = plan.reduced[plan.reduced_rank - 1];
  for (int64_t index = 0; index < outer; ++index) {
    const Half* row = from + OuterOffset(plan.reduced, plan.reduced_rank, index);
    for (int64_t j = 0; j < last.size; ++j, row += last.stride) {
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        const float16x8_t x = vreinterpretq_f16_u16(vld1q_u16(&row[8 * v].bits));
        sums[2 * v] = vaddq_f32(sums[2 * v], vcvt_f32_f16(vget_low_f16(x)));
        sums[2 * v + 1] = vaddq_f32(sums[2 * v + 1], vcvt_high_f32_f16(x));
      }
    }
  }
  const float32x4_t count = vdupq_n_f32(static_cast<float>(plan.count));
#pragma GCC unroll 2
  for (int v = 0; v < 2; ++v) {
    const float16x4_t low = vcvt_f16_f32(vdivq_f32(sums[2 * v], count));
    const float16x8_t mean = vcvt_high_f16_f32(low, vdivq_f32(sums[2 * v + 1], count));
    vst1q_u16(&to[8 * v].bits, vreinterpretq_u16_f16(mean));
  }
}

template <>
inline void Means::FoldColumns(const ReducePlan& plan, const Half* from, int64_t outer, int64_t width, Half* to) {
  int64_t column = 0;
  for (; width >= kColumns && column < width; column += kColumns) {
    if (column > width - kColumns) column = width - kColumns;  // overlaps the one before
    FoldVectors(plan, from + column, outer, to + column);
  }
  const Axes last = plan.reduced[plan.reduced_rank - 1];
  for (; column < width; ++column) {
    float sum = 0.0f;
    for (int64_t index = 0; index < outer; ++index) {
      const Half* row = from + OuterOffset(plan.reduced, plan.reduced_rank, index) + column;
      for (int64_t j = 0; j < last.size; ++j, row += last.stride) sum += Widen(*row);
    }
    to[column] = Convert<Half>(MeanFold::Result(sum, plan.count));
  }
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::ReduceKernel<lathe::MeanFold, lathe::Half, float>();
