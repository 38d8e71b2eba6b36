// The tile of `dotprod`: 4 rows times 16 filters in v16 to v31, or one row. 32 of depth are at hand, and filters are
// loaded 64 at a time: compilers do not keep that many registers apart.
#ifndef LATHE_KERNEL_GEMM_BYTE_TILE_DOTPROD_H_
#define LATHE_KERNEL_GEMM_BYTE_TILE_DOTPROD_H_

#include <arm_neon.h>

#include "native/kernel/gemm/byte_requantise_aarch64.h"

namespace lathe {
namespace {

// clang-format off
#define LATHE_DOT(sum, w, x, lane) "sdot v" #sum ".4s, v" #w ".16b, v" #x ".4b[" #lane "]\n"
#define LATHE_DOT_LOW(a, b, c, d, x, lane) \
  LATHE_DOT(a, 8, x, lane) LATHE_DOT(b, 9, x, lane) LATHE_DOT(c, 10, x, lane) LATHE_DOT(d, 11, x, lane)
#define LATHE_DOT_HIGH(a, b, c, d, x, lane) \
  LATHE_DOT(a, 12, x, lane) LATHE_DOT(b, 13, x, lane) LATHE_DOT(c, 14, x, lane) LATHE_DOT(d, 15, x, lane)
#define LATHE_LOAD_FILTERS(a, b, c, d) "ld1 {v" #a ".16b, v" #b ".16b, v" #c ".16b, v" #d ".16b}, [%[filters]], #64\n"

// Four of depth, a lane of the rows in v<x>, v<y>, v<z> and v<u>; the filters of even lanes are in v8 to v11, those of
// odd ones in v12 to v15.
#define LATHE_DOT_FOUR_EVEN(x, y, z, u, lane)                                                 \
  LATHE_LOAD_FILTERS(8, 9, 10, 11)                                                            \
  LATHE_DOT_LOW(16, 17, 18, 19, x, lane) LATHE_DOT_LOW(20, 21, 22, 23, y, lane)               \
  LATHE_DOT_LOW(24, 25, 26, 27, z, lane) LATHE_DOT_LOW(28, 29, 30, 31, u, lane)
#define LATHE_DOT_FOUR_ODD(x, y, z, u, lane)                                                  \
  LATHE_LOAD_FILTERS(12, 13, 14, 15)                                                          \
  LATHE_DOT_HIGH(16, 17, 18, 19, x, lane) LATHE_DOT_HIGH(20, 21, 22, 23, y, lane)             \
  LATHE_DOT_HIGH(24, 25, 26, 27, z, lane) LATHE_DOT_HIGH(28, 29, 30, 31, u, lane)
#define LATHE_FOUR_ROWS_8(x, y, z, u, even, odd) \
  LATHE_DOT_FOUR_EVEN(x, y, z, u, even) LATHE_DOT_FOUR_ODD(x, y, z, u, odd)
#define LATHE_FOUR_ROWS_32                                                                    \
  "ldp q0, q1, [%[row0]], #32\n" "ldp q2, q3, [%[row1]], #32\n"                               \
  "ldp q4, q5, [%[row2]], #32\n" "ldp q6, q7, [%[row3]], #32\n"                               \
  LATHE_FOUR_ROWS_8(0, 2, 4, 6, 0, 1) LATHE_FOUR_ROWS_8(0, 2, 4, 6, 2, 3)                     \
  LATHE_FOUR_ROWS_8(1, 3, 5, 7, 0, 1) LATHE_FOUR_ROWS_8(1, 3, 5, 7, 2, 3)
#define LATHE_LOAD_FOUR(size, bytes)                                                          \
  "ldr " size "0, [%[row0]], #" bytes "\n" "ldr " size "2, [%[row1]], #" bytes "\n"           \
  "ldr " size "4, [%[row2]], #" bytes "\n" "ldr " size "6, [%[row3]], #" bytes "\n"
#define LATHE_FOUR_ROWS_16 \
  LATHE_LOAD_FOUR("q", "16") LATHE_FOUR_ROWS_8(0, 2, 4, 6, 0, 1) LATHE_FOUR_ROWS_8(0, 2, 4, 6, 2, 3)

// The same of one row.
#define LATHE_ONE_ROW_8(x, even, odd)                                                         \
  LATHE_LOAD_FILTERS(8, 9, 10, 11) LATHE_LOAD_FILTERS(12, 13, 14, 15)                         \
  LATHE_DOT_LOW(16, 17, 18, 19, x, even) LATHE_DOT_HIGH(16, 17, 18, 19, x, odd)
#define LATHE_ONE_ROW_32                                                                      \
  "ldp q0, q1, [%[row0]], #32\n"                                                              \
  LATHE_ONE_ROW_8(0, 0, 1) LATHE_ONE_ROW_8(0, 2, 3) LATHE_ONE_ROW_8(1, 0, 1) LATHE_ONE_ROW_8(1, 2, 3)
#define LATHE_ONE_ROW_16 "ldr q0, [%[row0]], #16\n" LATHE_ONE_ROW_8(0, 0, 1) LATHE_ONE_ROW_8(0, 2, 3)

// All of depth: `left` counts it, in bytes. What is left behind whole thirty-twos are sixteen, eight and four.
#define LATHE_DOT_DEPTH(thirty_two, sixteen, eight, four) \
  "subs %[left], %[depth], #32\n"         \
  "b.lt 4f\n"                             \
  "3:\n"                                  \
  thirty_two                              \
  "subs %[left], %[left], #32\n"          \
  "b.ge 3b\n"                             \
  "4:\n"                                  \
  "tbz %[left], #4, 5f\n"                 \
  sixteen                                 \
  "5:\n"                                  \
  "tbz %[left], #3, 6f\n"                 \
  eight                                   \
  "6:\n"                                  \
  "tbz %[left], #2, 7f\n"                 \
  four                                    \
  "7:\n"

__attribute__((noinline)) inline void SumFourRows(const ByteSource& source, int64_t tiles) {
  const int8_t *const *rows = source.rows, *const *of_tap;
  const int8_t *row0, *row1, *row2, *row3;
  const int8_t* filters;
  int8_t* to = source.to;
  int32_t* buffer = source.buffer;
  int64_t taps, left;
  asm volatile(
      "1:\n"
      LATHE_MOVE_SUMS("ld1", "starts", 16, 17, 18, 19, "") LATHE_MOVE_SUMS("ld1", "starts", 20, 21, 22, 23, "")
      LATHE_MOVE_SUMS("ld1", "starts", 24, 25, 26, 27, "") LATHE_MOVE_SUMS("ld1", "starts", 28, 29, 30, 31, "")
      "mov %[filters], %[packed]\n"
      "mov %[of_tap], %[rows]\n"
      "mov %[taps], %[all_taps]\n"
      "2:\n"
      "ldp %[row0], %[row1], [%[of_tap]]\n"
      "ldp %[row2], %[row3], [%[of_tap], #16]\n"
      "add %[of_tap], %[of_tap], %[tap_bytes]\n"
      "add %[row0], %[row0], %[offset]\n"
      "add %[row1], %[row1], %[offset]\n"
      "add %[row2], %[row2], %[offset]\n"
      "add %[row3], %[row3], %[offset]\n"
      LATHE_DOT_DEPTH(LATHE_FOUR_ROWS_32, LATHE_FOUR_ROWS_16,
                      LATHE_LOAD_FOUR("d", "8") LATHE_FOUR_ROWS_8(0, 2, 4, 6, 0, 1),
                      LATHE_LOAD_FOUR("s", "4") LATHE_DOT_FOUR_EVEN(0, 2, 4, 6, 0))
      "subs %[taps], %[taps], #1\n"
      "b.ne 2b\n"
      "add %[rows], %[rows], #32\n"
      "cbnz %[buffer], 9f\n"
      "ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [%[store]]\n"
      "ldr q4, [%[store], #64]\n"
      LATHE_REQUANTISE(16, 17, 18, 19, 0, 1, 2, 3, 4) LATHE_REQUANTISE(20, 21, 22, 23, 0, 1, 2, 3, 4)
      LATHE_REQUANTISE(24, 25, 26, 27, 0, 1, 2, 3, 4) LATHE_REQUANTISE(28, 29, 30, 31, 0, 1, 2, 3, 4)
      "cbz %[clip], 8f\n"
      "ldr q5, [%[store], #80]\n"
      "ldr q6, [%[store], #96]\n"
      LATHE_CLIP_BYTES(16, 5, 6) LATHE_CLIP_BYTES(20, 5, 6) LATHE_CLIP_BYTES(24, 5, 6) LATHE_CLIP_BYTES(28, 5, 6)
      "8:\n"
      LATHE_STORE_BYTES(16) LATHE_STORE_BYTES(20) LATHE_STORE_BYTES(24) LATHE_STORE_BYTES(28)
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 1b\n"
      "b 10f\n"
      "9:\n"
      LATHE_MOVE_SUMS("st1", "buffer", 16, 17, 18, 19, ", #64") LATHE_MOVE_SUMS("st1", "buffer", 20, 21, 22, 23, ", #64")
      LATHE_MOVE_SUMS("st1", "buffer", 24, 25, 26, 27, ", #64") LATHE_MOVE_SUMS("st1", "buffer", 28, 29, 30, 31, ", #64")
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 1b\n"
      "10:\n"
      : [rows] "+r"(rows), [tiles] "+r"(tiles), [to] "+r"(to), [buffer] "+r"(buffer), [of_tap] "=&r"(of_tap),
        [row0] "=&r"(row0), [row1] "=&r"(row1), [row2] "=&r"(row2), [row3] "=&r"(row3), [filters] "=&r"(filters),
        [taps] "=&r"(taps), [left] "=&r"(left)
      : [starts] "r"(source.starts), [packed] "r"(source.packed), [all_taps] "r"(source.taps),
        [depth] "r"(source.steps * kByteDepth), [offset] "r"(source.offset), [store] "r"(source.store),
        [step] "r"(source.step), [clip] "r"(source.clip), [tap_bytes] "i"(kByteTapBytes)
      : LATHE_BYTE_CLOBBERS);
}

// Their sums go to the buffer.
__attribute__((noinline)) inline void SumSingleRows(const ByteSource& source, int64_t tiles) {
  const int8_t *const *rows = source.rows, *const *of_tap;
  const int8_t* row0;
  const int8_t* filters;
  int32_t* buffer = source.buffer;
  int64_t taps, left;
  asm volatile(
      "1:\n"
      LATHE_MOVE_SUMS("ld1", "starts", 16, 17, 18, 19, "")
      "mov %[filters], %[packed]\n"
      "mov %[of_tap], %[rows]\n"
      "mov %[taps], %[all_taps]\n"
      "2:\n"
      "ldr %[row0], [%[of_tap]]\n"
      "add %[of_tap], %[of_tap], %[tap_bytes]\n"
      "add %[row0], %[row0], %[offset]\n"
      LATHE_DOT_DEPTH(LATHE_ONE_ROW_32, LATHE_ONE_ROW_16, "ldr d0, [%[row0]], #8\n" LATHE_ONE_ROW_8(0, 0, 1),
                      "ldr s0, [%[row0]], #4\n" LATHE_LOAD_FILTERS(8, 9, 10, 11) LATHE_DOT_LOW(16, 17, 18, 19, 0, 0))
      "subs %[taps], %[taps], #1\n"
      "b.ne 2b\n"
      "add %[rows], %[rows], #8\n"
      LATHE_MOVE_SUMS("st1", "buffer", 16, 17, 18, 19, ", #64")
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 1b\n"
      : [rows] "+r"(rows), [tiles] "+r"(tiles), [buffer] "+r"(buffer), [of_tap] "=&r"(of_tap), [row0] "=&r"(row0),
        [filters] "=&r"(filters), [taps] "=&r"(taps), [left] "=&r"(left)
      : [starts] "r"(source.starts), [packed] "r"(source.packed), [all_taps] "r"(source.taps),
        [depth] "r"(source.steps * kByteDepth), [offset] "r"(source.offset), [tap_bytes] "i"(kByteTapBytes)
      : LATHE_BYTE_CLOBBERS);
}
// clang-format on

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_TILE_DOTPROD_H_
