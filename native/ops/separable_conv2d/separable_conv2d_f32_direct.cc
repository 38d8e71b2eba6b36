// Separable convolution with any window: pixels of the depthwise convolution, and tiles of products.
#include "native/kernel/gemm/tiles.h"
#include "native/kernel/simd/simd.h"
#include "native/ops/dwconv2d/dwconv2d_pixels.h"
#include "native/ops/separable_conv2d/separable_conv2d_node.h"

namespace lathe {
namespace {

struct State {
  DwState depthwise;
  FilterState pointwise;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  FilterShape filter = {};
  LATHE_TRY(ReadBoth(context, kDepthwiseNames, 6, &state.depthwise.activation, &state.pointwise.activation,
                     &state.depthwise.window, &filter));
  state.depthwise.multiplier = 1;
  state.pointwise.filters = FiltersOf(filter, 1);
  return PrepareFilters(context, context.input(kPointwiseFilter), &state.pointwise);
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  const Filters& filters = state.pointwise.filters;
  SeparableCut& cut = *static_cast<SeparableCut*>(context.plan());
  LATHE_TRY(CutSeparable(context, state.depthwise, filters.depth, filters.outputs, kTileChunkPixels, 1, &cut));
  return PlanTiles(context, state.pointwise, cut.threads * cut.elements);
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const SeparableCut& cut = context.Plan<SeparableCut>();
  const Shape& between = cut.between;
  const int64_t line = between[2] * between[3];
  const float* scratch = nullptr;
  TileJob job = StartTiles(context, state.pointwise, static_cast<int>(cut.threads), 0, &scratch);
  job.residual = context.input_count > kResidual ? context.inputs[kResidual].As<float>() : nullptr;
  const DirectJob depthwise = {state.depthwise,
                               context.inputs[0].As<float>(),
                               context.inputs[kDepthwiseFilter].As<float>(),
                               context.inputs[kDepthwiseBias].As<float>(),
                               context.inputs[0].shape,
                               between};
  // Behind the tables; StartTiles puts filters that are not constant in front of the blocks.
  float* const blocks =
      const_cast<float*>(scratch) + (state.pointwise.packed == nullptr ? state.pointwise.filters.packed_floats() : 0);
  ForBlocks(context, cut, [&](int64_t batch, int64_t first, int64_t end, int thread) {
    const float** rows = job.tables + thread * job.table_pointers();
    float* const block = blocks + thread * cut.elements;
    for (int64_t y = first; y < end; ++y) {
      RunDirectLine<true>(depthwise, batch * between[1] + y, block + (y - first) * line);
    }
    const int64_t pixel = (batch * between[1] + first) * between[2];
    const int64_t pixels = (end - first) * between[2];
    for (int64_t done = 0; done < pixels; done += kTileChunkPixels) {
      const int count = static_cast<int>(pixels - done < kTileChunkPixels ? pixels - done : kTileChunkPixels);
      for (int i = 0; i < count; ++i) rows[i] = block + (done + i) * between[3];
      RunChunk(job, rows, pixel + done, count, 0, job.filters.blocks());
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::SeparableCut),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
    .packings = lathe::kTilePackings,
};
