// Channels become blocks of the picture: y[n, h*B + row, w*B + column, c] = x[n, h, w, (row, column, c)].
#include "native/kernel/loops/channel_blocks.h"

namespace lathe {
namespace {

Code PlanRun(PlanContext& context) {
  const BlockState& state = *static_cast<const BlockState*>(context.state());
  StridedCopy& copy = *static_cast<StridedCopy*>(context.plan());
  const Shape& in = context.input(0).shape;
  const int64_t block = state.block;
  if (in[3] % (block * block) != 0) return context.Fail(Code::kBadModel, "its channels do not fill blocks");
  if (in[1] > kMaxExtent || in[2] > kMaxExtent) return context.Fail(Code::kUnsupported, "its input is too large");
  const int64_t channels = in[3] / (block * block);
  LATHE_TRY(CheckShape(context, 0, {4, {in[0], in[1] * block, in[2] * block, channels}}));
  const ChannelStrides strides = StridesOf(state, channels);
  copy = {6,
          0,
          {in[0], in[1], block, in[2], block, channels},
          {in.Count(1, 4), in.Count(2, 4), strides.row, in[3], strides.column, strides.channel}};
  if (in.Count() == 0) copy.rank = 0;
  Simplify(&copy);
  return Code::kOk;
}

void Run(const RunContext& context) { RunStridedCopy(context, context.Plan<StridedCopy>()); }

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::BlockState),
    .plan_size = sizeof(lathe::StridedCopy),
    .prepare = lathe::PrepareBlocks,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
