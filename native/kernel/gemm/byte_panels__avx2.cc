#include <immintrin.h>
#include <string.h>

#include "native/kernel/gemm/byte_panels.h"

// One instruction multiplies bytes, one without a sign by one with, and adds neighbours in 16 bits, which saturates.
// The filters' absolute values, which are 128 at most, take the place without a sign: two products with numbers of 8
// bits fit into 16 bits then. Where a filter is below 0, x is inverted instead of negated, as -128 has no counterpart.
namespace lathe {
namespace {

constexpr int kRows = 3;  // of a tile, times two vectors of sums: GCC keeps more of them in memory

template <int rows>
__attribute__((noinline)) void SumTile(const BytePanelJob& job, const ByteTile& tile, int first_pixel, int64_t first,
                                       int32_t* buffer) {
  const BytePanelState& state = *job.state;
  const BytePanelShape& shape = state.shape;
  const int64_t panel = tile.group * shape.panels() + (tile.output + first) / kBytePanel;
  const int8_t* packed = state.packed + panel * state.panel_bytes;
  const int32_t* starts = state.starts + tile.group * shape.outputs + tile.output + first;
  __m256i sums[rows][2];
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) {
    const __m256i start = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(starts) + j);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) sums[i][j] = start;
  }
  const int8_t* const* pointers = tile.rows + first_pixel;
  for (int64_t tap = 0; tap < shape.taps; ++tap, pointers += kByteChunkPixels) {
    const int8_t* row[rows];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) row[i] = pointers[i] + tile.group * shape.depth;
    for (int64_t k = 0; k < shape.depth; k += kByteDepth, packed += kBytePanel * kByteDepth) {
      __m256i size[2], below[2];
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) {
        const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed) + j);
        size[j] = _mm256_abs_epi8(w);
        below[j] = _mm256_cmpgt_epi8(_mm256_setzero_si256(), w);
      }
#pragma GCC unroll 4
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
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(buffer + i * kBytePanel) + j, sums[i][j]);
    }
  }
}

// What is the same for all pixels of a panel.
struct Store {
  const BytePanelState& state;
  __m256 factors[2];

  Store(const BytePanelState& of, int64_t channel) : state(of) {
    for (int64_t j = 0; j < 2; ++j) factors[j] = _mm256_loadu_ps(of.factors + channel + 8 * j);
  }

  // Half of a panel. `residual` may be null.
  LATHE_INLINE __m256i Half(const int32_t* sums, const int8_t* residual, int j) const {
    const __m256i sum = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums) + j);
    __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), factors[j]);
    if (residual != nullptr) {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(residual + 8 * j));
      const __m256i steps = _mm256_sub_epi32(_mm256_cvtepi8_epi32(bytes), _mm256_set1_epi32(state.residual_zero));
      value = _mm256_add_ps(value, _mm256_mul_ps(_mm256_cvtepi32_ps(steps), _mm256_set1_ps(state.residual_factor)));
    }
    value = _mm256_max_ps(_mm256_min_ps(value, _mm256_set1_ps(state.high)), _mm256_set1_ps(state.low));
    return _mm256_add_epi32(_mm256_cvtps_epi32(value), _mm256_set1_epi32(state.y_zero));
  }

  LATHE_INLINE __m128i operator()(const int32_t* sums, const int8_t* residual) const {
    const __m256i words = _mm256_packs_epi32(Half(sums, residual, 0), Half(sums, residual, 1));
    const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
    return _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
  }
};

__attribute__((noinline)) void StoreTile(const BytePanelJob& job, const ByteTile& tile, int first_pixel, int count,
                                         int64_t first, const int32_t* buffer) {
  const BytePanelState& state = *job.state;
  const int64_t channels = state.shape.groups * state.shape.outputs;
  const Store store(state, tile.group * state.shape.outputs + tile.output + first);
  const int64_t width = tile.outputs - first < kBytePanel ? tile.outputs - first : kBytePanel;
  for (int i = 0; i < count; ++i, buffer += kBytePanel) {
    const int64_t pixel = first_pixel + i;
    int8_t* to = tile.to + pixel * job.output_step + first;
    const int8_t* residual = tile.residual == nullptr ? nullptr : tile.residual + pixel * channels + first;
    int8_t few[kBytePanel] = {};
    if (width < kBytePanel && residual != nullptr) {
      memcpy(few, residual, static_cast<size_t>(width));
      residual = few;
    }
    const __m128i bytes = store(buffer, residual);
    if (width == kBytePanel) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    } else {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(few), bytes);
      memcpy(to, few, static_cast<size_t>(width));
    }
  }
}

}  // namespace
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  alignas(32) int32_t buffer[kRows * kBytePanel];
  for (int64_t first = 0; first < tile.outputs; first += kBytePanel) {
    int rows = kRows;
    for (int pixel = 0; pixel < tile.count; pixel += rows) {
      const int left = tile.count - pixel;
      rows = left > 1 ? kRows : 1;
      (rows == kRows ? SumTile<kRows> : SumTile<1>)(job, tile, pixel, first, buffer);
      StoreTile(job, tile, pixel, left < rows ? left : rows, first, buffer);
    }
  }
}

}  // namespace LATHE_ISA
}  // namespace lathe
