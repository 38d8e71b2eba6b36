// Sixteen sums as they are stored, with AVX2: see byte_state.h.
#ifndef LATHE_KERNEL_GEMM_BYTE_STORE_AVX2_H_
#define LATHE_KERNEL_GEMM_BYTE_STORE_AVX2_H_

#include <immintrin.h>

#include "native/kernel/gemm/byte_state.h"

namespace lathe {
namespace {

// What is the same for all pixels of a panel.
struct ByteStore {
  const BytePanelState& state;
  __m256 factors[2];
  __m256i zero;
  __m128i low;

  ByteStore(const BytePanelState& of, int64_t channel) : state(of) {
    for (int64_t j = 0; j < 2; ++j) factors[j] = _mm256_loadu_ps(of.factors + channel + 8 * j);
    zero = _mm256_set1_epi16(static_cast<int16_t>(of.y_zero));
    low = _mm_set1_epi8(ByteOf(of.low, {of.y_zero, of.low, of.high}));
  }

  // Half of a panel. `residual` may be null.
  LATHE_INLINE __m256i Half(__m256i sum, const int8_t* residual, int j) const {
    __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), factors[j]);
    if (residual != nullptr) {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(residual + 8 * j));
      const __m256i steps = _mm256_sub_epi32(_mm256_cvtepi8_epi32(bytes), _mm256_set1_epi32(state.residual_zero));
      value = _mm256_add_ps(value, _mm256_mul_ps(_mm256_cvtepi32_ps(steps), _mm256_set1_ps(state.residual_factor)));
    }
    // What is too small becomes the smallest number: that limit may wait.
    return _mm256_cvtps_epi32(_mm256_min_ps(value, _mm256_set1_ps(state.high)));
  }

  LATHE_INLINE __m128i Bytes(__m256i first, __m256i second) const {
    const __m256i words = _mm256_adds_epi16(_mm256_packs_epi32(first, second), zero);
    const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
    return _mm_max_epi8(_mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)), low);
  }

  LATHE_INLINE __m128i operator()(const __m256i (&sums)[2], const int8_t* residual) const {
    return Bytes(Half(sums[0], residual, 0), Half(sums[1], residual, 1));
  }

  // Half a panel, which is half of the result.
  LATHE_INLINE __m128i operator()(const __m256i (&sums)[1], const int8_t* residual) const {
    const __m256i half = Half(sums[0], residual, 0);
    return Bytes(half, half);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_STORE_AVX2_H_
