// Sums of byte_panels.h as they are stored, for all instruction sets of ARM.
#ifndef LATHE_CORE_BYTE_STORE_ARM_H_
#define LATHE_CORE_BYTE_STORE_ARM_H_

#include <arm_neon.h>
#include <string.h>

#include "native/core/byte_panels.h"

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
  float32x4_t factors[kByteVectors];
  float32x4_t residual_factor;
  int16x8_t residual_zero;
  int16x8_t zero;
  int8x16_t low;  // the clip in whole steps, zero point added: rounding keeps the order of numbers
  int8x16_t high;

  ByteStore(const BytePanelState& state, const float* of_outputs)
      : residual_factor(vdupq_n_f32(state.residual_factor)),
        residual_zero(vdupq_n_s16(static_cast<int16_t>(state.residual_zero))),
        zero(vdupq_n_s16(static_cast<int16_t>(state.y_zero))),
        low(Limit(state.low)),
        high(Limit(state.high)) {
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
    for (int j = 0; j < kByteVectors; ++j)
      values[j] = vaddq_f32(values[j], vmulq_f32(vcvtq_f32_s32(steps[j]), residual_factor));
  }

  // The sums of a pixel. `residual` may be null; 16 bytes of it are read.
  LATHE_INLINE int8x16_t operator()(const int32_t* sums, const int8_t* residual) const {
    float32x4_t values[kByteVectors];
    for (int j = 0; j < kByteVectors; ++j) values[j] = vmulq_f32(vcvtq_f32_s32(vld1q_s32(sums + 4 * j)), factors[j]);
    if (residual != nullptr) Widen(vld1q_s8(residual), values);
    int32x4_t rounded[kByteVectors];
    for (int j = 0; j < kByteVectors; ++j) rounded[j] = RoundBytes(values[j]);
    const int16x8_t low_half = vqaddq_s16(vcombine_s16(vqmovn_s32(rounded[0]), vqmovn_s32(rounded[1])), zero);
    const int16x8_t high_half = vqaddq_s16(vcombine_s16(vqmovn_s32(rounded[2]), vqmovn_s32(rounded[3])), zero);
    const int8x16_t bytes = vcombine_s8(vqmovn_s16(low_half), vqmovn_s16(high_half));
    return vminq_s8(vmaxq_s8(bytes, low), high);
  }
};

// `rows` pixels of a panel from the one numbered `first_pixel` on: their sums are in `buffer`, kBytePanel for each.
inline void StoreTile(const BytePanelJob& job, const ByteTile& tile, int first_pixel, int rows, int64_t first,
                      const int32_t* buffer) {
  const BytePanelState& state = *job.state;
  const int64_t channels = state.shape.groups * state.shape.outputs;
  const ByteStore store(state, state.factors + tile.group * state.shape.outputs + tile.output + first);
  const int left = tile.count - first_pixel;
  const int count = rows < left ? rows : left;
  const int8_t* residual = tile.residual;
  if (residual != nullptr) residual += first_pixel * channels + first;
  int8_t* to = tile.to + first_pixel * job.output_step + first;
  if (tile.outputs - first >= kBytePanel) {
    if (residual == nullptr) {
      for (int i = 0; i < count; ++i, to += job.output_step) vst1q_s8(to, store(buffer + i * kBytePanel, nullptr));
    } else {
      for (int i = 0; i < count; ++i, to += job.output_step, residual += channels)
        vst1q_s8(to, store(buffer + i * kBytePanel, residual));
    }
    return;
  }
  const size_t width = static_cast<size_t>(tile.outputs - first);
  int8_t few[kBytePanel] = {};
  for (int i = 0; i < count; ++i, to += job.output_step) {
    if (residual != nullptr) memcpy(few, residual + i * channels, width);
    vst1q_s8(few, store(buffer + i * kBytePanel, residual != nullptr ? few : nullptr));
    memcpy(to, few, width);
  }
}

// What the rows of a tile are multiplied with.
struct ByteSource {
  const uint8_t* packed;
  const int32_t* starts;
  int32_t* buffer;  // of the sums
};

// `sum(whole, first_pixel, source)` adds up `rows` pixels of a panel where they are `whole`, else `few`; fewer pixels
// than `least` are not taken as a whole.
template <int rows, int few, int least, typename Sum>
inline void RunByteRows(const BytePanelJob& job, const ByteTile& tile, const Sum& sum) {
  const BytePanelState& state = *job.state;
  alignas(64) int32_t buffer[rows * kBytePanel];
  for (int64_t first = 0; first < tile.outputs; first += kBytePanel) {
    const int64_t output = tile.output + first;
    const int64_t panel = tile.group * state.shape.panels() + output / kBytePanel;
    const ByteSource source = {state.packed + panel * state.panel_bytes,
                               state.starts + tile.group * state.shape.outputs + output, buffer};
    for (int pixel = 0; pixel < tile.count;) {
      const bool whole = tile.count - pixel >= least;
      const int taken = whole ? rows : few;
      sum(whole, pixel, source);
      StoreTile(job, tile, pixel, taken, first, buffer);
      pixel += taken;
    }
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTE_STORE_ARM_H_
