// The tile of `i8mm`: 3 pairs of rows times 16 filters in v8 to v31, or one pair. A register of sums is a block: two
// filters of the first row, two of the second.
#ifndef LATHE_CORE_BYTE_TILE_I8MM_H_
#define LATHE_CORE_BYTE_TILE_I8MM_H_

#include <stddef.h>

#include "native/core/byte_state.h"

namespace lathe {
namespace {

struct ByteBlocks {
  const int8_t* const* rows;  // of the first tap; those of the next are kBytePixels further on
  const uint8_t* packed;
  const int32_t* starts;
  int32_t* buffer;
  int64_t taps;
  int64_t eights;  // of depth
  int64_t offset;  // of the bytes in their rows
};

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
// The sums of the first row of a pair, then those of the second.
#define LATHE_UNPAIR(op, a, b, c, d, e, f, g, h)                                                                \
  op " v0.2d, v" #a ".2d, v" #b ".2d\n" op " v1.2d, v" #c ".2d, v" #d ".2d\n"                                   \
  op " v2.2d, v" #e ".2d, v" #f ".2d\n" op " v3.2d, v" #g ".2d, v" #h ".2d\n"                                   \
  "st1 {v0.4s, v1.4s, v2.4s, v3.4s}, [%[buffer]], #64\n"
#define LATHE_STORE_PAIR(a, b, c, d, e, f, g, h) \
  LATHE_UNPAIR("zip1", a, b, c, d, e, f, g, h) LATHE_UNPAIR("zip2", a, b, c, d, e, f, g, h)
#define LATHE_CLOBBERS                                                                                       \
  "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15"

__attribute__((noinline)) inline void SumThreePairs(const ByteBlocks& blocks) {
  const int8_t* const* rows = blocks.rows;
  const int8_t *row0, *row1, *row2, *row3, *row4, *row5;
  const uint8_t* packed = blocks.packed;
  const int32_t* starts = blocks.starts;
  int32_t* buffer = blocks.buffer;
  int64_t taps = blocks.taps, left;
  asm volatile(
      LATHE_LOAD_STARTS
      LATHE_COPY(16, 8) LATHE_COPY(17, 9) LATHE_COPY(18, 10) LATHE_COPY(19, 11)
      LATHE_COPY(20, 12) LATHE_COPY(21, 13) LATHE_COPY(22, 14) LATHE_COPY(23, 15)
      LATHE_COPY(24, 8) LATHE_COPY(25, 9) LATHE_COPY(26, 10) LATHE_COPY(27, 11)
      LATHE_COPY(28, 12) LATHE_COPY(29, 13) LATHE_COPY(30, 14) LATHE_COPY(31, 15)
      "1:\n"
      "ldp %[row0], %[row1], [%[rows]]\n"
      "ldp %[row2], %[row3], [%[rows], #16]\n"
      "ldp %[row4], %[row5], [%[rows], #32]\n"
      "add %[rows], %[rows], %[tap_bytes]\n"
      "add %[row0], %[row0], %[offset]\n"
      "add %[row1], %[row1], %[offset]\n"
      "add %[row2], %[row2], %[offset]\n"
      "add %[row3], %[row3], %[offset]\n"
      "add %[row4], %[row4], %[offset]\n"
      "add %[row5], %[row5], %[offset]\n"
      "mov %[left], %[eights]\n"
      "2:\n"
      LATHE_LOAD_FILTERS
      LATHE_LOAD_PAIR(0, "row0", "row1") LATHE_LOAD_PAIR(1, "row2", "row3") LATHE_LOAD_PAIR(2, "row4", "row5")
      LATHE_BLOCKS(8, 9, 10, 11, 0) LATHE_BLOCKS(16, 17, 18, 19, 1) LATHE_BLOCKS(24, 25, 26, 27, 2)
      LATHE_LOAD_FILTERS
      "subs %[left], %[left], #1\n"
      LATHE_BLOCKS(12, 13, 14, 15, 0) LATHE_BLOCKS(20, 21, 22, 23, 1) LATHE_BLOCKS(28, 29, 30, 31, 2)
      "b.ne 2b\n"
      "subs %[taps], %[taps], #1\n"
      "b.ne 1b\n"
      LATHE_STORE_PAIR(8, 9, 10, 11, 12, 13, 14, 15)
      LATHE_STORE_PAIR(16, 17, 18, 19, 20, 21, 22, 23)
      LATHE_STORE_PAIR(24, 25, 26, 27, 28, 29, 30, 31)
      : [rows] "+r"(rows), [packed] "+r"(packed), [starts] "+r"(starts), [buffer] "+r"(buffer), [taps] "+r"(taps),
        [row0] "=&r"(row0), [row1] "=&r"(row1), [row2] "=&r"(row2), [row3] "=&r"(row3), [row4] "=&r"(row4),
        [row5] "=&r"(row5), [left] "=&r"(left)
      : [eights] "r"(blocks.eights), [offset] "r"(blocks.offset), [tap_bytes] "r"(kBytePixels * sizeof(int8_t*))
      : LATHE_CLOBBERS, "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
        "v29", "v30", "v31");
}

__attribute__((noinline)) inline void SumPair(const ByteBlocks& blocks) {
  const int8_t* const* rows = blocks.rows;
  const int8_t *row0, *row1;
  const uint8_t* packed = blocks.packed;
  const int32_t* starts = blocks.starts;
  int32_t* buffer = blocks.buffer;
  int64_t taps = blocks.taps, left;
  asm volatile(
      LATHE_LOAD_STARTS
      "1:\n"
      "ldp %[row0], %[row1], [%[rows]]\n"
      "add %[rows], %[rows], %[tap_bytes]\n"
      "add %[row0], %[row0], %[offset]\n"
      "add %[row1], %[row1], %[offset]\n"
      "mov %[left], %[eights]\n"
      "2:\n"
      LATHE_LOAD_FILTERS
      LATHE_LOAD_PAIR(0, "row0", "row1")
      LATHE_BLOCKS(8, 9, 10, 11, 0)
      LATHE_LOAD_FILTERS
      "subs %[left], %[left], #1\n"
      LATHE_BLOCKS(12, 13, 14, 15, 0)
      "b.ne 2b\n"
      "subs %[taps], %[taps], #1\n"
      "b.ne 1b\n"
      LATHE_STORE_PAIR(8, 9, 10, 11, 12, 13, 14, 15)
      : [rows] "+r"(rows), [packed] "+r"(packed), [starts] "+r"(starts), [buffer] "+r"(buffer), [taps] "+r"(taps),
        [row0] "=&r"(row0), [row1] "=&r"(row1), [left] "=&r"(left)
      : [eights] "r"(blocks.eights), [offset] "r"(blocks.offset), [tap_bytes] "r"(kBytePixels * sizeof(int8_t*))
      : LATHE_CLOBBERS);
}
// clang-format on

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTE_TILE_I8MM_H_
