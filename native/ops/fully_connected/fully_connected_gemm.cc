#include "native/ops/fully_connected/connected.h"

namespace lathe {
namespace {

__attribute__((cold)) Code PrepareConnected(PrepareContext& context) {
  PanelState& state = *static_cast<PanelState*>(context.state());
  LATHE_TRY(ReadConnected(context, &state));
  return PreparePanels(context, context.input(1), &state);
}

__attribute__((cold)) Code PlanConnected(PlanContext& context) {
  const PanelState& state = *static_cast<const PanelState*>(context.state());
  int64_t pixels = 0;
  LATHE_TRY(CheckConnected(context, state, &pixels));
  return PlanPanels(context, state, pixels, 0, static_cast<PanelPlan*>(context.plan()));
}

void RunConnected(const RunContext& context) {
  RunConnectedPanels(context, context.State<PanelState>(), context.Plan<PanelPlan>());
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::PanelState),
    .plan_size = sizeof(lathe::PanelPlan),
    .prepare = lathe::PrepareConnected,
    .plan = lathe::PlanConnected,
    .run = lathe::RunConnected,
    .packings = lathe::PackingBit(lathe::kPanelPacking),
};
