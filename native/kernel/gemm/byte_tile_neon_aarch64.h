// The tile of 64-bit ARM without products of its own for bytes: 2 rows times 16 filters in v16 to v31, two halves of
// each sum. Two products fit in 16 bits, but for -128 * -128, and pairs of these are added in 32 bits.
#ifndef LATHE_KERNEL_GEMM_BYTE_TILE_NEON_AARCH64_H_
#define LATHE_KERNEL_GEMM_BYTE_TILE_NEON_AARCH64_H_

#include <arm_neon.h>

#include "native/kernel/gemm/byte_requantise_aarch64.h"

namespace lathe {
namespace {

// clang-format off
// Four filters times a row: steps of depth are in v<w> and v<next>, or just one, the row's in v<x> and v<y>.
#define LATHE_MULTIPLY(a, b, w, x) \
  "smull v" #a ".8h, v" #w ".8b, v" #x ".8b\n" "smull2 v" #b ".8h, v" #w ".16b, v" #x ".16b\n"
#define LATHE_MULTIPLY_NEXT(a, b, next, y) \
  "smlal v" #a ".8h, v" #next ".8b, v" #y ".8b\n" "smlal2 v" #b ".8h, v" #next ".16b, v" #y ".16b\n"
#define LATHE_ADD_PAIRS(low, high, a, b) "sadalp v" #low ".4s, v" #a ".8h\n" "sadalp v" #high ".4s, v" #b ".8h\n"
#define LATHE_FOUR_TWICE(w, next, a, b, c, d)                                    \
  LATHE_MULTIPLY(12, 13, w, 8) LATHE_MULTIPLY(14, 15, w, 10)                     \
  LATHE_MULTIPLY_NEXT(12, 13, next, 9) LATHE_MULTIPLY_NEXT(14, 15, next, 11)     \
  LATHE_ADD_PAIRS(a, b, 12, 13) LATHE_ADD_PAIRS(c, d, 14, 15)
#define LATHE_FOUR_ONCE(w, a, b, c, d)                                           \
  LATHE_MULTIPLY(12, 13, w, 8) LATHE_MULTIPLY(14, 15, w, 10)                     \
  LATHE_ADD_PAIRS(a, b, 12, 13) LATHE_ADD_PAIRS(c, d, 14, 15)
#define LATHE_LOAD_FILTERS(a, b, c, d) "ld1 {v" #a ".16b, v" #b ".16b, v" #c ".16b, v" #d ".16b}, [%[filters]], #64\n"
#define LATHE_FOUR_TIMES(x, row) "ld1r {v" #x ".4s}, [%[" row "]], #4\n"
#define LATHE_CLEAR(a, b, c, d) \
  "movi v" #a ".4s, #0\n" "movi v" #b ".4s, #0\n" "movi v" #c ".4s, #0\n" "movi v" #d ".4s, #0\n"
// The sums of a row: halves come together in v<a> to v<d>, and the starts are added.
#define LATHE_JOIN(to, a, b, start) \
  "addp v" #to ".4s, v" #a ".4s, v" #b ".4s\n" "add v" #to ".4s, v" #to ".4s, v" #start ".4s\n"
#define LATHE_JOIN_ROWS                                                                          \
  "ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [%[starts]]\n"                                              \
  LATHE_JOIN(16, 16, 17, 0) LATHE_JOIN(17, 18, 19, 1) LATHE_JOIN(18, 20, 21, 2) LATHE_JOIN(19, 22, 23, 3) \
  LATHE_JOIN(20, 24, 25, 0) LATHE_JOIN(21, 26, 27, 1) LATHE_JOIN(22, 28, 29, 2) LATHE_JOIN(23, 30, 31, 3)

#define LATHE_ONE_STEP \
  LATHE_LOAD_FILTERS(0, 1, 2, 3) \
  LATHE_FOUR_TIMES(8, "row0") LATHE_FOUR_TIMES(10, "row1") \
  "subs %[left], %[left], #1\n" \
  LATHE_FOUR_ONCE(0, 16, 17, 24, 25) LATHE_FOUR_ONCE(1, 18, 19, 26, 27) \
  LATHE_FOUR_ONCE(2, 20, 21, 28, 29) LATHE_FOUR_ONCE(3, 22, 23, 30, 31)
#define LATHE_STORE_TWO_ROWS \
  "ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [%[store]]\n" \
  "ldp q4, q5, [%[store], #64]\n" \
  "ldr q6, [%[store], #96]\n" \
  LATHE_REQUANTISE(16, 17, 18, 19, 0, 1, 2, 3, 4) LATHE_REQUANTISE(20, 21, 22, 23, 0, 1, 2, 3, 4) \
  LATHE_CLIP_BYTES(16, 5, 6) LATHE_CLIP_BYTES(20, 5, 6) \
  LATHE_STORE_BYTES(16) LATHE_STORE_BYTES(20)

// `pairs`: of steps of depth that are taken at once; `singles`: the steps that are not.
__attribute__((noinline)) inline void SumTwoRows(const ByteSource& source, int64_t pairs, int64_t singles,
                                                 int64_t tiles) {
  const int8_t *const *rows = source.rows, *const *of_tap;
  const int8_t *row0, *row1;
  const int8_t* filters;
  int8_t* to = source.to;
  int32_t* buffer = source.buffer;
  int64_t taps, left;
  asm volatile(
      "1:\n"
      LATHE_CLEAR(16, 17, 18, 19) LATHE_CLEAR(20, 21, 22, 23) LATHE_CLEAR(24, 25, 26, 27) LATHE_CLEAR(28, 29, 30, 31)
      "mov %[filters], %[packed]\n"
      "mov %[of_tap], %[rows]\n"
      "mov %[taps], %[all_taps]\n"
      "2:\n"
      "ldp %[row0], %[row1], [%[of_tap]]\n"
      "add %[of_tap], %[of_tap], %[tap_bytes]\n"
      "add %[row0], %[row0], %[offset]\n"
      "add %[row1], %[row1], %[offset]\n"
      "mov %[left], %[pairs]\n"
      "cbz %[pairs], 4f\n"
      "3:\n"
      LATHE_LOAD_FILTERS(0, 1, 2, 3)
      LATHE_FOUR_TIMES(8, "row0") LATHE_FOUR_TIMES(10, "row1")
      LATHE_LOAD_FILTERS(4, 5, 6, 7)
      LATHE_FOUR_TIMES(9, "row0") LATHE_FOUR_TIMES(11, "row1")
      "subs %[left], %[left], #1\n"
      LATHE_FOUR_TWICE(0, 4, 16, 17, 24, 25) LATHE_FOUR_TWICE(1, 5, 18, 19, 26, 27)
      LATHE_FOUR_TWICE(2, 6, 20, 21, 28, 29) LATHE_FOUR_TWICE(3, 7, 22, 23, 30, 31)
      "b.ne 3b\n"
      "4:\n"
      "mov %[left], %[singles]\n"
      "cbz %[singles], 6f\n"
      "5:\n"
      LATHE_ONE_STEP
      "b.ne 5b\n"
      "6:\n"
      "subs %[taps], %[taps], #1\n"
      "b.ne 2b\n"
      LATHE_JOIN_ROWS
      "add %[rows], %[rows], #16\n"
      "cbnz %[buffer], 7f\n"
      LATHE_STORE_TWO_ROWS
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 1b\n"
      "b 8f\n"
      "7:\n"
      LATHE_MOVE_SUMS("st1", "buffer", 16, 17, 18, 19, ", #64") LATHE_MOVE_SUMS("st1", "buffer", 20, 21, 22, 23, ", #64")
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 1b\n"
      "8:\n"
      : [rows] "+r"(rows), [tiles] "+r"(tiles), [to] "+r"(to), [buffer] "+r"(buffer), [of_tap] "=&r"(of_tap),
        [row0] "=&r"(row0), [row1] "=&r"(row1), [filters] "=&r"(filters), [taps] "=&r"(taps), [left] "=&r"(left)
      : [starts] "r"(source.starts), [packed] "r"(source.packed), [all_taps] "r"(source.taps), [pairs] "r"(pairs),
        [singles] "r"(singles), [offset] "r"(source.offset), [store] "r"(source.store), [step] "r"(source.step),
        [tap_bytes] "i"(kByteTapBytes)
      : LATHE_BYTE_CLOBBERS);
}
// clang-format on

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_TILE_NEON_AARCH64_H_
