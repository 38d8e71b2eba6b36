// Lines of a depthwise convolution on 32-bit ARM with NEON: one vector of channels, whose filters stay in q7 to q15.
// Compilers do not keep all sixteen registers busy.
#ifndef LATHE_KERNEL_DEPTHWISE_DEPTHWISE_ARMV7_H_
#define LATHE_KERNEL_DEPTHWISE_DEPTHWISE_ARMV7_H_

#include "native/kernel/depthwise/depthwise_strip.h"

// clang-format off
#define LATHE_DW_MUL_ADD(sum, x, w) "vfma.f32 q" #sum ", q" #x ", q" #w "\n"

// The limits are q2 and q3.
#define LATHE_DW_CLIP_0(a)
#define LATHE_DW_CLIP_1(a) "vmax.f32 q" #a ", q" #a ", q2\n"
#define LATHE_DW_CLIP_2(a) "vmin.f32 q" #a ", q" #a ", q3\n" LATHE_DW_CLIP_1(a)

#define LATHE_DW_FIRST "vld1.32 {q0}, [%[first]], %[pixel]\n"
#define LATHE_DW_SECOND "vld1.32 {q1}, [%[second]], %[pixel]\n"
#define LATHE_DW_THIRD "vld1.32 {q0}, [%[third]], %[pixel]\n"
#define LATHE_DW_LOAD_TAP(a) "vld1.32 {q" #a "}, [%[first]], %[left]\n"
#define LATHE_DW_BEGIN(a) "vld1.32 {q" #a "}, [%[bias]]\n"
#define LATHE_DW_STORE(a) "vst1.32 {q" #a "}, [%[to]], %[output_bytes]\n"
#define LATHE_DW_MOVE(to, from) "vmov q" #to ", q" #from "\n"

// A column times one of the filter's; the taps of the first row are q7, q8 and q9.
#define LATHE_DW_LEFT(a)                                            \
  LATHE_DW_FIRST LATHE_DW_SECOND                                    \
  LATHE_DW_MUL_ADD(a, 0, 7) LATHE_DW_THIRD                          \
  LATHE_DW_MUL_ADD(a, 1, 10) LATHE_DW_MUL_ADD(a, 0, 13)
#define LATHE_DW_MIDDLE(a)                                          \
  LATHE_DW_FIRST LATHE_DW_SECOND                                    \
  LATHE_DW_MUL_ADD(a, 0, 8) LATHE_DW_THIRD                          \
  LATHE_DW_MUL_ADD(a, 1, 11) LATHE_DW_MUL_ADD(a, 0, 14)
#define LATHE_DW_MIDDLE_AND_LEFT(a, b)                              \
  LATHE_DW_FIRST LATHE_DW_SECOND                                    \
  LATHE_DW_MUL_ADD(a, 0, 8) LATHE_DW_MUL_ADD(b, 0, 7)               \
  LATHE_DW_THIRD                                                    \
  LATHE_DW_MUL_ADD(a, 1, 11) LATHE_DW_MUL_ADD(b, 1, 10)             \
  LATHE_DW_MUL_ADD(a, 0, 14) LATHE_DW_MUL_ADD(b, 0, 13)
#define LATHE_DW_RIGHT_AND_LEFT(a, b)                               \
  LATHE_DW_FIRST LATHE_DW_SECOND                                    \
  LATHE_DW_MUL_ADD(a, 0, 9) LATHE_DW_MUL_ADD(b, 0, 7)               \
  LATHE_DW_THIRD                                                    \
  LATHE_DW_MUL_ADD(a, 1, 12) LATHE_DW_MUL_ADD(b, 1, 10)             \
  LATHE_DW_MUL_ADD(a, 0, 15) LATHE_DW_MUL_ADD(b, 0, 13)

// Steps of one column: it ends output a, is the middle of b and begins c.
#define LATHE_DW_STEP(clip, a, b, c)                                                     \
  LATHE_DW_FIRST LATHE_DW_SECOND LATHE_DW_BEGIN(c)                                       \
  LATHE_DW_MUL_ADD(a, 0, 9) LATHE_DW_MUL_ADD(b, 0, 8) LATHE_DW_MUL_ADD(c, 0, 7)          \
  LATHE_DW_THIRD                                                                         \
  LATHE_DW_MUL_ADD(a, 1, 12) LATHE_DW_MUL_ADD(b, 1, 11) LATHE_DW_MUL_ADD(c, 1, 10)       \
  LATHE_DW_MUL_ADD(a, 0, 15) LATHE_DW_MUL_ADD(b, 0, 14) LATHE_DW_MUL_ADD(c, 0, 13)       \
  clip(a) LATHE_DW_STORE(a)
#define LATHE_DW_STEPS(clip)                                        \
  "subs %[left], %[left], #3\n" "blt 4f\n"                          \
  "3:\n"                                                            \
  LATHE_DW_STEP(clip, 4, 5, 6)                                      \
  LATHE_DW_STEP(clip, 5, 6, 4)                                      \
  LATHE_DW_STEP(clip, 6, 4, 5)                                      \
  "subs %[left], %[left], #3\n" "bge 3b\n"                          \
  "4:\n"                                                            \
  "adds %[left], %[left], #3\n" "beq 6f\n"                          \
  "5:\n"                                                            \
  LATHE_DW_STEP(clip, 4, 5, 6) LATHE_DW_MOVE(4, 5) LATHE_DW_MOVE(5, 6) \
  "subs %[left], %[left], #1\n" "bne 5b\n"                          \
  "6:\n"                                                            \
  "ldr %[left], [%[strip], %[after]]\n"                             \
  "cmp %[left], #0\n" "beq 9f\n"                                    \
  clip(4) LATHE_DW_STORE(4)                                         \
  "b 9f\n"

// Steps of two columns: the middle of output a, and the one that ends it and begins b.
#define LATHE_DW_LONG_STEP(clip, a, b)                              \
  LATHE_DW_BEGIN(b) LATHE_DW_MIDDLE(a) LATHE_DW_RIGHT_AND_LEFT(a, b) \
  clip(a) LATHE_DW_STORE(a)
#define LATHE_DW_LONG_STEPS(clip)                                   \
  "subs %[left], %[left], #2\n" "blt 4f\n"                          \
  "3:\n"                                                            \
  LATHE_DW_LONG_STEP(clip, 4, 5)                                    \
  LATHE_DW_LONG_STEP(clip, 5, 4)                                    \
  "subs %[left], %[left], #2\n" "bge 3b\n"                          \
  "4:\n"                                                            \
  "tst %[left], #1\n" "beq 6f\n"                                    \
  LATHE_DW_LONG_STEP(clip, 4, 5) LATHE_DW_MOVE(4, 5)                \
  "6:\n"                                                            \
  "ldr %[left], [%[strip], %[after]]\n"                             \
  "cmp %[left], #0\n" "beq 9f\n"                                    \
  LATHE_DW_MIDDLE(4)                                                \
  clip(4) LATHE_DW_STORE(4)                                         \
  "b 9f\n"

// What is not needed in a step stays in memory.
#define LATHE_DW_LINES(row_bytes, middle, steps)                                              \
  "ldr %[first], [%[strip], %[filter]]\n"                                                     \
  "ldr %[left], [%[strip], %[filter_bytes]]\n"                                                \
  LATHE_DW_LOAD_TAP(7) LATHE_DW_LOAD_TAP(8) LATHE_DW_LOAD_TAP(9)                              \
  LATHE_DW_LOAD_TAP(10) LATHE_DW_LOAD_TAP(11) LATHE_DW_LOAD_TAP(12)                           \
  LATHE_DW_LOAD_TAP(13) LATHE_DW_LOAD_TAP(14) LATHE_DW_LOAD_TAP(15)                           \
  "add %[first], %[strip], %[low]\n"                                                          \
  "vld1.32 {d4[], d5[]}, [%[first]]\n"                                                        \
  "add %[first], %[strip], %[high]\n"                                                         \
  "vld1.32 {d6[], d7[]}, [%[first]]\n"                                                        \
  "1:\n"                                                                                      \
  "ldr %[left], [%[strip], %[inputs]]\n"                                                      \
  "ldr %[to], [%[strip], %[start]]\n"                                                         \
  "ldr %[first], [%[left]]\n" "ldr %[second], [%[left], #4]\n" "ldr %[third], [%[left], #8]\n" \
  "add %[first], %[first], %[to]\n" "add %[second], %[second], %[to]\n" "add %[third], %[third], %[to]\n" \
  "add %[left], %[left], #" #row_bytes "\n"                                                   \
  "str %[left], [%[strip], %[inputs]]\n"                                                      \
  "ldr %[to], [%[strip], %[output]]\n"                                                        \
  "ldr %[left], [%[strip], %[line_bytes]]\n"                                                  \
  "add %[left], %[left], %[to]\n"                                                             \
  "str %[left], [%[strip], %[output]]\n"                                                      \
  LATHE_DW_BEGIN(4)                                                                           \
  "ldr %[left], [%[strip], %[before]]\n"                                                      \
  "cmp %[left], #0\n" "beq 2f\n"                                                              \
  LATHE_DW_LEFT(4)                                                                            \
  "2:\n"                                                                                      \
  middle                                                                                      \
  "ldr %[left], [%[strip], %[clip]]\n"                                                        \
  "cmp %[left], #1\n"                                                                         \
  "ldr %[left], [%[strip], %[steps]]\n"                                                       \
  "blt 7f\n" "beq 8f\n"                                                                       \
  steps(LATHE_DW_CLIP_2)                                                                      \
  "8:\n"                                                                                      \
  steps(LATHE_DW_CLIP_1)                                                                      \
  "7:\n"                                                                                      \
  steps(LATHE_DW_CLIP_0)                                                                      \
  "9:\n"                                                                                      \
  "ldr %[left], [%[strip], %[lines]]\n"                                                       \
  "subs %[left], %[left], #1\n"                                                               \
  "str %[left], [%[strip], %[lines]]\n"                                                       \
  "bne 1b\n"

namespace lathe {
namespace {

constexpr int kDwVectors = 1;

template <int stride>
__attribute__((noinline)) void RunDwStrip(DwStrip& strip) {
  const float *first, *second, *third;
  float* to;
  size_t left;
#define LATHE_DW_ASM(...)                                                                                            \
  asm volatile(__VA_ARGS__                                                                                           \
               : [first] "=&r"(first), [second] "=&r"(second), [third] "=&r"(third), [to] "=&r"(to),                 \
                 [left] "=&r"(left)                                                                                  \
               : [strip] "r"(&strip), [bias] "r"(strip.bias), [pixel] "r"(strip.pixel_bytes),                        \
                 [output_bytes] "r"(strip.output_bytes), [inputs] "i"(offsetof(DwStrip, inputs)),                    \
                 [filter] "i"(offsetof(DwStrip, filter)), [filter_bytes] "i"(offsetof(DwStrip, filter_bytes)),       \
                 [start] "i"(offsetof(DwStrip, start_bytes)), [output] "i"(offsetof(DwStrip, output)),               \
                 [line_bytes] "i"(offsetof(DwStrip, line_bytes)), [lines] "i"(offsetof(DwStrip, lines)),             \
                 [steps] "i"(offsetof(DwStrip, steps)), [before] "i"(offsetof(DwStrip, before)),                     \
                 [after] "i"(offsetof(DwStrip, after)), [clip] "i"(offsetof(DwStrip, clip)),                         \
                 [low] "i"(offsetof(DwStrip, low)), [high] "i"(offsetof(DwStrip, high))                              \
               : "cc", "memory", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12",    \
                 "q13", "q14", "q15")
  if constexpr (stride == 1) {
    LATHE_DW_ASM(LATHE_DW_LINES(4, LATHE_DW_BEGIN(5) LATHE_DW_MIDDLE_AND_LEFT(4, 5), LATHE_DW_STEPS));
  } else {
    LATHE_DW_ASM(LATHE_DW_LINES(8, "", LATHE_DW_LONG_STEPS));
  }
#undef LATHE_DW_ASM
}

}  // namespace
}  // namespace lathe
// clang-format on

#endif  // LATHE_KERNEL_DEPTHWISE_DEPTHWISE_ARMV7_H_
