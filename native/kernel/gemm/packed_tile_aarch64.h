// The tile of 64-bit ARM: 8 rows times 8 filters in v16 to v31. Compilers neither keep that many registers apart from
// loads of four registers at a time, nor spread the loads so that machines that execute in order do not wait for them.
#ifndef LATHE_KERNEL_GEMM_PACKED_TILE_AARCH64_H_
#define LATHE_KERNEL_GEMM_PACKED_TILE_AARCH64_H_

#define LATHE_LANES "4s"
#include "native/kernel/gemm/packed_quads_aarch64.h"

// clang-format off
// A step of depth: four rows, which are the lanes of v<x>, times the filters in v<a> and v<b>.
#define LATHE_ROW(low, high, x, lane, a, b)                    \
  "fmla v" #low ".4s, v" #a ".4s, v" #x ".s[" #lane "]\n"      \
  "fmla v" #high ".4s, v" #b ".4s, v" #x ".s[" #lane "]\n"
#define LATHE_FIRST_QUAD(x, a, b)                                  \
  LATHE_ROW(16, 17, x, 0, a, b) LATHE_ROW(18, 19, x, 1, a, b)      \
  LATHE_ROW(20, 21, x, 2, a, b) LATHE_ROW(22, 23, x, 3, a, b)
#define LATHE_SECOND_QUAD(x, a, b)                                 \
  LATHE_ROW(24, 25, x, 0, a, b) LATHE_ROW(26, 27, x, 1, a, b)      \
  LATHE_ROW(28, 29, x, 2, a, b) LATHE_ROW(30, 31, x, 3, a, b)

// Four steps of depth: inputs of the first quad in v0 to v3, of the second in v4 to v7, filters in v8 to v15. What the
// next four steps need is loaded as soon as the registers are free.
#define LATHE_FOUR_STEPS(next_filters_low, next_first, next_second, next_filters_high) \
  LATHE_FIRST_QUAD(0, 8, 9)      LATHE_FIRST_QUAD(1, 10, 11)                           \
  LATHE_SECOND_QUAD(4, 8, 9)     LATHE_SECOND_QUAD(5, 10, 11)                          \
  next_filters_low                                                                     \
  LATHE_FIRST_QUAD(2, 12, 13)    LATHE_FIRST_QUAD(3, 14, 15)                           \
  next_first                                                                           \
  LATHE_SECOND_QUAD(6, 12, 13)   LATHE_SECOND_QUAD(7, 14, 15)                          \
  next_second next_filters_high

#define LATHE_FOUR_STEPS_AND_LOAD \
  LATHE_FOUR_STEPS(LATHE_LOAD_LOW, LATHE_LOAD_FIRST, LATHE_LOAD_SECOND, LATHE_LOAD_HIGH)

namespace lathe {
namespace {

// As many tiles one below the other as there are pairs of quads: their inputs follow each other, as do the rows of `start`
// and of `output`.
__attribute__((noinline)) inline void RunPairs(const PackedTile& tile, size_t tiles) {
  const float *inputs = tile.inputs, *start = tile.start, *first, *second, *filters;
  float* output = tile.output;
  size_t left;
  asm volatile(
      "1:\n"
      // Sums start as the bias, plus what was there before.
      "mov %[first], %[inputs]\n"
      "add %[second], %[inputs], %[input_bytes]\n"
      "mov %[filters], %[all_filters]\n"
      LATHE_LOAD_BIAS_TO_FIRST LATHE_LOAD_BIAS_TO_SECOND
      "add %[inputs], %[second], %[input_bytes]\n"
      "cbz %[start], 2f\n"
      LATHE_ADD_START_TO_FIRST LATHE_ADD_START_TO_SECOND
      "2:\n"
      "cmp %[depth], #4\n"
      "b.lo 6f\n"
      LATHE_LOAD_LOW LATHE_LOAD_FIRST LATHE_LOAD_SECOND LATHE_LOAD_HIGH
      "subs %[left], %[depth], #12\n"
      "b.lt 4f\n"
      "3:\n"
      LATHE_FOUR_STEPS_AND_LOAD
      LATHE_FOUR_STEPS_AND_LOAD
      "subs %[left], %[left], #8\n"
      "b.ge 3b\n"
      "4:\n"
      "tbz %[left], #2, 5f\n"  // -8 to -5: four steps are left, and a rest; -4 to -1: eight and a rest
      LATHE_FOUR_STEPS_AND_LOAD
      "5:\n"
      LATHE_FOUR_STEPS("", "", "", "")
      "6:\n"
      "ands %[left], %[depth], #3\n"
      "b.eq 8f\n"
      "7:\n"
      "ldr q0, [%[first]], #16\n"
      "ldp q8, q9, [%[filters]], #32\n"
      "ldr q4, [%[second]], #16\n"
      "subs %[left], %[left], #1\n"
      LATHE_FIRST_QUAD(0, 8, 9) LATHE_SECOND_QUAD(4, 8, 9)
      "b.ne 7b\n"
      "8:\n"
      "cbz %[clip], 9f\n"
      "ld1r {v0.4s}, [%[low]]\n"
      LATHE_CLIP_FIRST("fmax") LATHE_CLIP_SECOND("fmax")
      "tbz %[clip], #1, 9f\n"
      "ld1r {v0.4s}, [%[high]]\n"
      LATHE_CLIP_FIRST("fmin") LATHE_CLIP_SECOND("fmin")
      "9:\n"
      LATHE_STORE_FIRST LATHE_STORE_SECOND
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 1b\n"
      : [inputs] "+r"(inputs), [start] "+r"(start), [output] "+r"(output), [tiles] "+r"(tiles), [first] "=&r"(first),
        [second] "=&r"(second), [filters] "=&r"(filters), [left] "=&r"(left)
      : [all_filters] "r"(tile.filters), [bias] "r"(tile.bias), [input_bytes] "r"(tile.input_bytes),
        [start_bytes] "r"(tile.start_bytes), [output_bytes] "r"(tile.output_bytes), [depth] "r"(tile.depth),
        [clip] "r"(tile.clip), [low] "r"(&tile.low), [high] "r"(&tile.high)
      : LATHE_CLOBBERS, "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

// One quad.
__attribute__((noinline)) inline void RunQuad(const PackedTile& tile) {
  const float *first = tile.inputs, *filters = tile.filters, *start = tile.start;
  float* output = tile.output;
  size_t left = tile.depth;
  asm volatile(
      LATHE_LOAD_BIAS_TO_FIRST
      "cbz %[start], 1f\n"
      LATHE_ADD_START_TO_FIRST
      "1:\n"
      "subs %[left], %[left], #4\n"
      "b.lt 3f\n"
      "2:\n"
      LATHE_LOAD_LOW LATHE_LOAD_FIRST LATHE_LOAD_HIGH
      "subs %[left], %[left], #4\n"
      LATHE_FIRST_QUAD(0, 8, 9) LATHE_FIRST_QUAD(1, 10, 11) LATHE_FIRST_QUAD(2, 12, 13) LATHE_FIRST_QUAD(3, 14, 15)
      "b.ge 2b\n"
      "3:\n"
      "ands %[left], %[left], #3\n"
      "b.eq 5f\n"
      "4:\n"
      "ldr q0, [%[first]], #16\n"
      "ldp q8, q9, [%[filters]], #32\n"
      "subs %[left], %[left], #1\n"
      LATHE_FIRST_QUAD(0, 8, 9)
      "b.ne 4b\n"
      "5:\n"
      "cbz %[clip], 6f\n"
      "ld1r {v0.4s}, [%[low]]\n"
      LATHE_CLIP_FIRST("fmax")
      "tbz %[clip], #1, 6f\n"
      "ld1r {v0.4s}, [%[high]]\n"
      LATHE_CLIP_FIRST("fmin")
      "6:\n"
      LATHE_STORE_FIRST
      : [first] "+r"(first), [filters] "+r"(filters), [start] "+r"(start), [output] "+r"(output), [left] "+r"(left)
      : [bias] "r"(tile.bias), [start_bytes] "r"(tile.start_bytes), [output_bytes] "r"(tile.output_bytes),
        [clip] "r"(tile.clip), [low] "r"(&tile.low), [high] "r"(&tile.high)
      : LATHE_CLOBBERS);
}

}  // namespace
}  // namespace lathe
// clang-format on

#endif  // LATHE_KERNEL_GEMM_PACKED_TILE_AARCH64_H_
