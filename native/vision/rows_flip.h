// Mirrored rows and transposed blocks: included by rows_unit.h.
#ifndef LATHE_VISION_ROWS_FLIP_H_
#define LATHE_VISION_ROWS_FLIP_H_

#include "native/vision/rows.h"
#include "native/vision/rows_pixels.h"
#include "native/vision/words.h"

namespace lathe {
namespace vision {
namespace {

template <int pixel>
inline void CopyPixel(const uint8_t* from, uint8_t* to) {
  for (int c = 0; c < pixel; ++c) to[c] = from[c];
}

#if defined(__ARM_NEON)

// Whole vectors of pixels of three bytes, from the last one on; returns how many pixels they are.
inline size_t MirroredThirds(const uint8_t* source, size_t width, uint8_t* target) {
  const size_t count = width / kBytes * kBytes;
  if (count == 0) return 0;
  const uint8_t* from = source + width * 3;
  uint8_t* const end = target + count * 3;
#if defined(__aarch64__)
  // Compilers up to GCC 13 move registers between ld3 and st3.
  const auto mirror = [&,
                       order = Backwards(vcombine_u8(vcreate_u8(0x0706050403020100), vcreate_u8(0x0f0e0d0c0b0a0908)))] {
    asm volatile(
        "ld3 {v0.16b-v2.16b}, [%0], %3\n\ttbl v0.16b, {v0.16b}, %2.16b\n\ttbl v1.16b, {v1.16b}, %2.16b\n\t"
        "tbl v2.16b, {v2.16b}, %2.16b\n\tst3 {v0.16b-v2.16b}, [%1], #48"
        : "+r"(from), "+r"(target)
        : "w"(order), "r"(ptrdiff_t{-48})
        : "v0", "v1", "v2", "memory");
  };
  from -= 48;
  if (count % (2 * kBytes) != 0) mirror();
  while (target != end) {
    mirror();
    mirror();
  }
#else
  while (target != end) {
    from -= kBytes * 3;
    ByteVector a, b, c;
    Load3(from, &a, &b, &c);
    Store3(target, Backwards(a), Backwards(b), Backwards(c));
    target += kBytes * 3;
  }
#endif
  return count;
}

#endif

template <int pixel>
void MirrorRow(const uint8_t* source, size_t width, uint8_t* target) {
  size_t i = 0;
#if defined(LATHE_VISION_BYTES)
  if (pixel != 3) {
    constexpr size_t step = kBytes / pixel, many = kBytes == 16 ? 8 : 2;
    const uint8_t* end = source + width * pixel;
    uint8_t* to = target;
    uint8_t* const last = target + width / (many * step) * many * kBytes;
    for (; to != last; to += many * kBytes) {
      end -= many * kBytes;
      ByteVector x[many];
#pragma GCC unroll 8
      for (size_t k = 0; k < many; ++k) x[k] = Reversed<pixel>(end + (many - 1 - k) * kBytes);
#pragma GCC unroll 8
      for (size_t k = 0; k < many; ++k) StoreVector(to + k * kBytes, x[k]);
    }
    i = width / (many * step) * many * step;
    for (; i + step <= width; i += step) {
      StoreVector(target + i * pixel, Reversed<pixel>(source + (width - i) * pixel - kBytes));
    }
  }
#endif
#if defined(__AVX2__)
  if (pixel == 3) {
    // Five pixels at once, with a byte in front of them, which is written behind them and then again.
    const auto five = [&] {
      const __m128i order = _mm_setr_epi8(13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, 0);
      Put(target + i * 3, _mm_shuffle_epi8(Bytes(source + (width - 5 - i) * 3 - 1), order));
      i += 5;
    };
    // The halves change places, too.
    for (size_t at = width & ~size_t{31}; at > 0; at -= 32, i += 32) {
      uint8_t* const to = target + (at - 32) * 3;
      const ReorderedThirds<true> made(source + (width - at) * 3);
      PutLanes(to + 80, to + 32, made.z);
      PutLanes(to + 64, to + 16, made.y);
      PutLanes(to + 48, to, made.x);
    }
    while (i + 6 <= width) five();
  }
#elif defined(__ARM_NEON)
  if (pixel == 3) i = MirroredThirds(source, width, target);
#endif
  for (; i < width; ++i) CopyPixel<pixel>(source + (width - 1 - i) * pixel, target + i * pixel);
}

void Mirror(const uint8_t* source, size_t width, size_t pixel, uint8_t* target) {
  if (pixel == 1) return MirrorRow<1>(source, width, target);
  if (pixel == 2) return MirrorRow<2>(source, width, target);
  if (pixel == 3) return MirrorRow<3>(source, width, target);
  MirrorRow<4>(source, width, target);
}

// Blocks that are transposed at once: in the source, their width and height.
template <int pixel>
struct BlockSize {
  static constexpr size_t width = 8, height = 8;
};

template <int pixel>
inline void TransposeBlock(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  for (int x = 0; x < 8; ++x) {
    for (int y = 0; y < 8; ++y) CopyPixel<pixel>(source + y * from + x * pixel, target + x * to + y * pixel);
  }
}

#if defined(__AVX2__)

template <>
struct BlockSize<1> {
  static constexpr size_t width = 16, height = 16;
};

// Three times, rows of the one half and of the other are interleaved: that turns rows into columns, 8 rows in each
// lane.
template <>
inline void TransposeBlock<1>(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  __m256i x[8], y[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) x[i] = Lanes(source + i * from, source + (i + 8) * from);
  const auto mixed = [](const __m256i(&a)[8], __m256i(&b)[8]) {
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      b[2 * i] = _mm256_unpacklo_epi8(a[i], a[i + 4]);
      b[2 * i + 1] = _mm256_unpackhi_epi8(a[i], a[i + 4]);
    }
  };
  mixed(x, y);
  mixed(y, x);
  mixed(x, y);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const __m256i columns = _mm256_permute4x64_epi64(y[i], 0xd8);
    Put(target + 2 * i * to, _mm256_castsi256_si128(columns));
    Put(target + (2 * i + 1) * to, _mm256_extracti128_si256(columns, 1));
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

template <>
inline void TransposeBlock<3>(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  for (int x = 0; x < 8; x += 4) {
    for (int y = 0; y < 8; y += 4) {
      const auto row = [&](int k) { return Expanded(Twelve(source + (y + k) * from + x * 3)); };
      const __m128i a = row(0), b = row(1), c = row(2), d = row(3);
      const __m128i ab0 = _mm_unpacklo_epi32(a, b), ab1 = _mm_unpackhi_epi32(a, b);
      const __m128i cd0 = _mm_unpacklo_epi32(c, d), cd1 = _mm_unpackhi_epi32(c, d);
      PutTwelve(target + x * to + y * 3, Packed(_mm_unpacklo_epi64(ab0, cd0)));
      PutTwelve(target + (x + 1) * to + y * 3, Packed(_mm_unpackhi_epi64(ab0, cd0)));
      PutTwelve(target + (x + 2) * to + y * 3, Packed(_mm_unpacklo_epi64(ab1, cd1)));
      PutTwelve(target + (x + 3) * to + y * 3, Packed(_mm_unpackhi_epi64(ab1, cd1)));
    }
  }
}

#elif defined(__ARM_NEON)

inline void Transposed(uint8x8_t (&row)[8]) {
#pragma GCC unroll 8
  for (int y = 0; y < 8; y += 2) {
    const uint8x8x2_t x = vtrn_u8(row[y], row[y + 1]);
    row[y] = x.val[0], row[y + 1] = x.val[1];
  }
#pragma GCC unroll 8
  for (int i = 0; i < 4; ++i) {
    const int y = i + (i & 2);
    const uint16x4x2_t x = vtrn_u16(vreinterpret_u16_u8(row[y]), vreinterpret_u16_u8(row[y + 2]));
    row[y] = vreinterpret_u8_u16(x.val[0]), row[y + 2] = vreinterpret_u8_u16(x.val[1]);
  }
#pragma GCC unroll 8
  for (int y = 0; y < 4; ++y) {
    const uint32x2x2_t x = vtrn_u32(vreinterpret_u32_u8(row[y]), vreinterpret_u32_u8(row[y + 4]));
    row[y] = vreinterpret_u8_u32(x.val[0]), row[y + 4] = vreinterpret_u8_u32(x.val[1]);
  }
}

template <>
struct BlockSize<1> {
  static constexpr size_t width = 16, height = 8;
};

// Three times, rows of the one half and of the other are interleaved: that turns rows into columns.
template <>
inline void TransposeBlock<1>(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  uint8x16_t x[8], y[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) x[i] = vld1q_u8(source + i * from);
  const auto mixed = [](const uint8x16_t(&a)[8], uint8x16_t(&b)[8]) {
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      const uint8x16x2_t both = vzipq_u8(a[i], a[i + 4]);
      b[2 * i] = both.val[0], b[2 * i + 1] = both.val[1];
    }
  };
  mixed(x, y);
  mixed(y, x);
  mixed(x, y);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    vst1_u8(target + 2 * i * to, vget_low_u8(y[i]));
    vst1_u8(target + (2 * i + 1) * to, vget_high_u8(y[i]));
  }
}

// Channel by channel.
template <>
inline void TransposeBlock<3>(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  uint8x8_t a[8], b[8], c[8];
#pragma GCC unroll 8
  for (int y = 0; y < 8; ++y) {
    const uint8x8x3_t row = vld3_u8(source + y * from);
    a[y] = row.val[0], b[y] = row.val[1], c[y] = row.val[2];
  }
  Transposed(a);
  Transposed(b);
  Transposed(c);
#pragma GCC unroll 8
  for (int y = 0; y < 8; ++y) vst3_u8(target + y * to, (uint8x8x3_t{{a[y], b[y], c[y]}}));
}

template <>
inline void TransposeBlock<2>(const uint8_t* source, ptrdiff_t from, uint8_t* target, ptrdiff_t to) {
  uint8x8_t a[8], b[8];
#pragma GCC unroll 8
  for (int y = 0; y < 8; ++y) {
    const uint8x8x2_t row = vld2_u8(source + y * from);
    a[y] = row.val[0], b[y] = row.val[1];
  }
  Transposed(a);
  Transposed(b);
#pragma GCC unroll 8
  for (int y = 0; y < 8; ++y) vst2_u8(target + y * to, (uint8x8x2_t{{a[y], b[y]}}));
}

#endif

template <int pixel>
void TransposeRows(const uint8_t* source, ptrdiff_t from, size_t width, size_t height, uint8_t* target, ptrdiff_t to) {
  constexpr size_t across = BlockSize<pixel>::width, down = BlockSize<pixel>::height;
  const auto at = [](size_t i, ptrdiff_t step) { return static_cast<ptrdiff_t>(i) * step; };
  if (width < across || height < down) {
    for (size_t x = 0; x < width; ++x) {
      for (size_t y = 0; y < height; ++y) {
        CopyPixel<pixel>(source + at(y, from) + x * pixel, target + at(x, to) + y * pixel);
      }
    }
    return;
  }
  // Whole cache lines of the source at a time; the last block of a side begins earlier, and writes some pixels again.
  constexpr size_t strip = 64 / across * across;
  for (size_t begin = 0; begin < width; begin += strip) {
    for (size_t row = 0; row < height; row += down) {
      const size_t y = row + down <= height ? row : height - down;
      for (size_t column = begin; column < width && column < begin + strip; column += across) {
        const size_t x = column + across <= width ? column : width - across;
        TransposeBlock<pixel>(source + at(y, from) + x * pixel, from, target + at(x, to) + y * pixel, to);
      }
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
