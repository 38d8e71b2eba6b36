// Blocks of the picture become channels: y[n, h, w, (row, column, c)] = x[n, h*B + row, w*B + column, c].
#include "native/kernel/loops/channel_blocks.h"

namespace lathe {
namespace {

Code PlanRun(PlanContext& context) {
  const BlockState& state = *static_cast<const BlockState*>(context.state());
  StridedCopy& copy = *static_cast<StridedCopy*>(context.plan());
  const Shape& in = context.input(0).shape;
  const int64_t block = state.block;
  const int64_t channels = in[3];
  if (in[1] % block != 0 || in[2] % block != 0) return context.Fail(Code::kBadModel, "blocks do not fill its input");
  if (channels > kMaxExtent) return context.Fail(Code::kUnsupported, "its input is too large");
  LATHE_TRY(CheckShape(context, 0, {4, {in[0], in[1] / block, in[2] / block, channels * block * block}}));
  const int64_t row = in[2] * channels;
  copy = {6, 0, {in[0], in[1] / block, in[2] / block}, {in.Count(1, 4), row * block, channels * block}};
  const int64_t places[3][2] = {{block, row}, {block, channels}, {channels, 1}};
  for (int i = 0; i < 3; ++i) {
    const int from = state.mode == 0 ? i : (i + 2) % 3;  // CRD: the channel comes first
    copy.dims[3 + i] = places[from][0];
    copy.strides[3 + i] = places[from][1];
  }
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
