#include <immintrin.h>
#include <string.h>

#include "native/kernel/gemm/byte_panels.h"
#include "native/kernel/quantised/requantise.h"

// Four products of bytes are added to a sum in one instruction, which takes x without a sign: 128 is added to it.
namespace lathe {
namespace {

constexpr __mmask16 kAll = 0xffff;  // GCC 12 warns of its own header's functions without a mask

inline int32_t LoadStep(const int8_t* from) {
  int32_t step;
  memcpy(&step, from, sizeof step);
  return step;
}

// Some panels of a tile, and how their sums are stored.
template <int panels>
struct Outputs {
  const ByteTile& tile;
  const int8_t* packed;
  const int32_t* starts;
  const float* factors;
  int64_t panel_bytes;
  int64_t first;  // of the outputs of the tile
  int64_t residual_step;
  int64_t output_step;
  __mmask64 mask;  // of the bytes of a pixel
  __m512 high;
  __m512 residual_factor;
  __m512i residual_zero;
  __m512i words;  // the zero point
  int8_t low;

  Outputs(const BytePanelJob& job, const ByteTile& tile, int64_t first) : tile(tile), first(first) {
    const BytePanelState& state = *job.state;
    const BytePanelShape& shape = state.shape;
    const int64_t channel = tile.group * shape.outputs + tile.output + first;
    const int64_t count = tile.outputs - first;
    panel_bytes = state.panel_bytes;
    packed = state.packed + (tile.group * shape.panels() + (tile.output + first) / kBytePanel) * panel_bytes;
    starts = state.starts + channel;
    factors = state.factors + channel;
    residual_step = shape.groups * shape.outputs;
    output_step = job.output_step;
    mask = count >= panels * kBytePanel ? ~uint64_t{0} >> (64 - panels * kBytePanel) : (uint64_t{1} << count) - 1;
    high = _mm512_set1_ps(state.high);
    residual_factor = _mm512_set1_ps(state.residual_factor);
    residual_zero = _mm512_set1_epi32(state.residual_zero);
    words = _mm512_set1_epi16(static_cast<int16_t>(state.y_zero));
    low = ByteOf(state.low, {state.y_zero, state.low, state.high});
  }

  // The steps of a panel, zero point not added, without a lower limit: what is too low remains so in 16 bits.
  template <bool has_residual>
  LATHE_INLINE __m512i Rounded(__m512i sum, int j, const int8_t* residual) const {
    __m512 value = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, sum), _mm512_loadu_ps(factors + j * kBytePanel));
    if (has_residual) {
      const __mmask16 part = static_cast<__mmask16>(mask >> (j * kBytePanel));
      const __m128i bytes = _mm_maskz_loadu_epi8(part, residual + j * kBytePanel);
      const __m512i steps = _mm512_sub_epi32(_mm512_maskz_cvtepi8_epi32(kAll, bytes), residual_zero);
      value = _mm512_add_ps(value, _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, steps), residual_factor));
    }
    return _mm512_maskz_cvtps_epi32(kAll, _mm512_maskz_min_ps(kAll, value, high));
  }

  LATHE_INLINE __m512i Words(__m512i a, __m512i b) const { return _mm512_adds_epi16(_mm512_packs_epi32(a, b), words); }

  // Packing works within quarters: their order is mended behind it.
  template <bool has_residual>
  LATHE_INLINE void Store(const __m512i (&sums)[panels], int pixel) const {
    int8_t* to = tile.to + pixel * output_step + first;
    const int8_t* residual = has_residual ? tile.residual + pixel * residual_step + first : nullptr;
    __m512i steps[panels];
#pragma GCC unroll 4
    for (int j = 0; j < panels; ++j) steps[j] = Rounded<has_residual>(sums[j], j, residual);
    const __m512i none = _mm512_setzero_si512();
    if constexpr (panels > 2) {
      const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
      const __m512i last = Words(steps[2], panels > 3 ? steps[panels - 1] : none);
      const __m512i bytes = _mm512_packs_epi16(Words(steps[0], steps[1]), last);
      _mm512_mask_storeu_epi8(
          to, mask, _mm512_max_epi8(_mm512_maskz_permutexvar_epi32(kAll, order, bytes), _mm512_set1_epi8(low)));
    } else {
      const __m256i bytes =
          _mm512_maskz_cvtsepi16_epi8(~__mmask32{0}, Words(steps[0], panels > 1 ? steps[panels - 1] : none));
      const __m256i ordered = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
      _mm256_mask_storeu_epi8(to, static_cast<__mmask32>(mask), _mm256_max_epi8(ordered, _mm256_set1_epi8(low)));
    }
  }
};

template <int rows, int panels>
__attribute__((noinline)) void RunTile(const BytePanelShape& shape, const Outputs<panels>& outputs, int first_pixel) {
  const ByteTile& tile = outputs.tile;
  const int64_t offset = tile.group * shape.depth;
  const int64_t panel_bytes = outputs.panel_bytes;
  const int8_t* packed = outputs.packed;
  const __m512i flip = _mm512_set1_epi8(-128);  // which adds 128
  __m512i sums[rows][panels];
#pragma GCC unroll 4
  for (int j = 0; j < panels; ++j) {
    const __m512i start = _mm512_loadu_si512(outputs.starts + j * kBytePanel);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) sums[i][j] = start;
  }
  const int8_t* const* pointers = tile.rows + first_pixel;
  for (int64_t tap = 0; tap < shape.taps; ++tap, pointers += kByteChunkPixels) {
    const int8_t* row[rows];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) row[i] = pointers[i] + offset;
    for (int64_t k = 0; k < shape.depth; k += kByteDepth, packed += kBytePanel * kByteDepth) {
      __m512i w[panels];
#pragma GCC unroll 4
      for (int j = 0; j < panels; ++j) w[j] = _mm512_loadu_si512(packed + j * panel_bytes);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const __m512i x = _mm512_xor_si512(_mm512_set1_epi32(LoadStep(row[i] + k)), flip);
#pragma GCC unroll 4
        for (int j = 0; j < panels; ++j) sums[i][j] = _mm512_dpbusd_epi32(sums[i][j], x, w[j]);
      }
    }
  }
  const int count = tile.count - first_pixel;
  if (tile.residual == nullptr) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      if (i < count) outputs.template Store<false>(sums[i], first_pixel + i);
    }
    return;
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    if (i < count) outputs.template Store<true>(sums[i], first_pixel + i);
  }
}

template <int panels>
inline void RunTiles(const BytePanelJob& job, const ByteTile& tile, int64_t first) {
  constexpr int kRows = panels == 1 ? 15 : 24 / panels;
  constexpr int kHalf = kRows / 2;
  const Outputs<panels> outputs(job, tile, first);
  int rows = kRows;
  for (int pixel = 0; pixel < tile.count; pixel += rows) {
    const int left = tile.count - pixel;
    rows = left > kHalf ? kRows : left > 1 ? kHalf : 1;
    (rows == kRows   ? RunTile<kRows, panels>
     : rows == kHalf ? RunTile<kHalf, panels>
                     : RunTile<1, panels>)(job.state->shape, outputs, pixel);
  }
}

}  // namespace
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  int64_t first = 0;
  const int64_t panels = (tile.outputs + kBytePanel - 1) / kBytePanel;
  for (; first + 3 * kBytePanel < panels * kBytePanel; first += 4 * kBytePanel) RunTiles<4>(job, tile, first);
  const int64_t rest = panels - first / kBytePanel;
  if (rest > 0) (rest == 1 ? RunTiles<1> : rest == 2 ? RunTiles<2> : RunTiles<3>)(job, tile, first);
}

}  // namespace LATHE_ISA
}  // namespace lathe
