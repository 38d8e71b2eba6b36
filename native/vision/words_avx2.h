// Vectors of 32 bytes. words_neon.h offers the same, of 16.
#ifndef LATHE_VISION_WORDS_AVX2_H_
#define LATHE_VISION_WORDS_AVX2_H_

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "native/vision/rows.h"

#define LATHE_VISION_BYTES 1

namespace lathe {
namespace vision {
namespace {

using ByteVector = __m256i;
constexpr size_t kBytes = 32;
using HalfWords = __m256i;  // kBytes / 2 words, in their order
// Of a ByteVector, as unpacking orders them: words 0 to 7 and 16 to 23, then the others.
struct Words {
  __m256i low, high;
};

inline __m128i Bytes(const uint8_t* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
inline void Put(uint8_t* to, __m128i x) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), x); }
// 16 bytes, and 16 from elsewhere.
inline __m256i Lanes(const uint8_t* low, const uint8_t* high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(Bytes(low)), Bytes(high), 1);
}
inline void PutLanes(uint8_t* low, uint8_t* high, __m256i x) {
  Put(low, _mm256_castsi256_si128(x));
  Put(high, _mm256_extracti128_si256(x, 1));
}
inline __m256i Both(__m128i x) { return _mm256_broadcastsi128_si256(x); }

inline ByteVector LoadVector(const uint8_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
inline void StoreVector(uint8_t* to, ByteVector x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x); }
inline ByteVector FillVector(uint8_t x) { return _mm256_set1_epi8(static_cast<char>(x)); }
// Each lane backwards.
inline __m256i Backwards(__m256i x) {
  return _mm256_shuffle_epi8(x, Both(_mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)));
}
// The pixels of 1, 2 or 4 bytes of a vector in memory, the last one first.
template <int pixel>
inline ByteVector Reversed(const uint8_t* from) {
  const __m128i order = pixel == 1   ? _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
                        : pixel == 2 ? _mm_setr_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1)
                                     : _mm_setr_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  return _mm256_shuffle_epi8(Lanes(from + 16, from), Both(order));
}

inline HalfWords FillHalf(int x) { return _mm256_set1_epi16(static_cast<int16_t>(x)); }
inline HalfWords LoadHalf(const int16_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
inline void StoreHalf(int16_t* to, HalfWords x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x); }
inline HalfWords AddHalf(HalfWords a, HalfWords b) { return _mm256_add_epi16(a, b); }
inline HalfWords SubHalf(HalfWords a, HalfWords b) { return _mm256_sub_epi16(a, b); }
inline HalfWords MulRound15(HalfWords a, HalfWords b) { return _mm256_mulhrs_epi16(a, b); }
template <int n>
inline HalfWords Right(HalfWords x) {
  return _mm256_srai_epi16(x, n);
}
inline ByteVector Joined(HalfWords a, HalfWords b) { return _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xd8); }
// Each word twice.
inline Words Doubled(HalfWords x) { return {_mm256_unpacklo_epi16(x, x), _mm256_unpackhi_epi16(x, x)}; }
inline ByteVector Narrow(Words x) { return _mm256_packus_epi16(x.low, x.high); }
inline ByteVector NarrowSum(Words a, Words b) {
  return _mm256_packus_epi16(_mm256_add_epi16(a.low, b.low), _mm256_add_epi16(a.high, b.high));
}
inline ByteVector NarrowDifference(Words a, Words b) {
  return _mm256_packus_epi16(_mm256_sub_epi16(a.low, b.low), _mm256_sub_epi16(a.high, b.high));
}

inline void Load2(const uint8_t* from, ByteVector* a, ByteVector* b) {
  const __m256i x = LoadVector(from), y = LoadVector(from + 32), low = _mm256_set1_epi16(0xff);
  *a = Joined(_mm256_and_si256(x, low), _mm256_and_si256(y, low));
  *b = Joined(_mm256_srli_epi16(x, 8), _mm256_srli_epi16(y, 8));
}
// Bytes of 16 whose number leaves 1 or 2 when divided by 3.
inline __m256i SecondOfThree() { return Both(_mm_setr_epi8(0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0)); }
inline __m256i ThirdOfThree() { return Both(_mm_setr_epi8(0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0)); }
// 32 pixels of three bytes, 16 bytes of each half in each of three vectors: the halves of a vector are 48 bytes apart.
inline void LoadThirds(const uint8_t* from, __m256i* x, __m256i* y, __m256i* z) {
  const __m256i first = LoadVector(from), second = LoadVector(from + 32), third = LoadVector(from + 64);
  *x = _mm256_blend_epi32(first, second, 0xf0);
  *y = _mm256_permute2x128_si256(first, third, 0x21);
  *z = _mm256_blend_epi32(second, third, 0xf0);
}
// Channel c of pixel k is byte (3 k + c) % 16 of one of three vectors, and nothing else of it is there.
inline void Load3(const uint8_t* from, ByteVector* a, ByteVector* b, ByteVector* c) {
  __m256i x, y, z;
  LoadThirds(from, &x, &y, &z);
  const __m256i second = SecondOfThree(), third = ThirdOfThree();
  *a = _mm256_shuffle_epi8(_mm256_blendv_epi8(_mm256_blendv_epi8(x, z, second), y, third),
                           Both(_mm_setr_epi8(0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, 4, 7, 10, 13)));
  *b = _mm256_shuffle_epi8(_mm256_blendv_epi8(_mm256_blendv_epi8(y, x, second), z, third),
                           Both(_mm_setr_epi8(1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14)));
  *c = _mm256_shuffle_epi8(_mm256_blendv_epi8(_mm256_blendv_epi8(z, y, second), x, third),
                           Both(_mm_setr_epi8(2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15)));
}
// Vectors as LoadThirds makes them.
inline void StoreThirds(uint8_t* to, __m256i x, __m256i y, __m256i z) {
  StoreVector(to, _mm256_permute2x128_si256(x, y, 0x20));
  StoreVector(to + 32, _mm256_blend_epi32(z, x, 0xf0));
  StoreVector(to + 64, _mm256_permute2x128_si256(y, z, 0x31));
}
inline void Store3(uint8_t* to, ByteVector a, ByteVector b, ByteVector c) {
  const __m256i second = SecondOfThree(), third = ThirdOfThree();
  a = _mm256_shuffle_epi8(a, Both(_mm_setr_epi8(0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5)));
  b = _mm256_shuffle_epi8(b, Both(_mm_setr_epi8(5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10)));
  c = _mm256_shuffle_epi8(c, Both(_mm_setr_epi8(10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15)));
  const __m256i x = _mm256_blendv_epi8(_mm256_blendv_epi8(a, b, second), c, third);
  const __m256i y = _mm256_blendv_epi8(_mm256_blendv_epi8(b, c, second), a, third);
  const __m256i z = _mm256_blendv_epi8(_mm256_blendv_epi8(c, a, second), b, third);
  StoreThirds(to, x, y, z);
}
inline void Load4(const uint8_t* from, ByteVector* a, ByteVector* b, ByteVector* c, ByteVector* d) {
  const __m256i order = Both(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const auto part = [&](int i) { return _mm256_shuffle_epi8(Lanes(from + i * 16, from + 64 + i * 16), order); };
  const __m256i p0 = part(0), p1 = part(1), p2 = part(2), p3 = part(3);
  const __m256i low0 = _mm256_unpacklo_epi32(p0, p1), low1 = _mm256_unpacklo_epi32(p2, p3);
  const __m256i high0 = _mm256_unpackhi_epi32(p0, p1), high1 = _mm256_unpackhi_epi32(p2, p3);
  *a = _mm256_unpacklo_epi64(low0, low1);
  *b = _mm256_unpackhi_epi64(low0, low1);
  *c = _mm256_unpacklo_epi64(high0, high1);
  *d = _mm256_unpackhi_epi64(high0, high1);
}
// Two vectors whose lanes take turns in memory.
inline void StoreLanes(uint8_t* to, size_t apart, __m256i a, __m256i b) {
  StoreVector(to, _mm256_permute2x128_si256(a, b, 0x20));
  StoreVector(to + apart, _mm256_permute2x128_si256(a, b, 0x31));
}
inline void Store4(uint8_t* to, ByteVector a, ByteVector b, ByteVector c, ByteVector d) {
  const __m256i ab0 = _mm256_unpacklo_epi8(a, b), ab1 = _mm256_unpackhi_epi8(a, b);
  const __m256i cd0 = _mm256_unpacklo_epi8(c, d), cd1 = _mm256_unpackhi_epi8(c, d);
  StoreLanes(to, 64, _mm256_unpacklo_epi16(ab0, cd0), _mm256_unpackhi_epi16(ab0, cd0));
  StoreLanes(to + 32, 64, _mm256_unpacklo_epi16(ab1, cd1), _mm256_unpackhi_epi16(ab1, cd1));
}
inline void Store2(uint8_t* to, ByteVector a, ByteVector b) {
  StoreLanes(to, 32, _mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b));
}

// (w0 a + w1 b + w2 c + 128 or 0) >> 8, plus an offset; the weights are bytes, 256 together at most, and those of a and
// b below 256. Bytes less 128 are signed, as the second factor of the instruction is.
template <bool rounds>
struct Brightness {
  __m256i ab, c_alone, bias, offset;

  Brightness(const int16_t (&w)[3], int added)
      : ab(FillHalf(w[0] | w[1] << 8)),
        c_alone(FillHalf(w[2])),
        bias(FillHalf(128 * (w[0] + w[1] + w[2]) + (rounds ? 128 : 0))),
        offset(_mm256_set1_epi8(static_cast<char>(added))) {}

  LATHE_INLINE ByteVector Of(ByteVector a, ByteVector b, ByteVector c) const {
    const __m256i middle = _mm256_set1_epi8(-128);
    a = _mm256_xor_si256(a, middle), b = _mm256_xor_si256(b, middle), c = _mm256_xor_si256(c, middle);
    const auto sum = [&](__m256i both, __m256i alone) {
      const __m256i products = _mm256_add_epi16(_mm256_maddubs_epi16(ab, both), _mm256_maddubs_epi16(c_alone, alone));
      return _mm256_srli_epi16(_mm256_add_epi16(products, bias), 8);
    };
    const __m256i low = sum(_mm256_unpacklo_epi8(a, b), _mm256_unpacklo_epi8(c, c));
    const __m256i high = sum(_mm256_unpackhi_epi8(a, b), _mm256_unpackhi_epi8(c, c));
    return _mm256_add_epi8(_mm256_packus_epi16(low, high), offset);
  }
};

// The means of four pixels.
inline HalfWords Means(ByteVector first, ByteVector second) {
  const __m256i ones = _mm256_set1_epi8(1);
  const __m256i sums = _mm256_add_epi16(_mm256_maddubs_epi16(first, ones), _mm256_maddubs_epi16(second, ones));
  return _mm256_mulhrs_epi16(sums, FillHalf(1 << 13));
}
// The upper bytes of w0 a + w1 b + w2 c + offset, of 16 bits without a sign.
struct Tint {
  __m256i w[3];
  __m256i offset;

  Tint(const int16_t (&weights)[3], int added)
      : w{FillHalf(weights[0]), FillHalf(weights[1]), FillHalf(weights[2])}, offset(FillHalf(added)) {}

  LATHE_INLINE HalfWords Of(const HalfWords (&x)[3]) const {
    const __m256i ab = _mm256_add_epi16(_mm256_mullo_epi16(x[0], w[0]), _mm256_mullo_epi16(x[1], w[1]));
    return _mm256_srli_epi16(_mm256_add_epi16(_mm256_add_epi16(_mm256_mullo_epi16(x[2], w[2]), offset), ab), 8);
  }
};
inline void StoreHalves(uint8_t* u, uint8_t* v, HalfWords of_u, HalfWords of_v) {
  const __m256i both = Joined(of_u, of_v);
  PutLanes(u, v, both);
}

// Pairs of what the first and the third channel add to the brightness.
struct Hues {
  __m256i v;
};
// What kBytes / 2 of them add to each channel; the second channel loses it.
struct Shifts {
  HalfWords of[3];
};
struct YuvVectors {
  __m256i offset, below, gain;
  __m256i take[2], gains[2], green;

  // Of each pair, the second one is that of the first channel with `turned`.
  YuvVectors(const YuvToRgb& how, bool blue_first, bool turned) {
    const int first = blue_first ? how.b_u : how.r_v, third = blue_first ? how.r_v : how.b_u;
    const int green_first = blue_first ? how.g_u : how.g_v, green_third = blue_first ? how.g_v : how.g_u;
    offset = FillVector(static_cast<uint8_t>(how.y_offset));
    // (y * 256 + below) * 2 gain >> 16 is (y * gain + 64) >> 7.
    below = FillVector(static_cast<uint8_t>((16384 + how.y_gain - 1) / how.y_gain));
    gain = FillHalf(2 * how.y_gain);
    const __m256i lower = Both(_mm_setr_epi8(-1, 0, -1, 2, -1, 4, -1, 6, -1, 8, -1, 10, -1, 12, -1, 14));
    const __m256i upper = Both(_mm_setr_epi8(-1, 1, -1, 3, -1, 5, -1, 7, -1, 9, -1, 11, -1, 13, -1, 15));
    take[0] = turned ? upper : lower, take[1] = turned ? lower : upper;
    gains[0] = FillHalf(first), gains[1] = FillHalf(third);
    green = FillHalf(turned ? green_third | green_first << 8 : green_first | green_third << 8);
  }

  LATHE_INLINE Words Levels(ByteVector y) const {
    y = _mm256_subs_epu8(y, offset);
    return {_mm256_mulhi_epu16(_mm256_unpacklo_epi8(below, y), gain),
            _mm256_mulhi_epu16(_mm256_unpackhi_epi8(below, y), gain)};
  }
  LATHE_INLINE Shifts Of(Hues hues) const {
    const __m256i x = _mm256_xor_si256(hues.v, _mm256_set1_epi8(-128));
    return {{_mm256_mulhi_epi16(_mm256_shuffle_epi8(x, take[0]), gains[0]),
             _mm256_srai_epi16(_mm256_maddubs_epi16(green, x), 7),
             _mm256_mulhi_epi16(_mm256_shuffle_epi8(x, take[1]), gains[1])}};
  }
};
inline Hues LoadHues(const uint8_t* pairs, bool) { return {LoadVector(pairs)}; }
inline Hues LoadHues(const uint8_t* first, const uint8_t* third) {
  const __m256i a = _mm256_permute4x64_epi64(_mm256_castsi128_si256(Bytes(first)), 0x10);
  const __m256i c = _mm256_permute4x64_epi64(_mm256_castsi128_si256(Bytes(third)), 0x10);
  return {_mm256_unpacklo_epi8(a, c)};
}
inline void LoadYuyv(const uint8_t* from, bool, ByteVector* y, Hues* hues) { Load2(from, y, &hues->v); }
// kBytes pairs, as Words order them.
inline void LoadAllHues(const uint8_t* first, const uint8_t* third, Hues* low, Hues* high) {
  const __m256i a = LoadVector(first), c = LoadVector(third);
  *low = {_mm256_unpacklo_epi8(a, c)};
  *high = {_mm256_unpackhi_epi8(a, c)};
}

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

using Quad = __m128;  // four floats
inline Quad LoadQuad(const float* from) { return _mm_loadu_ps(from); }
inline Quad MulQuad(Quad x, float by) { return _mm_mul_ps(x, _mm_set1_ps(by)); }
inline Quad MulAddQuad(Quad x, float by, Quad sum) { return _mm_fmadd_ps(x, _mm_set1_ps(by), sum); }
// Without the fraction, after `half` was added; from 0 on, 255 at most.
inline uint32_t BytesOf(Quad x, float half) {
  const __m128i words = _mm_cvttps_epi32(_mm_add_ps(x, _mm_set1_ps(half)));
  const __m128i halves = _mm_packus_epi32(words, words);
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_packus_epi16(halves, halves)));
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_WORDS_AVX2_H_
