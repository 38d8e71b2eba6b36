#include <wasm_simd128.h>

#include "native/kernel/gemm/byte_panels.h"
#include "native/kernel/gemm/byte_store_simd128.h"

// Bytes are widened to sixteen bits: an instruction multiplies two outputs with four of depth and adds neighbours, so
// that a vector has two sums of each of two outputs, which are added at the end.
namespace lathe {
namespace {

constexpr int kRows = 2;                                                       // of a tile, times half a panel
constexpr int kHalf = 8;                                                       // outputs
constexpr int kVectors = 4;                                                    // of half a panel
constexpr int64_t kStepBytes = static_cast<int64_t>(kBytePanel) * kByteDepth;  // from one step of depth to the next

struct HalfPanel {
  const BytePanelState& state;
  const int8_t* packed;
  int64_t channel;  // the first

  // Sums of `rows` pixels, whose pointers are there once per tap.
  template <int rows>
  LATHE_INLINE void Sum(const int8_t* const* pointers, int64_t offset, v128_t (&sums)[rows][kVectors]) const {
    const BytePanelShape& shape = state.shape;
    const int8_t* w = packed;
    for (int64_t tap = 0; tap < shape.taps; ++tap, pointers += kByteChunkPixels) {
      const int8_t* row[rows];
      for (int r = 0; r < rows; ++r) row[r] = pointers[r] + offset;
      int64_t left = shape.steps();
      for (; left >= 2; left -= 2, w += 2 * kStepBytes) {
        v128_t x[rows];
        for (int r = 0; r < rows; ++r) {
          x[r] = wasm_i16x8_load8x8(row[r]);
          row[r] += 2 * kByteDepth;
        }
        v128_t four[rows];
        for (int r = 0; r < rows; ++r) four[r] = wasm_i64x2_shuffle(x[r], x[r], 0, 0);
        AddStep(w, four, sums);
        for (int r = 0; r < rows; ++r) four[r] = wasm_i64x2_shuffle(x[r], x[r], 1, 1);
        AddStep(w + kStepBytes, four, sums);
      }
      if (left == 0) continue;
      v128_t four[rows];
      for (int r = 0; r < rows; ++r) four[r] = wasm_i16x8_extend_low_i8x16(wasm_v128_load32_splat(row[r]));
      AddStep(w, four, sums);
      w += kStepBytes;
    }
  }

  template <int rows>
  static LATHE_INLINE void AddStep(const int8_t* w, const v128_t (&x)[rows], v128_t (&sums)[rows][kVectors]) {
    for (int i = 0; i < kVectors; ++i) {
      const v128_t filters = wasm_i16x8_load8x8(w + 2 * kByteDepth * i);
      for (int r = 0; r < rows; ++r) sums[r][i] = wasm_i32x4_add(sums[r][i], wasm_i32x4_dot_i16x8(filters, x[r]));
    }
  }

  // Of two vectors, the sums of four outputs.
  static LATHE_INLINE v128_t Whole(v128_t a, v128_t b) {
    return wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), wasm_i32x4_shuffle(a, b, 1, 3, 5, 7));
  }

  // The same in steps of y; `residual` may be null.
  LATHE_INLINE v128_t Steps(v128_t a, v128_t b, int64_t at, const int8_t* residual) const {
    return StepsOf(state, Whole(a, b), channel + at, residual == nullptr ? nullptr : residual + at);
  }

  // Eight outputs of a pixel.
  LATHE_INLINE v128_t Bytes(const v128_t (&sums)[kVectors], const int8_t* residual) const {
    const v128_t words =
        wasm_i16x8_narrow_i32x4(Steps(sums[0], sums[1], 0, residual), Steps(sums[2], sums[3], 4, residual));
    return wasm_i8x16_narrow_i16x8(words, words);
  }
};

// Some outputs of half a panel of `rows` pixels, `residual` and `to` being those of the first pixel.
template <int rows>
void RunRows(const BytePanelJob& job, const ByteTile& tile, const HalfPanel& half, int pixel, int64_t outputs,
             const int8_t* residual, int8_t* to) {
  const BytePanelShape& shape = job.state->shape;
  v128_t sums[rows][kVectors] = {};
  half.Sum<rows>(tile.rows + pixel, tile.group * shape.depth, sums);
  for (int r = 0; r < rows; ++r) {
    if (outputs == kHalf) {
      wasm_v128_store64_lane(to, half.Bytes(sums[r], residual), 0);
    } else {
      int8_t some[kHalf] = {};
      if (residual != nullptr) memcpy(some, residual, static_cast<size_t>(outputs));
      const v128_t bytes = half.Bytes(sums[r], residual != nullptr ? some : nullptr);
      wasm_v128_store64_lane(some, bytes, 0);
      memcpy(to, some, static_cast<size_t>(outputs));
    }
    if (residual != nullptr) residual += shape.groups * shape.outputs;
    to += job.output_step;
  }
}

// The same, as sums.
template <int rows>
void SumRows(const BytePanelJob& job, const ByteTile& tile, const HalfPanel& half, int pixel, int64_t first) {
  v128_t sums[rows][kVectors] = {};
  half.Sum<rows>(tile.rows + pixel, tile.group * job.state->shape.depth, sums);
  const int64_t outputs = tile.outputs - first < kHalf ? tile.outputs - first : kHalf;
  for (int r = 0; r < rows; ++r) {
    int32_t some[kHalf];
    wasm_v128_store(some, HalfPanel::Whole(sums[r][0], sums[r][1]));
    wasm_v128_store(some + 4, HalfPanel::Whole(sums[r][2], sums[r][3]));
    memcpy(tile.sums + (pixel + r) * job.output_step + first, some, static_cast<size_t>(outputs) * sizeof *some);
  }
}

// `run(half, first, pixel, single)` takes kRows rows of half a panel, or a single one.
template <typename Run>
LATHE_INLINE void RunTile(const BytePanelJob& job, const ByteTile& tile, const Run& run) {
  const BytePanelState& state = *job.state;
  const BytePanelShape& shape = state.shape;
  for (int64_t first = 0; first < tile.outputs; first += kHalf) {
    const int64_t output = tile.output + first;
    const int64_t panel = tile.group * shape.panels() + output / kBytePanel;
    const int8_t* packed = state.packed + panel * state.panel_bytes + output % kBytePanel * kByteDepth;
    const HalfPanel half = {state, packed, tile.group * shape.outputs + output};
    for (int pixel = 0; pixel < tile.count; pixel += kRows) run(half, first, pixel, tile.count - pixel < kRows);
  }
}

}  // namespace
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  const int64_t channels = job.state->shape.groups * job.state->shape.outputs;
  RunTile(job, tile, [&](const HalfPanel& half, int64_t first, int pixel, bool single) {
    const int64_t outputs = tile.outputs - first < kHalf ? tile.outputs - first : kHalf;
    const int8_t* residual = tile.residual == nullptr ? nullptr : tile.residual + pixel * channels + first;
    int8_t* to = tile.to + pixel * job.output_step + first;
    (single ? RunRows<1> : RunRows<kRows>)(job, tile, half, pixel, outputs, residual, to);
  });
}

void SumByteTile(const BytePanelJob& job, const ByteTile& tile) {
  RunTile(job, tile, [&](const HalfPanel& half, int64_t first, int pixel, bool single) {
    (single ? SumRows<1> : SumRows<kRows>)(job, tile, half, pixel, first);
  });
}

}  // namespace LATHE_ISA
}  // namespace lathe
