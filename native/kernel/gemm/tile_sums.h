// The sums of one tile of products, in vectors that any compiler knows; see tiles.h.
#ifndef LATHE_KERNEL_GEMM_TILE_SUMS_H_
#define LATHE_KERNEL_GEMM_TILE_SUMS_H_

#include "native/kernel/gemm/tiles.h"

namespace lathe {
namespace {

typedef float F4 __attribute__((vector_size(16)));  // maps to whatever the machine has, or to scalars

inline F4 Load4(const float* from) {
  F4 value;
  memcpy(&value, from, sizeof value);
  return value;
}

inline void Store4(float* to, F4 value) { memcpy(to, &value, sizeof value); }

// The sums of one tile; a pixel has two vectors of four outputs.
struct TileSums {
  F4 sums[kTilePixels][2];
};

// `rows` holds per tap kTileChunkPixels pointers, of which those of this tile are the first four; `offset` is added to
// each. `weights` advances by `stride` floats per element of depth.
inline void SumTile4(const float* const* rows, int64_t offset, int64_t taps, int64_t depth, const float* weights,
                     int64_t stride, TileSums* tile) {
  F4 a0 = {}, a1 = {}, b0 = {}, b1 = {}, c0 = {}, c1 = {}, d0 = {}, d1 = {};
  for (int64_t tap = 0; tap < taps; ++tap, rows += kTileChunkPixels) {
    const float* a = rows[0] + offset;
    const float* b = rows[1] + offset;
    const float* c = rows[2] + offset;
    const float* d = rows[3] + offset;
    for (int64_t k = 0; k < depth; ++k, weights += stride) {
      const F4 w0 = Load4(weights);
      const F4 w1 = Load4(weights + 4);
      a0 += a[k] * w0;
      a1 += a[k] * w1;
      b0 += b[k] * w0;
      b1 += b[k] * w1;
      c0 += c[k] * w0;
      c1 += c[k] * w1;
      d0 += d[k] * w0;
      d1 += d[k] * w1;
    }
  }
  *tile = {{{a0, a1}, {b0, b1}, {c0, c1}, {d0, d1}}};
}

inline void SumTile1(const float* const* rows, int64_t offset, int64_t taps, int64_t depth, const float* weights,
                     int64_t stride, TileSums* tile) {
  F4 a0 = {}, a1 = {};
  for (int64_t tap = 0; tap < taps; ++tap, rows += kTileChunkPixels) {
    const float* a = rows[0] + offset;
    for (int64_t k = 0; k < depth; ++k, weights += stride) {
      a0 += a[k] * Load4(weights);
      a1 += a[k] * Load4(weights + 4);
    }
  }
  tile->sums[0][0] = a0;
  tile->sums[0][1] = a1;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_TILE_SUMS_H_
