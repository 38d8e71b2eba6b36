// Two vectors of sums of products as they are stored: see byte_state.h.
#ifndef LATHE_KERNEL_GEMM_WORD_RESULTS_H_
#define LATHE_KERNEL_GEMM_WORD_RESULTS_H_

#include "native/kernel/simd/words.h"

#if defined(LATHE_ISA_AVX2)
#include "native/kernel/gemm/byte_store_avx2.h"
#elif defined(LATHE_ISA_SIMD128)
#include "native/kernel/gemm/byte_store_simd128.h"
#elif defined(LATHE_ISA_NEON) || defined(LATHE_ISA_NEONV7)
#include "native/kernel/gemm/byte_store_arm.h"
#else
#include "native/kernel/gemm/byte_store_portable.h"
#endif

namespace lathe {
namespace {

// Of outputs from `channel`, one after the other. `residual` may be null.
class WordResults {
 public:
#if defined(LATHE_ISA_NEON) || defined(LATHE_ISA_NEONV7)
  WordResults(const BytePanelState& state, int64_t channel)
      : store_(state, state.factors + channel),
        starts_{vld1q_s32(state.starts + channel), vld1q_s32(state.starts + channel + 4)} {}

  LATHE_INLINE void Store(const Sums (&sums)[2], const int8_t* residual, int8_t* to) const {
    float32x4_t values[2];
    for (int i = 0; i < 2; ++i)
      values[i] = vmulq_f32(vcvtq_f32_s32(vaddq_s32(sums[i].v, starts_[i])), store_.factors[i]);
    if (residual != nullptr) {
      const int16x8_t steps = vsubq_s16(vmovl_s8(vld1_s8(residual)), store_.residual_zero);
      const int32x4_t wide[2] = {vmovl_s16(vget_low_s16(steps)), vmovl_s16(vget_high_s16(steps))};
      for (int i = 0; i < 2; ++i)
        values[i] = vaddq_f32(values[i], vmulq_f32(vcvtq_f32_s32(wide[i]), store_.residual_factor));
    }
    const int16x8_t words = vcombine_s16(vqmovn_s32(RoundBytes(values[0])), vqmovn_s32(RoundBytes(values[1])));
    const int8x8_t bytes = vqmovn_s16(vqaddq_s16(words, store_.zero));
    vst1_s8(to, vmin_s8(vmax_s8(bytes, vget_low_s8(store_.low)), vget_low_s8(store_.high)));
  }

 private:
  ByteStore store_;
  int32x4_t starts_[2];
#elif defined(LATHE_ISA_AVX2)
  WordResults(const BytePanelState& state, int64_t channel) : store_(state, channel) {
    const auto* starts = reinterpret_cast<const __m256i*>(state.starts + channel);
    for (int i = 0; i < 2; ++i) starts_[i] = _mm256_loadu_si256(starts + i);
  }

  LATHE_INLINE void Store(const Sums (&sums)[2], const int8_t* residual, int8_t* to) const {
    const __m256i whole[2] = {_mm256_add_epi32(sums[0].v, starts_[0]), _mm256_add_epi32(sums[1].v, starts_[1])};
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), store_(whole, residual));
  }

 private:
  ByteStore store_;
  __m256i starts_[2];
#else
  WordResults(const BytePanelState& state, int64_t channel) : state_(state), channel_(channel) {}

  LATHE_INLINE void Store(const Sums (&sums)[2], const int8_t* residual, int8_t* to) const {
#if defined(LATHE_ISA_SIMD128)
    v128_t steps[2];
    for (int i = 0; i < 2; ++i)
      steps[i] = StepsOf(state_, sums[i].v, channel_ + 4 * i, residual == nullptr ? nullptr : residual + 4 * i);
    const v128_t words = wasm_i16x8_narrow_i32x4(steps[0], steps[1]);
    wasm_v128_store64_lane(to, wasm_i8x16_narrow_i16x8(words, words), 0);
#else
    for (int i = 0; i < 2 * kSums; ++i) {
      const int8_t* beside = residual == nullptr ? nullptr : residual + i;
      to[i] = RequantisedSum(state_, sums[i / kSums].v[i % kSums], channel_ + i, beside);
    }
#endif
  }

 private:
  const BytePanelState& state_;
  int64_t channel_;
#endif
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_WORD_RESULTS_H_
