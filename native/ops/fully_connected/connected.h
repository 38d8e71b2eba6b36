// x [..., K] times w [N, K] transposed: a convolution with one tap.
#ifndef LATHE_OPS_FULLY_CONNECTED_CONNECTED_H_
#define LATHE_OPS_FULLY_CONNECTED_CONNECTED_H_

#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

// All that a node says but its weights.
__attribute__((cold)) inline Code ReadConnected(PrepareContext& context, PanelState* state) {
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  LATHE_TRY(CheckAllTypes(context, kElementType));
  if (context.input_count() == 3) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
  const int rank = context.input(0).shape.rank;
  if (rank < 1) return context.Fail(Code::kBadModel, "its input has the wrong rank");
  LATHE_TRY(CheckRank(context, context.output(0), rank, "its output"));
  LATHE_TRY(ReadActivation(context, &state->activation));
  FilterShape weight = {};
  LATHE_TRY(ReadFilterShape(context, 2, 1, kMaxPackedElements, &weight));
  if (weight.height * weight.width != 1) return context.Fail(Code::kBadModel, "its weight has more than one tap");
  state->shape = {1, weight.outputs, 1, weight.depth};
  return Code::kOk;
}

__attribute__((cold)) inline Code CheckConnected(PlanContext& context, const PanelState& state, int64_t* pixels) {
  const Shape& in = context.input(0).shape;
  const Shape& weight = context.input(1).shape;
  if (!context.input(1).is_constant() && (weight[0] != state.shape.outputs || weight[1] != state.shape.depth)) {
    return context.Fail(Code::kUnsupported, "weights whose shape changes at run time");
  }
  if (in[-1] != state.shape.depth) return context.Fail(Code::kBadModel, "input and weight differ in depth");
  if (context.input_count() == 3 && context.input(2).shape[0] != state.shape.outputs) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output");
  }
  Shape expected = in;
  expected.dims[in.rank - 1] = state.shape.outputs;
  LATHE_TRY(CheckShape(context, 0, expected));
  *pixels = in.Count(0, in.rank - 1);
  return Code::kOk;
}

inline void RunConnectedPanels(const RunContext& context, const PanelState& state, const PanelPlan& plan) {
  const Shape& in = context.inputs[0].shape;
  const Element* input = context.inputs[0].As<Element>();
  Element* extra = nullptr;
  const PanelJob job = StartPanels(context, state, plan, in.Count(0, in.rank - 1), &extra);
  RunPanelJob(context, job, [&](int64_t pixel, int count, const Element** rows) {
    for (int p = 0; p < count; ++p) rows[p] = input + (pixel + p) * state.shape.depth;
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_FULLY_CONNECTED_CONNECTED_H_
