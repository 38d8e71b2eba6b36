// The tile of `i8mm`: 3 pairs of rows times 16 filters in v8 to v31, or one pair. A register of sums is a block: two
// filters of the first row, two of the second.
#ifndef LATHE_KERNEL_GEMM_BYTE_TILE_I8MM_H_
#define LATHE_KERNEL_GEMM_BYTE_TILE_I8MM_H_

#include <arm_neon.h>

#include "native/kernel/gemm/byte_requantise_aarch64.h"

namespace lathe {
namespace {

// clang-format off
#define LATHE_BLOCK(sum, x, w) "smmla v" #sum ".4s, v" #x ".16b, v" #w ".16b\n"
#define LATHE_BLOCKS(a, b, c, d, x) LATHE_BLOCK(a, x, 4) LATHE_BLOCK(b, x, 5) LATHE_BLOCK(c, x, 6) LATHE_BLOCK(d, x, 7)
#define LATHE_LOAD_FILTERS "ld1 {v4.16b, v5.16b, v6.16b, v7.16b}, [%[packed]], #64\n"
#define LATHE_LOAD_PAIR(x, first, second) \
  "ldr d" #x ", [%[" first "]], #8\n" "ld1 {v" #x ".d}[1], [%[" second "]], #8\n"
#define LATHE_LOAD_START(sum) "ld1r {v" #sum ".2d}, [%[starts]], #8\n"
#define LATHE_LOAD_STARTS                                                                       \
  LATHE_LOAD_START(8) LATHE_LOAD_START(9) LATHE_LOAD_START(10) LATHE_LOAD_START(11)             \
  LATHE_LOAD_START(12) LATHE_LOAD_START(13) LATHE_LOAD_START(14) LATHE_LOAD_START(15)
#define LATHE_COPY(to, from) "mov v" #to ".16b, v" #from ".16b\n"
#define LATHE_COPY_STARTS                                                         \
  LATHE_COPY(16, 8) LATHE_COPY(17, 9) LATHE_COPY(18, 10) LATHE_COPY(19, 11)       \
  LATHE_COPY(20, 12) LATHE_COPY(21, 13) LATHE_COPY(22, 14) LATHE_COPY(23, 15)     \
  LATHE_COPY(24, 8) LATHE_COPY(25, 9) LATHE_COPY(26, 10) LATHE_COPY(27, 11)       \
  LATHE_COPY(28, 12) LATHE_COPY(29, 13) LATHE_COPY(30, 14) LATHE_COPY(31, 15)
#define LATHE_LOCATE_SIX                            \
  "ldr %[left], [%[source], %[offset_at]]\n"        \
  "ldp %[row0], %[row1], [%[of_tap]]\n"             \
  "ldp %[row2], %[row3], [%[of_tap], #16]\n"        \
  "ldp %[row4], %[row5], [%[of_tap], #32]\n"        \
  "add %[of_tap], %[of_tap], %[tap_bytes]\n"        \
  "add %[row0], %[row0], %[left]\n"                 \
  "add %[row1], %[row1], %[left]\n"                 \
  "add %[row2], %[row2], %[left]\n"                 \
  "add %[row3], %[row3], %[left]\n"                 \
  "add %[row4], %[row4], %[left]\n"                 \
  "add %[row5], %[row5], %[left]\n"
// The sums of the first row of a pair in v0 to v3, those of the second in v4 to v7.
#define LATHE_UNPAIR(op, to, a, b) op " v" #to ".2d, v" #a ".2d, v" #b ".2d\n"
#define LATHE_UNPAIR_ROWS(a, b, c, d, e, f, g, h)                                                                 \
  LATHE_UNPAIR("zip1", 0, a, b) LATHE_UNPAIR("zip1", 1, c, d) LATHE_UNPAIR("zip1", 2, e, f) LATHE_UNPAIR("zip1", 3, g, h) \
  LATHE_UNPAIR("zip2", 4, a, b) LATHE_UNPAIR("zip2", 5, c, d) LATHE_UNPAIR("zip2", 6, e, f) LATHE_UNPAIR("zip2", 7, g, h)
#define LATHE_BUFFER_PAIR(a, b, c, d, e, f, g, h)             \
  LATHE_UNPAIR_ROWS(a, b, c, d, e, f, g, h)                   \
  LATHE_MOVE_SUMS("st1", "buffer", 0, 1, 2, 3, ", #64") LATHE_MOVE_SUMS("st1", "buffer", 4, 5, 6, 7, ", #64")
// Behind the first pair, v8 to v14 hold the factors, the zero point and the clip.
#define LATHE_STORE_PAIR                                \
  LATHE_REQUANTISE(0, 1, 2, 3, 8, 9, 10, 11, 12) LATHE_REQUANTISE(4, 5, 6, 7, 8, 9, 10, 11, 12)  \
  LATHE_CLIP_BYTES(0, 13, 14) LATHE_CLIP_BYTES(4, 13, 14)     \
  LATHE_STORE_BYTES(0) LATHE_STORE_BYTES(4)

// A step of 8 of depth.
#define LATHE_THREE_PAIRS                                                                                               \
  LATHE_LOAD_FILTERS                                                                                                    \
  LATHE_LOAD_PAIR(0, "row0", "row1") LATHE_LOAD_PAIR(1, "row2", "row3") LATHE_LOAD_PAIR(2, "row4", "row5")              \
  LATHE_BLOCKS(8, 9, 10, 11, 0) LATHE_BLOCKS(16, 17, 18, 19, 1) LATHE_BLOCKS(24, 25, 26, 27, 2)                         \
  LATHE_LOAD_FILTERS                                                                                                    \
  LATHE_BLOCKS(12, 13, 14, 15, 0) LATHE_BLOCKS(20, 21, 22, 23, 1) LATHE_BLOCKS(28, 29, 30, 31, 2)

__attribute__((noinline)) inline void SumThreePairs(const ByteSource& source, int64_t tiles) {
  const int8_t *const *rows = source.rows, *const *of_tap;
  const int8_t *row0, *row1, *row2, *row3, *row4, *row5;
  const int8_t* packed;
  const int32_t* starts;
  int8_t* to = source.to;
  int32_t* buffer = source.buffer;
  int64_t taps, left;
  asm volatile(
      "1:\n"
      "mov %[starts], %[all_starts]\n"
      LATHE_LOAD_STARTS
      LATHE_COPY_STARTS
      "ldp %[packed], %[taps], [%[source], %[packed_at]]\n"
      "mov %[of_tap], %[rows]\n"
      "2:\n"
      LATHE_LOCATE_SIX
      "subs %[left], %[steps], #2\n"
      "b.lt 4f\n"
      "3:\n"
      LATHE_THREE_PAIRS LATHE_THREE_PAIRS
      "subs %[left], %[left], #2\n"
      "b.ge 3b\n"
      "4:\n"
      "tbz %[left], #0, 5f\n"
      LATHE_THREE_PAIRS
      "5:\n"
      "subs %[taps], %[taps], #1\n"
      "b.ne 2b\n"
      "add %[rows], %[rows], #48\n"
      "cbnz %[buffer], 6f\n"
      LATHE_UNPAIR_ROWS(8, 9, 10, 11, 12, 13, 14, 15)
      "ld1 {v8.4s, v9.4s, v10.4s, v11.4s}, [%[store]]\n"
      "ldp q12, q13, [%[store], #64]\n"
      "ldr q14, [%[store], #96]\n"
      LATHE_STORE_PAIR
      LATHE_UNPAIR_ROWS(16, 17, 18, 19, 20, 21, 22, 23)
      LATHE_STORE_PAIR
      LATHE_UNPAIR_ROWS(24, 25, 26, 27, 28, 29, 30, 31)
      LATHE_STORE_PAIR
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 1b\n"
      "b 7f\n"
      "6:\n"
      LATHE_BUFFER_PAIR(8, 9, 10, 11, 12, 13, 14, 15)
      LATHE_BUFFER_PAIR(16, 17, 18, 19, 20, 21, 22, 23)
      LATHE_BUFFER_PAIR(24, 25, 26, 27, 28, 29, 30, 31)
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 1b\n"
      "7:\n"
      : [rows] "+r"(rows), [tiles] "+r"(tiles), [to] "+r"(to), [buffer] "+r"(buffer), [of_tap] "=&r"(of_tap),
        [packed] "=&r"(packed), [starts] "=&r"(starts), [taps] "=&r"(taps), [row0] "=&r"(row0), [row1] "=&r"(row1),
        [row2] "=&r"(row2), [row3] "=&r"(row3), [row4] "=&r"(row4), [row5] "=&r"(row5), [left] "=&r"(left)
      : [source] "r"(&source), [all_starts] "r"(source.starts), [steps] "r"(source.steps), [store] "r"(source.store),
        [step] "r"(source.step), [tap_bytes] "i"(kByteTapBytes), [packed_at] "i"(offsetof(ByteSource, packed)),
        [offset_at] "i"(offsetof(ByteSource, offset))
      : LATHE_BYTE_CLOBBERS);
}

// Their sums go to the buffer.
__attribute__((noinline)) inline void SumPairs(const ByteSource& source, int64_t tiles) {
  const int8_t *const *rows = source.rows, *const *of_tap;
  const int8_t *row0, *row1;
  const int8_t* packed;
  const int32_t* starts;
  int32_t* buffer = source.buffer;
  int64_t taps, left;
  asm volatile(
      "1:\n"
      "mov %[starts], %[all_starts]\n"
      LATHE_LOAD_STARTS
      "ldp %[packed], %[taps], [%[source], %[packed_at]]\n"
      "mov %[of_tap], %[rows]\n"
      "2:\n"
      "ldp %[row0], %[row1], [%[of_tap]]\n"
      "add %[of_tap], %[of_tap], %[tap_bytes]\n"
      "add %[row0], %[row0], %[offset]\n"
      "add %[row1], %[row1], %[offset]\n"
      "mov %[left], %[steps]\n"
      "3:\n"
      LATHE_LOAD_FILTERS
      LATHE_LOAD_PAIR(0, "row0", "row1")
      LATHE_BLOCKS(8, 9, 10, 11, 0)
      LATHE_LOAD_FILTERS
      "subs %[left], %[left], #1\n"
      LATHE_BLOCKS(12, 13, 14, 15, 0)
      "b.ne 3b\n"
      "subs %[taps], %[taps], #1\n"
      "b.ne 2b\n"
      "add %[rows], %[rows], #16\n"
      LATHE_BUFFER_PAIR(8, 9, 10, 11, 12, 13, 14, 15)
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 1b\n"
      : [rows] "+r"(rows), [tiles] "+r"(tiles), [buffer] "+r"(buffer), [of_tap] "=&r"(of_tap), [packed] "=&r"(packed),
        [starts] "=&r"(starts), [taps] "=&r"(taps), [row0] "=&r"(row0), [row1] "=&r"(row1), [left] "=&r"(left)
      : [source] "r"(&source), [all_starts] "r"(source.starts), [steps] "r"(source.steps), [offset] "r"(source.offset),
        [tap_bytes] "i"(kByteTapBytes), [packed_at] "i"(offsetof(ByteSource, packed))
      : LATHE_BYTE_CLOBBERS);
}
// clang-format on

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_TILE_I8MM_H_
