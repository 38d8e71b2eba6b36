// The inner product that convolutions and matrix products share: rows of input times filters, a tile of output pixels
// and eight output channels at a time.
//
// Filters are packed as [group][panel of 8 outputs][tap][depth][8], zero padded, so that the innermost loop reads them
// in order. Panels of 16 are read as two of 8. Inputs are given as one pointer per tap and pixel to `depth * groups`
// floats; a pixel outside the image points to zeros. The order of additions per output is (tap, depth), whatever the
// tile or thread.
#ifndef LATHE_CORE_TILES_H_
#define LATHE_CORE_TILES_H_

#include "native/core/activation.h"
#include "native/core/check.h"
#include "native/core/kernel.h"
#include "native/core/packing.h"

namespace lathe {
namespace {

typedef float F4 __attribute__((vector_size(16)));  // maps to whatever the machine has, or to scalars

inline F4 Load4(const float* from) {
  F4 value;
  memcpy(&value, from, sizeof value);
  return value;
}

inline void Store4(float* to, F4 value) { memcpy(to, &value, sizeof value); }

constexpr int kTilePixels = 4;
constexpr int kTileOutputs = 8;
constexpr int kChunkPixels = 32;  // the unit of parallel work: its inputs stay in cache while all filters pass by

// The sums of one tile; a pixel has two vectors of four outputs.
struct TileSums {
  F4 sums[kTilePixels][2];
};

// `rows` holds per tap kChunkPixels pointers, of which those of this tile are the first four; `offset` is added to
// each. `weights` advances by `stride` floats per element of depth.
inline void SumTile4(const float* const* rows, int64_t offset, int64_t taps, int64_t depth, const float* weights,
                     int64_t stride, TileSums* tile) {
  F4 a0 = {}, a1 = {}, b0 = {}, b1 = {}, c0 = {}, c1 = {}, d0 = {}, d1 = {};
  for (int64_t tap = 0; tap < taps; ++tap, rows += kChunkPixels) {
    const float* a = rows[0] + offset;
    const float* b = rows[1] + offset;
    const float* c = rows[2] + offset;
    const float* d = rows[3] + offset;
    for (int64_t k = 0; k < depth; ++k, weights += stride) {
      const F4 w0 = Load4(weights);
      const F4 w1 = Load4(weights + 4);
      a0 += a[k] * w0;
      a1 += a[k] * w1;
      b0 += b[k] * w0;
      b1 += b[k] * w1;
      c0 += c[k] * w0;
      c1 += c[k] * w1;
      d0 += d[k] * w0;
      d1 += d[k] * w1;
    }
  }
  *tile = {{{a0, a1}, {b0, b1}, {c0, c1}, {d0, d1}}};
}

inline void SumTile1(const float* const* rows, int64_t offset, int64_t taps, int64_t depth, const float* weights,
                     int64_t stride, TileSums* tile) {
  F4 a0 = {}, a1 = {};
  for (int64_t tap = 0; tap < taps; ++tap, rows += kChunkPixels) {
    const float* a = rows[0] + offset;
    for (int64_t k = 0; k < depth; ++k, weights += stride) {
      a0 += a[k] * Load4(weights);
      a1 += a[k] * Load4(weights + 4);
    }
  }
  tile->sums[0][0] = a0;
  tile->sums[0][1] = a1;
}

inline int64_t DivideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

// The shape of packed filters.
struct Filters {
  int64_t groups;
  int64_t outputs;  // per group
  int64_t taps;
  int64_t depth;
  int64_t panel = kTileOutputs;  // outputs of a panel: a multiple of those of a tile

  int64_t blocks() const { return DivideUp(outputs, kTileOutputs); }  // per group, as many as tiles
  int64_t panel_floats() const { return taps * depth * panel; }
  int64_t group_floats() const { return DivideUp(outputs, panel) * panel_floats(); }
  int64_t packed_floats() const { return groups * group_floats(); }
};

// From [groups * outputs, taps, depth] to panels of kTileOutputs. Fills every element, padding included.
inline void PackFilters(const Filters& filters, const float* from, float* to) {
  const int64_t inner = filters.taps * filters.depth;
  for (int64_t group = 0; group < filters.groups; ++group) {
    const float* source = from + group * filters.outputs * inner;
    for (int64_t first = 0; first < filters.outputs; first += kTileOutputs) {
      for (int64_t k = 0; k < inner; ++k) {
        for (int64_t j = 0; j < kTileOutputs; ++j, ++to) {
          *to = first + j < filters.outputs ? source[(first + j) * inner + k] : 0.0f;
        }
      }
    }
  }
}

// One run over all pixels of an output whose channels are groups * outputs.
struct TileJob {
  Filters filters;
  const float* packed;
  const float* bias;      // may be null
  const float* residual;  // may be null; as many elements as the output
  Activation activation;
  float* output;
  int64_t output_step;  // from pixel to pixel
  int64_t pixels;
  const float** tables;  // scratch: table_pointers() per thread
  int64_t table_pointers() const { return filters.taps * kChunkPixels; }
};

inline void StoreTile(const TileJob& job, const TileSums& tile, int64_t pixel, int count, int64_t channel,
                      int64_t outputs) {
  const int64_t channels = job.filters.groups * job.filters.outputs;
  for (int p = 0; p < count; ++p) {
    float sums[kTileOutputs];
    Store4(sums, tile.sums[p][0]);
    Store4(sums + 4, tile.sums[p][1]);
    float* to = job.output + (pixel + p) * job.output_step + channel;
    if (job.bias != nullptr) {
      for (int64_t j = 0; j < outputs; ++j) to[j] = sums[j] + job.bias[channel + j];
    } else {
      for (int64_t j = 0; j < outputs; ++j) to[j] = sums[j];
    }
    if (job.residual == nullptr) continue;
    const float* from = job.residual + (pixel + p) * channels + channel;
    for (int64_t j = 0; j < outputs; ++j) to[j] += from[j];
  }
}

// Pixels [pixel, pixel + count) times blocks [block_begin, block_end), counted through all groups.
inline void RunChunk(const TileJob& job, const float* const* rows, int64_t pixel, int count, int64_t block_begin,
                     int64_t block_end) {
  const Filters& filters = job.filters;
  const int64_t blocks = filters.blocks();
  for (int64_t block = block_begin; block < block_end; ++block) {
    const int64_t group = block / blocks;
    const int64_t first = (block - group * blocks) * kTileOutputs;
    const int64_t rest = filters.outputs - first;
    const int64_t outputs = rest < kTileOutputs ? rest : kTileOutputs;
    const float* weights = job.packed + group * filters.group_floats() +
                           first / filters.panel * filters.panel_floats() + first % filters.panel;
    for (int p = 0; p < count;) {
      TileSums tile;
      const int step = count - p >= kTilePixels ? kTilePixels : 1;
      const auto sum = step == 1 ? SumTile1 : SumTile4;
      sum(rows + p, group * filters.depth, filters.taps, filters.depth, weights, filters.panel, &tile);
      StoreTile(job, tile, pixel + p, step, group * filters.outputs + first, outputs);
      p += step;
    }
  }
  if (job.activation.kind == ActivationKind::kNone) return;
  const auto channel_of = [&](int64_t block) {
    return block / blocks * filters.outputs + block % blocks * kTileOutputs;
  };
  const int64_t begin = channel_of(block_begin);
  const int64_t end = channel_of(block_end);
  for (int p = 0; p < count; ++p) {
    Activate(job.activation, job.output + (pixel + p) * job.output_step + begin, end - begin);
  }
}

// `locate(pixel, count, rows)` writes, for `count` pixels from `pixel`, the pointers rows[tap * kChunkPixels + p].
template <typename Locate>
inline void RunTiles(const RunContext& context, const TileJob& job, const Locate& locate) {
  constexpr int64_t kItems = 64;  // enough for any number of cores; few pixels are split by output blocks
  const int64_t chunks = DivideUp(job.pixels, kChunkPixels);
  const int64_t blocks = job.filters.groups * job.filters.blocks();
  if (chunks == 0 || blocks == 0) return;
  const int64_t per_item = DivideUp(blocks, DivideUp(kItems, chunks) < blocks ? DivideUp(kItems, chunks) : blocks);
  const int64_t splits = DivideUp(blocks, per_item);
  context.For(chunks * splits, 1, [&](int64_t begin, int64_t end, int thread) {
    const float** rows = job.tables + thread * job.table_pointers();
    int64_t located = -1;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t chunk = item / splits;
      const int64_t pixel = chunk * kChunkPixels;
      const int64_t rest = job.pixels - pixel;
      const int count = static_cast<int>(rest < kChunkPixels ? rest : kChunkPixels);
      if (chunk != located) locate(pixel, count, rows);
      located = chunk;
      const int64_t first = (item - chunk * splits) * per_item;
      const int64_t last = first + per_item < blocks ? first + per_item : blocks;
      RunChunk(job, rows, pixel, count, first, last);
    }
  });
}

// The packings of constant filters that tiles read in place.
constexpr uint32_t kTilePackings = PackingBit(Packing::kPanels8) | PackingBit(Packing::kPanels16);

// Filters that came packed, or are packed at create where they are constant, else at each run into scratch.
struct FilterState {
  Filters filters;
  const float* packed;  // null: not constant
  Activation activation;
};

// What was read of input 1, of which `groups` share the outputs.
inline Filters FiltersOf(const FilterShape& shape, int64_t groups) {
  Filters filters = {groups, shape.outputs / groups, shape.height * shape.width, shape.depth};
  if (shape.panel != 0) filters.panel = shape.panel;
  return filters;
}

// `weights` is [groups * outputs, taps, depth] in `filters`, or packed; its shape was checked.
inline Code PrepareFilters(PrepareContext& context, const Tensor& weights, FilterState* state) {
  if (weights.shape.Count() > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its filters are too large");
  if (!weights.is_constant()) return Code::kOk;
  state->packed = weights.As<float>();
  if (weights.packing != Packing::kNone) return Code::kOk;
  float* packed = nullptr;
  LATHE_TRY(AllocateArray(context, state->filters.packed_floats(), &packed));
  PackFilters(state->filters, weights.As<float>(), packed);
  state->packed = packed;
  return Code::kOk;
}

// Scratch is [pointer tables of all threads][`zeros` floats][packed filters].
inline Code PlanTiles(PlanContext& context, const FilterState& state, int64_t zeros) {
  if (state.filters.taps > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its window is too large");
  const int64_t tables = state.filters.taps * kChunkPixels * context.threads();
  const int64_t floats = zeros + (state.packed == nullptr ? state.filters.packed_floats() : 0);
  return RequestScratch(context,
                        tables * static_cast<int64_t>(sizeof(float*)) + floats * static_cast<int64_t>(sizeof(float)));
}

// What run does first: carves the scratch, clears the zeros, packs filters that are not constant.
inline TileJob StartTiles(const RunContext& context, const FilterState& state, int threads, int64_t zeros,
                          const float** zero_row) {
  TileJob job = {};
  job.filters = state.filters;
  job.activation = state.activation;
  job.bias = context.input_count > 2 ? context.inputs[2].As<float>() : nullptr;
  job.output = context.outputs[0].As<float>();
  job.output_step = context.outputs[0].RowStep();
  job.tables = static_cast<const float**>(context.scratch);
  float* rest = reinterpret_cast<float*>(job.tables + job.table_pointers() * threads);
  for (int64_t i = 0; i < zeros; ++i) rest[i] = 0.0f;
  *zero_row = rest;
  job.packed = state.packed;
  if (state.packed == nullptr) {
    PackFilters(state.filters, context.inputs[1].As<float>(), rest + zeros);
    job.packed = rest + zeros;
  }
  return job;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_TILES_H_
