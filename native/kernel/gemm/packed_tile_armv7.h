// The tile of 32-bit ARM with NEON: 4 rows times 8 filters in q8 to q15. Compilers neither load four registers at a
// time nor keep all sixteen busy.
#ifndef LATHE_KERNEL_GEMM_PACKED_TILE_ARMV7_H_
#define LATHE_KERNEL_GEMM_PACKED_TILE_ARMV7_H_

#include "native/kernel/gemm/packed_tile.h"

// clang-format off
// A step of depth: four rows, which are the lanes of d<x> and d<y>, times the filters in q<a> and q<b>.
#define LATHE_STEP(x, y, a, b)                                                \
  "vmla.f32 q8, q" #a ", d" #x "[0]\n" "vmla.f32 q9, q" #b ", d" #x "[0]\n"   \
  "vmla.f32 q10, q" #a ", d" #x "[1]\n" "vmla.f32 q11, q" #b ", d" #x "[1]\n" \
  "vmla.f32 q12, q" #a ", d" #y "[0]\n" "vmla.f32 q13, q" #b ", d" #y "[0]\n" \
  "vmla.f32 q14, q" #a ", d" #y "[1]\n" "vmla.f32 q15, q" #b ", d" #y "[1]\n"
#define LATHE_FOUR_STEPS                      \
  "vldmia %[filters]!, {d8-d15}\n"            \
  "vldmia %[inputs]!, {d0-d7}\n"              \
  LATHE_STEP(0, 1, 4, 5) LATHE_STEP(2, 3, 6, 7) \
  "vldmia %[filters]!, {d8-d15}\n"            \
  LATHE_STEP(4, 5, 4, 5) LATHE_STEP(6, 7, 6, 7)

#define LATHE_ADD_START_TO_ALL                                                                 \
  "vld1.32 {d0-d3}, [%[left]], %[other]\n" "vadd.f32 q8, q8, q0\n" "vadd.f32 q9, q9, q1\n"     \
  "vld1.32 {d4-d7}, [%[left]], %[other]\n" "vadd.f32 q10, q10, q2\n" "vadd.f32 q11, q11, q3\n" \
  "vld1.32 {d0-d3}, [%[left]], %[other]\n" "vadd.f32 q12, q12, q0\n" "vadd.f32 q13, q13, q1\n" \
  "vld1.32 {d4-d7}, [%[left]], %[other]\n" "vadd.f32 q14, q14, q2\n" "vadd.f32 q15, q15, q3\n"
// `op` is vmax.f32 or vmin.f32, the limit in q0.
#define LATHE_CLIP_ALL(op)                                                        \
  op " q8, q8, q0\n" op " q9, q9, q0\n" op " q10, q10, q0\n" op " q11, q11, q0\n" \
  op " q12, q12, q0\n" op " q13, q13, q0\n" op " q14, q14, q0\n" op " q15, q15, q0\n"
#define LATHE_STORE_ALL                        \
  "vst1.32 {d16-d19}, [%[output]], %[other]\n" \
  "vst1.32 {d20-d23}, [%[output]], %[other]\n" \
  "vst1.32 {d24-d27}, [%[output]], %[other]\n" \
  "vst1.32 {d28-d31}, [%[output]], %[other]\n"

namespace lathe {
namespace {

// Quads one below the other: their inputs follow each other, as do the rows of `start` and of `output`. What is needed
// once a quad stays in memory.
__attribute__((noinline)) inline void RunQuads(const PackedTile& quad, size_t quads) {
  if (quads == 0) return;
  PackedTile tile = quad;
  const float *inputs = tile.inputs, *filters;
  float* output = tile.output;
  size_t left, other;
  asm volatile(
      "1:\n"
      // Sums start as the bias, plus what was there before.
      "ldr %[other], [%[tile], %[bias]]\n"
      "ldr %[left], [%[tile], %[start]]\n"
      "vldmia %[other], {d16-d23}\n"  // the bias is there twice
      "vldmia %[other], {d24-d31}\n"
      "ldr %[filters], [%[tile], %[all_filters]]\n"
      "cmp %[left], #0\n" "beq 2f\n"
      "ldr %[other], [%[tile], %[start_bytes]]\n"
      LATHE_ADD_START_TO_ALL
      "str %[left], [%[tile], %[start]]\n"
      "2:\n"
      "subs %[left], %[depth], #8\n" "blt 4f\n"
      "3:\n"
      LATHE_FOUR_STEPS
      LATHE_FOUR_STEPS
      "subs %[left], %[left], #8\n" "bge 3b\n"
      "4:\n"
      "tst %[left], #4\n"  // -4 to -1: four steps are left, and a rest; -8 to -5: only a rest
      "beq 5f\n"
      LATHE_FOUR_STEPS
      "5:\n"
      "ands %[left], %[left], #3\n" "beq 7f\n"
      "6:\n"
      "vldmia %[inputs]!, {d0-d1}\n"
      "vldmia %[filters]!, {d8-d11}\n"
      "subs %[left], %[left], #1\n"
      LATHE_STEP(0, 1, 4, 5)
      "bne 6b\n"
      "7:\n"
      "ldr %[other], [%[tile], %[output_bytes]]\n"
      "cmp %[clip], #0\n" "beq 8f\n"
      "add %[left], %[tile], %[low]\n"
      "vld1.32 {d0[], d1[]}, [%[left]]!\n"
      LATHE_CLIP_ALL("vmax.f32")
      "tst %[clip], #2\n" "beq 8f\n"
      "vld1.32 {d0[], d1[]}, [%[left]]\n"
      LATHE_CLIP_ALL("vmin.f32")
      "8:\n"
      LATHE_STORE_ALL
      "add %[inputs], %[inputs], %[gap]\n"
      "subs %[quads], %[quads], #1\n"
      "bne 1b\n"
      : [inputs] "+r"(inputs), [output] "+r"(output), [quads] "+r"(quads), [filters] "=&r"(filters), [left] "=&r"(left),
        [other] "=&r"(other)
      : [tile] "r"(&tile), [depth] "r"(tile.depth), [clip] "r"(tile.clip),
        [gap] "r"(tile.input_bytes - tile.depth * 16),
        [bias] "i"(offsetof(PackedTile, bias)), [start] "i"(offsetof(PackedTile, start)),
        [all_filters] "i"(offsetof(PackedTile, filters)), [start_bytes] "i"(offsetof(PackedTile, start_bytes)),
        [low] "i"(offsetof(PackedTile, low)), [output_bytes] "i"(offsetof(PackedTile, output_bytes))
      : "cc", "memory", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12", "q13", "q14",
        "q15");
}

}  // namespace
}  // namespace lathe
// clang-format on

#endif  // LATHE_KERNEL_GEMM_PACKED_TILE_ARMV7_H_
