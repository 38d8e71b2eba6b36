// Sums of products for ARM without instructions of their own for that: two products of bytes fit in 16 bits, but for
// -128 * -128, and pairs of these are added in 32 bits.
#ifndef LATHE_CORE_BYTE_SUMS_NEON_H_
#define LATHE_CORE_BYTE_SUMS_NEON_H_

#include "native/core/byte_store_arm.h"

namespace lathe {
namespace {

LATHE_INLINE int16x8_t LowProducts(int8x16_t w, int8x16_t x) { return vmull_s8(vget_low_s8(w), vget_low_s8(x)); }
LATHE_INLINE int16x8_t HighProducts(int8x16_t w, int8x16_t x) {
#if defined(__aarch64__)
  return vmull_high_s8(w, x);
#else
  return vmull_s8(vget_high_s8(w), vget_high_s8(x));
#endif
}
LATHE_INLINE int16x8_t AddLowProducts(int16x8_t sum, int8x16_t w, int8x16_t x) {
  return vmlal_s8(sum, vget_low_s8(w), vget_low_s8(x));
}
LATHE_INLINE int16x8_t AddHighProducts(int16x8_t sum, int8x16_t w, int8x16_t x) {
#if defined(__aarch64__)
  return vmlal_high_s8(sum, w, x);
#else
  return vmlal_s8(sum, vget_high_s8(w), vget_high_s8(x));
#endif
}

LATHE_INLINE int8x16_t FourTimes(const int8_t* row) {
  int32_t step;
  memcpy(&step, row, sizeof step);
  return vreinterpretq_s8_s32(vdupq_n_s32(step));
}

// The sums of 16 outputs, each in two halves.
constexpr int kHalfSums = kBytePanel / 2;

// One step of depth.
template <int rows>
LATHE_INLINE void AddStep(const int8_t* packed, const int8x16_t (&x)[rows], int32x4_t (&sums)[rows][kHalfSums]) {
#pragma GCC unroll 4
  for (int j = 0; j < kByteVectors; ++j) {
    const int8x16_t w = vld1q_s8(packed + 16 * j);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      sums[i][2 * j] = vpadalq_s16(sums[i][2 * j], LowProducts(w, x[i]));
      sums[i][2 * j + 1] = vpadalq_s16(sums[i][2 * j + 1], HighProducts(w, x[i]));
    }
  }
}

// Two steps at once, without a filter of -128.
template <int rows>
LATHE_INLINE void AddTwoSteps(const int8_t* packed, const int8x16_t (&x)[rows], const int8x16_t (&next)[rows],
                              int32x4_t (&sums)[rows][kHalfSums]) {
#pragma GCC unroll 4
  for (int j = 0; j < kByteVectors; ++j) {
    const int8x16_t w = vld1q_s8(packed + 16 * j);
    const int8x16_t w_next = vld1q_s8(packed + kBytePanel * kByteDepth + 16 * j);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      const int16x8_t low = AddLowProducts(LowProducts(w, x[i]), w_next, next[i]);
      const int16x8_t high = AddHighProducts(HighProducts(w, x[i]), w_next, next[i]);
      sums[i][2 * j] = vpadalq_s16(sums[i][2 * j], low);
      sums[i][2 * j + 1] = vpadalq_s16(sums[i][2 * j + 1], high);
    }
  }
}

LATHE_INLINE int32x4_t AddHalves(int32x4_t first, int32x4_t second) {
#if defined(__aarch64__)
  return vpaddq_s32(first, second);
#else
  return vcombine_s32(vpadd_s32(vget_low_s32(first), vget_high_s32(first)),
                      vpadd_s32(vget_low_s32(second), vget_high_s32(second)));
#endif
}

template <int rows>
__attribute__((noinline)) void SumRows(const ByteSource& source, bool lowest, const int8_t* const* pointers,
                                       int32_t* buffer) {
  int32x4_t sums[rows][kHalfSums];
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kHalfSums; ++j) sums[i][j] = vdupq_n_s32(0);
  }
  const int8_t* packed = reinterpret_cast<const int8_t*>(source.packed);
  const int64_t depth = source.steps * kByteDepth;
  const int64_t paired = lowest ? 0 : depth / (2 * kByteDepth) * (2 * kByteDepth);
  for (int64_t tap = 0; tap < source.taps; ++tap, pointers += kBytePixels) {
    int64_t k = 0;
    int8x16_t x[rows], next[rows];
    const int8_t* row[rows];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) row[i] = pointers[i] + source.offset;
    for (; k < paired; k += 2 * kByteDepth, packed += 2 * kBytePanel * kByteDepth) {
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) {
        x[i] = FourTimes(row[i] + k);
        next[i] = FourTimes(row[i] + k + kByteDepth);
      }
      AddTwoSteps(packed, x, next, sums);
    }
    for (; k < depth; k += kByteDepth, packed += kBytePanel * kByteDepth) {
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) x[i] = FourTimes(row[i] + k);
      AddStep(packed, x, sums);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kByteVectors; ++j) {
      const int32x4_t sum = AddHalves(sums[i][2 * j], sums[i][2 * j + 1]);
      vst1q_s32(buffer + i * kBytePanel + 4 * j, vaddq_s32(sum, vld1q_s32(source.starts + 4 * j)));
    }
  }
}

template <int most>
inline void RunByteSums(const BytePanelJob& job, const ByteTile& tile) {
  const bool lowest = job.state->lowest;
  RunByteRows<most, 1, false>(job, tile, [&](const ByteSource& source, int rows, int64_t tiles) {
    for (int64_t i = 0; i < tiles; ++i)
      (rows == 1 ? SumRows<1> : SumRows<most>)(source, lowest, source.rows + i * rows,
                                               source.buffer + i * rows * kBytePanel);
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTE_SUMS_NEON_H_
