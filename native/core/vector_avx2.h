// Vectors of eight floats. See vector_portable.h for what every such header offers.
#ifndef LATHE_CORE_VECTOR_AVX2_H_
#define LATHE_CORE_VECTOR_AVX2_H_

#include <immintrin.h>
#include <stdint.h>

namespace lathe {
namespace {

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

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_VECTOR_AVX2_H_
