// Sums of byte_panels.h as they are stored, for all instruction sets of ARM.
#ifndef LATHE_KERNEL_GEMM_BYTE_STORE_ARM_H_
#define LATHE_KERNEL_GEMM_BYTE_STORE_ARM_H_

#include <arm_neon.h>
#include <string.h>

#include "native/kernel/gemm/byte_panels.h"

namespace lathe {
namespace {

constexpr int kByteVectors = kBytePanel / 4;  // of sums, per pixel

// The nearest whole numbers, ties to even ones; what s32 does not hold becomes the largest or smallest that it holds,
// or something else that no byte holds either.
LATHE_INLINE int32x4_t RoundBytes(float32x4_t values) {
#if defined(__aarch64__)
  return vcvtnq_s32_f32(values);
#else
  // Adding 1.5 * 2^23 leaves no room for halves.
  const float32x4_t most = vdupq_n_f32(65536.0f), magic = vdupq_n_f32(12582912.0f);
  const float32x4_t inside = vmaxq_f32(vminq_f32(values, most), vnegq_f32(most));
  return vsubq_s32(vreinterpretq_s32_f32(vaddq_f32(inside, magic)), vreinterpretq_s32_f32(magic));
#endif
}

// What is the same for all pixels of a tile.
struct ByteStore {
  // byte_requantise_aarch64.h knows this order.
  float32x4_t factors[kByteVectors];
  int16x8_t zero;
  int8x16_t low;  // the clip in whole steps, zero point added: rounding keeps the order of numbers
  int8x16_t high;
  float32x4_t residual_factor;
  int16x8_t residual_zero;

  ByteStore(const BytePanelState& state, const float* of_outputs)
      : zero(vdupq_n_s16(static_cast<int16_t>(state.y_zero))),
        low(Limit(state.low)),
        high(Limit(state.high)),
        residual_factor(vdupq_n_f32(state.residual_factor)),
        residual_zero(vdupq_n_s16(static_cast<int16_t>(state.residual_zero))) {
#pragma GCC unroll 4
    for (int j = 0; j < kByteVectors; ++j) factors[j] = vld1q_f32(of_outputs + 4 * j);
  }

  int8x16_t Limit(float limit) const {
    const int16x4_t rounded = vqmovn_s32(RoundBytes(vdupq_n_f32(limit)));
    const int8x8_t bytes = vqmovn_s16(vqaddq_s16(vcombine_s16(rounded, rounded), zero));
    return vcombine_s8(bytes, bytes);
  }

  LATHE_INLINE void Widen(int8x16_t bytes, float32x4_t (&values)[kByteVectors]) const {
    const int16x8_t low_half = vsubq_s16(vmovl_s8(vget_low_s8(bytes)), residual_zero);
    const int16x8_t high_half = vsubq_s16(vmovl_s8(vget_high_s8(bytes)), residual_zero);
    const int32x4_t steps[kByteVectors] = {vmovl_s16(vget_low_s16(low_half)), vmovl_s16(vget_high_s16(low_half)),
                                           vmovl_s16(vget_low_s16(high_half)), vmovl_s16(vget_high_s16(high_half))};
#pragma GCC unroll 4
    for (int j = 0; j < kByteVectors; ++j)
      values[j] = vaddq_f32(values[j], vmulq_f32(vcvtq_f32_s32(steps[j]), residual_factor));
  }

  // The sums of a pixel. `residual` may be null; 16 bytes of it are read.
  LATHE_INLINE int8x16_t operator()(const int32_t* sums, const int8_t* residual) const {
    float32x4_t values[kByteVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kByteVectors; ++j) values[j] = vmulq_f32(vcvtq_f32_s32(vld1q_s32(sums + 4 * j)), factors[j]);
    if (residual != nullptr) Widen(vld1q_s8(residual), values);
    int32x4_t rounded[kByteVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kByteVectors; ++j) rounded[j] = RoundBytes(values[j]);
    const int16x8_t low_half = vqaddq_s16(vcombine_s16(vqmovn_s32(rounded[0]), vqmovn_s32(rounded[1])), zero);
    const int16x8_t high_half = vqaddq_s16(vcombine_s16(vqmovn_s32(rounded[2]), vqmovn_s32(rounded[3])), zero);
    const int8x16_t bytes = vcombine_s8(vqmovn_s16(low_half), vqmovn_s16(high_half));
    return vminq_s8(vmaxq_s8(bytes, low), high);
  }
};

// Pixels of a whole panel or a part of one.
struct StoredPixels {
  const int32_t* sums;  // kBytePanel for each
  int count;
  int64_t width;  // outputs
  int8_t* to;
  int64_t step;            // from pixel to pixel
  const int8_t* residual;  // may be null
  int64_t residual_step;
};

template <bool with_residual>
__attribute__((noinline)) void StoreWhole(const ByteStore& what, const StoredPixels& pixels) {
  const ByteStore store = what;  // in registers: the bytes that are written are not the ones here
  const int32_t* sums = pixels.sums;
  const int8_t* residual = pixels.residual;
  int8_t* to = pixels.to;
  const int64_t step = pixels.step, residual_step = pixels.residual_step;
  for (int left = pixels.count; left > 0; --left, to += step, sums += kBytePanel) {
    vst1q_s8(to, store(sums, with_residual ? residual : nullptr));
    if (with_residual) residual += residual_step;
  }
}

// The first bytes of a vector, fewer than it holds.
LATHE_INLINE void StoreFew(int8x16_t bytes, size_t count, int8_t* to) {
  if ((count & 8) != 0) {
    vst1_s8(to, vget_low_s8(bytes));
    bytes = vextq_s8(bytes, bytes, 8);
    to += 8;
  }
  if ((count & 4) != 0) {
    const int32_t four = vgetq_lane_s32(vreinterpretq_s32_s8(bytes), 0);
    memcpy(to, &four, sizeof four);
    bytes = vextq_s8(bytes, bytes, 4);
    to += 4;
  }
  if ((count & 2) != 0) {
    const int16_t two = vgetq_lane_s16(vreinterpretq_s16_s8(bytes), 0);
    memcpy(to, &two, sizeof two);
    bytes = vextq_s8(bytes, bytes, 2);
    to += 2;
  }
  if ((count & 1) != 0) *to = vgetq_lane_s8(bytes, 0);
}

__attribute__((noinline)) inline void StorePart(const ByteStore& what, const StoredPixels& pixels) {
  const ByteStore store = what;
  const size_t width = static_cast<size_t>(pixels.width);
  int8_t few[kBytePanel] = {};
  for (int64_t i = 0; i < pixels.count; ++i) {
    if (pixels.residual != nullptr) memcpy(few, pixels.residual + i * pixels.residual_step, width);
    StoreFew(store(pixels.sums + i * kBytePanel, pixels.residual != nullptr ? few : nullptr), width,
             pixels.to + i * pixels.step);
  }
}

// What some tiles of rows are multiplied with, and where the results go.
struct ByteSource {
  const int8_t* const* rows;  // of the first tap; those of the next are kByteChunkPixels further on
  const int32_t* starts;
  const int8_t* packed;
  int64_t taps;
  int64_t steps;    // of depth
  int64_t offset;   // of the bytes in their rows
  int32_t* buffer;  // of the sums, kBytePanel for a row; null: they are stored
  const ByteStore* store;
  int8_t* to;
  int64_t step;  // from row to row
  int64_t clip;  // 0: the range of bytes is all that there is
};

// What is the same for all panels of a tile.
inline ByteSource SourceOf(const BytePanelJob& job, const ByteTile& tile) {
  const BytePanelState& state = *job.state;
  ByteSource source = {};
  source.rows = tile.rows;
  source.taps = state.shape.taps;
  source.steps = (state.shape.depth + kByteForm.reach() - 1) / kByteForm.reach();
  source.offset = tile.group * state.shape.depth;
  const float zero = static_cast<float>(state.y_zero);
  source.clip = zero + state.low > -128.0f || zero + state.high < 127.0f ? 1 : 0;
  return source;
}

// Sums as they are.
__attribute__((noinline)) inline void StoreSums(const int32_t* from, int count, int64_t width, int32_t* to,
                                                int64_t step) {
  for (int i = 0; i < count; ++i, from += kBytePanel, to += step) {
    if (width >= kBytePanel) {
      memcpy(to, from, kBytePanel * sizeof *to);
    } else {
      memcpy(to, from, static_cast<size_t>(width) * sizeof *to);
    }
  }
}

// `sum(source, rows, tiles)` adds up tiles of `most` rows or of `few`. `direct`: those of `most` it can store itself.
// `plain`: the sums are stored as they are.
template <int most, int few, bool direct, bool plain, typename Sum>
inline void RunByteRows(const BytePanelJob& job, const ByteTile& tile, const Sum& sum) {
  const BytePanelState& state = *job.state;
  alignas(64) int32_t buffer[(kByteChunkPixels + few) * kBytePanel];
  alignas(16) int8_t bytes[kByteChunkPixels * kBytePanel];  // of panels that are not whole
  const int whole = tile.count / most * most;
  ByteSource source = SourceOf(job, tile);
  StoredPixels pixels = {};
  pixels.step = job.output_step;
  pixels.residual_step = state.shape.groups * state.shape.outputs;
  for (int64_t first = 0; first < tile.outputs; first += kBytePanel) {
    const int64_t output = tile.output + first;
    const int64_t channel = tile.group * state.shape.outputs + output;
    source.packed = state.packed + (tile.group * state.shape.panels() + output / kBytePanel) * state.panel_bytes;
    source.starts = state.starts + channel;
    source.rows = tile.rows;
    if constexpr (plain) {
      source.buffer = buffer;
      if (whole > 0) sum(source, most, whole / most);
      source.rows += whole;
      source.buffer += whole * kBytePanel;
      if (tile.count > whole) sum(source, few, (tile.count - whole + few - 1) / few);
      StoreSums(buffer, tile.count, tile.outputs - first, tile.sums + first, job.output_step);
      continue;
    }
    const ByteStore store(state, state.factors + channel);
    source.store = &store;
    pixels.width = tile.outputs - first;
    const bool part = pixels.width < kBytePanel;
    const int stored = direct && tile.residual == nullptr ? whole : 0;
    if (whole > 0) {
      source.to = part ? bytes : tile.to + first;
      source.step = part ? kBytePanel : job.output_step;
      source.buffer = stored > 0 ? nullptr : buffer;
      sum(source, most, whole / most);
    }
    for (int i = 0; part && i < stored; ++i) {
      StoreFew(vld1q_s8(bytes + i * kBytePanel), static_cast<size_t>(pixels.width), tile.to + first + i * pixels.step);
    }
    if (tile.count > whole) {
      source.rows += whole;
      source.buffer = buffer + (whole - stored) * kBytePanel;
      sum(source, few, (tile.count - whole + few - 1) / few);
    }
    pixels.count = tile.count - stored;
    if (pixels.count == 0) continue;
    pixels.sums = buffer;
    pixels.to = tile.to + first + stored * pixels.step;
    pixels.residual = tile.residual == nullptr ? nullptr : tile.residual + first;
    if (part) {
      StorePart(store, pixels);
    } else {
      (pixels.residual == nullptr ? StoreWhole<false> : StoreWhole<true>)(store, pixels);
    }
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_STORE_ARM_H_
