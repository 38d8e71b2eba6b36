// Tiles of products on machines that broadcast an input from memory: x86, and what the compiler makes of plain
// vectors. See panels.h, which chooses among these headers.
#ifndef LATHE_KERNEL_GEMM_PANEL_TILES_H_
#define LATHE_KERNEL_GEMM_PANEL_TILES_H_

#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

constexpr int kPanelVectors = kPanelWidth / kLanes;
// Elements of depth that pass by before the next pixels take their turn: the filters of a tile stay in cache meanwhile.
constexpr int64_t kBlockDepth = 512;

// One tile: up to `rows` pixels times some vectors of outputs.
struct PanelTile {
  const Element* const* rows;  // per tap kChunkPixels pointers; those of this tile are the first
  int64_t offset;              // added to each
  int64_t taps;
  int64_t depth;
  const Element* weights;  // of the first output, in its panel
  int64_t panel_elements;
  const Element* start;     // what the sums start from: the bias, or sums of earlier taps; may be null
  int64_t start_step;       // from one pixel to the next: 0 for a bias
  const Element* residual;  // may be null
  int64_t residual_step;    // from one pixel to the next
  Element* output;
  int64_t output_step;
  int count;  // pixels that are stored
  int last;   // outputs in the last vector
  float low;  // the result is clipped
  float high;
};

using PanelTileFunction = void (*)(const PanelTile& tile);

// Whether the inputs of one depth stay in registers while its filters pass by, instead of the other way round. A core
// that runs two threads starts about three instructions a cycle for each: beside twelve products of vectors, which take
// six cycles, there is room for few others.
template <int rows, int vectors>
constexpr bool kInputsStay = kLanes == 8 && rows > 1 && rows < vectors;

// `unroll` keeps the sums in registers: their indices have to be constants.
template <int rows, int vectors>
inline void SumPanelTile(const PanelTile& tile, Vec (&sums)[rows][vectors]) {
  // All pixels start from the same, or each from its own.
  const Element* start = tile.start;
#pragma GCC unroll 8
  for (int j = 0; j < vectors; ++j) {
    Vec first = Fill(0.0f);
    if (start != nullptr) first = LoadPart(start + j * kLanes, j + 1 < vectors ? kLanes : tile.last);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) sums[i][j] = first;
  }
  if (tile.start_step != 0) {
#pragma GCC unroll 16
    for (int i = 1; i < rows; ++i) {
      if (i < tile.count) start += tile.start_step;
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j) {
        sums[i][j] = LoadPart(start + j * kLanes, j + 1 < vectors ? kLanes : tile.last);
      }
    }
  }
  const Element* weights = tile.weights;
  const Element* const* pointers = tile.rows;
  for (int64_t tap = 0; tap < tile.taps; ++tap, pointers += kChunkPixels) {
    const Element* row[rows];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) row[i] = pointers[i] + tile.offset;
    const auto weight = [&](int j) {
      return Load(weights + j / kPanelVectors * tile.panel_elements + j % kPanelVectors * kLanes);
    };
    if constexpr (kInputsStay<rows, vectors>) {
#pragma GCC unroll 4
      for (int64_t k = 0; k < tile.depth; ++k, weights += kPanelWidth) {
        Vec x[rows];
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) x[i] = Fill(row[i][k]);
#pragma GCC unroll 8
        for (int j = 0; j < vectors; ++j) {
          const Vec w = weight(j);
#pragma GCC unroll 16
          for (int i = 0; i < rows; ++i) sums[i][j] = MulAdd(x[i], w, sums[i][j]);
        }
      }
      continue;
    }
    for (int64_t k = 0; k < tile.depth; ++k, weights += kPanelWidth) {
      Vec w[vectors];
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j) w[j] = weight(j);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const Vec x = Fill(row[i][k]);
#pragma GCC unroll 8
        for (int j = 0; j < vectors; ++j) sums[i][j] = MulAdd(x, w[j], sums[i][j]);
      }
    }
  }
}

// What is done to sums that lie aside: a residual is added, or the last vectors are not whole. Some machines take a
// dozen cycles to store a part of a vector.
__attribute__((noinline)) void FinishPanelTile(const PanelTile& tile, const Vec* from, int vectors) {
  const Vec low = Fill(tile.low), high = Fill(tile.high);
  Element* to = tile.output;
  const Element* residual = tile.residual;
  for (int i = 0; i < tile.count; ++i, to += tile.output_step) {
    for (int j = 0; j < vectors; ++j) {
      const int width = j + 1 < vectors ? kLanes : tile.last;
      Vec x = *from++;
      if (residual != nullptr) x = Add(x, LoadPart(residual + j * kLanes, width));
      x = AtMost(AtLeast(x, low), high);
      if (width == kLanes) {
        Store(to + j * kLanes, x);
        continue;
      }
      Element last[kLanes];
      Store(last, x);
      for (int k = 0; k < width; ++k) to[j * kLanes + k] = last[k];
    }
    if (residual != nullptr) residual += tile.residual_step;
  }
}

template <int rows, int vectors>
void RunPanelTile(const PanelTile& tile) {
  Vec sums[rows][vectors];
  SumPanelTile(tile, sums);
  if (tile.residual != nullptr || tile.last != kLanes) {
    Vec aside[rows * vectors];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j) aside[i * vectors + j] = sums[i][j];
    }
    return FinishPanelTile(tile, aside, vectors);
  }
  const Vec low = Fill(tile.low), high = Fill(tile.high);
  Element* to = tile.output;
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i, to += tile.output_step) {
    if (i == tile.count) break;
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) Store(to + j * kLanes, AtMost(AtLeast(sums[i][j], low), high));
  }
}

// Pixels of a tile by its vectors, and those of the smaller one for what is left at the end of a chunk: as many sums as
// the registers hold beside a row of weights and an input, or the other way round. A single pixel has tiles of its own,
// for products with vectors.
constexpr int WideRows(int vectors) {
  if (kLanes == 16) return vectors > 2 ? 7 : 14;
  if (kLanes == 8) return vectors == 1 ? 8 : 12 / vectors;
  return 4;
}
template <int vectors>
struct TileRows {
  static constexpr int kWide = WideRows(vectors);
  static constexpr int kNarrow = kLanes == 16 ? 7 : kWide;
};
constexpr int kMostVectors = kLanes >= 8 ? 4 : 2;  // of a tile
// Of a single pixel, whose time is that of reading the filters: memory gives more to several panels at a time.
constexpr int kRowVectors = kLanes >= 8 ? 8 : kMostVectors;
constexpr int kFewRowVectors = kLanes == 16 ? 4 : 2;  // where that many are not left
constexpr int64_t kItemPanels = kLanes == 16 ? 4 : 2;
constexpr int64_t kRowItemPanels =
    kRowVectors / kPanelVectors > kItemPanels ? kRowVectors / kPanelVectors : kItemPanels;
constexpr int64_t kChunkStep = TileRows<kMostVectors>::kWide;

// Inputs are read where they are.
inline int64_t PackedElements(const PanelShape&, int64_t) { return 0; }

// A tile reads all of its rows: those behind the last pixel are the last pixel's.
inline void PackChunk(const PanelJob& job, const PanelChunk& chunk) {
  for (int64_t tap = 0; tap < job.shape.taps; ++tap) {
    const Element** row = chunk.rows + tap * kChunkPixels;
    for (int p = chunk.count; p < kChunkPixels && p < chunk.count + 16; ++p) row[p] = row[chunk.count - 1];
  }
}

struct TileChoice {
  int wide;
  int narrow;
  PanelTileFunction run_wide;    // null where all tiles have one pixel
  PanelTileFunction run_narrow;  // the same
  PanelTileFunction run_one;
};

template <int vectors>
inline TileChoice ChooseTile() {
  using Rows = TileRows<vectors>;
  constexpr int kOne = vectors > kFewRowVectors ? Rows::kWide : 1;  // the last pixel of several
  return {Rows::kWide, Rows::kNarrow, RunPanelTile<Rows::kWide, vectors>, RunPanelTile<Rows::kNarrow, vectors>,
          RunPanelTile<kOne, vectors>};
}

inline TileChoice TileOf(int64_t vectors) {
  if constexpr (kMostVectors == 4) {
    if (vectors == 3) return ChooseTile<3>();
    if (vectors == 4) return ChooseTile<4>();
  }
  if constexpr (kRowVectors > kMostVectors) {
    if (vectors == kRowVectors) return {1, 1, nullptr, nullptr, RunPanelTile<1, kRowVectors>};
  }
  return vectors == 1 ? ChooseTile<1>() : ChooseTile<2>();
}

// Some taps of the pixels from `place`, times the outputs of the tile.
inline void RunTaps(const PanelJob& job, PanelTile tile, const Element* const* rows, int64_t place, int count,
                    int64_t vectors) {
  const TileChoice choice = TileOf(vectors);
  Element* const output = job.output + place;
  const Element* const residual = tile.residual;
  for (int done = 0; done < count; done += tile.count) {
    const bool wide = count - done > choice.narrow;
    const int most = wide ? choice.wide : choice.narrow;
    tile.count = count - done < most ? count - done : most;
    tile.rows = rows + done;
    tile.output = output + done * tile.output_step;
    if (tile.start_step != 0) tile.start = tile.output;
    if (residual != nullptr) tile.residual = residual + done * tile.residual_step;
    (wide ? choice.run_wide : tile.count > 1 ? choice.run_narrow : choice.run_one)(tile);
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
  const Element* packed = job.packed + group * shape.panels() * tile.panel_elements;
  const int64_t taps_at_once = kBlockDepth / shape.depth > 0 ? kBlockDepth / shape.depth : 1;
  const int64_t depth_at_once = DivideUp(shape.depth, DivideUp(shape.depth, kBlockDepth));
  for (int64_t first = begin; first < end;) {
    const int64_t left = DivideUp(end - first, kLanes);
    const int64_t most = chunk.count > 1 ? kMostVectors : left >= kRowVectors ? kRowVectors : kFewRowVectors;
    const int64_t vectors = left < most ? left : most;
    const int64_t outputs = end - first < vectors * kLanes ? end - first : vectors * kLanes;
    const int64_t channel = group * shape.outputs + first;
    const int64_t place = chunk.pixel * tile.output_step + channel;
    tile.last = static_cast<int>(outputs - (vectors - 1) * kLanes);
    tile.weights = packed + first / kPanelWidth * tile.panel_elements + first % kPanelWidth;
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
      tile.low = last ? low : -HUGE_VALF;
      tile.high = last ? high : HUGE_VALF;
      tile.residual = nullptr;
      if (last && job.residual != nullptr) tile.residual = job.residual + chunk.pixel * tile.residual_step + channel;
      RunTaps(job, tile, rows, place, chunk.count, vectors);
      tile.weights += tile.taps * tile.depth * kPanelWidth;
      tile.start_step = tile.output_step;
    }
    if (rest) job.activate(job.activation, job.output + place, chunk.count, tile.output_step, outputs);
    first += outputs;
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_PANEL_TILES_H_
