// Mirrored rows and transposed blocks: included by rows_unit.h.
#ifndef LATHE_VISION_ROWS_FLIP_H_
#define LATHE_VISION_ROWS_FLIP_H_

#include "native/vision/rows.h"
#include "native/vision/words.h"

namespace lathe {
namespace vision {
namespace {

template <int pixel>
inline void CopyPixel(const uint8_t* from, uint8_t* to) {
  for (int c = 0; c < pixel; ++c) to[c] = from[c];
}

#if defined(__AVX2__)

// Five pixels of three bytes at once: one byte more is read in front, and written behind them.
inline size_t MirrorThrees(const uint8_t* source, size_t width, uint8_t* target) {
  const __m128i order = _mm_setr_epi8(13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, 0);
  size_t i = 0;
  for (; i + 6 <= width; i += 5) Put(target + i * 3, _mm_shuffle_epi8(Bytes(source + (width - 5 - i) * 3 - 1), order));
  return i;
}

#endif

template <int pixel>
void MirrorRow(const uint8_t* source, size_t width, uint8_t* target) {
  size_t i = 0;
#if defined(__AVX2__)
  if (pixel == 3) i = MirrorThrees(source, width, target);
#endif
  for (; i + kWords <= width; i += kWords) {
    const uint8_t* from = source + (width - i - kWords) * pixel;
    ByteVector a, b, c, d;
    if (pixel == 1) StoreVector(target + i, Reversed(LoadVector(from)));
    if (pixel == 2) {
      Load2(from, &a, &b);
      Store2(target + i * 2, Reversed(a), Reversed(b));
    }
    if (pixel == 3) {
      Load3(from, &a, &b, &c);
      Store3(target + i * 3, Reversed(a), Reversed(b), Reversed(c));
    }
    if (pixel == 4) {
      Load4(from, &a, &b, &c, &d);
      Store4(target + i * 4, Reversed(a), Reversed(b), Reversed(c), Reversed(d));
    }
  }
  for (; i < width; ++i) CopyPixel<pixel>(source + (width - 1 - i) * pixel, target + i * pixel);
}

void Mirror(const uint8_t* source, size_t width, size_t pixel, uint8_t* target) {
  if (pixel == 1) return MirrorRow<1>(source, width, target);
  if (pixel == 2) return MirrorRow<2>(source, width, target);
  if (pixel == 3) return MirrorRow<3>(source, width, target);
  MirrorRow<4>(source, width, target);
}

// 8x8 pixels.
template <int pixel>
inline void TransposeBlock(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  for (int x = 0; x < 8; ++x) {
    for (int y = 0; y < 8; ++y) CopyPixel<pixel>(source + y * from + x * pixel, target + x * to + y * pixel);
  }
}

#if defined(__AVX2__)

template <>
inline void TransposeBlock<1>(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  __m128i row[8];
  for (int y = 0; y < 8; ++y) row[y] = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(source + y * from));
  const __m128i a = _mm_unpacklo_epi8(row[0], row[1]), b = _mm_unpacklo_epi8(row[2], row[3]);
  const __m128i c = _mm_unpacklo_epi8(row[4], row[5]), d = _mm_unpacklo_epi8(row[6], row[7]);
  const __m128i ab0 = _mm_unpacklo_epi16(a, b), ab1 = _mm_unpackhi_epi16(a, b);
  const __m128i cd0 = _mm_unpacklo_epi16(c, d), cd1 = _mm_unpackhi_epi16(c, d);
  const __m128i two[4] = {_mm_unpacklo_epi32(ab0, cd0), _mm_unpackhi_epi32(ab0, cd0), _mm_unpacklo_epi32(ab1, cd1),
                          _mm_unpackhi_epi32(ab1, cd1)};
  for (int x = 0; x < 4; ++x) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(target + 2 * x * to), two[x]);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(target + (2 * x + 1) * to), _mm_unpackhi_epi64(two[x], two[x]));
  }
}

template <>
inline void TransposeBlock<4>(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  for (int x = 0; x < 8; x += 4) {
    for (int y = 0; y < 8; y += 4) {
      const auto row = [&](int k) { return Bytes(source + (y + k) * from + x * 4); };
      const __m128i a = row(0), b = row(1), c = row(2), d = row(3);
      const __m128i ab0 = _mm_unpacklo_epi32(a, b), ab1 = _mm_unpackhi_epi32(a, b);
      const __m128i cd0 = _mm_unpacklo_epi32(c, d), cd1 = _mm_unpackhi_epi32(c, d);
      Put(target + x * to + y * 4, _mm_unpacklo_epi64(ab0, cd0));
      Put(target + (x + 1) * to + y * 4, _mm_unpackhi_epi64(ab0, cd0));
      Put(target + (x + 2) * to + y * 4, _mm_unpacklo_epi64(ab1, cd1));
      Put(target + (x + 3) * to + y * 4, _mm_unpackhi_epi64(ab1, cd1));
    }
  }
}

// Four rows of four pixels.
inline __m128i Twelve(const uint8_t* from) {
  int rest;
  memcpy(&rest, from + 8, 4);
  const __m128i bytes = _mm_insert_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)), rest, 2);
  return _mm_shuffle_epi8(bytes, _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
}

inline void PutTwelve(uint8_t* to, __m128i pixels) {
  const __m128i bytes = _mm_shuffle_epi8(pixels, _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const int rest = _mm_extract_epi32(bytes, 2);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), bytes);
  memcpy(to + 8, &rest, 4);
}

template <>
inline void TransposeBlock<3>(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  for (int x = 0; x < 8; x += 4) {
    for (int y = 0; y < 8; y += 4) {
      const auto row = [&](int k) { return Twelve(source + (y + k) * from + x * 3); };
      const __m128i a = row(0), b = row(1), c = row(2), d = row(3);
      const __m128i ab0 = _mm_unpacklo_epi32(a, b), ab1 = _mm_unpackhi_epi32(a, b);
      const __m128i cd0 = _mm_unpacklo_epi32(c, d), cd1 = _mm_unpackhi_epi32(c, d);
      PutTwelve(target + x * to + y * 3, _mm_unpacklo_epi64(ab0, cd0));
      PutTwelve(target + (x + 1) * to + y * 3, _mm_unpackhi_epi64(ab0, cd0));
      PutTwelve(target + (x + 2) * to + y * 3, _mm_unpacklo_epi64(ab1, cd1));
      PutTwelve(target + (x + 3) * to + y * 3, _mm_unpackhi_epi64(ab1, cd1));
    }
  }
}

#elif defined(__ARM_NEON)

inline void Transposed(uint8x8_t (&row)[8]) {
  for (int y = 0; y < 8; y += 2) {
    const uint8x8x2_t x = vtrn_u8(row[y], row[y + 1]);
    row[y] = x.val[0], row[y + 1] = x.val[1];
  }
  for (int i = 0; i < 4; ++i) {
    const int y = i + (i & 2);
    const uint16x4x2_t x = vtrn_u16(vreinterpret_u16_u8(row[y]), vreinterpret_u16_u8(row[y + 2]));
    row[y] = vreinterpret_u8_u16(x.val[0]), row[y + 2] = vreinterpret_u8_u16(x.val[1]);
  }
  for (int y = 0; y < 4; ++y) {
    const uint32x2x2_t x = vtrn_u32(vreinterpret_u32_u8(row[y]), vreinterpret_u32_u8(row[y + 4]));
    row[y] = vreinterpret_u8_u32(x.val[0]), row[y + 4] = vreinterpret_u8_u32(x.val[1]);
  }
}

template <>
inline void TransposeBlock<1>(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  uint8x8_t row[8];
  for (int y = 0; y < 8; ++y) row[y] = vld1_u8(source + y * from);
  Transposed(row);
  for (int y = 0; y < 8; ++y) vst1_u8(target + y * to, row[y]);
}

// Channel by channel.
template <>
inline void TransposeBlock<3>(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  uint8x8_t a[8], b[8], c[8];
  for (int y = 0; y < 8; ++y) Load3(source + y * from, &a[y], &b[y], &c[y]);
  Transposed(a);
  Transposed(b);
  Transposed(c);
  for (int y = 0; y < 8; ++y) Store3(target + y * to, a[y], b[y], c[y]);
}

template <>
inline void TransposeBlock<2>(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  uint8x8_t a[8], b[8];
  for (int y = 0; y < 8; ++y) Load2(source + y * from, &a[y], &b[y]);
  Transposed(a);
  Transposed(b);
  for (int y = 0; y < 8; ++y) Store2(target + y * to, a[y], b[y]);
}

#endif

template <int pixel>
void TransposeRows(const uint8_t* source, ptrdiff_t from, size_t width, size_t height, uint8_t* target, ptrdiff_t to) {
  const size_t whole_x = width & ~size_t{7}, whole_y = height & ~size_t{7};
  const auto at = [](size_t i, ptrdiff_t step) { return static_cast<ptrdiff_t>(i) * step; };
  for (size_t x = 0; x < whole_x; x += 8) {
    for (size_t y = 0; y < whole_y; y += 8) {
      TransposeBlock<pixel>(source + at(y, from) + x * pixel, from, target + at(x, to) + y * pixel, to);
    }
  }
  for (size_t x = 0; x < width; ++x) {
    for (size_t y = x < whole_x ? whole_y : 0; y < height; ++y) {
      CopyPixel<pixel>(source + at(y, from) + x * pixel, target + at(x, to) + y * pixel);
    }
  }
}

void Transpose(const uint8_t* source, ptrdiff_t source_step, size_t width, size_t height, size_t pixel, uint8_t* target,
               ptrdiff_t target_step) {
  if (pixel == 1) return TransposeRows<1>(source, source_step, width, height, target, target_step);
  if (pixel == 2) return TransposeRows<2>(source, source_step, width, height, target, target_step);
  if (pixel == 3) return TransposeRows<3>(source, source_step, width, height, target, target_step);
  TransposeRows<4>(source, source_step, width, height, target, target_step);
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_ROWS_FLIP_H_
