// Vectors of 16 words of 16 bits. See words_portable.h for what every such header offers.
#ifndef LATHE_VISION_WORDS_AVX2_H_
#define LATHE_VISION_WORDS_AVX2_H_

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

namespace lathe {
namespace vision {
namespace {

struct Words {
  __m256i v;
};
constexpr size_t kWords = 16;

inline __m128i Bytes(const uint8_t* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
inline Words Widen(__m128i x) { return {_mm256_cvtepu8_epi16(x)}; }
inline __m128i Narrow(Words x) {
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi16(x.v, x.v), 0x88));
}
inline void Put(uint8_t* to, __m128i x) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), x); }

inline Words Fill(int x) { return {_mm256_set1_epi16(static_cast<int16_t>(x))}; }
inline Words LoadWords(const int16_t* from) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))}; }
inline void StoreWords(int16_t* to, Words x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x.v); }
inline Words LoadBytes(const uint8_t* from) { return Widen(Bytes(from)); }
inline void StoreBytes(uint8_t* to, Words x) { Put(to, Narrow(x)); }
inline Words Add(Words a, Words b) { return {_mm256_add_epi16(a.v, b.v)}; }
inline Words Sub(Words a, Words b) { return {_mm256_sub_epi16(a.v, b.v)}; }
inline Words SubtractToZero(Words a, Words b) { return {_mm256_subs_epu16(a.v, b.v)}; }
inline Words Mul(Words a, Words b) { return {_mm256_mullo_epi16(a.v, b.v)}; }
inline Words MulShift8(Words small, Words b) { return {_mm256_mulhi_epi16(_mm256_slli_epi16(small.v, 8), b.v)}; }
inline Words MulRound15(Words a, Words b) { return {_mm256_mulhrs_epi16(a.v, b.v)}; }
template <int n>
inline Words Left(Words x) {
  return {_mm256_slli_epi16(x.v, n)};
}
template <int n>
inline Words Right(Words x) {
  return {_mm256_srai_epi16(x.v, n)};
}
template <int n>
inline Words RightUnsigned(Words x) {
  return {_mm256_srli_epi16(x.v, n)};
}

inline void LoadPairs(const uint8_t* from, Words* a, Words* b) {
  const __m128i x = Bytes(from);
  *a = Widen(_mm_shuffle_epi8(x, _mm_setr_epi8(0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14)));
  *b = Widen(_mm_shuffle_epi8(x, _mm_setr_epi8(1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15)));
}
inline Words LoadHalves(const uint8_t* from) {
  const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return Widen(_mm_unpacklo_epi8(x, x));
}
inline void LoadYuyv(const uint8_t* from, Words* y, Words* u, Words* v) {
  const __m128i a = Bytes(from), b = Bytes(from + 16);
  const __m128i low = _mm_set1_epi16(0xff);
  *y = Widen(_mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low)));
  const __m128i uv = _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8));
  *u = Widen(_mm_shuffle_epi8(uv, _mm_setr_epi8(0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14)));
  *v = Widen(_mm_shuffle_epi8(uv, _mm_setr_epi8(1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15)));
}
inline void Load2(const uint8_t* from, __m128i* a, __m128i* b) {
  const __m128i x = Bytes(from), y = Bytes(from + 16), low = _mm_set1_epi16(0xff);
  *a = _mm_packus_epi16(_mm_and_si128(x, low), _mm_and_si128(y, low));
  *b = _mm_packus_epi16(_mm_srli_epi16(x, 8), _mm_srli_epi16(y, 8));
}
inline void Load3(const uint8_t* from, __m128i* a, __m128i* b, __m128i* c) {
  const __m128i x = Bytes(from), y = Bytes(from + 16), z = Bytes(from + 32);
  const auto take = [](__m128i bytes, __m128i which) { return _mm_shuffle_epi8(bytes, which); };
  const char n = -1;
  *a = _mm_or_si128(_mm_or_si128(take(x, _mm_setr_epi8(0, 3, 6, 9, 12, 15, n, n, n, n, n, n, n, n, n, n)),
                                 take(y, _mm_setr_epi8(n, n, n, n, n, n, 2, 5, 8, 11, 14, n, n, n, n, n))),
                    take(z, _mm_setr_epi8(n, n, n, n, n, n, n, n, n, n, n, 1, 4, 7, 10, 13)));
  *b = _mm_or_si128(_mm_or_si128(take(x, _mm_setr_epi8(1, 4, 7, 10, 13, n, n, n, n, n, n, n, n, n, n, n)),
                                 take(y, _mm_setr_epi8(n, n, n, n, n, 0, 3, 6, 9, 12, 15, n, n, n, n, n))),
                    take(z, _mm_setr_epi8(n, n, n, n, n, n, n, n, n, n, n, 2, 5, 8, 11, 14)));
  *c = _mm_or_si128(_mm_or_si128(take(x, _mm_setr_epi8(2, 5, 8, 11, 14, n, n, n, n, n, n, n, n, n, n, n)),
                                 take(y, _mm_setr_epi8(n, n, n, n, n, 1, 4, 7, 10, 13, n, n, n, n, n, n))),
                    take(z, _mm_setr_epi8(n, n, n, n, n, n, n, n, n, n, 0, 3, 6, 9, 12, 15)));
}
inline void Store3(uint8_t* to, __m128i a, __m128i b, __m128i c) {
  const char n = -1;
  const auto mixed = [&](__m128i of_a, __m128i of_b, __m128i of_c) {
    return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(a, of_a), _mm_shuffle_epi8(b, of_b)), _mm_shuffle_epi8(c, of_c));
  };
  Put(to, mixed(_mm_setr_epi8(0, n, n, 1, n, n, 2, n, n, 3, n, n, 4, n, n, 5),
                _mm_setr_epi8(n, 0, n, n, 1, n, n, 2, n, n, 3, n, n, 4, n, n),
                _mm_setr_epi8(n, n, 0, n, n, 1, n, n, 2, n, n, 3, n, n, 4, n)));
  Put(to + 16, mixed(_mm_setr_epi8(n, n, 6, n, n, 7, n, n, 8, n, n, 9, n, n, 10, n),
                     _mm_setr_epi8(5, n, n, 6, n, n, 7, n, n, 8, n, n, 9, n, n, 10),
                     _mm_setr_epi8(n, 5, n, n, 6, n, n, 7, n, n, 8, n, n, 9, n, n)));
  Put(to + 32, mixed(_mm_setr_epi8(n, 11, n, n, 12, n, n, 13, n, n, 14, n, n, 15, n, n),
                     _mm_setr_epi8(n, n, 11, n, n, 12, n, n, 13, n, n, 14, n, n, 15, n),
                     _mm_setr_epi8(10, n, n, 11, n, n, 12, n, n, 13, n, n, 14, n, n, 15)));
}
inline void Load4(const uint8_t* from, __m128i* a, __m128i* b, __m128i* c, __m128i* d) {
  const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const auto part = [&](int i) { return _mm_shuffle_epi8(Bytes(from + i * 16), order); };
  const __m128i p0 = part(0), p1 = part(1), p2 = part(2), p3 = part(3);
  const __m128i low0 = _mm_unpacklo_epi32(p0, p1), low1 = _mm_unpacklo_epi32(p2, p3);
  const __m128i high0 = _mm_unpackhi_epi32(p0, p1), high1 = _mm_unpackhi_epi32(p2, p3);
  *a = _mm_unpacklo_epi64(low0, low1);
  *b = _mm_unpackhi_epi64(low0, low1);
  *c = _mm_unpacklo_epi64(high0, high1);
  *d = _mm_unpackhi_epi64(high0, high1);
}
inline void Store4(uint8_t* to, __m128i a, __m128i b, __m128i c, __m128i d) {
  const __m128i ab0 = _mm_unpacklo_epi8(a, b), ab1 = _mm_unpackhi_epi8(a, b);
  const __m128i cd0 = _mm_unpacklo_epi8(c, d), cd1 = _mm_unpackhi_epi8(c, d);
  Put(to, _mm_unpacklo_epi16(ab0, cd0));
  Put(to + 16, _mm_unpackhi_epi16(ab0, cd0));
  Put(to + 32, _mm_unpacklo_epi16(ab1, cd1));
  Put(to + 48, _mm_unpackhi_epi16(ab1, cd1));
}
inline void Store2(uint8_t* to, __m128i a, __m128i b) {
  Put(to, _mm_unpacklo_epi8(a, b));
  Put(to + 16, _mm_unpackhi_epi8(a, b));
}
using ByteVector = __m128i;  // kWords bytes
inline ByteVector LoadVector(const uint8_t* from) { return Bytes(from); }
inline void StoreVector(uint8_t* to, ByteVector x) { Put(to, x); }
inline ByteVector FillVector(uint8_t x) { return _mm_set1_epi8(static_cast<char>(x)); }
inline ByteVector Reversed(ByteVector x) {
  return _mm_shuffle_epi8(x, _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
}
// Sums of neighbours: kWords / 2 of a, then of b.
inline Words PairSums(Words a, Words b) { return {_mm256_permute4x64_epi64(_mm256_hadd_epi16(a.v, b.v), 0xd8)}; }

struct Floats {
  __m256 v;
};
constexpr size_t kFloats = 8;
inline Floats LoadFloats(const float* from) { return {_mm256_loadu_ps(from)}; }
inline void StoreFloats(float* to, Floats x) { _mm256_storeu_ps(to, x.v); }
inline Floats FillFloats(float x) { return {_mm256_set1_ps(x)}; }
inline Floats FloatsOf(const uint8_t* from) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))))};
}
inline Floats MulAdd(Floats a, Floats b, Floats c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
inline void StoreHalves(uint16_t* to, Floats x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(x.v, 0));
}
// Rounded to the nearest, halves to even, between low and high.
inline void StoreRounded(uint8_t* to, Floats x, float low, float high) {
  const __m256 within = _mm256_min_ps(_mm256_max_ps(x.v, _mm256_set1_ps(low)), _mm256_set1_ps(high));
  const __m256i whole = _mm256_cvtps_epi32(within);
  const __m256i bytes =
      _mm256_shuffle_epi8(whole, _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8,
                                                  12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
  const int first = _mm_cvtsi128_si32(_mm256_castsi256_si128(bytes));
  const int second = _mm_cvtsi128_si32(_mm256_extracti128_si256(bytes, 1));
  memcpy(to, &first, 4);
  memcpy(to + 4, &second, 4);
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_WORDS_AVX2_H_
