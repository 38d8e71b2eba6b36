// Tiles of products on RISC-V with vectors. See panels.h, which chooses among these headers.
//
// A tile is up to seven pixels times a group of four registers of outputs, which is what fits beside the filters: each
// instruction multiplies an input from a scalar register with all of them. How many outputs that is depends on the
// machine: the sixteen of a panel where registers have 128 bits, those of two panels with 256 and of four with 512
// bits, whose registers stand side by side. With any other length a vector holds one panel. An output's sums do not
// depend on any of this.
#ifndef LATHE_KERNEL_GEMM_PANEL_TILES_RVV_H_
#define LATHE_KERNEL_GEMM_PANEL_TILES_RVV_H_

#include <math.h>
#include <riscv_vector.h>

#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

static_assert(kPanelWidth == 16, "a panel has 64 bytes of each element of depth");

// Elements of depth that pass by before the next pixels take their turn: the filters of a tile stay in cache meanwhile.
constexpr int64_t kBlockDepth = 1024;
constexpr int kTileRows = 7;
constexpr int kMostPanels = 4;
constexpr int64_t kUnrolled = 8;  // elements of depth between which nothing but the filters' place is counted on
constexpr int64_t kItemPanels = kMostPanels;
constexpr int64_t kRowItemPanels = kMostPanels;
constexpr int64_t kChunkStep = kTileRows;
static_assert(kChunkPixels % kTileRows == 0, "a chunk holds whole tiles");

// One tile.
struct PanelTile {
  const float* const* rows;  // per tap kChunkPixels pointers; those of this tile are the first
  int64_t offset;            // added to each
  int64_t taps;
  int64_t depth;
  const float* weights;
  int64_t panel_elements;
  const float* start;     // what the sums start from: the bias, or sums of earlier taps; may be null
  int64_t start_step;     // from one pixel to the next: 0 for a bias
  const float* residual;  // may be null
  int64_t residual_step;
  float* output;
  int64_t output_step;
  int64_t last;    // the last panel, counted from `weights`
  int count;       // pixels that are stored
  size_t outputs;  // that are stored
  bool clips;
  float low;
  float high;
};

using PanelTileFunction = void (*)(const PanelTile& tile);

// Filters of one element of depth. Loads of whole registers do not depend on the length that is set. `last`: the number
// of the last panel that there is, which also stands for those behind it.
template <int panels>
LATHE_INLINE vfloat32m4_t LoadFilters(const float* from, int64_t panel, int64_t last) {
  if constexpr (panels == 4) {
    const auto at = [=](int64_t number) {
      return *reinterpret_cast<const vfloat32m1_t*>(from + (number < last ? number : last) * panel);
    };
    return __riscv_vcreate_v_f32m1_f32m4(at(0), at(1), at(2), at(3));
  } else if constexpr (panels == 2) {
    const auto at = [=](int number) { return *reinterpret_cast<const vfloat32m2_t*>(from + number * panel); };
    return __riscv_vcreate_v_f32m2_f32m4(at(0), at(1));
  } else {
    return __riscv_vle32_v_f32m4(from, kPanelWidth);
  }
}

// Limits hand NaN through.
LATHE_INLINE void StoreOutputs(const PanelTile& tile, int row, vfloat32m4_t sum) {
  if (row >= tile.count) return;
  const size_t length = tile.outputs;
  if (tile.residual != nullptr) {
    sum = __riscv_vfadd_vv_f32m4(sum, __riscv_vle32_v_f32m4(tile.residual + row * tile.residual_step, length), length);
  }
  if (tile.clips) {
    sum = __riscv_vfmerge_vfm_f32m4(sum, tile.low, __riscv_vmflt_vf_f32m4_b8(sum, tile.low, length), length);
    sum = __riscv_vfmerge_vfm_f32m4(sum, tile.high, __riscv_vmfgt_vf_f32m4_b8(sum, tile.high, length), length);
  }
  __riscv_vse32_v_f32m4(tile.output + row * tile.output_step, sum, length);
}

LATHE_INLINE vfloat32m4_t StartOf(const PanelTile& tile, int row) {
  if (tile.start == nullptr) return __riscv_vfmv_v_f_f32m4(0.0f, kMostPanels * kPanelWidth);
  const int64_t own = row < tile.count ? row : tile.count - 1;
  return __riscv_vle32_v_f32m4(tile.start + own * tile.start_step, tile.outputs);
}

// Registers are no elements of arrays: each sum has a name, and those that a smaller tile lacks are never used.
template <int rows, int panels>
void RunPanelTile(const PanelTile& tile) {
  constexpr size_t kLength = static_cast<size_t>(panels) * kPanelWidth;
  vfloat32m4_t a = StartOf(tile, 0), b = a, c = a, d = a, e = a, f = a, g = a;
  if (rows > 1) b = StartOf(tile, 1);
  if (rows > 2) c = StartOf(tile, 2), d = StartOf(tile, 3);
  if (rows > 4) e = StartOf(tile, 4), f = StartOf(tile, 5), g = StartOf(tile, 6);
  const float* weights = tile.weights;
  const float* const* pointers = tile.rows;
  for (int64_t tap = 0; tap < tile.taps; ++tap, pointers += kChunkPixels) {
    const float* row[rows];
#pragma clang loop unroll(full)
    for (int i = 0; i < rows; ++i) row[i] = pointers[i] + tile.offset;
    const auto add = [&](int64_t k) __attribute__((always_inline)) {
      const vfloat32m4_t w = LoadFilters<panels>(weights + k * kPanelWidth, tile.panel_elements, tile.last);
      a = __riscv_vfmacc_vf_f32m4(a, row[0][k], w, kLength);
      if constexpr (rows > 1) b = __riscv_vfmacc_vf_f32m4(b, row[1][k], w, kLength);
      if constexpr (rows > 2) c = __riscv_vfmacc_vf_f32m4(c, row[2][k], w, kLength);
      if constexpr (rows > 2) d = __riscv_vfmacc_vf_f32m4(d, row[3][k], w, kLength);
      if constexpr (rows > 4) e = __riscv_vfmacc_vf_f32m4(e, row[4][k], w, kLength);
      if constexpr (rows > 4) f = __riscv_vfmacc_vf_f32m4(f, row[5][k], w, kLength);
      if constexpr (rows > 4) g = __riscv_vfmacc_vf_f32m4(g, row[6][k], w, kLength);
    };
    int64_t left = tile.depth;
    for (; left >= kUnrolled; left -= kUnrolled, weights += kUnrolled * kPanelWidth) {
#pragma clang loop unroll(full)
      for (int64_t k = 0; k < kUnrolled; ++k) add(k);
#pragma clang loop unroll(full)
      for (int i = 0; i < rows; ++i) row[i] += kUnrolled;
    }
    for (; left > 0; --left, weights += kPanelWidth) {
      add(0);
#pragma clang loop unroll(full)
      for (int i = 0; i < rows; ++i) row[i] += 1;
    }
  }
  StoreOutputs(tile, 0, a);
  if (rows > 1) StoreOutputs(tile, 1, b);
  if (rows > 2) StoreOutputs(tile, 2, c), StoreOutputs(tile, 3, d);
  if (rows > 4) StoreOutputs(tile, 4, e), StoreOutputs(tile, 5, f), StoreOutputs(tile, 6, g);
}

// Inputs are read where they are.
inline int64_t PackedElements(const PanelShape&, int64_t) { return 0; }

// A tile reads all of its rows: those behind the last pixel are the last pixel's.
inline void PackChunk(const PanelJob& job, const PanelChunk& chunk) {
  for (int64_t tap = 0; tap < job.shape.taps; ++tap) {
    const Element** row = chunk.rows + tap * kChunkPixels;
    for (int p = chunk.count; p < kChunkPixels && p < chunk.count + kTileRows; ++p) row[p] = row[chunk.count - 1];
  }
}

// How many panels a vector holds here.
inline int64_t PanelsOfVector() {
  const size_t lanes = __riscv_vsetvlmax_e32m1();
  return lanes == 8 ? 2 : lanes == 16 ? 4 : 1;
}

template <int rows>
inline PanelTileFunction TileOf(int64_t panels) {
  return panels == 4 ? RunPanelTile<rows, 4> : panels == 2 ? RunPanelTile<rows, 2> : RunPanelTile<rows, 1>;
}

// Some taps of the pixels from `place`, times the outputs of the tile.
inline void RunTaps(const PanelJob& job, PanelTile tile, const Element* const* rows, int64_t place, int count,
                    int64_t panels) {
  Element* const output = job.output + place;
  const Element* const residual = tile.residual;
  for (int done = 0; done < count; done += tile.count) {
    const int left = count - done;
    const int most = left > 4 ? kTileRows : left > 2 ? 4 : left;
    tile.count = left < most ? left : most;
    tile.rows = rows + done;
    tile.output = output + done * tile.output_step;
    if (tile.start_step != 0) tile.start = tile.output;
    if (residual != nullptr) tile.residual = residual + done * tile.residual_step;
    const PanelTileFunction run = most == kTileRows ? TileOf<kTileRows>(panels)
                                  : most == 4       ? TileOf<4>(panels)
                                  : most == 2       ? TileOf<2>(panels)
                                                    : TileOf<1>(panels);
    run(tile);
  }
}

// Outputs [begin, end) of one group; `begin` is the first one of a panel.
inline void RunPanels(const PanelJob& job, const PanelChunk& chunk, int64_t group, int64_t begin, int64_t end) {
  const PanelShape& shape = job.shape;
  bool rest = false;
  float low = 0.0f, high = 0.0f;
  ReadClip(job.activation, &low, &high, &rest);
  PanelTile tile = {};
  tile.panel_elements = shape.panel_elements();
  tile.output_step = job.step();
  tile.residual_step = job.channels();
  tile.low = low;
  tile.high = high;
  const Element* packed = job.packed + group * shape.panels() * tile.panel_elements;
  const int64_t taps_at_once = kBlockDepth / shape.depth > 0 ? kBlockDepth / shape.depth : 1;
  const int64_t depth_at_once = DivideUp(shape.depth, DivideUp(shape.depth, kBlockDepth));
  const int64_t most = PanelsOfVector();
  for (int64_t first = begin; first < end;) {
    const int64_t left = DivideUp(end - first, kPanelWidth);
    const int64_t panels = left > 1 ? most : 1;
    const int64_t outputs = end - first < panels * kPanelWidth ? end - first : panels * kPanelWidth;
    const int64_t channel = group * shape.outputs + first;
    const int64_t place = chunk.pixel * tile.output_step + channel;
    tile.outputs = static_cast<size_t>(outputs);
    tile.last = DivideUp(outputs, kPanelWidth) - 1;
    tile.weights = packed + first / kPanelWidth * tile.panel_elements;
    tile.start = job.bias != nullptr ? job.bias + channel : nullptr;
    tile.start_step = 0;
    for (int64_t tap = 0, k = 0; tap < shape.taps;) {
      tile.taps = shape.taps - tap < taps_at_once ? shape.taps - tap : taps_at_once;
      tile.depth = shape.depth - k < depth_at_once ? shape.depth - k : depth_at_once;
      tile.offset = group * shape.depth + k;
      const Element* const* rows = chunk.rows + tap * kChunkPixels;
      k = k + tile.depth < shape.depth ? k + tile.depth : 0;
      if (k == 0) tap += tile.taps;
      const bool last = tap == shape.taps;
      tile.clips = last && (low > -HUGE_VALF || high < HUGE_VALF);
      tile.residual = nullptr;
      if (last && job.residual != nullptr) tile.residual = job.residual + chunk.pixel * tile.residual_step + channel;
      RunTaps(job, tile, rows, place, chunk.count, panels);
      tile.weights += tile.taps * tile.depth * kPanelWidth;
      tile.start_step = tile.output_step;
    }
    if (rest) job.activate(job.activation, job.output + place, chunk.count, tile.output_step, outputs);
    first += outputs;
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_PANEL_TILES_RVV_H_
