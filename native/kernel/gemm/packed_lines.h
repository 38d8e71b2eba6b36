// Around the tiles of floats: the order of inputs, and a row of them times a panel of kPanelWidth filters, which is
// what a product has left of rows when its tiles are done.
#ifndef LATHE_KERNEL_GEMM_PACKED_LINES_H_
#define LATHE_KERNEL_GEMM_PACKED_LINES_H_

#include "native/kernel/gemm/packed_tile.h"
#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

// From rows [4][depth] to [depth][4]: stores of four registers put their lanes side by side.
inline void PackQuad(const float* a, const float* b, const float* c, const float* d, int64_t depth, float* to) {
#if defined(__aarch64__)
  for (; depth >= 8; depth -= 8) {
    // clang-format off
    asm volatile(
        "ldp q0, q4, [%[a]], #32\n" "ldp q1, q5, [%[b]], #32\n" "ldp q2, q6, [%[c]], #32\n" "ldp q3, q7, [%[d]], #32\n"
        "st4 {v0.4s, v1.4s, v2.4s, v3.4s}, [%[to]], #64\n"
        "st4 {v4.4s, v5.4s, v6.4s, v7.4s}, [%[to]], #64\n"
        : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [to] "+r"(to)
        :
        : "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7");
    // clang-format on
  }
#endif
  for (; depth >= 4; depth -= 4, a += 4, b += 4, c += 4, d += 4, to += 16) {
    const float32x4x4_t four = {{vld1q_f32(a), vld1q_f32(b), vld1q_f32(c), vld1q_f32(d)}};
    vst4q_f32(to, four);
  }
  for (; depth > 0; --depth, to += 4) {
    to[0] = *a++;
    to[1] = *b++;
    to[2] = *c++;
    to[3] = *d++;
  }
}

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

#endif  // LATHE_KERNEL_GEMM_PACKED_LINES_H_
