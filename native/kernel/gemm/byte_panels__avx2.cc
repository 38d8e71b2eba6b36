#include <immintrin.h>
#include <string.h>

#include "native/kernel/gemm/byte_panels.h"
#include "native/kernel/gemm/byte_store_avx2.h"

// One instruction multiplies bytes, one without a sign by one with, and adds neighbours in 16 bits, which saturates.
// The filters' absolute values, which are 128 at most, take the place without a sign: two products with numbers of 8
// bits fit into 16 bits then. Where a filter is below 0, x is inverted instead of negated, as -128 has no counterpart.
namespace lathe {
namespace {

// Of a tile, times two vectors of sums: GCC keeps some of them in memory, which costs less than more tiles.
constexpr int kRows = 6;

// With a residual, or less than sixteen outputs, as the last panel of a group may have.
__attribute__((noinline)) void StoreOther(const ByteStore& store, const __m256i (&sums)[2], const int8_t* residual,
                                          int64_t width, int8_t* to) {
  if (width >= kBytePanel) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), store(sums, residual));
  int8_t few[kBytePanel] = {};
  if (residual != nullptr) memcpy(few, residual, static_cast<size_t>(width));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(few), store(sums, residual != nullptr ? few : nullptr));
  memcpy(to, few, static_cast<size_t>(width));
}

template <int rows>
__attribute__((noinline)) void RunRows(const BytePanelJob& job, const ByteTile& tile, int first_pixel, int count,
                                       int64_t first) {
  const BytePanelState& state = *job.state;
  const BytePanelShape& shape = state.shape;
  const int64_t panel = tile.group * shape.panels() + (tile.output + first) / kBytePanel;
  const int8_t* packed = state.packed + panel * state.panel_bytes;
  const int32_t* starts = state.starts + tile.group * shape.outputs + tile.output + first;
  __m256i sums[rows][2];
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) {
    const __m256i start = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(starts) + j);
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) sums[i][j] = start;
  }
  const int8_t* const* pointers = tile.rows + first_pixel;
  for (int64_t tap = 0; tap < shape.taps; ++tap, pointers += kByteChunkPixels) {
    const int8_t* row[rows];
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) row[i] = pointers[i] + tile.group * shape.depth;
    for (int64_t k = 0; k < shape.depth; k += kByteDepth, packed += kBytePanel * kByteDepth) {
      __m256i size[2], below[2];
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) {
        const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed) + j);
        size[j] = _mm256_abs_epi8(w);
        below[j] = _mm256_cmpgt_epi8(_mm256_setzero_si256(), w);
      }
#pragma GCC unroll 6
      for (int i = 0; i < rows; ++i) {
        int32_t step;
        memcpy(&step, row[i] + k, sizeof step);
        const __m256i x = _mm256_set1_epi32(step);
#pragma GCC unroll 2
        for (int j = 0; j < 2; ++j) {
          const __m256i pairs = _mm256_maddubs_epi16(size[j], _mm256_xor_si256(x, below[j]));
          sums[i][j] = _mm256_add_epi32(sums[i][j], _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
        }
      }
    }
  }
  const ByteStore store(state, tile.group * shape.outputs + tile.output + first);
  const int64_t channels = shape.groups * shape.outputs, width = tile.outputs - first;
  const int8_t* residual = tile.residual == nullptr ? nullptr : tile.residual + first_pixel * channels + first;
  int8_t* to = tile.to + first_pixel * job.output_step + first;
  if (residual == nullptr && width >= kBytePanel) {
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i, to += job.output_step) {
      if (i == count) return;
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), store(sums[i], nullptr));
    }
    return;
  }
  for (int i = 0; i < count; ++i, to += job.output_step) {
    StoreOther(store, sums[i], residual, width, to);
    if (residual != nullptr) residual += channels;
  }
}

}  // namespace
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  for (int64_t first = 0; first < tile.outputs; first += kBytePanel) {
    int rows = kRows;
    for (int pixel = 0; pixel < tile.count; pixel += rows) {
      const int left = tile.count - pixel;
      rows = left > 1 ? kRows : 1;
      (rows == kRows ? RunRows<kRows> : RunRows<1>)(job, tile, pixel, left < rows ? left : rows, first);
    }
  }
}

}  // namespace LATHE_ISA
}  // namespace lathe
