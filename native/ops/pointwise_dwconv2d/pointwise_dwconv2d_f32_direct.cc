// 1x1 convolution and depthwise convolution with any window behind it: tiles of products, and pixels of the depthwise
// convolution. The lines between them that a band of lines of the output looks at are computed for each band anew.
#include "native/kernel/gemm/tiles.h"
#include "native/kernel/simd/simd.h"
#include "native/ops/dwconv2d/dwconv2d_pixels.h"
#include "native/ops/separable_conv2d/separable_conv2d_node.h"

namespace lathe {
namespace {

constexpr int64_t kBandLines = 8;
constexpr const char* kNames[] = {"pointwise_activation", "pointwise_activation_alpha", "pointwise_activation_beta"};

struct State {
  FilterState pointwise;
  DwState depthwise;
};

struct Plan {
  int64_t bands;  // of an image
  int64_t threads;
  int64_t floats;  // of the lines that a band looks at
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  FilterShape filter = {};
  LATHE_TRY(ReadBoth(context, kNames, 5, &state.pointwise.activation, &state.depthwise.activation,
                     &state.depthwise.window, &filter));
  state.depthwise.multiplier = 1;
  state.pointwise.filters = FiltersOf(filter, 1);
  return PrepareFilters(context, context.input(kPointwiseFilter), &state.pointwise);
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  const Filters& filters = state.pointwise.filters;
  Plan& plan = *static_cast<Plan*>(context.plan());
  Shape expected = {};
  LATHE_TRY(CheckBoth(context, state.depthwise.window, filters.depth, filters.outputs, filters.outputs, &expected));
  const Shape& in = context.input(0).shape;
  const int64_t looked = (kBandLines - 1) * state.depthwise.window.strides[0] + WindowExtent(state.depthwise.window, 0);
  const int64_t line = in[2] * filters.outputs;
  const int64_t lines = looked < in[1] ? looked : in[1];
  if (line > 0 && lines > kMaxPackedElements / line) {
    return context.Fail(Code::kUnsupported, "its lines are too long");
  }
  plan = {DivideUp(expected[1], kBandLines), context.threads(), lines * line};
  return PlanTiles(context, state.pointwise, plan.threads * plan.floats);
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Plan& plan = context.Plan<Plan>();
  const Window& window = state.depthwise.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const float* scratch = nullptr;
  TileJob start = StartTiles(context, state.pointwise, static_cast<int>(plan.threads), 0, &scratch);
  float* const bands =
      const_cast<float*>(scratch) + (state.pointwise.packed == nullptr ? state.pointwise.filters.packed_floats() : 0);
  context.For(out[0] * plan.bands, 1, [&](int64_t item, int64_t last, int thread) {
    TileJob job = start;
    job.output = bands + thread * plan.floats;
    const float** rows = job.tables + thread * job.table_pointers();
    for (; item < last; ++item) {
      const int64_t batch = item / plan.bands;
      const int64_t top = item % plan.bands * kBandLines;
      const int64_t lines = out[1] - top < kBandLines ? out[1] - top : kBandLines;
      const int64_t origin = top * window.strides[0] - window.before[0];
      const int64_t below = origin + (lines - 1) * window.strides[0] + WindowExtent(window, 0);
      const int64_t end = below < in[1] ? below : in[1];
      const int64_t begin = origin < 0 ? 0 : origin < end ? origin : end;
      const float* image = context.inputs[0].As<float>() + (batch * in[1] + begin) * in[2] * in[3];
      const int64_t pixels = end > begin ? (end - begin) * in[2] : 0;
      for (int64_t done = 0; done < pixels; done += kTileChunkPixels) {
        const int count = static_cast<int>(pixels - done < kTileChunkPixels ? pixels - done : kTileChunkPixels);
        for (int i = 0; i < count; ++i) rows[i] = image + (done + i) * in[3];
        RunChunk(job, rows, done, count, 0, job.filters.blocks());
      }
      // What a band looks at is an image of its own, with the rest of the padding above.
      DwState depthwise = state.depthwise;
      depthwise.window.before[0] = begin - origin;
      const Shape seen = {4, {1, end > begin ? end - begin : 0, in[2], out[3]}};
      const Shape made = {4, {1, lines, out[2], out[3]}};
      const DirectJob direct = {depthwise,
                                job.output,
                                context.inputs[kDepthwiseFilter].As<float>(),
                                context.inputs[kDepthwiseBias].As<float>(),
                                seen,
                                made};
      float* to = context.outputs[0].As<float>() + (batch * out[1] + top) * out[2] * out[3];
      for (int64_t y = 0; y < lines; ++y) RunDirectLine<true>(direct, y, to + y * out[2] * out[3]);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::Plan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
    .packings = lathe::kTilePackings,
};
