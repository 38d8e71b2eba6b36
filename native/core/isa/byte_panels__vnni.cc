#include "native/core/bytes_vnni.h"
// The header of the instruction set goes first.
#include <string.h>

#include "native/core/byte_panels.h"

// Four products of bytes are added to a sum in one instruction.
namespace lathe {
namespace {

constexpr __mmask16 kAll = 0xffff;  // GCC 12 warns of its own header's functions without a mask

inline int32_t LoadStep(const int8_t* from) {
  int32_t step;
  memcpy(&step, from, sizeof step);
  return step;
}

constexpr int kMostSums = 24;  // vectors of a tile

template <int rows, int panels>
__attribute__((noinline)) void SumTile(const BytePanelJob& job, const ByteTile& tile, int first_pixel, int64_t first,
                                       int32_t* buffer) {
  static_assert(rows * panels <= kMostSums, "the buffer holds a tile");
  const BytePanelState& state = *job.state;
  const BytePanelShape& shape = state.shape;
  const int64_t offset = tile.group * shape.depth;
  const int64_t panel_bytes = state.panel_bytes;
  const uint8_t* packed =
      state.packed + (tile.group * shape.panels() + (tile.output + first) / kBytePanel) * panel_bytes;
  __m512i sums[rows][panels];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < panels; ++j) sums[i][j] = _mm512_setzero_si512();
  }
  for (int64_t tap = 0; tap < shape.taps; ++tap) {
    const int8_t* row[rows];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) row[i] = tile.rows[tap * kBytePixels + first_pixel + i] + offset;
    for (int64_t k = 0; k < shape.depth; k += kByteDepth, packed += kBytePanel * kByteDepth) {
      __m512i w[panels];
#pragma GCC unroll 4
      for (int j = 0; j < panels; ++j) w[j] = _mm512_loadu_si512(packed + j * panel_bytes);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const __m512i x = _mm512_set1_epi32(LoadStep(row[i] + k));
#pragma GCC unroll 4
        for (int j = 0; j < panels; ++j) sums[i][j] = _mm512_dpbusd_epi32(sums[i][j], w[j], x);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < panels; ++j) _mm512_storeu_si512(buffer + (i * panels + j) * kBytePanel, sums[i][j]);
  }
}

__attribute__((noinline)) void StoreTile(const BytePanelJob& job, const ByteTile& tile, int first_pixel, int rows,
                                         int64_t first, int panels, const int32_t* buffer) {
  const BytePanelState& state = *job.state;
  const int64_t channels = state.shape.groups * state.shape.outputs;
  const int64_t channel = tile.group * state.shape.outputs + tile.output + first;
  const __m512 low = _mm512_set1_ps(state.low), high = _mm512_set1_ps(state.high);
  const __m512 residual_factor = _mm512_set1_ps(state.residual_factor);
  const __m512i residual_zero = _mm512_set1_epi32(state.residual_zero), zero = _mm512_set1_epi32(state.y_zero);
  for (int i = 0; i < rows && i < tile.count - first_pixel; ++i) {
    const int pixel = first_pixel + i;
    const __m512i correction = _mm512_set1_epi32(tile.sums[pixel]);
    for (int j = 0; j < panels; ++j, buffer += kBytePanel) {
      const int64_t at = j * kBytePanel;
      const int64_t count = tile.outputs - first - at;
      const __mmask16 mask = count >= kBytePanel ? kAll : static_cast<__mmask16>((1u << count) - 1);
      const __m512i start = _mm512_loadu_si512(state.starts + channel + at);
      const __m512i sum = _mm512_add_epi32(_mm512_sub_epi32(_mm512_loadu_si512(buffer), correction), start);
      __m512 value = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, sum), _mm512_loadu_ps(state.factors + channel + at));
      if (tile.residual != nullptr) {
        const __m128i bytes = _mm_maskz_loadu_epi8(mask, tile.residual + pixel * channels + first + at);
        const __m512i steps = _mm512_sub_epi32(_mm512_maskz_cvtepi8_epi32(kAll, bytes), residual_zero);
        value = _mm512_add_ps(value, _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, steps), residual_factor));
      }
      value = _mm512_maskz_max_ps(kAll, _mm512_maskz_min_ps(kAll, value, high), low);
      const __m512i stored = _mm512_add_epi32(_mm512_maskz_cvtps_epi32(kAll, value), zero);
      _mm_mask_storeu_epi8(tile.to + pixel * job.output_step + first + at, mask,
                           _mm512_maskz_cvtepi32_epi8(kAll, stored));
    }
  }
}

template <int panels>
inline void RunByteTiles(const BytePanelJob& job, const ByteTile& tile, int64_t first) {
  constexpr int kRows = panels == 1 ? 15 : panels == 2 ? 12 : 6;
  constexpr int kHalf = kRows / 2;
  alignas(64) int32_t buffer[kMostSums * kBytePanel];
  int rows = kRows;
  for (int pixel = 0; pixel < tile.count; pixel += rows) {
    const int left = tile.count - pixel;
    rows = left > kHalf ? kRows : left > 1 ? kHalf : 1;
    (rows == kRows   ? SumTile<kRows, panels>
     : rows == kHalf ? SumTile<kHalf, panels>
                     : SumTile<1, panels>)(job, tile, pixel, first, buffer);
    StoreTile(job, tile, pixel, rows, first, panels, buffer);
  }
}

}  // namespace
inline namespace LATHE_VECTORS {

int32_t SumBytes(const int8_t* row, int64_t depth) {
  const __m256i ones = _mm256_set1_epi8(1);
  __m256i sums = _mm256_setzero_si256();
  for (int64_t k = 0; k < depth; k += 32) {
    const int64_t rest = depth - k;
    const __mmask32 mask = rest >= 32 ? ~uint32_t{0} : (uint32_t{1} << rest) - 1;
    sums = _mm256_dpbusd_epi32(sums, ones, _mm256_maskz_loadu_epi8(mask, row + k));
  }
  const __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  const __m128i quarter = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(quarter, _mm_shuffle_epi32(quarter, 0xb1)));
}

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  for (int64_t first = 0; first < tile.outputs;) {
    const int64_t panels = (tile.outputs - first + kBytePanel - 1) / kBytePanel;
    if (panels >= 4) {
      RunByteTiles<4>(job, tile, first);
      first += 4 * kBytePanel;
    } else if (panels >= 2) {
      RunByteTiles<2>(job, tile, first);
      first += 2 * kBytePanel;
    } else {
      RunByteTiles<1>(job, tile, first);
      first += kBytePanel;
    }
  }
}

}  // namespace LATHE_VECTORS
}  // namespace lathe
