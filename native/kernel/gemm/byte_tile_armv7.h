// The tile of 32-bit ARM: a row times 16 filters in q8 to q15, two halves of each sum. Two products fit in 16 bits, but
// for -128 * -128, and pairs of these are added in 32 bits.
#ifndef LATHE_KERNEL_GEMM_BYTE_TILE_ARMV7_H_
#define LATHE_KERNEL_GEMM_BYTE_TILE_ARMV7_H_

#include <arm_neon.h>

#include "native/kernel/gemm/byte_store_arm.h"

namespace lathe {
namespace {

// clang-format off
// Two filters times the row: steps of depth are in d<w> and d<next>, or just one, the row's in d8 and d9.
#define LATHE_TWO_TWICE(t, w, next, sum)                                                          \
  "vmull.s8 q" #t ", d" #w ", d8\n" "vmlal.s8 q" #t ", d" #next ", d9\n" "vpadal.s16 q" #sum ", q" #t "\n"
#define LATHE_TWO_ONCE(t, w, sum) "vmull.s8 q" #t ", d" #w ", d8\n" "vpadal.s16 q" #sum ", q" #t "\n"
#define LATHE_EIGHT_TWICE(a, b, c, d) \
  LATHE_TWO_TWICE(5, 0, 4, a) LATHE_TWO_TWICE(6, 1, 5, b) LATHE_TWO_TWICE(7, 2, 6, c) LATHE_TWO_TWICE(5, 3, 7, d)
#define LATHE_EIGHT_ONCE(a, b, c, d) \
  LATHE_TWO_ONCE(5, 0, a) LATHE_TWO_ONCE(6, 1, b) LATHE_TWO_ONCE(7, 2, c) LATHE_TWO_ONCE(5, 3, d)
#define LATHE_JOIN(to, low, high) "vpadd.i32 d" #to ", d" #low ", d" #high "\n"

// `pairs`: of steps of depth that are taken at once; `singles`: the steps that are not. Sums go to `buffer`.
__attribute__((noinline)) inline void SumRow(const ByteSource& source, const int8_t* const* rows, int32_t pairs,
                                             int32_t singles, int32_t* buffer) {
  const int8_t* row;
  const int8_t *filters = source.packed, *next;
  int32_t taps = static_cast<int32_t>(source.taps), left;
  asm volatile(
      "vmov.i32 q8, #0\n vmov.i32 q9, #0\n vmov.i32 q10, #0\n vmov.i32 q11, #0\n"
      "vmov.i32 q12, #0\n vmov.i32 q13, #0\n vmov.i32 q14, #0\n vmov.i32 q15, #0\n"
      "1:\n"
      "ldr %[row], [%[rows]]\n"
      "add %[rows], %[rows], %[tap_bytes]\n"
      "add %[row], %[row], %[offset]\n"
      "ldr %[left], %[pairs]\n"
      "cmp %[left], #0\n"
      "beq 3f\n"
      "add %[next], %[filters], #64\n"
      "2:\n"
      "vld1.8 {d0-d3}, [%[filters]]!\n"
      "vld1.32 {d8[]}, [%[row]]!\n"
      "vld1.8 {d4-d7}, [%[next]]!\n"
      "vld1.32 {d9[]}, [%[row]]!\n"
      LATHE_EIGHT_TWICE(8, 9, 10, 11)
      "vld1.8 {d0-d3}, [%[filters]], %[stride]\n"
      "vld1.8 {d4-d7}, [%[next]], %[stride]\n"
      "subs %[left], %[left], #1\n"
      LATHE_EIGHT_TWICE(12, 13, 14, 15)
      "bne 2b\n"
      "3:\n"
      "ldr %[left], %[singles]\n"
      "cmp %[left], #0\n"
      "beq 5f\n"
      "4:\n"
      "vld1.8 {d0-d3}, [%[filters]]!\n"
      "vld1.32 {d8[]}, [%[row]]!\n"
      LATHE_EIGHT_ONCE(8, 9, 10, 11)
      "vld1.8 {d0-d3}, [%[filters]]!\n"
      "subs %[left], %[left], #1\n"
      LATHE_EIGHT_ONCE(12, 13, 14, 15)
      "bne 4b\n"
      "5:\n"
      "subs %[taps], %[taps], #1\n"
      "bne 1b\n"
      LATHE_JOIN(0, 16, 17) LATHE_JOIN(1, 18, 19) LATHE_JOIN(2, 20, 21) LATHE_JOIN(3, 22, 23)
      LATHE_JOIN(4, 24, 25) LATHE_JOIN(5, 26, 27) LATHE_JOIN(6, 28, 29) LATHE_JOIN(7, 30, 31)
      "ldr %[next], %[starts]\n"
      "vld1.32 {d16-d19}, [%[next]]!\n"
      "vld1.32 {d20-d23}, [%[next]]\n"
      "vadd.i32 q0, q0, q8\n vadd.i32 q1, q1, q9\n vadd.i32 q2, q2, q10\n vadd.i32 q3, q3, q11\n"
      "vst1.32 {d0-d3}, [%[buffer]]!\n"
      "vst1.32 {d4-d7}, [%[buffer]]\n"
      : [rows] "+r"(rows), [filters] "+r"(filters), [taps] "+r"(taps), [buffer] "+r"(buffer), [next] "=&r"(next),
        [row] "=&r"(row), [left] "=&r"(left)
      : [starts] "m"(source.starts), [pairs] "m"(pairs), [singles] "m"(singles), [offset] "r"(static_cast<int32_t>(source.offset)),
        [stride] "r"(96), [tap_bytes] "i"(kByteChunkPixels * static_cast<int>(sizeof(int8_t*)))
      : "cc", "memory", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12", "q13", "q14",
        "q15");
}
// clang-format on

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_TILE_ARMV7_H_
