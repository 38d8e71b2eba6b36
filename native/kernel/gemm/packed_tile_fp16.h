// The tile of halves on 64-bit ARM: 8 rows times 16 filters in v16 to v31, and what goes with it: rows that are left,
// and the order of inputs. It is the tile of packed_tile_aarch64.h but for two things. A register of inputs holds two
// steps of depth of a quad of rows; and what was there before is added to sums when they are done, since halves lose
// less if each block of depth has small sums of its own.
#ifndef LATHE_KERNEL_GEMM_PACKED_TILE_FP16_H_
#define LATHE_KERNEL_GEMM_PACKED_TILE_FP16_H_

#include "native/kernel/gemm/packed_tile.h"

// clang-format off
// Inputs of the first quad are loaded into v0 to v3, of the second into v4 to v7, filters into v8 to v15.
#define LATHE_LOAD_FIRST "ld1 {v0.8h, v1.8h, v2.8h, v3.8h}, [%[first]], #64\n"
#define LATHE_LOAD_SECOND "ld1 {v4.8h, v5.8h, v6.8h, v7.8h}, [%[second]], #64\n"
#define LATHE_LOAD_LOW "ld1 {v8.8h, v9.8h, v10.8h, v11.8h}, [%[filters]], #64\n"
#define LATHE_LOAD_HIGH "ld1 {v12.8h, v13.8h, v14.8h, v15.8h}, [%[filters]], #64\n"

// Sums of the first quad are v16 to v23, of the second v24 to v31: two registers for each row. They begin as the bias,
// which is there twice.
#define LATHE_LOAD_BIAS_TO_FIRST                      \
  "ld1 {v16.8h, v17.8h, v18.8h, v19.8h}, [%[bias]]\n" \
  "ld1 {v20.8h, v21.8h, v22.8h, v23.8h}, [%[bias]]\n"
#define LATHE_LOAD_BIAS_TO_SECOND                     \
  "ld1 {v24.8h, v25.8h, v26.8h, v27.8h}, [%[bias]]\n" \
  "ld1 {v28.8h, v29.8h, v30.8h, v31.8h}, [%[bias]]\n"

// Plus what was there before.
#define LATHE_ADD_START_TO_FIRST                                                                                   \
  "ld1 {v0.8h, v1.8h}, [%[start]], %[start_bytes]\n" "fadd v16.8h, v16.8h, v0.8h\n" "fadd v17.8h, v17.8h, v1.8h\n" \
  "ld1 {v2.8h, v3.8h}, [%[start]], %[start_bytes]\n" "fadd v18.8h, v18.8h, v2.8h\n" "fadd v19.8h, v19.8h, v3.8h\n" \
  "ld1 {v4.8h, v5.8h}, [%[start]], %[start_bytes]\n" "fadd v20.8h, v20.8h, v4.8h\n" "fadd v21.8h, v21.8h, v5.8h\n" \
  "ld1 {v6.8h, v7.8h}, [%[start]], %[start_bytes]\n" "fadd v22.8h, v22.8h, v6.8h\n" "fadd v23.8h, v23.8h, v7.8h\n"
#define LATHE_ADD_START_TO_SECOND                                                                                  \
  "ld1 {v0.8h, v1.8h}, [%[start]], %[start_bytes]\n" "fadd v24.8h, v24.8h, v0.8h\n" "fadd v25.8h, v25.8h, v1.8h\n" \
  "ld1 {v2.8h, v3.8h}, [%[start]], %[start_bytes]\n" "fadd v26.8h, v26.8h, v2.8h\n" "fadd v27.8h, v27.8h, v3.8h\n" \
  "ld1 {v4.8h, v5.8h}, [%[start]], %[start_bytes]\n" "fadd v28.8h, v28.8h, v4.8h\n" "fadd v29.8h, v29.8h, v5.8h\n" \
  "ld1 {v6.8h, v7.8h}, [%[start]], %[start_bytes]\n" "fadd v30.8h, v30.8h, v6.8h\n" "fadd v31.8h, v31.8h, v7.8h\n"

// `op` is fmax or fmin, the limit in v0.
#define LATHE_CLIP_FIRST(op)                                  \
  op " v16.8h, v16.8h, v0.8h\n" op " v17.8h, v17.8h, v0.8h\n" \
  op " v18.8h, v18.8h, v0.8h\n" op " v19.8h, v19.8h, v0.8h\n" \
  op " v20.8h, v20.8h, v0.8h\n" op " v21.8h, v21.8h, v0.8h\n" \
  op " v22.8h, v22.8h, v0.8h\n" op " v23.8h, v23.8h, v0.8h\n"
#define LATHE_CLIP_SECOND(op)                                 \
  op " v24.8h, v24.8h, v0.8h\n" op " v25.8h, v25.8h, v0.8h\n" \
  op " v26.8h, v26.8h, v0.8h\n" op " v27.8h, v27.8h, v0.8h\n" \
  op " v28.8h, v28.8h, v0.8h\n" op " v29.8h, v29.8h, v0.8h\n" \
  op " v30.8h, v30.8h, v0.8h\n" op " v31.8h, v31.8h, v0.8h\n"

#define LATHE_STORE_FIRST                                \
  "st1 {v16.8h, v17.8h}, [%[output]], %[output_bytes]\n" \
  "st1 {v18.8h, v19.8h}, [%[output]], %[output_bytes]\n" \
  "st1 {v20.8h, v21.8h}, [%[output]], %[output_bytes]\n" \
  "st1 {v22.8h, v23.8h}, [%[output]], %[output_bytes]\n"
#define LATHE_STORE_SECOND                               \
  "st1 {v24.8h, v25.8h}, [%[output]], %[output_bytes]\n" \
  "st1 {v26.8h, v27.8h}, [%[output]], %[output_bytes]\n" \
  "st1 {v28.8h, v29.8h}, [%[output]], %[output_bytes]\n" \
  "st1 {v30.8h, v31.8h}, [%[output]], %[output_bytes]\n"

#define LATHE_CLOBBERS                                                                                           \
  "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", \
  "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23"

// A step of depth: four rows, which are the lanes i to l of v<x>, times the filters in v<a> and v<b>.
#define LATHE_FIRST_STEP(x, i, j, k, l, a, b)                                                   \
  "fmla v16.8h, v" #a ".8h, v" #x ".h[" #i "]\n" "fmla v17.8h, v" #b ".8h, v" #x ".h[" #i "]\n" \
  "fmla v18.8h, v" #a ".8h, v" #x ".h[" #j "]\n" "fmla v19.8h, v" #b ".8h, v" #x ".h[" #j "]\n" \
  "fmla v20.8h, v" #a ".8h, v" #x ".h[" #k "]\n" "fmla v21.8h, v" #b ".8h, v" #x ".h[" #k "]\n" \
  "fmla v22.8h, v" #a ".8h, v" #x ".h[" #l "]\n" "fmla v23.8h, v" #b ".8h, v" #x ".h[" #l "]\n"
#define LATHE_SECOND_STEP(x, i, j, k, l, a, b)                                                  \
  "fmla v24.8h, v" #a ".8h, v" #x ".h[" #i "]\n" "fmla v25.8h, v" #b ".8h, v" #x ".h[" #i "]\n" \
  "fmla v26.8h, v" #a ".8h, v" #x ".h[" #j "]\n" "fmla v27.8h, v" #b ".8h, v" #x ".h[" #j "]\n" \
  "fmla v28.8h, v" #a ".8h, v" #x ".h[" #k "]\n" "fmla v29.8h, v" #b ".8h, v" #x ".h[" #k "]\n" \
  "fmla v30.8h, v" #a ".8h, v" #x ".h[" #l "]\n" "fmla v31.8h, v" #b ".8h, v" #x ".h[" #l "]\n"

// Two steps, with the filters of the first in v<a> and v<b>, those of the second in v<c> and v<d>.
#define LATHE_FIRST_QUAD(x, a, b, c, d) LATHE_FIRST_STEP(x, 0, 1, 2, 3, a, b) LATHE_FIRST_STEP(x, 4, 5, 6, 7, c, d)
#define LATHE_SECOND_QUAD(x, a, b, c, d) LATHE_SECOND_STEP(x, 0, 1, 2, 3, a, b) LATHE_SECOND_STEP(x, 4, 5, 6, 7, c, d)

// Eight steps of depth. What comes next is loaded as soon as the registers are free.
#define LATHE_EIGHT_STEPS(next_low, next_first, next_second, next_high)    \
  LATHE_FIRST_QUAD(0, 8, 9, 10, 11)      LATHE_SECOND_QUAD(4, 8, 9, 10, 11)    \
  LATHE_LOAD_LOW                                                           \
  LATHE_FIRST_QUAD(1, 12, 13, 14, 15)    LATHE_SECOND_QUAD(5, 12, 13, 14, 15)  \
  LATHE_LOAD_HIGH                                                          \
  LATHE_FIRST_QUAD(2, 8, 9, 10, 11)      LATHE_SECOND_QUAD(6, 8, 9, 10, 11)    \
  next_low                                                                 \
  LATHE_FIRST_QUAD(3, 12, 13, 14, 15)                                      \
  next_first                                                               \
  LATHE_SECOND_QUAD(7, 12, 13, 14, 15)                                     \
  next_second next_high

#define LATHE_EIGHT_STEPS_AND_LOAD \
  LATHE_EIGHT_STEPS(LATHE_LOAD_LOW, LATHE_LOAD_FIRST, LATHE_LOAD_SECOND, LATHE_LOAD_HIGH)

namespace lathe {
namespace {

// As many tiles one below the other as there are pairs of quads: their inputs follow each other, as do the rows of
// `start` and of `output`.
__attribute__((noinline)) inline void RunPairs(const PackedTile& tile, size_t tiles) {
  const Element *inputs = tile.inputs, *start = tile.start, *first, *second, *filters;
  Element* output = tile.output;
  size_t left;
  asm volatile(
      "1:\n"
      "mov %[first], %[inputs]\n" "add %[second], %[inputs], %[input_bytes]\n"
      "mov %[filters], %[all_filters]\n"
      LATHE_LOAD_BIAS_TO_FIRST LATHE_LOAD_BIAS_TO_SECOND
      "add %[inputs], %[second], %[input_bytes]\n"
      "cmp %[depth], #8\n" "b.lo 5f\n"
      LATHE_LOAD_LOW LATHE_LOAD_FIRST LATHE_LOAD_SECOND LATHE_LOAD_HIGH
      "subs %[left], %[depth], #24\n"
      "b.lt 3f\n"
      "2:\n"
      LATHE_EIGHT_STEPS_AND_LOAD
      LATHE_EIGHT_STEPS_AND_LOAD
      "subs %[left], %[left], #16\n"
      "b.ge 2b\n"
      "3:\n"
      "tbz %[left], #3, 4f\n"  // -16 to -9: eight steps are left, and a rest; -8 to -1: sixteen and a rest
      LATHE_EIGHT_STEPS_AND_LOAD
      "4:\n"
      LATHE_EIGHT_STEPS("", "", "", "")
      "5:\n"
      "ands %[left], %[depth], #6\n"
      "b.eq 7f\n"
      "6:\n"
      LATHE_LOAD_LOW
      "ldr q0, [%[first]], #16\n" "ldr q4, [%[second]], #16\n"
      "subs %[left], %[left], #2\n"
      LATHE_FIRST_QUAD(0, 8, 9, 10, 11) LATHE_SECOND_QUAD(4, 8, 9, 10, 11)
      "b.ne 6b\n"
      "7:\n"
      "tbz %[depth], #0, 8f\n"
      "ldr d0, [%[first]]\n" "ldp q8, q9, [%[filters]]\n" "ldr d4, [%[second]]\n"
      LATHE_FIRST_STEP(0, 0, 1, 2, 3, 8, 9) LATHE_SECOND_STEP(4, 0, 1, 2, 3, 8, 9)
      "8:\n"
      "cbz %[start], 9f\n"
      LATHE_ADD_START_TO_FIRST LATHE_ADD_START_TO_SECOND
      "9:\n"
      "cbz %[clip], 10f\n"
      "ld1r {v0.8h}, [%[low]]\n"
      LATHE_CLIP_FIRST("fmax") LATHE_CLIP_SECOND("fmax")
      "tbz %[clip], #1, 10f\n"
      "ld1r {v0.8h}, [%[high]]\n"
      LATHE_CLIP_FIRST("fmin") LATHE_CLIP_SECOND("fmin")
      "10:\n"
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
  const Element *first = tile.inputs, *filters = tile.filters, *start = tile.start;
  Element* output = tile.output;
  size_t left = tile.depth;
  asm volatile(
      LATHE_LOAD_BIAS_TO_FIRST
      "subs %[left], %[left], #8\n"
      "b.lt 2f\n"
      "1:\n"
      LATHE_LOAD_LOW LATHE_LOAD_FIRST LATHE_LOAD_HIGH
      "subs %[left], %[left], #8\n"
      LATHE_FIRST_QUAD(0, 8, 9, 10, 11)
      LATHE_LOAD_LOW
      LATHE_FIRST_QUAD(1, 12, 13, 14, 15)
      LATHE_LOAD_HIGH
      LATHE_FIRST_QUAD(2, 8, 9, 10, 11) LATHE_FIRST_QUAD(3, 12, 13, 14, 15)
      "b.ge 1b\n"
      "2:\n"
      "ands %[left], %[left], #7\n"
      "b.eq 4f\n"
      "3:\n"
      "ldr d0, [%[first]], #8\n"
      "ldp q8, q9, [%[filters]], #32\n"
      "subs %[left], %[left], #1\n"
      LATHE_FIRST_STEP(0, 0, 1, 2, 3, 8, 9)
      "b.ne 3b\n"
      "4:\n"
      "cbz %[start], 5f\n"
      LATHE_ADD_START_TO_FIRST
      "5:\n"
      "cbz %[clip], 6f\n"
      "ld1r {v0.8h}, [%[low]]\n"
      LATHE_CLIP_FIRST("fmax")
      "tbz %[clip], #1, 6f\n"
      "ld1r {v0.8h}, [%[high]]\n"
      LATHE_CLIP_FIRST("fmin")
      "6:\n"
      LATHE_STORE_FIRST
      : [first] "+r"(first), [filters] "+r"(filters), [start] "+r"(start), [output] "+r"(output), [left] "+r"(left)
      : [bias] "r"(tile.bias), [start_bytes] "r"(tile.start_bytes), [output_bytes] "r"(tile.output_bytes),
        [clip] "r"(tile.clip), [low] "r"(&tile.low), [high] "r"(&tile.high)
      : LATHE_CLOBBERS);
}

// Quads one below the other, times the first eight filters of a panel that has no more: 4 * quads sums.
template <int quads>
inline void RunHalfTile(const PackedTile& tile, const Element* inputs, const Element* start, Element* output) {
  float16x8_t sums[4 * quads];
  const float16x8_t bias = vld1q_f16(tile.bias);
#pragma GCC unroll 16
  for (auto& sum : sums) sum = bias;
  const size_t to_next = tile.input_bytes / sizeof(Element);
  const Element* filters = tile.filters;
  size_t left = tile.depth;
  for (; left >= 2; left -= 2, filters += 32, inputs += 8) {
    const float16x8_t a = vld1q_f16(filters), b = vld1q_f16(filters + 16);
#pragma GCC unroll 4
    for (size_t q = 0; q < quads; ++q) {
      const float16x8_t x = vld1q_f16(inputs + q * to_next);
      sums[4 * q] = vfmaq_laneq_f16(sums[4 * q], a, x, 0);
      sums[4 * q + 1] = vfmaq_laneq_f16(sums[4 * q + 1], a, x, 1);
      sums[4 * q + 2] = vfmaq_laneq_f16(sums[4 * q + 2], a, x, 2);
      sums[4 * q + 3] = vfmaq_laneq_f16(sums[4 * q + 3], a, x, 3);
      sums[4 * q] = vfmaq_laneq_f16(sums[4 * q], b, x, 4);
      sums[4 * q + 1] = vfmaq_laneq_f16(sums[4 * q + 1], b, x, 5);
      sums[4 * q + 2] = vfmaq_laneq_f16(sums[4 * q + 2], b, x, 6);
      sums[4 * q + 3] = vfmaq_laneq_f16(sums[4 * q + 3], b, x, 7);
    }
  }
  if (left != 0) {
    const float16x8_t a = vld1q_f16(filters);
#pragma GCC unroll 4
    for (size_t q = 0; q < quads; ++q) {
      const float16x4_t x = vld1_f16(inputs + q * to_next);
      sums[4 * q] = vfmaq_lane_f16(sums[4 * q], a, x, 0);
      sums[4 * q + 1] = vfmaq_lane_f16(sums[4 * q + 1], a, x, 1);
      sums[4 * q + 2] = vfmaq_lane_f16(sums[4 * q + 2], a, x, 2);
      sums[4 * q + 3] = vfmaq_lane_f16(sums[4 * q + 3], a, x, 3);
    }
  }
  const float16x8_t low = vdupq_n_f16((tile.clip & kClipLow) != 0 ? tile.low : -HUGE_VALF);
  const float16x8_t high = vdupq_n_f16((tile.clip & kClipHigh) != 0 ? tile.high : HUGE_VALF);
#pragma GCC unroll 16
  for (float16x8_t& sum : sums) {
    if (start != nullptr) {
      sum = vaddq_f16(sum, vld1q_f16(start));
      start += tile.start_bytes / sizeof(Element);
    }
    vst1q_f16(output, vminq_f16(vmaxq_f16(sum, low), high));
    output += tile.output_bytes / sizeof(Element);
  }
}

__attribute__((noinline)) inline void RunHalfQuads(const PackedTile& tile, size_t quads) {
  const Element *inputs = tile.inputs, *start = tile.start;
  Element* output = tile.output;
  for (size_t done = 0; done < quads;) {
    const size_t taken = quads - done >= 4 ? 4 : 1;
    (taken == 4 ? RunHalfTile<4> : RunHalfTile<1>)(tile, inputs, start, output);
    inputs += taken * (tile.input_bytes / sizeof(Element));
    output += 4 * taken * (tile.output_bytes / sizeof(Element));
    if (start != nullptr) start += 4 * taken * (tile.start_bytes / sizeof(Element));
    done += taken;
  }
}

// A row of inputs. Even and odd elements of depth have sums of their own, so that the machine need not wait for one.
__attribute__((noinline)) inline void RunLine(const PackedTile& tile) {
  const Element *inputs = tile.inputs, *filters = tile.filters;
  float16x8_t a = vld1q_f16(tile.bias), b = vld1q_f16(tile.bias + 8), c = vdupq_n_f16(0), d = c;
  size_t left = tile.depth;
  for (; left >= 8; left -= 8) {
    asm volatile(
        "ldr q0, [%[inputs]], #16\n"
        "ld1 {v4.8h, v5.8h, v6.8h, v7.8h}, [%[filters]], #64\n"
        "ld1 {v16.8h, v17.8h, v18.8h, v19.8h}, [%[filters]], #64\n"
        "fmla %[a].8h, v4.8h, v0.h[0]\n" "fmla %[b].8h, v5.8h, v0.h[0]\n"
        "fmla %[c].8h, v6.8h, v0.h[1]\n" "fmla %[d].8h, v7.8h, v0.h[1]\n"
        "ld1 {v4.8h, v5.8h, v6.8h, v7.8h}, [%[filters]], #64\n"
        "fmla %[a].8h, v16.8h, v0.h[2]\n" "fmla %[b].8h, v17.8h, v0.h[2]\n"
        "fmla %[c].8h, v18.8h, v0.h[3]\n" "fmla %[d].8h, v19.8h, v0.h[3]\n"
        "ld1 {v16.8h, v17.8h, v18.8h, v19.8h}, [%[filters]], #64\n"
        "fmla %[a].8h, v4.8h, v0.h[4]\n" "fmla %[b].8h, v5.8h, v0.h[4]\n"
        "fmla %[c].8h, v6.8h, v0.h[5]\n" "fmla %[d].8h, v7.8h, v0.h[5]\n"
        "fmla %[a].8h, v16.8h, v0.h[6]\n" "fmla %[b].8h, v17.8h, v0.h[6]\n"
        "fmla %[c].8h, v18.8h, v0.h[7]\n" "fmla %[d].8h, v19.8h, v0.h[7]\n"
        : [inputs] "+r"(inputs), [filters] "+r"(filters), [a] "+w"(a), [b] "+w"(b), [c] "+w"(c), [d] "+w"(d)
        :
        : "memory", "v0", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19");
  }
  a = vaddq_f16(a, c);
  b = vaddq_f16(b, d);
  for (; left > 0; --left, filters += 16) {
    const float16x8_t x = vdupq_n_f16(*inputs++);
    a = vfmaq_f16(a, vld1q_f16(filters), x);
    b = vfmaq_f16(b, vld1q_f16(filters + 8), x);
  }
  if (tile.start != nullptr) {
    a = vaddq_f16(a, vld1q_f16(tile.start));
    b = vaddq_f16(b, vld1q_f16(tile.start + 8));
  }
  if ((tile.clip & kClipLow) != 0) {
    const float16x8_t low = vdupq_n_f16(tile.low);
    a = vmaxq_f16(a, low);
    b = vmaxq_f16(b, low);
  }
  if ((tile.clip & kClipHigh) != 0) {
    const float16x8_t high = vdupq_n_f16(tile.high);
    a = vminq_f16(a, high);
    b = vminq_f16(b, high);
  }
  vst1q_f16(tile.output, a);
  vst1q_f16(tile.output + 8, b);
}

// From rows [4][depth] to [depth][4]: stores of four registers put their lanes side by side.
inline void PackQuad(const Element* a, const Element* b, const Element* c, const Element* d, int64_t depth,
                     Element* to) {
  for (; depth >= 16; depth -= 16) {
    asm volatile(
        "ldp q0, q4, [%[a]], #32\n" "ldp q1, q5, [%[b]], #32\n" "ldp q2, q6, [%[c]], #32\n" "ldp q3, q7, [%[d]], #32\n"
        "st4 {v0.8h, v1.8h, v2.8h, v3.8h}, [%[to]], #64\n"
        "st4 {v4.8h, v5.8h, v6.8h, v7.8h}, [%[to]], #64\n"
        : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [to] "+r"(to)
        :
        : "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7");
  }
  for (; depth >= 8; depth -= 8, a += 8, b += 8, c += 8, d += 8, to += 32) {
    const float16x8x4_t rows = {{vld1q_f16(a), vld1q_f16(b), vld1q_f16(c), vld1q_f16(d)}};
    vst4q_f16(to, rows);
  }
  for (; depth >= 4; depth -= 4, a += 4, b += 4, c += 4, d += 4, to += 16) {
    const float16x4x4_t rows = {{vld1_f16(a), vld1_f16(b), vld1_f16(c), vld1_f16(d)}};
    vst4_f16(to, rows);
  }
  for (; depth > 0; --depth, to += 4) {
    to[0] = *a++;
    to[1] = *b++;
    to[2] = *c++;
    to[3] = *d++;
  }
}

}  // namespace
}  // namespace lathe
// clang-format on

#endif  // LATHE_KERNEL_GEMM_PACKED_TILE_FP16_H_
