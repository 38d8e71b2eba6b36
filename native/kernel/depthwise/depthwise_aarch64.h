// Lines of a depthwise convolution on 64-bit ARM: two vectors of channels, whose filters stay in v14 to v31. Compilers
// neither load two registers at a time and go on by a step that they do not know, nor keep that many of them apart.
#ifndef LATHE_KERNEL_DEPTHWISE_DEPTHWISE_AARCH64_H_
#define LATHE_KERNEL_DEPTHWISE_DEPTHWISE_AARCH64_H_

#include "native/kernel/depthwise/depthwise_strip.h"

// clang-format off
#if defined(LATHE_HALVES)
#define LATHE_DW_LANES ".8h"
#else
#define LATHE_DW_LANES ".4s"
#endif
#define LATHE_DW_PAIR(a, b) "{v" #a LATHE_DW_LANES ", v" #b LATHE_DW_LANES "}"
#define LATHE_DW_MUL_ADD(sum, x, w) "fmla v" #sum LATHE_DW_LANES ", v" #x LATHE_DW_LANES ", v" #w LATHE_DW_LANES "\n"
#define LATHE_DW_CLIP(op, limit, a, b)                                          \
  op " v" #a LATHE_DW_LANES ", v" #a LATHE_DW_LANES ", v" #limit LATHE_DW_LANES "\n" \
  op " v" #b LATHE_DW_LANES ", v" #b LATHE_DW_LANES ", v" #limit LATHE_DW_LANES "\n"

// The limits are v6 and v7.
#define LATHE_DW_CLIP_0(a, b)
#define LATHE_DW_CLIP_1(a, b) LATHE_DW_CLIP("fmax", 6, a, b)
#define LATHE_DW_CLIP_2(a, b) LATHE_DW_CLIP("fmin", 7, a, b) LATHE_DW_CLIP("fmax", 6, a, b)

#define LATHE_DW_LOAD_TAP(a, b) "ld1 " LATHE_DW_PAIR(a, b) ", [%[filter]], %[filter_bytes]\n"
#define LATHE_DW_BEGIN(a, b) "ld1 " LATHE_DW_PAIR(a, b) ", [%[bias]]\n"
#define LATHE_DW_STORE(a, b) "st1 " LATHE_DW_PAIR(a, b) ", [%[to]], %[output_bytes]\n"
#define LATHE_DW_LOAD_0 "ld1 " LATHE_DW_PAIR(0, 1) ", [%[first]], %[pixel]\n"
#define LATHE_DW_LOAD_1 "ld1 " LATHE_DW_PAIR(2, 3) ", [%[second]], %[pixel]\n"
#define LATHE_DW_LOAD_2 "ld1 " LATHE_DW_PAIR(4, 5) ", [%[third]], %[pixel]\n"
#define LATHE_DW_COLUMN LATHE_DW_LOAD_0 LATHE_DW_LOAD_1 LATHE_DW_LOAD_2

// A column times one of the filter's: those of the taps 0, 1 and 2 of the first row are v14, v16 and v18.
#define LATHE_DW_ROW(x, y, a, b, v, w) LATHE_DW_MUL_ADD(a, x, v) LATHE_DW_MUL_ADD(b, y, w)
#define LATHE_DW_LEFT_0(a, b) LATHE_DW_ROW(0, 1, a, b, 14, 15)
#define LATHE_DW_LEFT_1(a, b) LATHE_DW_ROW(2, 3, a, b, 20, 21)
#define LATHE_DW_LEFT_2(a, b) LATHE_DW_ROW(4, 5, a, b, 26, 27)
#define LATHE_DW_MIDDLE_0(a, b) LATHE_DW_ROW(0, 1, a, b, 16, 17)
#define LATHE_DW_MIDDLE_1(a, b) LATHE_DW_ROW(2, 3, a, b, 22, 23)
#define LATHE_DW_MIDDLE_2(a, b) LATHE_DW_ROW(4, 5, a, b, 28, 29)
#define LATHE_DW_RIGHT_0(a, b) LATHE_DW_ROW(0, 1, a, b, 18, 19)
#define LATHE_DW_RIGHT_1(a, b) LATHE_DW_ROW(2, 3, a, b, 24, 25)
#define LATHE_DW_RIGHT_2(a, b) LATHE_DW_ROW(4, 5, a, b, 30, 31)
#define LATHE_DW_LEFT(a, b) LATHE_DW_LEFT_0(a, b) LATHE_DW_LEFT_1(a, b) LATHE_DW_LEFT_2(a, b)
#define LATHE_DW_MIDDLE(a, b) LATHE_DW_MIDDLE_0(a, b) LATHE_DW_MIDDLE_1(a, b) LATHE_DW_MIDDLE_2(a, b)

// Steps of one column, which is loaded: it ends output (a, b), is the middle of (c, d) and begins (e, f). As soon as the
// registers are free the next column is loaded, if there is one.
#define LATHE_DW_STEP(clip, a, b, c, d, e, f, next_0, next_1, next_2)           \
  LATHE_DW_BEGIN(e, f)                                                          \
  LATHE_DW_RIGHT_0(a, b) LATHE_DW_MIDDLE_0(c, d) LATHE_DW_LEFT_0(e, f) next_0   \
  LATHE_DW_RIGHT_1(a, b) LATHE_DW_MIDDLE_1(c, d) LATHE_DW_LEFT_1(e, f) next_1   \
  LATHE_DW_RIGHT_2(a, b) LATHE_DW_MIDDLE_2(c, d) LATHE_DW_LEFT_2(e, f) next_2   \
  clip(a, b) LATHE_DW_STORE(a, b)
#define LATHE_DW_STEPS(clip)                                                    \
  "subs %[left], %[steps], #3\n" "b.lt 4f\n"                                    \
  "3:\n"                                                                        \
  LATHE_DW_COLUMN                                                               \
  LATHE_DW_STEP(clip, 8, 9, 10, 11, 12, 13, LATHE_DW_LOAD_0, LATHE_DW_LOAD_1, LATHE_DW_LOAD_2) \
  LATHE_DW_STEP(clip, 10, 11, 12, 13, 8, 9, LATHE_DW_LOAD_0, LATHE_DW_LOAD_1, LATHE_DW_LOAD_2) \
  LATHE_DW_STEP(clip, 12, 13, 8, 9, 10, 11, , , )                               \
  "subs %[left], %[left], #3\n" "b.ge 3b\n"                                     \
  "4:\n"                                                                        \
  "adds %[left], %[left], #3\n" "b.eq 6f\n"                                     \
  "5:\n"                                                                        \
  LATHE_DW_COLUMN LATHE_DW_STEP(clip, 8, 9, 10, 11, 12, 13, , , )               \
  LATHE_DW_MOVE(8, 10) LATHE_DW_MOVE(9, 11) LATHE_DW_MOVE(10, 12) LATHE_DW_MOVE(11, 13) \
  "subs %[left], %[left], #1\n" "b.ne 5b\n"                                     \
  "6:\n"                                                                        \
  "cbz %[after], 9f\n"                                                          \
  clip(8, 9) LATHE_DW_STORE(8, 9)                                               \
  "b 9f\n"
#define LATHE_DW_MOVE(to, from) "mov v" #to ".16b, v" #from ".16b\n"

// Steps of two columns, of which the first is loaded: the middle of output (a, b), and the one that ends it and begins
// (c, d).
#define LATHE_DW_LONG_STEP(clip, a, b, c, d, next_0, next_1, next_2)            \
  LATHE_DW_MIDDLE_0(a, b) LATHE_DW_LOAD_0 LATHE_DW_BEGIN(c, d)                  \
  LATHE_DW_MIDDLE_1(a, b) LATHE_DW_LOAD_1                                       \
  LATHE_DW_MIDDLE_2(a, b) LATHE_DW_LOAD_2                                       \
  LATHE_DW_RIGHT_0(a, b) LATHE_DW_LEFT_0(c, d) next_0                           \
  LATHE_DW_RIGHT_1(a, b) LATHE_DW_LEFT_1(c, d) next_1                           \
  LATHE_DW_RIGHT_2(a, b) LATHE_DW_LEFT_2(c, d) next_2                           \
  clip(a, b) LATHE_DW_STORE(a, b)
#define LATHE_DW_LONG_STEPS(clip)                                               \
  "subs %[left], %[steps], #2\n" "b.lt 4f\n"                                    \
  "3:\n"                                                                        \
  LATHE_DW_COLUMN                                                               \
  LATHE_DW_LONG_STEP(clip, 8, 9, 10, 11, LATHE_DW_LOAD_0, LATHE_DW_LOAD_1, LATHE_DW_LOAD_2) \
  LATHE_DW_LONG_STEP(clip, 10, 11, 8, 9, , , )                                  \
  "subs %[left], %[left], #2\n" "b.ge 3b\n"                                     \
  "4:\n"                                                                        \
  "tbz %[left], #0, 6f\n"                                                       \
  LATHE_DW_COLUMN LATHE_DW_LONG_STEP(clip, 8, 9, 10, 11, , , )                  \
  LATHE_DW_MOVE(8, 10) LATHE_DW_MOVE(9, 11)                                     \
  "6:\n"                                                                        \
  "cbz %[after], 9f\n"                                                          \
  LATHE_DW_COLUMN LATHE_DW_MIDDLE(8, 9)                                         \
  clip(8, 9) LATHE_DW_STORE(8, 9)                                               \
  "b 9f\n"

// Each line begins with the columns in front of its first step: the first one may lie outside.
#define LATHE_DW_LINES(row_bytes, middle, steps)                                \
  LATHE_DW_LOAD_TAP(14, 15) LATHE_DW_LOAD_TAP(16, 17) LATHE_DW_LOAD_TAP(18, 19) \
  LATHE_DW_LOAD_TAP(20, 21) LATHE_DW_LOAD_TAP(22, 23) LATHE_DW_LOAD_TAP(24, 25) \
  LATHE_DW_LOAD_TAP(26, 27) LATHE_DW_LOAD_TAP(28, 29) LATHE_DW_LOAD_TAP(30, 31) \
  "ld1r {v6" LATHE_DW_LANES "}, [%[low]]\n"                                     \
  "ld1r {v7" LATHE_DW_LANES "}, [%[high]]\n"                                    \
  "1:\n"                                                                        \
  "ldp %[first], %[second], [%[inputs]]\n"                                      \
  "ldr %[third], [%[inputs], #16]\n"                                            \
  "add %[inputs], %[inputs], #" #row_bytes "\n"                                 \
  "mov %[to], %[output]\n"                                                      \
  "add %[output], %[output], %[line_bytes]\n"                                   \
  "add %[first], %[first], %[start]\n"                                          \
  "add %[second], %[second], %[start]\n"                                        \
  "add %[third], %[third], %[start]\n"                                          \
  LATHE_DW_BEGIN(8, 9)                                                          \
  "cbz %[before], 2f\n"                                                         \
  LATHE_DW_COLUMN LATHE_DW_LEFT(8, 9)                                           \
  "2:\n"                                                                        \
  middle                                                                        \
  "cbz %[clip], 7f\n"                                                           \
  "tbz %[clip], #1, 8f\n"                                                       \
  steps(LATHE_DW_CLIP_2)                                                        \
  "8:\n"                                                                        \
  steps(LATHE_DW_CLIP_1)                                                        \
  "7:\n"                                                                        \
  steps(LATHE_DW_CLIP_0)                                                        \
  "9:\n"                                                                        \
  "subs %[lines], %[lines], #1\n"                                               \
  "b.ne 1b\n"

namespace lathe {
namespace {

constexpr int kDwVectors = 2;

template <int stride>
__attribute__((noinline)) void RunDwStrip(DwStrip& strip) {
  const Element *filter = strip.filter, *first, *second, *third;
  const Element* const* inputs = strip.inputs;
  Element *output = strip.output, *to;
  size_t lines = strip.lines, left;
#define LATHE_DW_ASM(...)                                                                                            \
  asm volatile(__VA_ARGS__                                                                                           \
               : [inputs] "+r"(inputs), [filter] "+r"(filter), [output] "+r"(output), [lines] "+r"(lines),           \
                 [first] "=&r"(first), [second] "=&r"(second), [third] "=&r"(third), [to] "=&r"(to),                 \
                 [left] "=&r"(left)                                                                                  \
               : [bias] "r"(strip.bias), [filter_bytes] "r"(strip.filter_bytes), [start] "r"(strip.start_bytes),     \
                 [pixel] "r"(strip.pixel_bytes), [output_bytes] "r"(strip.output_bytes),                             \
                 [line_bytes] "r"(strip.line_bytes), [steps] "r"(strip.steps), [before] "r"(strip.before),           \
                 [after] "r"(strip.after), [clip] "r"(strip.clip), [low] "r"(&strip.low), [high] "r"(&strip.high)    \
               : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",    \
                 "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26",   \
                 "v27", "v28", "v29", "v30", "v31")
  if constexpr (stride == 1) {
    LATHE_DW_ASM(LATHE_DW_LINES(8,
                                LATHE_DW_COLUMN LATHE_DW_BEGIN(10, 11) LATHE_DW_MIDDLE(8, 9) LATHE_DW_LEFT(10, 11),
                                LATHE_DW_STEPS));
  } else {
    LATHE_DW_ASM(LATHE_DW_LINES(16, "", LATHE_DW_LONG_STEPS));
  }
#undef LATHE_DW_ASM
}

}  // namespace
}  // namespace lathe
// clang-format on

#endif  // LATHE_KERNEL_DEPTHWISE_DEPTHWISE_AARCH64_H_
