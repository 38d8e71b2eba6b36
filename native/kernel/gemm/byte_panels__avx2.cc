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
constexpr int kFewRows = 4;

template <int vectors>
LATHE_INLINE void StoreWhole(__m128i bytes, int8_t* to) {
  if constexpr (vectors == 2) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  } else {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), bytes);
  }
}

// The first `width` of sixteen bytes: the second half of what is stored overlaps the first.
LATHE_INLINE void StoreFirst(__m128i bytes, int64_t width, int8_t* to) {
  static constexpr int8_t kPlaces[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                       12, 13, 14, 15, -1, -1, -1, -1, -1, -1, -1};
  if (width >= 8) {
    const __m128i places = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kPlaces + width - 8));
    StoreWhole<1>(bytes, to);
    return StoreWhole<1>(_mm_shuffle_epi8(bytes, places), to + width - 8);
  }
  uint64_t few = static_cast<uint64_t>(_mm_cvtsi128_si64(bytes));
  if (width >= 4) {
    const uint32_t first = static_cast<uint32_t>(few), second = static_cast<uint32_t>(few >> (8 * (width - 4)));
    memcpy(to, &first, sizeof first);
    memcpy(to + width - 4, &second, sizeof second);
    return;
  }
  for (int64_t i = 0; i < width; ++i, few >>= 8) to[i] = static_cast<int8_t>(few);
}

// Where the rows of a tile go to.
struct RowPlace {
  int count;
  int64_t width;  // of each, up to 16 bytes
  int8_t* to;
  int64_t step;
  const int8_t* residual;  // may be null
  int64_t residual_step;
};

// With a residual, or less outputs than the vectors hold, as the last panel of a group may have.
template <int vectors>
__attribute__((noinline)) void StoreOther(const ByteStore& store, const __m256i (*sums)[vectors], RowPlace place) {
  const bool whole = place.width >= 8 * vectors;
  int8_t few[kBytePanel] = {};
  for (int i = 0; i < place.count; ++i, place.to += place.step) {
    const int8_t* residual = place.residual;
    if (residual != nullptr) {
      if (!whole) residual = static_cast<const int8_t*>(memcpy(few, residual, static_cast<size_t>(place.width)));
      place.residual += place.residual_step;
    }
    const __m128i bytes = store(sums[i], residual);
    if (whole) {
      StoreWhole<vectors>(bytes, place.to);
    } else {
      StoreFirst(bytes, place.width, place.to);
    }
  }
}

// The first `width` sums of some rows.
template <int rows, int vectors>
LATHE_INLINE void StoreSums(const __m256i (&sums)[rows][vectors], int count, int64_t width, int32_t* to, int64_t step) {
  alignas(32) int32_t all[8 * vectors];
#pragma GCC unroll 6
  for (int i = 0; i < rows; ++i, to += step) {
    if (i == count) return;
    int32_t* place = width < 8 * vectors ? all : to;
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) _mm256_storeu_si256(reinterpret_cast<__m256i*>(place + 8 * j), sums[i][j]);
    if (width < 8 * vectors) memcpy(to, all, static_cast<size_t>(width) * sizeof *to);
  }
}

// Of the outputs of a panel, those of the first `vectors` of sums; what the others would be is not stored. `plain`: the
// sums are stored as they are.
template <int rows, int vectors, bool plain>
__attribute__((noinline)) void RunRows(const BytePanelJob& job, const ByteTile& tile, int first_pixel, int count,
                                       int64_t first) {
  const BytePanelState& state = *job.state;
  const BytePanelShape& shape = state.shape;
  const int64_t panel = tile.group * shape.panels() + (tile.output + first) / kBytePanel;
  const int8_t* packed = state.packed + panel * state.panel_bytes;
  const int32_t* starts = state.starts + tile.group * shape.outputs + tile.output + first;
  __m256i sums[rows][vectors];
#pragma GCC unroll 2
  for (int j = 0; j < vectors; ++j) {
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
      __m256i size[vectors], below[vectors];
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) {
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
        for (int j = 0; j < vectors; ++j) {
          const __m256i pairs = _mm256_maddubs_epi16(size[j], _mm256_xor_si256(x, below[j]));
          sums[i][j] = _mm256_add_epi32(sums[i][j], _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
        }
      }
    }
  }
  const int64_t channels = shape.groups * shape.outputs, width = tile.outputs - first;
  if constexpr (plain) {
    StoreSums(sums, count, width, tile.sums + first_pixel * job.output_step + first, job.output_step);
    return;
  }
  const ByteStore store(state, tile.group * shape.outputs + tile.output + first);
  int8_t* to = tile.to + first_pixel * job.output_step + first;
  if (tile.residual == nullptr && width >= 8 * vectors) {
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i, to += job.output_step) {
      if (i == count) return;
      StoreWhole<vectors>(store(sums[i], nullptr), to);
    }
    return;
  }
  const int8_t* residual = tile.residual == nullptr ? nullptr : tile.residual + first_pixel * channels + first;
  StoreOther(store, sums, {count, width, to, job.output_step, residual, channels});
}

template <bool plain>
LATHE_INLINE void RunTile(const BytePanelJob& job, const ByteTile& tile) {
  for (int64_t first = 0; first < tile.outputs; first += kBytePanel) {
    const auto many = tile.outputs - first > kBytePanel / 2 ? RunRows<kRows, 2, plain> : RunRows<kRows, 1, plain>;
    int rows = kRows;
    for (int pixel = 0; pixel < tile.count; pixel += rows) {
      const int left = tile.count - pixel;
      if constexpr (plain) {  // batches and sequences may have few rows
        if (left == 2 * kFewRows || (left > 1 && left <= kFewRows)) {
          rows = kFewRows;
          RunRows<kFewRows, 2, plain>(job, tile, pixel, left < rows ? left : rows, first);
          continue;
        }
      }
      rows = left > 1 ? kRows : 1;
      (rows == kRows ? many : RunRows<1, 2, plain>)(job, tile, pixel, left < rows ? left : rows, first);
    }
  }
}

}  // namespace
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<false>(job, tile); }

void SumByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<true>(job, tile); }

}  // namespace LATHE_ISA
}  // namespace lathe
