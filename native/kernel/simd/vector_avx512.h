// Vectors of sixteen floats. See vector_portable.h for what every such header offers.
#ifndef LATHE_KERNEL_SIMD_VECTOR_AVX512_H_
#define LATHE_KERNEL_SIMD_VECTOR_AVX512_H_

#include <immintrin.h>
#include <stdint.h>

namespace lathe {
namespace {

using Element = float;

struct Vec {
  __m512 v;
};

constexpr int kLanes = 16;
constexpr int kVectorRegisters = 32;

inline __mmask16 FirstLanes(int count) { return static_cast<__mmask16>((1u << count) - 1); }

inline Vec Load(const float* from) { return {_mm512_loadu_ps(from)}; }
inline Vec LoadPart(const float* from, int count) { return {_mm512_maskz_loadu_ps(FirstLanes(count), from)}; }
inline void Store(float* to, Vec x) { _mm512_storeu_ps(to, x.v); }
inline void StorePart(float* to, Vec x, int count) { _mm512_mask_storeu_ps(to, FirstLanes(count), x.v); }
inline Vec Fill(float x) { return {_mm512_set1_ps(x)}; }
inline Vec Add(Vec a, Vec b) { return {_mm512_add_ps(a.v, b.v)}; }
inline Vec Sub(Vec a, Vec b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline Vec Mul(Vec a, Vec b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
// Masked with all lanes: GCC 12 warns of its own header's unmasked ones.
inline Vec AtLeast(Vec x, Vec low) { return {_mm512_maskz_max_ps(0xffff, low.v, x.v)}; }
inline Vec AtMost(Vec x, Vec high) { return {_mm512_maskz_min_ps(0xffff, high.v, x.v)}; }
inline Vec Div(Vec a, Vec b) { return {_mm512_div_ps(a.v, b.v)}; }

struct Mask {
  __mmask16 v;
};

inline Vec Abs(Vec x) { return {_mm512_abs_ps(x.v)}; }
inline Vec WithSign(Vec size, Vec sign) { return {_mm512_or_ps(size.v, _mm512_and_ps(_mm512_set1_ps(-0.0f), sign.v))}; }
inline Vec WithExponent(Vec x) {
  return {_mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, _mm512_castps_si512(x.v), 23))};
}
inline Vec TimesPowerOfTwo(Vec x, Vec n) { return {_mm512_maskz_scalef_ps(0xffff, x.v, n.v)}; }
inline Mask Less(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
inline Vec Choose(Mask mask, Vec a, Vec b) { return {_mm512_mask_blend_ps(mask.v, b.v, a.v)}; }
inline Vec Larger(Vec a, Vec b) {
  const __mmask16 numbers = _mm512_cmp_ps_mask(a.v, a.v, _CMP_ORD_Q);
  return {_mm512_mask_max_ps(a.v, numbers, a.v, b.v)};
}
inline Vec Smaller(Vec a, Vec b) {
  const __mmask16 numbers = _mm512_cmp_ps_mask(a.v, a.v, _CMP_ORD_Q);
  return {_mm512_mask_min_ps(a.v, numbers, a.v, b.v)};
}
inline Vec Part(Vec x, int count) { return {_mm512_maskz_mov_ps(FirstLanes(count), x.v)}; }
template <int half>
inline __m256 HalfOf(Vec x) {
  return _mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(0xff, _mm512_castps_pd(x.v), half));
}
inline float SumLanes(Vec x) {
  const __m256 eight = _mm256_add_ps(HalfOf<0>(x), HalfOf<1>(x));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline void StoreSums(float* to, Vec a, Vec b, Vec c, Vec d) {
  const auto eight = [](Vec x) { return _mm256_add_ps(HalfOf<0>(x), HalfOf<1>(x)); };
  const __m256 halves = _mm256_hadd_ps(_mm256_hadd_ps(eight(a), eight(b)), _mm256_hadd_ps(eight(c), eight(d)));
  _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1)));
}
inline Vec SwapPairs(Vec x) { return {_mm512_maskz_permute_ps(0xffff, x.v, 0xb1)}; }
inline float MaxLanes(Vec x) {
  const __m256 eight = _mm256_max_ps(HalfOf<0>(x), HalfOf<1>(x));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_AVX512_H_
