// x [..., K] times w [N, K] transposed, quantised.
#include "native/kernel/gemm/byte_form.h"
#include "native/kernel/gemm/byte_panels.h"

namespace lathe {
namespace {

struct ByteConnectedPlan {
  int64_t threads;
  int64_t thread_bytes;
};

// Weights [outputs, depth], or packed as filters of one tap.
__attribute__((cold)) Code PrepareByteConnected(PrepareContext& context) {
  BytePanelState& state = *static_cast<BytePanelState*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  const Tensor& w = context.input(1);
  const Shape& x = context.input(0).shape;
  const bool plain = w.packing == Packing::kNone;
  if (x.rank < 1) return context.Fail(Code::kBadModel, "its input has the wrong rank");
  LATHE_TRY(CheckRank(context, context.output(0), x.rank, "its output"));
  LATHE_TRY(CheckRank(context, w, plain ? 2 : 6, "its weight"));
  BytePanelShape& shape = state.shape;
  shape = {1, plain ? w.shape[0] : context.output(0).shape[-1], 1, x[-1]};
  if (shape.outputs < 1 || shape.depth < 1) return context.Fail(Code::kBadModel, "its weight is empty");
  const Shape packed = {6, {1, shape.panels(), 1, 1, shape.steps(), kBytePanel * kByteDepth}};
  if (plain ? w.shape[1] != shape.depth : w.shape != packed)
    return context.Fail(Code::kBadModel, "input and weight differ in depth");
  return PrepareBytePanels(context, kByteForm, 1, &state);
}

__attribute__((cold)) Code PlanByteConnected(PlanContext& context) {
  const BytePanelState& state = *static_cast<const BytePanelState*>(context.state());
  Shape expected = context.input(0).shape;
  if (expected[-1] != state.shape.depth) return context.Fail(Code::kBadModel, "input and weight differ in depth");
  expected.dims[expected.rank - 1] = state.shape.outputs;
  LATHE_TRY(CheckShape(context, 0, expected));
  ByteConnectedPlan& plan = *static_cast<ByteConnectedPlan*>(context.plan());
  plan = {context.threads(), ByteThreadBytes(state.shape)};
  return RequestScratch(context, plan.threads * plan.thread_bytes + ByteTail::Bytes(state.shape.depth));
}

void RunByteConnected(const RunContext& context) {
  const BytePanelState& state = context.State<BytePanelState>();
  const Shape& in = context.inputs[0].shape;
  const int8_t* input = context.inputs[0].As<int8_t>();
  BytePanelJob job = {};
  job.state = &state;
  job.output = context.outputs[0].As<int8_t>();
  job.pixels = in.Count(0, in.rank - 1);
  job.output_step = state.shape.outputs;
  job.scratch = static_cast<char*>(context.scratch);
  const ByteConnectedPlan& plan = context.Plan<ByteConnectedPlan>();
  job.thread_bytes = plan.thread_bytes;
  const int64_t depth = state.shape.depth;
  job.eights = AtEight(input, depth);
  job.dense = true;
  const ByteTail tail(input, job.pixels, depth, depth, depth,
                      reinterpret_cast<int8_t*>(job.scratch + plan.threads * plan.thread_bytes));
  RunByteJob(context, job, [&](int64_t pixel, int count, const int8_t** rows) {
    PlaceRows(input + pixel * depth, depth, count, rows);
    tail.Place(1, count, rows);
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::BytePanelState),
    .plan_size = sizeof(lathe::ByteConnectedPlan),
    .prepare = lathe::PrepareByteConnected,
    .plan = lathe::PlanByteConnected,
    .run = lathe::RunByteConnected,
    .packings = lathe::PackingBit(lathe::Packing::kSigned16),
};
