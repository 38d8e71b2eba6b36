// A row times 16 filters on 64-bit ARM without products of its own for bytes: see byte_tile_neon_aarch64.h.
#ifndef LATHE_KERNEL_GEMM_BYTE_SUMS_NEON_H_
#define LATHE_KERNEL_GEMM_BYTE_SUMS_NEON_H_

#include <arm_neon.h>

#include "native/kernel/gemm/byte_store_arm.h"

namespace lathe {
namespace {

constexpr int kHalfSums = kBytePanel / 2;  // vectors: the sums of 16 outputs, each in two halves

LATHE_INLINE int8x16_t FourTimes(const int8_t* row) {
  int32_t step;
  memcpy(&step, row, sizeof step);
  return vreinterpretq_s8_s32(vdupq_n_s32(step));
}

// A step of depth, or two at once where no filter is -128.
LATHE_INLINE void AddStep(const int8_t* packed, const int8_t* row, bool two, int32x4_t (&sums)[kHalfSums]) {
  const int8x16_t x = FourTimes(row), next = two ? FourTimes(row + kByteDepth) : x;
#pragma GCC unroll 4
  for (int j = 0; j < kByteVectors; ++j) {
    const int8x16_t w = vld1q_s8(packed + 16 * j);
    int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(x)), high = vmull_high_s8(w, x);
    if (two) {
      const int8x16_t w_next = vld1q_s8(packed + kBytePanel * kByteDepth + 16 * j);
      low = vmlal_s8(low, vget_low_s8(w_next), vget_low_s8(next));
      high = vmlal_high_s8(high, w_next, next);
    }
    sums[2 * j] = vpadalq_s16(sums[2 * j], low);
    sums[2 * j + 1] = vpadalq_s16(sums[2 * j + 1], high);
  }
}

// `pairs`: of steps that are taken at once.
__attribute__((noinline)) inline void SumRow(const ByteSource& source, const int8_t* const* rows, int64_t pairs,
                                             int32_t* buffer) {
  int32x4_t sums[kHalfSums];
#pragma GCC unroll 8
  for (int j = 0; j < kHalfSums; ++j) sums[j] = vdupq_n_s32(0);
  const int8_t* packed = reinterpret_cast<const int8_t*>(source.packed);
  for (int64_t tap = 0; tap < source.taps; ++tap, rows += kByteChunkPixels) {
    const int8_t* row = *rows + source.offset;
    for (int64_t i = 0; i < pairs; ++i, row += 2 * kByteDepth, packed += 2 * kBytePanel * kByteDepth)
      AddStep(packed, row, true, sums);
    for (int64_t i = 2 * pairs; i < source.steps; ++i, row += kByteDepth, packed += kBytePanel * kByteDepth)
      AddStep(packed, row, false, sums);
  }
#pragma GCC unroll 4
  for (int j = 0; j < kByteVectors; ++j) {
    const int32x4_t sum = vpaddq_s32(sums[2 * j], sums[2 * j + 1]);
    vst1q_s32(buffer + 4 * j, vaddq_s32(sum, vld1q_s32(source.starts + 4 * j)));
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_SUMS_NEON_H_
