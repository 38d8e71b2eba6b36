// One tile of a product whose operands are both packed: quads of rows of inputs times a panel of kPanelWidth
// filters. The sums of a tile stay in registers; see packed_tile_<aarch64, armv7, fp16>.h for who computes them.
#ifndef LATHE_KERNEL_GEMM_PACKED_TILE_H_
#define LATHE_KERNEL_GEMM_PACKED_TILE_H_

#include <stddef.h>
#include <stdint.h>

#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

#if defined(__aarch64__)
constexpr int kTileQuads = 2;
#else
constexpr int kTileQuads = 1;
#endif

constexpr size_t kClipLow = 1;
constexpr size_t kClipHigh = 2;

// output[row][i] = clip(bias[i] + start[row][i] + sum over k of inputs[k][row] * filters[k][i])
struct PackedTile {
  const Element* inputs;   // a quad of rows after the other: [quad][depth][4]
  const Element* filters;  // [depth][kPanelWidth]
  const Element* bias;     // kPanelWidth elements, twice
  const Element* start;    // may be null; may be `output`
  Element* output;
  size_t input_bytes;   // from one quad of the inputs to the next
  size_t start_bytes;   // from one row of `start` to the next
  size_t output_bytes;  // from one row of `output` to the next
  size_t depth;
  size_t clip;  // kClipLow | kClipHigh
  Element low;
  Element high;
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_PACKED_TILE_H_
