// Vectors of sixteen 16-bit integers and of eight sums, with AVX2. See words_portable.h for what there is.
#ifndef LATHE_KERNEL_SIMD_WORDS_AVX2_H_
#define LATHE_KERNEL_SIMD_WORDS_AVX2_H_

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

namespace lathe {
namespace {

constexpr int kWords = 16;
constexpr int kSums = 8;

struct Words {
  __m256i v;
};

struct Sums {
  __m256i v;
};

inline Words LoadBytes(const int8_t* from) {
  return {_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))};
}
inline void Store(int16_t* to, Words x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x.v); }
inline Words Add(Words a, Words b) { return {_mm256_add_epi16(a.v, b.v)}; }
inline Words Sub(Words a, Words b) { return {_mm256_sub_epi16(a.v, b.v)}; }

inline Sums LoadSums(const int32_t* from) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))}; }
inline void Store(int32_t* to, Sums x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x.v); }
inline Sums Add(Sums a, Sums b) { return {_mm256_add_epi32(a.v, b.v)}; }
inline Sums Sub(Sums a, Sums b) { return {_mm256_sub_epi32(a.v, b.v)}; }
inline Sums Quarter(Sums x) { return {_mm256_srai_epi32(x.v, 2)}; }

constexpr int kWordRows = 6;

struct WordInputs {
  const int16_t* from;
};

struct WordFilters {
  __m256i v[2];
};

inline WordInputs LoadInputs(const int16_t* from) { return {from}; }
inline WordFilters LoadFilters(const int16_t* from) {
  const auto* vectors = reinterpret_cast<const __m256i*>(from);
  return {{_mm256_loadu_si256(vectors), _mm256_loadu_si256(vectors + 1)}};
}

template <int first>
inline void AddProducts(const WordFilters& w, const WordInputs& x, Sums (&sums)[2]) {
  int32_t two;
  memcpy(&two, x.from + first, sizeof two);
  const __m256i both = _mm256_set1_epi32(two);
  for (int i = 0; i < 2; ++i) {
    sums[i].v = _mm256_add_epi32(sums[i].v, _mm256_madd_epi16(w.v[i], both));
    asm("" : "+x"(sums[i].v));  // else GCC adds products to each other first, for which there are no registers
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_WORDS_AVX2_H_
