// Separable convolution with a window of 3 x 3, stride 1 or 2: rows of the depthwise convolution, and packed
// products.
#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"
#include "native/ops/dwconv2d/dwconv2d_sweep.h"
#include "native/ops/separable_conv2d/separable_conv2d_node.h"

namespace lathe {
namespace {

constexpr int kWindow = 3;

struct SeparableState {
  DwState depthwise;
  PanelState pointwise;
};

struct SeparablePlan {
  SeparableCut cut;
  int64_t packed;  // elements of the inputs of a chunk in the order of the tiles
  int64_t thread_elements() const { return DivideUp(cut.elements, 16) * 16 + packed; }
};

__attribute__((cold)) Code PrepareSeparable(PrepareContext& context) {
  SeparableState& state = *static_cast<SeparableState*>(context.state());
  FilterShape filter = {};
  LATHE_TRY(ReadBoth(context, kDepthwiseNames, 6, &state.depthwise.activation, &state.pointwise.activation,
                     &state.depthwise.window, &filter));
  LATHE_TRY(CheckSwept(context, state.depthwise.window, kWindow));
  state.pointwise.shape = {1, filter.outputs, 1, filter.depth};
  return PreparePanels(context, context.input(kPointwiseFilter), &state.pointwise);
}

// Scratch is what each thread has, a line of zeros, and room for filters that are not constant.
__attribute__((cold)) Code PlanSeparable(PlanContext& context) {
  const SeparableState& state = *static_cast<const SeparableState*>(context.state());
  const PanelShape& shape = state.pointwise.shape;
  SeparablePlan& plan = *static_cast<SeparablePlan*>(context.plan());
  LATHE_TRY(CutSeparable(context, state.depthwise, shape.depth, shape.outputs, kChunkPixels, kDwFusedRows, &plan.cut));
  const Shape& in = context.input(0).shape;
  plan.packed = DivideUp(PackedInputElements(shape, kChunkPixels), 16) * 16;
  const int64_t filters = state.pointwise.packed == nullptr ? shape.elements() : 0;
  const int64_t elements = plan.cut.threads * plan.thread_elements() + DivideUp(in[2] * in[3], 16) * 16 + filters;
  return RequestScratch(context, elements * static_cast<int64_t>(sizeof(Element)));
}

void RunSeparable(const RunContext& context) {
  const SeparableState& state = context.State<SeparableState>();
  const SeparablePlan& plan = context.Plan<SeparablePlan>();
  const Shape& in = context.inputs[0].shape;
  const Shape& between = plan.cut.between;
  Element* const blocks = static_cast<Element*>(context.scratch);
  Element* const zeros = blocks + plan.cut.threads * plan.thread_elements();
  const SweepJob sweep = StartSweep(state.depthwise, context.inputs[0], context.inputs[kDepthwiseFilter].As<Element>(),
                                    context.inputs[kDepthwiseBias].As<Element>(), between, zeros);
  const SweepCut cut(in, between, kDwFusedRows, kWindow, state.depthwise.window.strides[0]);
  PanelJob job = {};
  job.shape = state.pointwise.shape;
  job.packed = state.pointwise.packed;
  if (job.packed == nullptr) {
    Element* packed = zeros + DivideUp(in[2] * in[3], 16) * 16;
    PackPanels(job.shape, context.inputs[kPointwiseFilter].As<Element>(), packed);
    job.packed = packed;
  }
  job.bias = context.inputs[kPointwiseBias].As<Element>();
  job.residual = context.input_count > kResidual ? context.inputs[kResidual].As<Element>() : nullptr;
  job.activation = state.pointwise.activation;
  job.activate = ActivateRows;
  job.output = context.outputs[0].As<Element>();
  const int64_t line = between[2] * between[3];
  ForBlocks(context, plan.cut, [&](int64_t batch, int64_t first, int64_t end, int thread) {
    Element* const packed = blocks + thread * plan.thread_elements();
    Element* const block = packed + plan.packed;
    for (int64_t top = first; top < end; top += kDwFusedRows) {
      RunSweepLines<kWindow>(sweep, cut, batch, top, kDwFusedRows, block + (top - first) * line, 0, between[3]);
    }
    RunPanelBlock(job, block, packed, (batch * between[1] + first) * between[2], (end - first) * between[2]);
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::SeparableState),
    .plan_size = sizeof(lathe::SeparablePlan),
    .prepare = lathe::PrepareSeparable,
    .plan = lathe::PlanSeparable,
    .run = lathe::RunSeparable,
    .packings = lathe::PackingBit(lathe::kPanelPacking),
};
