// What the tiles of bytes of 64-bit ARM have in common: how a row of sums in registers becomes stored bytes.
#ifndef LATHE_KERNEL_GEMM_BYTE_REQUANTISE_AARCH64_H_
#define LATHE_KERNEL_GEMM_BYTE_REQUANTISE_AARCH64_H_

#include <arm_neon.h>

#include <stddef.h>

#include "native/kernel/gemm/byte_store_arm.h"

namespace lathe {
namespace {

static_assert(offsetof(ByteStore, factors) == 0 && offsetof(ByteStore, zero) == 64 && offsetof(ByteStore, low) == 80 &&
                  offsetof(ByteStore, high) == 96,
              "the offsets below");

constexpr int kByteTapBytes = kByteChunkPixels * static_cast<int>(sizeof(int8_t*));

}  // namespace
}  // namespace lathe

// clang-format off
#define LATHE_EACH(op, type, a, b, c, d) \
  op " v" #a type ", v" #a type "\n" op " v" #b type ", v" #b type "\n" \
  op " v" #c type ", v" #c type "\n" op " v" #d type ", v" #d type "\n"
#define LATHE_SCALE(sum, factor) "fmul v" #sum ".4s, v" #sum ".4s, v" #factor ".4s\n"

// 16 sums in v<a> to v<d> become 16 bytes in v<a>, not clipped. Factors are in v<f> to v<i>, the zero point in v<zero>.
#define LATHE_REQUANTISE(a, b, c, d, f, g, h, i, zero)                                                 \
  LATHE_EACH("scvtf", ".4s", a, b, c, d)                                                               \
  LATHE_SCALE(a, f) LATHE_SCALE(b, g) LATHE_SCALE(c, h) LATHE_SCALE(d, i)                              \
  LATHE_EACH("fcvtns", ".4s", a, b, c, d)                                                              \
  "sqxtn v" #a ".4h, v" #a ".4s\n" "sqxtn v" #c ".4h, v" #c ".4s\n"                                    \
  "sqxtn2 v" #a ".8h, v" #b ".4s\n" "sqxtn2 v" #c ".8h, v" #d ".4s\n"                                  \
  "sqadd v" #a ".8h, v" #a ".8h, v" #zero ".8h\n" "sqadd v" #c ".8h, v" #c ".8h, v" #zero ".8h\n"      \
  "sqxtn v" #a ".8b, v" #a ".8h\n" "sqxtn2 v" #a ".16b, v" #c ".8h\n"
#define LATHE_CLIP_BYTES(a, low, high) \
  "smax v" #a ".16b, v" #a ".16b, v" #low ".16b\n" "smin v" #a ".16b, v" #a ".16b, v" #high ".16b\n"
#define LATHE_STORE_BYTES(a) "st1 {v" #a ".16b}, [%[to]], %[step]\n"
#define LATHE_MOVE_SUMS(op, from, a, b, c, d, step) \
  op " {v" #a ".4s, v" #b ".4s, v" #c ".4s, v" #d ".4s}, [%[" from "]]" step "\n"
#define LATHE_BYTE_CLOBBERS                                                                                       \
  "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",  \
  "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
// clang-format on

#endif  // LATHE_KERNEL_GEMM_BYTE_REQUANTISE_AARCH64_H_
