// What the tiles of 64-bit ARM share, whatever they compute in: two quads of rows, in v16 to v23 and in v24 to v31,
// times two registers of filters. Goes behind the definition of LATHE_LANES, "4s" or "8h".
#ifndef LATHE_KERNEL_GEMM_PACKED_QUADS_AARCH64_H_
#define LATHE_KERNEL_GEMM_PACKED_QUADS_AARCH64_H_

#include "native/kernel/gemm/packed_tile.h"

// clang-format off
#define LATHE_V(number) "v" #number "." LATHE_LANES
#define LATHE_LOAD(a, b, c, d, from) "ld1 {" LATHE_V(a) ", " LATHE_V(b) ", " LATHE_V(c) ", " LATHE_V(d) "}, [%[" from "]]"
#define LATHE_LOAD_FIRST LATHE_LOAD(0, 1, 2, 3, "first") ", #64\n"
#define LATHE_LOAD_SECOND LATHE_LOAD(4, 5, 6, 7, "second") ", #64\n"
#define LATHE_LOAD_LOW LATHE_LOAD(8, 9, 10, 11, "filters") ", #64\n"
#define LATHE_LOAD_HIGH LATHE_LOAD(12, 13, 14, 15, "filters") ", #64\n"

// The bias is there twice, one after the other: two rows at a time begin with it.
#define LATHE_LOAD_BIAS_TO_FIRST LATHE_LOAD(16, 17, 18, 19, "bias") "\n" LATHE_LOAD(20, 21, 22, 23, "bias") "\n"
#define LATHE_LOAD_BIAS_TO_SECOND LATHE_LOAD(24, 25, 26, 27, "bias") "\n" LATHE_LOAD(28, 29, 30, 31, "bias") "\n"

// Rows: a register of results for each of the filters.
#define LATHE_ADD_START(low, high, a, b)                                       \
  "ld1 {" LATHE_V(a) ", " LATHE_V(b) "}, [%[start]], %[start_bytes]\n"         \
  "fadd " LATHE_V(low) ", " LATHE_V(low) ", " LATHE_V(a) "\n"                  \
  "fadd " LATHE_V(high) ", " LATHE_V(high) ", " LATHE_V(b) "\n"
#define LATHE_CLIP(op, low, high)                                              \
  op " " LATHE_V(low) ", " LATHE_V(low) ", " LATHE_V(0) "\n"                   \
  op " " LATHE_V(high) ", " LATHE_V(high) ", " LATHE_V(0) "\n"
#define LATHE_STORE(low, high) "st1 {" LATHE_V(low) ", " LATHE_V(high) "}, [%[output]], %[output_bytes]\n"

// The same of whole quads.
#define LATHE_ADD_START_TO_FIRST \
  LATHE_ADD_START(16, 17, 0, 1) LATHE_ADD_START(18, 19, 2, 3) \
  LATHE_ADD_START(20, 21, 4, 5) LATHE_ADD_START(22, 23, 6, 7)
#define LATHE_ADD_START_TO_SECOND \
  LATHE_ADD_START(24, 25, 0, 1) LATHE_ADD_START(26, 27, 2, 3) \
  LATHE_ADD_START(28, 29, 4, 5) LATHE_ADD_START(30, 31, 6, 7)
#define LATHE_CLIP_FIRST(op) \
  LATHE_CLIP(op, 16, 17) LATHE_CLIP(op, 18, 19) \
  LATHE_CLIP(op, 20, 21) LATHE_CLIP(op, 22, 23)
#define LATHE_CLIP_SECOND(op) \
  LATHE_CLIP(op, 24, 25) LATHE_CLIP(op, 26, 27) \
  LATHE_CLIP(op, 28, 29) LATHE_CLIP(op, 30, 31)
#define LATHE_STORE_FIRST LATHE_STORE(16, 17) LATHE_STORE(18, 19) LATHE_STORE(20, 21) LATHE_STORE(22, 23)
#define LATHE_STORE_SECOND LATHE_STORE(24, 25) LATHE_STORE(26, 27) LATHE_STORE(28, 29) LATHE_STORE(30, 31)

#define LATHE_CLOBBERS                                                                                        \
  "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", \
  "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23"
// clang-format on

#endif  // LATHE_KERNEL_GEMM_PACKED_QUADS_AARCH64_H_
