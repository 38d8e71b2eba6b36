#include <immintrin.h>
#include <string.h>

#include "native/kernel/gemm/byte_panels.h"

// One instruction multiplies bytes, one without a sign by one with, and adds neighbours in 16 bits, which saturates.
// The filters' absolute values, which are 128 at most, take the place without a sign: two products with numbers of 8
// bits fit into 16 bits then. Where a filter is below 0, x is inverted instead of negated, as -128 has no counterpart.
namespace lathe {
namespace {

// Of a tile, times two vectors of sums: GCC keeps some of them in memory, which costs less than more tiles.
constexpr int kRows = 6;

// What is the same for all pixels of a panel.
struct Store {
  const BytePanelState& state;
  __m256 factors[2];
  __m256i zero;
  __m128i low;

  Store(const BytePanelState& of, int64_t channel) : state(of) {
    for (int64_t j = 0; j < 2; ++j) factors[j] = _mm256_loadu_ps(of.factors + channel + 8 * j);
    zero = _mm256_set1_epi16(static_cast<int16_t>(of.y_zero));
    low = _mm_set1_epi8(ByteOf(of.low, {of.y_zero, of.low, of.high}));
  }

  // Half of a panel. `residual` may be null.
  LATHE_INLINE __m256i Half(__m256i sum, const int8_t* residual, int j) const {
    __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), factors[j]);
    if (residual != nullptr) {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(residual + 8 * j));
      const __m256i steps = _mm256_sub_epi32(_mm256_cvtepi8_epi32(bytes), _mm256_set1_epi32(state.residual_zero));
      value = _mm256_add_ps(value, _mm256_mul_ps(_mm256_cvtepi32_ps(steps), _mm256_set1_ps(state.residual_factor)));
    }
    // What is too small becomes the smallest number: that limit may wait.
    return _mm256_cvtps_epi32(_mm256_min_ps(value, _mm256_set1_ps(state.high)));
  }

  LATHE_INLINE __m128i operator()(const __m256i (&sums)[2], const int8_t* residual) const {
    const __m256i words = _mm256_packs_epi32(Half(sums[0], residual, 0), Half(sums[1], residual, 1));
    const __m256i ordered = _mm256_permute4x64_epi64(_mm256_adds_epi16(words, zero), 0xd8);
    return _mm_max_epi8(_mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)), low);
  }
};

// With a residual, or less than sixteen outputs, as the last panel of a group may have.
__attribute__((noinline)) void StoreOther(const Store& store, const __m256i (&sums)[2], const int8_t* residual,
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
  const Store store(state, tile.group * shape.outputs + tile.output + first);
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
