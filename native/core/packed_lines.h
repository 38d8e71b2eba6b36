// A row of inputs times a panel of kPanelWidth filters: what a product has left of
// rows when its tiles are done, and products with vectors. The header of the instruction set goes before this one.
#ifndef LATHE_CORE_PACKED_LINES_H_
#define LATHE_CORE_PACKED_LINES_H_

#include "native/core/packed_tile.h"

namespace lathe {
namespace {

// Adds whole steps of four elements of depth to the two halves of `sums`. Even and odd elements have sums of their own,
// so that the machine need not wait for one.
inline void SumLine(const float* inputs, const float* filters, size_t depth, float32x4_t (&sums)[2]) {
  float32x4_t a = sums[0], b = sums[1], c = vdupq_n_f32(0.0f), d = c;
  for (; depth >= 4; depth -= 4) {
    // Compilers load four registers at a time in vain: they copy them.
    // clang-format off
#if defined(__aarch64__)
    asm volatile(
        "ldr q0, [%[inputs]], #16\n"
        "ld1 {v4.4s, v5.4s, v6.4s, v7.4s}, [%[filters]], #64\n"
        "ld1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%[filters]], #64\n"
        "fmla %[a].4s, v4.4s, v0.s[0]\n" "fmla %[b].4s, v5.4s, v0.s[0]\n"
        "fmla %[c].4s, v6.4s, v0.s[1]\n" "fmla %[d].4s, v7.4s, v0.s[1]\n"
        "fmla %[a].4s, v16.4s, v0.s[2]\n" "fmla %[b].4s, v17.4s, v0.s[2]\n"
        "fmla %[c].4s, v18.4s, v0.s[3]\n" "fmla %[d].4s, v19.4s, v0.s[3]\n"
        : [inputs] "+r"(inputs), [filters] "+r"(filters), [a] "+w"(a), [b] "+w"(b), [c] "+w"(c), [d] "+w"(d)
        :
        : "memory", "v0", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19");
#else
    asm volatile(
        "vldmia %[inputs]!, {d0-d1}\n"
        "vldmia %[filters]!, {d8-d15}\n"
        "vmla.f32 %q[a], q4, d0[0]\n" "vmla.f32 %q[b], q5, d0[0]\n"
        "vmla.f32 %q[c], q6, d0[1]\n" "vmla.f32 %q[d], q7, d0[1]\n"
        "vldmia %[filters]!, {d8-d15}\n"
        "vmla.f32 %q[a], q4, d1[0]\n" "vmla.f32 %q[b], q5, d1[0]\n"
        "vmla.f32 %q[c], q6, d1[1]\n" "vmla.f32 %q[d], q7, d1[1]\n"
        : [inputs] "+r"(inputs), [filters] "+r"(filters), [a] "+w"(a), [b] "+w"(b), [c] "+w"(c), [d] "+w"(d)
        :
        : "memory", "q0", "q4", "q5", "q6", "q7");
#endif
    // clang-format on
  }
  sums[0] = vaddq_f32(a, c);
  sums[1] = vaddq_f32(b, d);
}

// What is asked for is said as for a tile, but for one row of inputs.
__attribute__((noinline)) inline void RunLine(const PackedTile& tile) {
  float32x4_t sums[2] = {vld1q_f32(tile.bias), vld1q_f32(tile.bias + 4)};
  if (tile.start != nullptr) {
    for (int j = 0; j < 2; ++j) sums[j] = vaddq_f32(sums[j], vld1q_f32(tile.start + 4 * j));
  }
  SumLine(tile.inputs, tile.filters, tile.depth, sums);
  for (size_t k = tile.depth / 4 * 4; k < tile.depth; ++k) {
    const float32x4_t x = vdupq_n_f32(tile.inputs[k]);
    for (int j = 0; j < 2; ++j) sums[j] = vfmaq_f32(sums[j], vld1q_f32(tile.filters + k * kPanelWidth + 4 * j), x);
  }
  for (int j = 0; j < 2; ++j) {
    if ((tile.clip & kClipLow) != 0) sums[j] = vmaxq_f32(sums[j], vdupq_n_f32(tile.low));
    if ((tile.clip & kClipHigh) != 0) sums[j] = vminq_f32(sums[j], vdupq_n_f32(tile.high));
    vst1q_f32(tile.output + 4 * j, sums[j]);
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_PACKED_LINES_H_
