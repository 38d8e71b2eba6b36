// The tile of `dotprod`: 5 rows times 16 filters in v12 to v31, or one row. Compilers do not keep that many registers
// apart from loads of four registers at a time.
#ifndef LATHE_CORE_BYTE_TILE_DOTPROD_H_
#define LATHE_CORE_BYTE_TILE_DOTPROD_H_

#include <stddef.h>

#include "native/core/byte_state.h"

namespace lathe {
namespace {

struct ByteSums {
  const int8_t* const* rows;  // of the first tap; those of the next are kBytePixels further on
  const uint8_t* packed;
  const int32_t* starts;
  int32_t* buffer;
  int64_t taps;
  int64_t depth;   // in whole steps
  int64_t offset;  // of the bytes in their rows
};

// clang-format off
#define LATHE_DOT(sum, w, x, lane) "sdot v" #sum ".4s, v" #w ".16b, v" #x ".4b[" #lane "]\n"
#define LATHE_DOT_ROW(a, b, c, d, x, lane) \
  LATHE_DOT(a, 5, x, lane) LATHE_DOT(b, 6, x, lane) LATHE_DOT(c, 7, x, lane) LATHE_DOT(d, 8, x, lane)
#define LATHE_LOAD_FILTERS "ld1 {v5.16b, v6.16b, v7.16b, v8.16b}, [%[packed]], #64\n"

// Four of depth, which are a lane of the rows in v0 to v4.
#define LATHE_DOT_FIVE(lane)                                                  \
  LATHE_LOAD_FILTERS                                                          \
  LATHE_DOT_ROW(12, 13, 14, 15, 0, lane) LATHE_DOT_ROW(16, 17, 18, 19, 1, lane) \
  LATHE_DOT_ROW(20, 21, 22, 23, 2, lane) LATHE_DOT_ROW(24, 25, 26, 27, 3, lane) \
  LATHE_DOT_ROW(28, 29, 30, 31, 4, lane)
#define LATHE_LOAD_FIVE(register, bytes)                                                     \
  "ldr " register "0, [%[row0]], #" bytes "\n" "ldr " register "1, [%[row1]], #" bytes "\n"   \
  "ldr " register "2, [%[row2]], #" bytes "\n" "ldr " register "3, [%[row3]], #" bytes "\n"   \
  "ldr " register "4, [%[row4]], #" bytes "\n"
#define LATHE_DOT_ONE(lane) LATHE_LOAD_FILTERS LATHE_DOT_ROW(12, 13, 14, 15, 0, lane)
#define LATHE_LOAD_ONE(register, bytes) "ldr " register "0, [%[row0]], #" bytes "\n"

// All of depth: `left` counts it. The rest behind whole sixteens is taken by eights and fours.
#define LATHE_DOT_DEPTH(LOAD, DOT)       \
  "subs %[left], %[depth], #16\n"        \
  "b.lt 3f\n"                            \
  "2:\n"                                 \
  LOAD("q", "16")                        \
  DOT(0) DOT(1)                          \
  "subs %[left], %[left], #16\n"         \
  DOT(2) DOT(3)                          \
  "b.ge 2b\n"                            \
  "3:\n"                                 \
  "tbz %[left], #3, 4f\n"                \
  LOAD("d", "8")                         \
  DOT(0) DOT(1)                          \
  "4:\n"                                 \
  "tbz %[left], #2, 5f\n"                \
  LOAD("s", "4")                         \
  DOT(0)                                 \
  "5:\n"                                 \
  "subs %[taps], %[taps], #1\n"          \
  "b.ne 1b\n"

#define LATHE_MOVE_SUMS(op, from, a, b, c, d, step) \
  op " {v" #a ".4s, v" #b ".4s, v" #c ".4s, v" #d ".4s}, [%[" from "]]" step "\n"
#define LATHE_CLOBBERS                                                                                        \
  "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v12", "v13", "v14", "v15"

__attribute__((noinline)) inline void SumFiveRows(const ByteSums& sums) {
  const int8_t* const* rows = sums.rows;
  const int8_t *row0, *row1, *row2, *row3, *row4;
  const uint8_t* packed = sums.packed;
  int32_t* buffer = sums.buffer;
  int64_t taps = sums.taps, left;
  asm volatile(
      LATHE_MOVE_SUMS("ld1", "starts", 12, 13, 14, 15, "") LATHE_MOVE_SUMS("ld1", "starts", 16, 17, 18, 19, "")
      LATHE_MOVE_SUMS("ld1", "starts", 20, 21, 22, 23, "") LATHE_MOVE_SUMS("ld1", "starts", 24, 25, 26, 27, "")
      LATHE_MOVE_SUMS("ld1", "starts", 28, 29, 30, 31, "")
      "1:\n"
      "ldp %[row0], %[row1], [%[rows]]\n"
      "ldp %[row2], %[row3], [%[rows], #16]\n"
      "ldr %[row4], [%[rows], #32]\n"
      "add %[rows], %[rows], %[tap_bytes]\n"
      "add %[row0], %[row0], %[offset]\n"
      "add %[row1], %[row1], %[offset]\n"
      "add %[row2], %[row2], %[offset]\n"
      "add %[row3], %[row3], %[offset]\n"
      "add %[row4], %[row4], %[offset]\n"
      LATHE_DOT_DEPTH(LATHE_LOAD_FIVE, LATHE_DOT_FIVE)
      LATHE_MOVE_SUMS("st1", "buffer", 12, 13, 14, 15, ", #64") LATHE_MOVE_SUMS("st1", "buffer", 16, 17, 18, 19, ", #64")
      LATHE_MOVE_SUMS("st1", "buffer", 20, 21, 22, 23, ", #64") LATHE_MOVE_SUMS("st1", "buffer", 24, 25, 26, 27, ", #64")
      LATHE_MOVE_SUMS("st1", "buffer", 28, 29, 30, 31, "")
      : [rows] "+r"(rows), [packed] "+r"(packed), [buffer] "+r"(buffer), [taps] "+r"(taps), [row0] "=&r"(row0),
        [row1] "=&r"(row1), [row2] "=&r"(row2), [row3] "=&r"(row3), [row4] "=&r"(row4), [left] "=&r"(left)
      : [starts] "r"(sums.starts), [depth] "r"(sums.depth), [offset] "r"(sums.offset),
        [tap_bytes] "r"(kBytePixels * sizeof(int8_t*))
      : LATHE_CLOBBERS, "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
        "v29", "v30", "v31");
}

__attribute__((noinline)) inline void SumOneRow(const ByteSums& sums) {
  const int8_t* const* rows = sums.rows;
  const int8_t* row0;
  const uint8_t* packed = sums.packed;
  int64_t taps = sums.taps, left;
  asm volatile(
      LATHE_MOVE_SUMS("ld1", "starts", 12, 13, 14, 15, "")
      "1:\n"
      "ldr %[row0], [%[rows]]\n"
      "add %[rows], %[rows], %[tap_bytes]\n"
      "add %[row0], %[row0], %[offset]\n"
      LATHE_DOT_DEPTH(LATHE_LOAD_ONE, LATHE_DOT_ONE)
      LATHE_MOVE_SUMS("st1", "buffer", 12, 13, 14, 15, "")
      : [rows] "+r"(rows), [packed] "+r"(packed), [taps] "+r"(taps), [row0] "=&r"(row0), [left] "=&r"(left)
      : [buffer] "r"(sums.buffer), [starts] "r"(sums.starts), [depth] "r"(sums.depth), [offset] "r"(sums.offset),
        [tap_bytes] "r"(kBytePixels * sizeof(int8_t*))
      : LATHE_CLOBBERS);
}
// clang-format on

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTE_TILE_DOTPROD_H_
