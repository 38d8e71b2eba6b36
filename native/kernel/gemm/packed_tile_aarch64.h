// The tile of 64-bit ARM: 8 rows times 8 filters in v16 to v31. Compilers neither keep that many registers apart from
// loads of four registers at a time, nor spread the loads so that machines that execute in order do not wait for them.
#ifndef LATHE_KERNEL_GEMM_PACKED_TILE_AARCH64_H_
#define LATHE_KERNEL_GEMM_PACKED_TILE_AARCH64_H_

#include "native/kernel/gemm/packed_tile.h"

// clang-format off
// Inputs of the first quad are loaded into v0 to v3, of the second into v4 to v7, filters into v8 to v15.
#define LATHE_LOAD_FIRST "ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [%[first]], #64\n"
#define LATHE_LOAD_SECOND "ld1 {v4.4s, v5.4s, v6.4s, v7.4s}, [%[second]], #64\n"
#define LATHE_LOAD_LOW "ld1 {v8.4s, v9.4s, v10.4s, v11.4s}, [%[filters]], #64\n"
#define LATHE_LOAD_HIGH "ld1 {v12.4s, v13.4s, v14.4s, v15.4s}, [%[filters]], #64\n"

// Sums of the first quad are v16 to v23, of the second v24 to v31: two registers for each row. They begin as the bias,
// which is there twice.
#define LATHE_LOAD_BIAS_TO_FIRST                      \
  "ld1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%[bias]]\n" \
  "ld1 {v20.4s, v21.4s, v22.4s, v23.4s}, [%[bias]]\n"
#define LATHE_LOAD_BIAS_TO_SECOND                     \
  "ld1 {v24.4s, v25.4s, v26.4s, v27.4s}, [%[bias]]\n" \
  "ld1 {v28.4s, v29.4s, v30.4s, v31.4s}, [%[bias]]\n"

// Plus what was there before.
#define LATHE_ADD_START_TO_FIRST                                                                                   \
  "ld1 {v0.4s, v1.4s}, [%[start]], %[start_bytes]\n" "fadd v16.4s, v16.4s, v0.4s\n" "fadd v17.4s, v17.4s, v1.4s\n" \
  "ld1 {v2.4s, v3.4s}, [%[start]], %[start_bytes]\n" "fadd v18.4s, v18.4s, v2.4s\n" "fadd v19.4s, v19.4s, v3.4s\n" \
  "ld1 {v4.4s, v5.4s}, [%[start]], %[start_bytes]\n" "fadd v20.4s, v20.4s, v4.4s\n" "fadd v21.4s, v21.4s, v5.4s\n" \
  "ld1 {v6.4s, v7.4s}, [%[start]], %[start_bytes]\n" "fadd v22.4s, v22.4s, v6.4s\n" "fadd v23.4s, v23.4s, v7.4s\n"
#define LATHE_ADD_START_TO_SECOND                                                                                  \
  "ld1 {v0.4s, v1.4s}, [%[start]], %[start_bytes]\n" "fadd v24.4s, v24.4s, v0.4s\n" "fadd v25.4s, v25.4s, v1.4s\n" \
  "ld1 {v2.4s, v3.4s}, [%[start]], %[start_bytes]\n" "fadd v26.4s, v26.4s, v2.4s\n" "fadd v27.4s, v27.4s, v3.4s\n" \
  "ld1 {v4.4s, v5.4s}, [%[start]], %[start_bytes]\n" "fadd v28.4s, v28.4s, v4.4s\n" "fadd v29.4s, v29.4s, v5.4s\n" \
  "ld1 {v6.4s, v7.4s}, [%[start]], %[start_bytes]\n" "fadd v30.4s, v30.4s, v6.4s\n" "fadd v31.4s, v31.4s, v7.4s\n"

// `op` is fmax or fmin, the limit in v0.
#define LATHE_CLIP_FIRST(op)                                  \
  op " v16.4s, v16.4s, v0.4s\n" op " v17.4s, v17.4s, v0.4s\n" \
  op " v18.4s, v18.4s, v0.4s\n" op " v19.4s, v19.4s, v0.4s\n" \
  op " v20.4s, v20.4s, v0.4s\n" op " v21.4s, v21.4s, v0.4s\n" \
  op " v22.4s, v22.4s, v0.4s\n" op " v23.4s, v23.4s, v0.4s\n"
#define LATHE_CLIP_SECOND(op)                                 \
  op " v24.4s, v24.4s, v0.4s\n" op " v25.4s, v25.4s, v0.4s\n" \
  op " v26.4s, v26.4s, v0.4s\n" op " v27.4s, v27.4s, v0.4s\n" \
  op " v28.4s, v28.4s, v0.4s\n" op " v29.4s, v29.4s, v0.4s\n" \
  op " v30.4s, v30.4s, v0.4s\n" op " v31.4s, v31.4s, v0.4s\n"

#define LATHE_STORE_FIRST                                \
  "st1 {v16.4s, v17.4s}, [%[output]], %[output_bytes]\n" \
  "st1 {v18.4s, v19.4s}, [%[output]], %[output_bytes]\n" \
  "st1 {v20.4s, v21.4s}, [%[output]], %[output_bytes]\n" \
  "st1 {v22.4s, v23.4s}, [%[output]], %[output_bytes]\n"
#define LATHE_STORE_SECOND                               \
  "st1 {v24.4s, v25.4s}, [%[output]], %[output_bytes]\n" \
  "st1 {v26.4s, v27.4s}, [%[output]], %[output_bytes]\n" \
  "st1 {v28.4s, v29.4s}, [%[output]], %[output_bytes]\n" \
  "st1 {v30.4s, v31.4s}, [%[output]], %[output_bytes]\n"

#define LATHE_CLOBBERS                                                                                           \
  "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", \
  "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23"

// A step of depth: four rows, which are the lanes of v<x>, times the filters in v<a> and v<b>.
#define LATHE_FIRST_QUAD(x, a, b)                                                     \
  "fmla v16.4s, v" #a ".4s, v" #x ".s[0]\n" "fmla v17.4s, v" #b ".4s, v" #x ".s[0]\n" \
  "fmla v18.4s, v" #a ".4s, v" #x ".s[1]\n" "fmla v19.4s, v" #b ".4s, v" #x ".s[1]\n" \
  "fmla v20.4s, v" #a ".4s, v" #x ".s[2]\n" "fmla v21.4s, v" #b ".4s, v" #x ".s[2]\n" \
  "fmla v22.4s, v" #a ".4s, v" #x ".s[3]\n" "fmla v23.4s, v" #b ".4s, v" #x ".s[3]\n"
#define LATHE_SECOND_QUAD(x, a, b)                                                    \
  "fmla v24.4s, v" #a ".4s, v" #x ".s[0]\n" "fmla v25.4s, v" #b ".4s, v" #x ".s[0]\n" \
  "fmla v26.4s, v" #a ".4s, v" #x ".s[1]\n" "fmla v27.4s, v" #b ".4s, v" #x ".s[1]\n" \
  "fmla v28.4s, v" #a ".4s, v" #x ".s[2]\n" "fmla v29.4s, v" #b ".4s, v" #x ".s[2]\n" \
  "fmla v30.4s, v" #a ".4s, v" #x ".s[3]\n" "fmla v31.4s, v" #b ".4s, v" #x ".s[3]\n"

// Four steps of depth. What the next four steps need is loaded as soon as the registers are free.
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
