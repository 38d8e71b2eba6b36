// Products of rows of input with packed filters: the heart of convolutions and matrix products.
//
// Filters are packed as [group][panel of kPanelWidth outputs][tap][depth][kPanelWidth], zero padded, so that the
// innermost loop reads them in order. Inputs are given as one pointer per tap and pixel to `depth * groups` floats; a
// pixel outside of the image points to zeros. The order of additions per output is (tap, depth), whatever the tile or
// thread.
//
// The header of an instruction set (vector_*.h) goes before this one.
#ifndef LATHE_CORE_PANELS_H_
#define LATHE_CORE_PANELS_H_

#include "native/core/activation.h"
#include "native/core/check.h"
#include "native/core/kernel.h"

namespace lathe {
namespace {

constexpr int kPanelWidth = 16;  // whatever the vectors: all instruction sets of an ABI share packed filters
// Elements of depth that pass by before the next pixels take their turn: the filters of a tile stay in cache meanwhile.
constexpr int64_t kBlockDepth = 1024;
constexpr int kPanelVectors = kPanelWidth / kLanes;

// The unit of parallel work: its inputs stay in cache while all filters pass by. A multiple of the pixels of every
// tile.
constexpr int kChunkPixels = kLanes == 8 ? 60 : 56;

inline int64_t DivideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

// The shape of packed filters.
struct PanelShape {
  int64_t groups;
  int64_t outputs;  // per group
  int64_t taps;
  int64_t depth;

  int64_t panels() const { return DivideUp(outputs, kPanelWidth); }  // per group
  int64_t panel_floats() const { return taps * depth * kPanelWidth; }
  int64_t floats() const { return groups * panels() * panel_floats(); }
};

// From [groups * outputs, taps, depth] to the packed order. Fills every element, padding included.
inline void PackPanels(const PanelShape& shape, const float* from, float* to) {
  const int64_t inner = shape.taps * shape.depth;
  for (int64_t group = 0; group < shape.groups; ++group) {
    const float* source = from + group * shape.outputs * inner;
    for (int64_t first = 0; first < shape.outputs; first += kPanelWidth) {
      for (int64_t k = 0; k < inner; ++k) {
        for (int64_t j = 0; j < kPanelWidth; ++j, ++to) {
          *to = first + j < shape.outputs ? source[(first + j) * inner + k] : 0.0f;
        }
      }
    }
  }
}

// One tile: up to `rows` pixels times some vectors of outputs.
struct PanelTile {
  const float* const* rows;  // per tap kChunkPixels pointers; those of this tile are the first
  int64_t offset;            // added to each
  int64_t taps;
  int64_t depth;
  const float* weights;  // of the first output, in its panel
  int64_t panel_floats;
  const float* start;     // what the sums start from: the bias, or sums of earlier taps; may be null
  int64_t start_step;     // from one pixel to the next: 0 for a bias
  const float* residual;  // as `output`; may be null
  float* output;
  int64_t channels;  // from one pixel of the output to the next
  int count;         // pixels that are stored
  int last;          // outputs in the last vector
  float low;         // the result is clipped
  float high;
};

using PanelTileFunction = void (*)(const PanelTile& tile);

// `unroll` keeps the sums in registers: their indices have to be constants.
template <int rows, int vectors>
inline void SumPanelTile(const PanelTile& tile, Vec (&sums)[rows][vectors]) {
  const float* start = tile.start;
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      sums[i][j] = Fill(0.0f);
      if (start != nullptr) sums[i][j] = LoadPart(start + j * kLanes, j + 1 < vectors ? kLanes : tile.last);
    }
    if (i + 1 < tile.count) start += tile.start_step;
  }
  const float* weights = tile.weights;
  const float* const* pointers = tile.rows;
  for (int64_t tap = 0; tap < tile.taps; ++tap, pointers += kChunkPixels) {
    const float* row[rows];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) row[i] = pointers[i] + tile.offset;
    for (int64_t k = 0; k < tile.depth; ++k, weights += kPanelWidth) {
      Vec w[vectors];
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j) {
        w[j] = Load(weights + j / kPanelVectors * tile.panel_floats + j % kPanelVectors * kLanes);
      }
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const Vec x = Fill(row[i][k]);
#pragma GCC unroll 8
        for (int j = 0; j < vectors; ++j) sums[i][j] = MulAdd(x, w[j], sums[i][j]);
      }
    }
  }
}

template <int rows, int vectors>
void RunPanelTile(const PanelTile& tile) {
  Vec sums[rows][vectors];
  SumPanelTile(tile, sums);
  const Vec low = Fill(tile.low), high = Fill(tile.high);
  float* to = tile.output;
  const float* residual = tile.residual;
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    if (i == tile.count) return;
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      const int count = j + 1 < vectors ? kLanes : tile.last;
      Vec x = sums[i][j];
      if (residual != nullptr) x = Add(x, LoadPart(residual + j * kLanes, count));
      x = AtMost(AtLeast(x, low), high);
      if (j + 1 < vectors) {
        Store(to + j * kLanes, x);
      } else {
        StorePart(to + j * kLanes, x, count);
      }
    }
    to += tile.channels;
    if (residual != nullptr) residual += tile.channels;
  }
}

// Pixels of a tile by its vectors, and those of the smaller one for what is left at the end of a chunk: as many sums as
// the registers hold beside a row of weights and an input.
template <int vectors>
struct TileRows {
  static constexpr int kWide = kLanes == 16 ? (vectors > 2 ? 7 : 14) : kLanes == 8 ? 6 : 4;
  static constexpr int kNarrow = kLanes == 16 ? 7 : kLanes == 8 ? 3 : 1;
};
constexpr int kMostVectors = kLanes == 16 ? 4 : 2;  // of a tile

struct TileChoice {
  int wide;
  int narrow;
  PanelTileFunction run_wide;
  PanelTileFunction run_narrow;
};

template <int vectors>
inline TileChoice ChooseTile() {
  using Rows = TileRows<vectors>;
  return {Rows::kWide, Rows::kNarrow, RunPanelTile<Rows::kWide, vectors>, RunPanelTile<Rows::kNarrow, vectors>};
}

inline TileChoice TileOf(int64_t vectors) {
  if constexpr (kMostVectors == 4) {
    if (vectors == 3) return ChooseTile<3>();
    if (vectors == 4) return ChooseTile<4>();
  }
  return vectors == 1 ? ChooseTile<1>() : ChooseTile<2>();
}

// One run over all pixels of an output whose channels are groups * outputs.
struct PanelJob {
  PanelShape shape;
  const float* packed;
  const float* bias;      // may be null
  const float* residual;  // may be null; as many elements as the output
  Activation activation;
  float* output;
  int64_t pixels;
  const float** tables;  // scratch: table_pointers() per thread
  int64_t table_pointers() const { return shape.taps * kChunkPixels; }
  int64_t channels() const { return shape.groups * shape.outputs; }
};

// What of an activation the tiles do; `*rest` is whether something is left to be done.
inline void ReadClip(const Activation& activation, float* low, float* high, bool* rest) {
  *low = -HUGE_VALF;
  *high = HUGE_VALF;
  *rest = false;
  switch (activation.kind) {
    case ActivationKind::kNone:
      return;
    case ActivationKind::kRelu:
      *low = 0.0f;
      return;
    case ActivationKind::kClip:
      *low = activation.alpha;
      *high = activation.beta;
      return;
    default:
      *rest = true;
  }
}

// Some taps of the pixels from `place`, times the outputs of the tile.
inline void RunTaps(const PanelJob& job, PanelTile tile, const float* const* rows, int64_t place, int count,
                    int64_t vectors) {
  const TileChoice choice = TileOf(vectors);
  float* const output = job.output + place;
  for (int done = 0; done < count; done += tile.count) {
    const bool wide = count - done > choice.narrow;
    const int most = wide ? choice.wide : choice.narrow;
    tile.count = count - done < most ? count - done : most;
    tile.rows = rows + done;
    tile.output = output + done * tile.channels;
    if (tile.start_step != 0) tile.start = tile.output;
    if (tile.residual != nullptr) tile.residual = job.residual + place + done * tile.channels;
    (wide ? choice.run_wide : choice.run_narrow)(tile);
  }
}

// Pixels [pixel, pixel + count) times outputs [begin, end) of one group; `begin` is the first one of a panel.
inline void RunPanels(const PanelJob& job, const float* const* rows, int64_t pixel, int count, int64_t group,
                      int64_t begin, int64_t end) {
  const PanelShape& shape = job.shape;
  bool rest = false;
  float low = 0.0f, high = 0.0f;
  ReadClip(job.activation, &low, &high, &rest);
  PanelTile tile = {};
  tile.offset = group * shape.depth;
  tile.depth = shape.depth;
  tile.panel_floats = shape.panel_floats();
  tile.channels = job.channels();
  const float* packed = job.packed + group * shape.panels() * tile.panel_floats;
  const int64_t taps_at_once = kBlockDepth / shape.depth > 0 ? kBlockDepth / shape.depth : 1;
  for (int64_t first = begin; first < end;) {
    const int64_t left = DivideUp(end - first, kLanes);
    const int64_t vectors = left < kMostVectors ? left : kMostVectors;
    const int64_t outputs = end - first < vectors * kLanes ? end - first : vectors * kLanes;
    const int64_t channel = group * shape.outputs + first;
    const int64_t place = pixel * tile.channels + channel;
    tile.last = static_cast<int>(outputs - (vectors - 1) * kLanes);
    tile.weights = packed + first / kPanelWidth * tile.panel_floats + first % kPanelWidth;
    tile.start = job.bias != nullptr ? job.bias + channel : nullptr;
    tile.start_step = 0;
    for (int64_t tap = 0; tap < shape.taps; tap += tile.taps) {
      tile.taps = shape.taps - tap < taps_at_once ? shape.taps - tap : taps_at_once;
      const bool last = tap + tile.taps == shape.taps;
      tile.low = last ? low : -HUGE_VALF;
      tile.high = last ? high : HUGE_VALF;
      tile.residual = last ? job.residual : nullptr;
      RunTaps(job, tile, rows + tap * kChunkPixels, place, count, vectors);
      tile.weights += tile.taps * shape.depth * kPanelWidth;
      tile.start_step = tile.channels;
    }
    for (int p = 0; rest && p < count; ++p) {
      Activate(job.activation, job.output + place + p * tile.channels, outputs);
    }
    first += outputs;
  }
}

// Panels [begin, end), counted through all groups.
inline void RunPanelRange(const PanelJob& job, const float* const* rows, int64_t pixel, int count, int64_t begin,
                          int64_t end) {
  const int64_t panels = job.shape.panels();
  while (begin < end) {
    const int64_t group = begin / panels;
    const int64_t first = begin - group * panels;
    const int64_t rest = panels - first;
    const int64_t taken = rest < end - begin ? rest : end - begin;
    const int64_t last = (first + taken) * kPanelWidth;
    RunPanels(job, rows, pixel, count, group, first * kPanelWidth, last < job.shape.outputs ? last : job.shape.outputs);
    begin += taken;
  }
}

// `locate(pixel, count, rows)` writes, for `count` pixels from `pixel`, the pointers rows[tap * kChunkPixels + p].
template <typename Locate>
inline void RunPanelJob(const RunContext& context, const PanelJob& job, const Locate& locate) {
  constexpr int64_t kItems = 64;  // enough for any number of cores; few pixels are split by outputs
  const int64_t chunks = DivideUp(job.pixels, kChunkPixels);
  const int64_t panels = job.shape.groups * job.shape.panels();
  if (chunks == 0 || panels == 0) return;
  const int64_t wanted = DivideUp(kItems, chunks);
  const int64_t per_item = DivideUp(DivideUp(panels, wanted), kMostVectors) * kMostVectors;
  const int64_t splits = DivideUp(panels, per_item);
  context.For(chunks * splits, 1, [&](int64_t begin, int64_t end, int thread) {
    const float** rows = job.tables + thread * job.table_pointers();
    int64_t located = -1;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t chunk = item / splits;
      const int64_t pixel = chunk * kChunkPixels;
      const int64_t rest = job.pixels - pixel;
      const int count = static_cast<int>(rest < kChunkPixels ? rest : kChunkPixels);
      if (chunk != located) {
        locate(pixel, count, rows);
        // A tile reads all of its rows: those behind the last pixel are the last pixel's.
        for (int64_t tap = 0; tap < job.shape.taps; ++tap) {
          const float** row = rows + tap * kChunkPixels;
          for (int p = count; p < kChunkPixels && p < count + 16; ++p) row[p] = row[count - 1];
        }
      }
      located = chunk;
      const int64_t first = (item - chunk * splits) * per_item;
      const int64_t last = first + per_item < panels ? first + per_item : panels;
      RunPanelRange(job, rows, pixel, count, first, last);
    }
  });
}

// Filters that are packed at create where they are constant, else at each run into scratch.
struct PanelState {
  PanelShape shape;
  const float* packed;  // null: not constant
  Activation activation;
};

// `weights` is [groups * outputs, taps, depth] in `shape`; its shape was checked.
inline Code PreparePanels(PrepareContext& context, const Tensor& weights, PanelState* state) {
  if (weights.shape.Count() > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its filters are too large");
  if (!weights.is_constant()) return Code::kOk;
  float* packed = nullptr;
  LATHE_TRY(AllocateArray(context, state->shape.floats(), &packed));
  PackPanels(state->shape, weights.As<float>(), packed);
  state->packed = packed;
  return Code::kOk;
}

// Scratch is [pointer tables of all threads][`extra` floats][packed filters].
inline Code PlanPanels(PlanContext& context, const PanelState& state, int64_t extra) {
  if (state.shape.taps > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its window is too large");
  const int64_t tables = state.shape.taps * kChunkPixels * context.threads();
  const int64_t floats = extra + (state.packed == nullptr ? state.shape.floats() : 0);
  return RequestScratch(context,
                        tables * static_cast<int64_t>(sizeof(float*)) + floats * static_cast<int64_t>(sizeof(float)));
}

// What run does first: carves the scratch and packs filters that are not constant. `*extra` is not cleared.
inline PanelJob StartPanels(const RunContext& context, const PanelState& state, int threads, int64_t extra_floats,
                            float** extra) {
  PanelJob job = {};
  job.shape = state.shape;
  job.activation = state.activation;
  job.bias = context.input_count > 2 ? context.inputs[2].As<float>() : nullptr;
  job.output = context.outputs[0].As<float>();
  job.tables = static_cast<const float**>(context.scratch);
  float* rest = reinterpret_cast<float*>(job.tables + job.table_pointers() * threads);
  *extra = rest;
  job.packed = state.packed;
  if (state.packed == nullptr) {
    PackPanels(state.shape, context.inputs[1].As<float>(), rest + extra_floats);
    job.packed = rest + extra_floats;
  }
  return job;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_PANELS_H_
