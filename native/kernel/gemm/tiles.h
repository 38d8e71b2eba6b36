// The inner product that convolutions and matrix products share: rows of input times filters, a tile of output pixels
// and eight output channels at a time.
//
// Filters are packed as [group][panel of 8 outputs][tap][depth][8], zero padded, so that the innermost loop reads them
// in order. Panels of 16 are read as two of 8. Inputs are given as one pointer per tap and pixel to `depth * groups`
// floats; a pixel outside the image points to zeros. The order of additions per output is (tap, depth), whatever the
// tile or thread.
#ifndef LATHE_KERNEL_GEMM_TILES_H_
#define LATHE_KERNEL_GEMM_TILES_H_

#include "native/kernel/check.h"
#include "native/kernel/gemm/job_items.h"
#include "native/kernel/gemm/packing.h"
#include "native/kernel/math/activation.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

constexpr int kTilePixels = 4;
constexpr int kTileOutputs = 8;

}  // namespace

// The shape of packed filters.
struct Filters {
  int64_t groups;
  int64_t outputs;  // per group
  int64_t taps;
  int64_t depth;
  int64_t panel = kTileOutputs;  // outputs of a panel: a multiple of those of a tile

  LATHE_INLINE int64_t blocks() const { return DivideUp(outputs, kTileOutputs); }  // per group, as many as tiles
  LATHE_INLINE int64_t panel_floats() const { return taps * depth * panel; }
  LATHE_INLINE int64_t group_floats() const { return DivideUp(outputs, panel) * panel_floats(); }
  LATHE_INLINE int64_t packed_floats() const { return groups * group_floats(); }
};

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
  LATHE_INLINE int64_t table_pointers() const { return filters.taps * kTileChunkPixels; }
};

// Pixels [pixel, pixel + count) times blocks [block_begin, block_end), counted through all groups. There once for all
// kernels: tiles_unit.h
void RunChunk(const TileJob& job, const float* const* rows, int64_t pixel, int count, int64_t block_begin,
              int64_t block_end);

namespace {

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

// `locate(pixel, count, rows)` writes, for `count` pixels from `pixel`, the pointers rows[tap * kTileChunkPixels + p].
template <typename Locate>
inline void RunTiles(const RunContext& context, const TileJob& job, const Locate& locate) {
  const JobItems items(job.pixels, job.filters.groups * job.filters.blocks(), kTileChunkPixels, kTileChunkPixels, 1);
  context.For(items.count, 1, [&](int64_t begin, int64_t end, int thread) {
    const float** rows = job.tables + thread * job.table_pointers();
    int64_t located = -1;
    for (int64_t index = begin; index < end; ++index) {
      const JobItem item = items[index];
      if (item.chunk != located) locate(item.pixel, item.count, rows);
      located = item.chunk;
      RunChunk(job, rows, item.pixel, item.count, item.begin, item.end);
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
  const int64_t tables = state.filters.taps * kTileChunkPixels * context.threads();
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

#endif  // LATHE_KERNEL_GEMM_TILES_H_
