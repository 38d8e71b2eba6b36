// Vectors of sixteen floats. See vector_portable.h for what every such header offers.
#ifndef LATHE_CORE_VECTOR_AVX512_H_
#define LATHE_CORE_VECTOR_AVX512_H_

#include <immintrin.h>
#include <stdint.h>

namespace lathe {
namespace {

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

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_VECTOR_AVX512_H_
