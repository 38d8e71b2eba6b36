// 1x1 convolution and depthwise convolution with a window of 3 x 3, stride 1 or 2, behind it: packed products, and
// rows of the depthwise convolution.
//
// Each thread has a ring of the lines between the convolutions, as many as the window looks at. A band of lines of
// the output goes on where the one above it ended if the same thread made that last; else it computes the lines that
// both look at once more.
#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"
#include "native/ops/dwconv2d/dwconv2d_sweep.h"
#include "native/ops/separable_conv2d/separable_conv2d_node.h"

namespace lathe {
namespace {

constexpr int kWindow = 3;
constexpr int64_t kBandSteps = 8 / kDwFusedRows;  // of kDwFusedRows lines each
constexpr int64_t kRing = DwInputs(kWindow, 2, kDwFusedRows);
constexpr const char* kPointwiseNames[] = {"pointwise_activation", "pointwise_activation_alpha",
                                           "pointwise_activation_beta"};

struct PointwiseState {
  PanelState pointwise;
  DwState depthwise;
};

struct PointwisePlan {
  Shape between;
  int64_t bands;  // of an image
  int64_t threads;
  int64_t packed;  // elements of the inputs of a chunk in the order of the tiles
  int64_t line;    // elements of a line between the convolutions
  int64_t thread_elements() const { return 16 + packed + DivideUp(kRing * line, 16) * 16; }
};

// What a thread has at hand: the lines of an image in front of `end`, as many as the ring holds, but none above
// `begin`.
struct RingState {
  int64_t batch;
  int64_t begin;
  int64_t end;
};

__attribute__((cold)) Code PreparePointwise(PrepareContext& context) {
  PointwiseState& state = *static_cast<PointwiseState*>(context.state());
  FilterShape filter = {};
  LATHE_TRY(ReadBoth(context, kPointwiseNames, 5, &state.pointwise.activation, &state.depthwise.activation,
                     &state.depthwise.window, &filter));
  LATHE_TRY(CheckSwept(context, state.depthwise.window, kWindow));
  state.pointwise.shape = {1, filter.outputs, 1, filter.depth};
  return PreparePanels(context, context.input(kPointwiseFilter), &state.pointwise);
}

// Scratch is what each thread has, a line of zeros, and room for filters that are not constant.
__attribute__((cold)) Code PlanPointwise(PlanContext& context) {
  const PointwiseState& state = *static_cast<const PointwiseState*>(context.state());
  const PanelShape& shape = state.pointwise.shape;
  PointwisePlan& plan = *static_cast<PointwisePlan*>(context.plan());
  Shape expected = {};
  LATHE_TRY(CheckBoth(context, state.depthwise.window, shape.depth, shape.outputs, shape.outputs, &expected));
  plan.between = context.input(0).shape;
  plan.between.dims[3] = shape.outputs;
  plan.bands = DivideUp(expected[1], kBandSteps * kDwFusedRows);
  plan.threads = context.threads();
  plan.packed = DivideUp(PackedInputElements(shape, kChunkPixels), 16) * 16;
  plan.line = plan.between[2] * shape.outputs;
  if (plan.line > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its lines are too long");
  const int64_t filters = state.pointwise.packed == nullptr ? shape.elements() : 0;
  const int64_t elements = plan.threads * plan.thread_elements() + DivideUp(plan.line, 16) * 16 + filters;
  return RequestScratch(context, elements * static_cast<int64_t>(sizeof(Element)));
}

// What the bands of one run share.
struct PointwiseRun {
  const PointwisePlan& plan;
  PanelJob job;  // of which lines differ in `output`
  SweepJob sweep;
  const Element* image;
  Element* output;
  Element* scratch;
};

// Sees to it that a thread has the lines [first, end) at hand.
inline void FillRing(const PointwiseRun& run, RingState* state, Element* packed, Element* ring, int64_t batch,
                     int64_t first, int64_t end) {
  const Shape& between = run.plan.between;
  const int64_t oldest = state->end - kRing > state->begin ? state->end - kRing : state->begin;
  if (state->batch != batch || first < oldest || first > state->end) *state = {batch, first, first};
  PanelJob job = run.job;
  // Line by line: which pixels share a tile decides how sums are rounded, and may not depend on what was at hand.
  for (; state->end < end; ++state->end) {
    job.output = ring + state->end % kRing * run.plan.line;
    const Element* inputs = run.image + (batch * between[1] + state->end) * between[2] * job.shape.depth;
    RunPanelBlock(job, inputs, packed, 0, between[2]);
  }
}

inline void RunBand(const PointwiseRun& run, int64_t batch, int64_t band, int thread) {
  const Shape& out = *run.sweep.out;
  const Window& window = run.sweep.state->window;
  const int64_t height = run.plan.between[1];
  Element* const own = run.scratch + thread * run.plan.thread_elements();
  Element* const ring = own + 16 + run.plan.packed;
  int64_t top = band * kBandSteps * kDwFusedRows;
  for (int64_t step = 0; step < kBandSteps && top < out[1]; ++step, top += kDwFusedRows) {
    const int64_t begin = top * window.strides[0] - window.before[0];
    const int64_t end = begin + kWindow + (kDwFusedRows - 1) * window.strides[0];
    const int64_t first = begin < 0 ? 0 : begin;
    const int64_t last = end < height ? end : height;
    if (first < last) {
      FillRing(run, reinterpret_cast<RingState*>(own), own + 16, ring, batch, first, last);
    }
    const Element* inputs[kRing];
    for (int64_t i = 0; i < kRing; ++i) {
      const int64_t y = begin + i;
      inputs[i] = y >= first && y < last ? ring + y % kRing * run.plan.line : run.sweep.zeros;
    }
    Element* output = run.output + (batch * out[1] + top) * out[2] * out[3];
    RunSweepRows<kWindow>(run.sweep, out[2], inputs, top, kDwFusedRows, output, 0, out[3]);
  }
}

void RunPointwise(const RunContext& context) {
  const PointwiseState& state = context.State<PointwiseState>();
  const PointwisePlan& plan = context.Plan<PointwisePlan>();
  const Shape& out = context.outputs[0].shape;
  Element* const scratch = static_cast<Element*>(context.scratch);
  Element* const zeros = scratch + plan.threads * plan.thread_elements();
  Tensor between;
  between.shape = plan.between;
  const SweepJob sweep = StartSweep(state.depthwise, between, context.inputs[kDepthwiseFilter].As<Element>(),
                                    context.inputs[kDepthwiseBias].As<Element>(), out, zeros);
  PointwiseRun run = {plan, {}, sweep, context.inputs[0].As<Element>(), context.outputs[0].As<Element>(), scratch};
  run.job.shape = state.pointwise.shape;
  run.job.packed = state.pointwise.packed;
  if (run.job.packed == nullptr) {
    Element* packed = zeros + DivideUp(plan.line, 16) * 16;
    PackPanels(run.job.shape, context.inputs[kPointwiseFilter].As<Element>(), packed);
    run.job.packed = packed;
  }
  run.job.bias = context.inputs[kPointwiseBias].As<Element>();
  run.job.activation = state.pointwise.activation;
  run.job.activate = ActivateRows;
  for (int64_t thread = 0; thread < plan.threads; ++thread) {
    *reinterpret_cast<RingState*>(scratch + thread * plan.thread_elements()) = {-1, 0, 0};
  }
  context.For(out[0] * plan.bands, 1, [&](int64_t item, int64_t end, int thread) {
    for (; item < end; ++item) RunBand(run, item / plan.bands, item % plan.bands, thread);
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::PointwiseState),
    .plan_size = sizeof(lathe::PointwisePlan),
    .prepare = lathe::PreparePointwise,
    .plan = lathe::PlanPointwise,
    .run = lathe::RunPointwise,
    .packings = lathe::PackingBit(lathe::kPanelPacking),
};
