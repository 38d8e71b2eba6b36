// Vectors of eight floats. See vector_portable.h for what every such header offers.
#ifndef LATHE_KERNEL_SIMD_VECTOR_AVX2_H_
#define LATHE_KERNEL_SIMD_VECTOR_AVX2_H_

#include <immintrin.h>
#include <stdint.h>

namespace lathe {
namespace {

using Element = float;

struct Vec {
  __m256 v;
};

constexpr int kLanes = 8;
constexpr int kVectorRegisters = 16;

inline __m256i FirstLanes(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

inline Vec Load(const float* from) { return {_mm256_loadu_ps(from)}; }
inline Vec LoadPart(const float* from, int count) { return {_mm256_maskload_ps(from, FirstLanes(count))}; }
inline void Store(float* to, Vec x) { _mm256_storeu_ps(to, x.v); }
inline void StorePart(float* to, Vec x, int count) { _mm256_maskstore_ps(to, FirstLanes(count), x.v); }
inline Vec Fill(float x) { return {_mm256_set1_ps(x)}; }
inline Vec Add(Vec a, Vec b) { return {_mm256_add_ps(a.v, b.v)}; }
inline Vec Sub(Vec a, Vec b) { return {_mm256_sub_ps(a.v, b.v)}; }
inline Vec Mul(Vec a, Vec b) { return {_mm256_mul_ps(a.v, b.v)}; }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
inline Vec AtLeast(Vec x, Vec low) { return {_mm256_max_ps(low.v, x.v)}; }
inline Vec AtMost(Vec x, Vec high) { return {_mm256_min_ps(high.v, x.v)}; }
inline Vec Div(Vec a, Vec b) { return {_mm256_div_ps(a.v, b.v)}; }

struct Mask {
  __m256 v;
};

inline Vec Abs(Vec x) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), x.v)}; }
inline Vec WithSign(Vec size, Vec sign) { return {_mm256_or_ps(size.v, _mm256_and_ps(_mm256_set1_ps(-0.0f), sign.v))}; }
inline Vec WithExponent(Vec x) { return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x.v), 23))}; }
inline Vec TimesPowerOfTwo(Vec x, Vec n) {
  const __m256i whole = _mm256_cvtps_epi32(n.v);
  const __m256i half = _mm256_srai_epi32(whole, 1);
  const __m256i bias = _mm256_set1_epi32(127);
  const __m256i first = _mm256_slli_epi32(_mm256_add_epi32(half, bias), 23);
  const __m256i second = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(whole, half), bias), 23);
  return {_mm256_mul_ps(_mm256_mul_ps(x.v, _mm256_castsi256_ps(first)), _mm256_castsi256_ps(second))};
}
inline Mask Less(Vec a, Vec b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
inline Vec Choose(Mask mask, Vec a, Vec b) { return {_mm256_blendv_ps(b.v, a.v, mask.v)}; }
inline Vec Larger(Vec a, Vec b) {
  return {_mm256_blendv_ps(_mm256_max_ps(a.v, b.v), a.v, _mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q))};
}
inline Vec Smaller(Vec a, Vec b) {
  return {_mm256_blendv_ps(_mm256_min_ps(a.v, b.v), a.v, _mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q))};
}
inline Vec Part(Vec x, int count) { return {_mm256_and_ps(x.v, _mm256_castsi256_ps(FirstLanes(count)))}; }
inline float SumLanes(Vec x) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x.v), _mm256_extractf128_ps(x.v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline void StoreSums(float* to, Vec a, Vec b, Vec c, Vec d) {
  const __m256 halves = _mm256_hadd_ps(_mm256_hadd_ps(a.v, b.v), _mm256_hadd_ps(c.v, d.v));
  _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1)));
}
inline Vec SwapPairs(Vec x) { return {_mm256_permute_ps(x.v, 0xb1)}; }
inline float MaxLanes(Vec x) {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(x.v), _mm256_extractf128_ps(x.v, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_AVX2_H_
