// Rows of whole pixels among each other, and their Y, U and V: included by rows_unit.h.
#ifndef LATHE_VISION_ROWS_PIXELS_H_
#define LATHE_VISION_ROWS_PIXELS_H_

#include "native/vision/rows.h"
#include "native/vision/words.h"

namespace lathe {
namespace vision {
namespace {

#if defined(LATHE_VISION_BYTES)

// The colours of kBytes pixels.
template <int channels>
LATHE_INLINE void LoadColours(const uint8_t* from, ByteVector (&x)[4]) {
  if (channels == 3) Load3(from, &x[0], &x[1], &x[2]);
  if (channels == 4) Load4(from, &x[0], &x[1], &x[2], &x[3]);
  if (channels == 1) x[0] = x[1] = x[2] = LoadVector(from);
}

template <int channels>
LATHE_INLINE void StoreColours(uint8_t* to, ByteVector a, ByteVector b, ByteVector c, ByteVector alpha) {
  if (channels == 3) Store3(to, a, b, c);
  if (channels == 4) Store4(to, a, b, c, alpha);
}

// Whole vectors of pixels in another order; returns how many pixels they are.
template <int from, int to, bool swapped>
size_t Reordered(const uint8_t* source, size_t width, uint8_t* target) {
  size_t i = 0;
  for (; i + kBytes <= width; i += kBytes) {
    ByteVector x[4];
    LoadColours<from>(source + i * from, x);
    StoreColours<to>(target + i * to, x[swapped ? 2 : 0], x[1], x[swapped ? 0 : 2], from == 4 ? x[3] : FillVector(255));
  }
  return i;
}

#endif

#if defined(__AVX2__)

// Bytes of 16 that each of three vectors takes from the three: 16 pixels of three bytes with their first and third byte
// in each other's place, or in the opposite order.
struct ThirdsOrder {
  int8_t of[3][3][16];

  constexpr explicit ThirdsOrder(bool mirrored) : of() {
    for (int i = 0; i < 48; ++i) {
      const int from = mirrored ? 45 - i / 3 * 3 + i % 3 : i + 2 - i % 3 * 2;
      for (int k = 0; k < 3; ++k) of[i / 16][k][i % 16] = static_cast<int8_t>(from / 16 == k ? from % 16 : -1);
    }
  }
};

// 32 pixels of three bytes, reordered so in each half: 16 bytes of each half in each of three vectors.
template <bool mirrored>
struct ReorderedThirds {
  __m256i x, y, z;

  LATHE_INLINE explicit ReorderedThirds(const uint8_t* from) {
    alignas(16) static constexpr ThirdsOrder kOrder(mirrored);
    const __m256i a = Lanes(from, from + 48), b = Lanes(from + 16, from + 64), c = Lanes(from + 32, from + 80);
    const auto taken = [&](const __m256i& source, int to, int k) {
      return _mm256_shuffle_epi8(source, Both(_mm_load_si128(reinterpret_cast<const __m128i*>(kOrder.of[to][k]))));
    };
    // Nothing of the first vector goes to the last one, or, mirrored, to the first one, and the other way round.
    const auto ends = [&](int to, bool late) {
      return late ? _mm256_or_si256(taken(b, to, 1), taken(c, to, 2))
                  : _mm256_or_si256(taken(a, to, 0), taken(b, to, 1));
    };
    x = ends(0, mirrored);
    y = _mm256_or_si256(_mm256_or_si256(taken(a, 1, 0), taken(b, 1, 1)), taken(c, 1, 2));
    z = ends(2, !mirrored);
  }
};

// Four pixels of three bytes, and nothing beside them.
inline __m128i Twelve(const uint8_t* from) {
  int rest;
  memcpy(&rest, from + 8, 4);
  return _mm_insert_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)), rest, 2);
}

inline void PutTwelve(uint8_t* to, __m128i bytes) {
  const int rest = _mm_extract_epi32(bytes, 2);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), bytes);
  memcpy(to + 8, &rest, 4);
}

// Their bytes with one free byte behind each pixel, and without.
inline __m128i Expanded(__m128i x) {
  return _mm_shuffle_epi8(x, _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
}
inline __m128i Packed(__m128i x) {
  return _mm_shuffle_epi8(x, _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
}

// Pixels of four bytes as three; returns how many.
inline size_t WithoutAlpha(const uint8_t* source, size_t width, bool swapped, uint8_t* target) {
  constexpr char n = -1;
  size_t i = 0;
  const __m256i order = Both(swapped ? _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, n, n, n, n)
                                     : _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, n, n, n, n));
  for (; i + 32 <= width; i += 32) {
    const uint8_t* const x = source + i * 4;
    const auto fours = [&](int k) { return _mm256_shuffle_epi8(Lanes(x + 16 * k, x + 64 + 16 * k), order); };
    const __m256i a = fours(0), b = fours(1), c = fours(2), d = fours(3);
    uint8_t* const to_first = target + i * 3;
    const auto put = [&](int k, __m256i first, __m256i second) {
      PutLanes(to_first + 16 * k, to_first + 48 + 16 * k, _mm256_or_si256(first, second));
    };
    put(0, a, _mm256_slli_si256(b, 12));
    put(1, _mm256_srli_si256(b, 4), _mm256_slli_si256(c, 8));
    put(2, _mm256_srli_si256(c, 8), _mm256_slli_si256(d, 4));
  }
  for (; i + 4 <= width; i += 4) {
    PutTwelve(target + i * 3, _mm_shuffle_epi8(Bytes(source + i * 4), _mm256_castsi256_si128(order)));
  }
  return i;
}

// Pixels of 3 and 4 bytes; returns how many. What is written beyond them, the next ones write again: in place they have
// been read.
inline size_t Permuted(const uint8_t* source, size_t width, int from, int to, bool swapped, uint8_t* target) {
  constexpr char n = -1;
  size_t i = 0;
  if (from == 3 && to == 3) {
    // Five pixels at once; the byte behind them is written as it is.
    const auto five = [&] {
      const __m128i order = _mm_setr_epi8(2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 14, 13, 12, 15);
      Put(target + i * 3, _mm_shuffle_epi8(Bytes(source + i * 3), order));
      i += 5;
    };
    for (; i + 32 <= width; i += 32) {
      const ReorderedThirds<false> made(source + i * 3);
      uint8_t* const to = target + i * 3;
      PutLanes(to, to + 48, made.x);
      PutLanes(to + 16, to + 64, made.y);
      PutLanes(to + 32, to + 80, made.z);
    }
    while (i + 6 <= width) five();
  } else if (from == 3) {
    const __m256i order = Both(swapped ? _mm_setr_epi8(2, 1, 0, n, 5, 4, 3, n, 8, 7, 6, n, 11, 10, 9, n)
                                       : _mm_setr_epi8(0, 1, 2, n, 3, 4, 5, n, 6, 7, 8, n, 9, 10, 11, n));
    const __m256i opaque = _mm256_set1_epi32(static_cast<int>(0xff000000u));
    // Stores of 16 bytes: most images begin at a multiple of 16, and stores of 32 would cross cache lines.
    const __m128i half = _mm256_castsi256_si128(order), alpha = _mm256_castsi256_si128(opaque);
    for (; i + 16 <= width; i += 16) {
      const __m128i a = Bytes(source + i * 3), b = Bytes(source + i * 3 + 16), c = Bytes(source + i * 3 + 32);
      const auto put = [&](int k, __m128i pixels) {
        Put(target + (i + 4 * k) * 4, _mm_or_si128(_mm_shuffle_epi8(pixels, half), alpha));
      };
      put(0, a);
      put(1, _mm_alignr_epi8(b, a, 12));
      put(2, _mm_alignr_epi8(c, b, 8));
      put(3, _mm_srli_si128(c, 4));
    }
    for (; i + 4 <= width; i += 4) {
      const __m128i pixels = _mm_shuffle_epi8(Twelve(source + i * 3), _mm256_castsi256_si128(order));
      Put(target + i * 4, _mm_or_si128(pixels, _mm256_castsi256_si128(opaque)));
    }
  } else if (to == 3) {
    i = WithoutAlpha(source, width, swapped, target);
  } else {
    const __m256i order = Both(_mm_setr_epi8(2, 1, 0, 3, 6, 5, 4, 7, 10, 9, 8, 11, 14, 13, 12, 15));
    for (; i + 8 <= width; i += 8) {
      StoreVector(target + i * 4, _mm256_shuffle_epi8(LoadVector(source + i * 4), order));
    }
  }
  return i;
}

#elif defined(__ARM_NEON)

// Whole vectors of pixels of four bytes without the last one; returns how many pixels they are. Compilers up to GCC 13
// move the registers of ld4 before they store them with st3.
size_t WithoutAlpha(const uint8_t* source, size_t width, uint8_t* target) {
#if defined(__aarch64__)
  uint8_t* const end = target + width / kBytes * kBytes * 3;
  while (target != end) {
    asm volatile("ld4 {v0.16b-v3.16b}, [%0], #64\n\tst3 {v0.16b-v2.16b}, [%1], #48"
                 : "+r"(source), "+r"(target)
                 :
                 : "v0", "v1", "v2", "v3", "memory");
  }
  return width / kBytes * kBytes;
#else
  return Reordered<4, 3, false>(source, width, target);
#endif
}

#endif

void ConvertRow(const uint8_t* source, size_t width, int from, int to, bool swapped, uint8_t* target) {
  if (from == to && !swapped) {
    if (source != target) memcpy(target, source, width * from);
    return;
  }
  size_t i = 0;
#if defined(LATHE_VISION_BYTES)
  if (from == 1) i = (to == 3 ? Reordered<1, 3, false> : Reordered<1, 4, false>)(source, width, target);
#endif
#if defined(__AVX2__)
  if (from != 1) i = Permuted(source, width, from, to, swapped, target);
#elif defined(__ARM_NEON)
  if (from == 3 && to == 3) i = Reordered<3, 3, true>(source, width, target);
  if (from == 3 && to == 4) i = (swapped ? Reordered<3, 4, true> : Reordered<3, 4, false>)(source, width, target);
  if (from == 4 && to == 3) i = (swapped ? Reordered<4, 3, true> : WithoutAlpha)(source, width, target);
  if (from == 4 && to == 4) i = Reordered<4, 4, true>(source, width, target);
#endif
  for (; i < width; ++i) {
    const uint8_t* x = source + i * from;
    const uint8_t a = x[0], b = x[from == 1 ? 0 : 1], c = x[from == 1 ? 0 : 2], alpha = from == 4 ? x[3] : 255;
    uint8_t* y = target + i * to;
    y[0] = swapped ? c : a, y[1] = b, y[2] = swapped ? a : c;
    if (to == 4) y[3] = alpha;
  }
}

// What the eye takes for brightness, of red, green and blue, in 1/256.
constexpr int16_t kGray[3] = {76, 150, 30};

// Weights in the order of the channels.
struct Ordered {
  int16_t w[3];

  Ordered(const int16_t (&of)[3], bool blue_first) : w{of[blue_first ? 2 : 0], of[1], of[blue_first ? 0 : 2]} {}
};

inline int Weighted(const int16_t (&w)[3], const uint8_t* pixel, int channels) {
  return w[0] * pixel[0] + w[1] * pixel[channels == 1 ? 0 : 1] + w[2] * pixel[channels == 1 ? 0 : 2];
}

template <int channels>
void GrayRowOf(const uint8_t* source, size_t width, bool blue_first, uint8_t* target) {
  const Ordered weights(kGray, blue_first);
  size_t i = 0;
#if defined(LATHE_VISION_BYTES)
  const Brightness<false> brightness(weights.w, 0);
  for (; i + kBytes <= width; i += kBytes) {
    ByteVector x[4];
    LoadColours<channels>(source + i * channels, x);
    StoreVector(target + i, brightness.Of(x[0], x[1], x[2]));
  }
#endif
  for (; i < width; ++i) target[i] = static_cast<uint8_t>(Weighted(weights.w, source + i * channels, channels) >> 8);
}

void GrayRow(const uint8_t* source, size_t width, int channels, bool blue_first, uint8_t* target) {
  (channels == 3 ? GrayRowOf<3> : GrayRowOf<4>)(source, width, blue_first, target);
}

// 128, and a half, less one: the largest sum then fits 16 bits.
constexpr int kMiddle = 128 * 256 + 127;

template <int channels>
void YuvOfRowsOf(const uint8_t* first, const uint8_t* second, size_t width, bool blue_first, const RgbToYuv& how,
                 const YuvRows& to) {
  const Ordered of_y(how.y, blue_first), of_u(how.u, blue_first), of_v(how.v, blue_first);
  size_t i = 0;
#if defined(LATHE_VISION_BYTES)
  const Brightness<true> brightness(of_y.w, how.y_offset);
  const Tint tint_u(of_u.w, kMiddle), tint_v(of_v.w, kMiddle);
  uint8_t *const first_y = to.y[0], *const second_y = to.y[1];
  uint8_t *u = to.u, *v = to.v;
  for (; i + kBytes <= width; i += kBytes) {
    ByteVector x[4], y[4];
    LoadColours<channels>(first + i * channels, x);
    LoadColours<channels>(second + i * channels, y);
    StoreVector(first_y + i, brightness.Of(x[0], x[1], x[2]));
    StoreVector(second_y + i, brightness.Of(y[0], y[1], y[2]));
    const HalfWords means[3] = {Means(x[0], y[0]), Means(x[1], y[1]), Means(x[2], y[2])};
    StoreHalves(u, v, tint_u.Of(means), tint_v.Of(means));
    u += kBytes / 2, v += kBytes / 2;
  }
#endif
  for (; i < width; i += 2) {
    const size_t right = i + 1 < width ? i + 1 : i;
    const uint8_t* const pixels[4] = {first + i * channels, first + right * channels, second + i * channels,
                                      second + right * channels};
    uint8_t mean[3];
    for (int c = 0; c < 3; ++c) {
      const int at = channels == 1 ? 0 : c;
      mean[c] = static_cast<uint8_t>((pixels[0][at] + pixels[1][at] + pixels[2][at] + pixels[3][at] + 2) >> 2);
    }
    for (int k = 0; k < 4; ++k) {
      to.y[k / 2][k % 2 == 0 ? i : right] =
          static_cast<uint8_t>(((Weighted(of_y.w, pixels[k], channels) + 128) >> 8) + how.y_offset);
    }
    to.u[i / 2] = static_cast<uint8_t>((Weighted(of_u.w, mean, 3) + kMiddle) >> 8);
    to.v[i / 2] = static_cast<uint8_t>((Weighted(of_v.w, mean, 3) + kMiddle) >> 8);
  }
}

void YuvOfRows(const uint8_t* first, const uint8_t* second, size_t width, int channels, bool blue_first,
               const RgbToYuv& how, const YuvRows& to) {
  if (channels == 1) return YuvOfRowsOf<1>(first, second, width, blue_first, how, to);
  (channels == 3 ? YuvOfRowsOf<3> : YuvOfRowsOf<4>)(first, second, width, blue_first, how, to);
}

void Split2(const uint8_t* pairs, size_t count, uint8_t* first, uint8_t* second) {
  size_t i = 0;
#if defined(LATHE_VISION_BYTES)
  for (; i + kBytes <= count; i += kBytes) {
    ByteVector a, b;
    Load2(pairs + i * 2, &a, &b);
    StoreVector(first + i, a);
    StoreVector(second + i, b);
  }
#endif
  for (; i < count; ++i) first[i] = pairs[i * 2], second[i] = pairs[i * 2 + 1];
}

void Merge2(const uint8_t* first, const uint8_t* second, size_t count, uint8_t* pairs) {
  size_t i = 0;
#if defined(LATHE_VISION_BYTES)
  for (; i + kBytes <= count; i += kBytes) Store2(pairs + i * 2, LoadVector(first + i), LoadVector(second + i));
#endif
  for (; i < count; ++i) pairs[i * 2] = first[i], pairs[i * 2 + 1] = second[i];
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_ROWS_PIXELS_H_
