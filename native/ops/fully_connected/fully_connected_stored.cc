// Weights that stay as the model file stores them; where they came otherwise, as of fully_connected_gemm.cc.
#include "native/kernel/gemm/stored_panels.h"
#include "native/ops/fully_connected/connected.h"

namespace lathe {
namespace {

struct StoredState {
  PanelState panels;
  StoredFilters filters;
  bool stored;
};

__attribute__((cold)) Code PrepareConnected(PrepareContext& context) {
  StoredState& state = *static_cast<StoredState*>(context.state());
  LATHE_TRY(ReadConnected(context, &state.panels));
  const StoredNumbers* const stored = context.input(1).stored;
  state.stored = stored != nullptr;
  if (!state.stored) return PreparePanels(context, context.input(1), &state.panels);
  return PrepareStored(context, *stored, state.panels.shape, &state.filters);
}

__attribute__((cold)) Code PlanConnected(PlanContext& context) {
  const StoredState& state = *static_cast<const StoredState*>(context.state());
  PanelPlan& plan = *static_cast<PanelPlan*>(context.plan());
  int64_t pixels = 0;
  LATHE_TRY(CheckConnected(context, state.panels, &pixels));
  if (!state.stored) return PlanPanels(context, state.panels, pixels, 0, &plan);
  plan.threads = context.threads();
  if (pixels <= kFewRows) return Code::kOk;
  plan.thread_bytes = PanelThreadBytes(state.panels.shape, pixels) + ExpandedBytes(state.panels.shape);
  return RequestScratch(context, plan.thread_bytes * plan.threads);
}

void RunConnected(const RunContext& context) {
  const StoredState& state = context.State<StoredState>();
  const PanelPlan& plan = context.Plan<PanelPlan>();
  if (!state.stored) {
    RunConnectedPanels(context, state.panels, plan);
    return;
  }
  const Tensor& in = context.inputs[0];
  PanelJob job = {};
  job.shape = state.panels.shape;
  job.bias = context.input_count > 2 ? context.inputs[2].As<Element>() : nullptr;
  job.activation = state.panels.activation;
  job.activate = ActivateRows;
  job.output = context.outputs[0].As<Element>();
  job.pixels = in.shape.Count(0, in.shape.rank - 1);
  job.scratch = static_cast<char*>(context.scratch);
  job.thread_bytes = plan.thread_bytes;
  RunStoredJob(context, job, state.filters, in.As<Element>());
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::StoredState),
    .plan_size = sizeof(lathe::PanelPlan),
    .prepare = lathe::PrepareConnected,
    .plan = lathe::PlanConnected,
    .run = lathe::RunConnected,
    .packings = lathe::PackingBit(lathe::kPanelPacking),
    .reads_stored = lathe::kStored,
};
