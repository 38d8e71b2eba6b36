// What all kernels of dwconv2d read from their node.
#ifndef LATHE_OPS_DWCONV2D_NODE_H_
#define LATHE_OPS_DWCONV2D_NODE_H_

#include <math.h>

#include "native/kernel/check.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_activation.h"
#include "native/kernel/spatial/window.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

struct DwState {
  Window window;
  Activation activation;
  int64_t multiplier;
};

inline Code ReadDepthwise(PrepareContext& context, DwState* state) {
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  LATHE_TRY(CheckAllTypes(context, kElementType));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.input(1), 3, "its filter"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state->window));
  LATHE_TRY(ReadActivation(context, &state->activation));
  LATHE_TRY(ReadInt(context, "multiplier", 1, kMaxExtent, &state->multiplier));
  const Shape& filter = context.input(1).shape;
  for (int axis = 0; axis < 3; ++axis) {
    if (filter[axis] < 1 || filter[axis] > kMaxExtent) return context.Fail(Code::kBadModel, "its filter is empty");
  }
  state->window.kernel[0] = filter[0];
  state->window.kernel[1] = filter[1];
  if (context.input_count() == 3) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
  return Code::kOk;
}

// That the shapes of this session belong together.
inline Code CheckDepthwise(PlanContext& context) {
  const DwState& state = *static_cast<const DwState*>(context.state());
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  const Shape& filter = context.input(1).shape;
  if (filter[0] != state.window.kernel[0] || filter[1] != state.window.kernel[1]) {
    return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
  }
  if (in[3] > kMaxExtent || filter[2] != in[3] * state.multiplier) {
    return context.Fail(Code::kBadModel, "the filter has another number of channels");
  }
  if (context.input_count() == 3 && context.input(2).shape[0] != filter[2]) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  Shape expected = {4, {in[0], 0, 0, filter[2]}};
  for (int axis = 0; axis < 2; ++axis) expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], false);
  return CheckShape(context, 0, expected);
}

// What of an activation the rows do: limits. Whether something is left to be done.
inline bool ReadLimits(const Activation& activation, float* low, float* high) {
  const bool clip = activation.kind == ActivationKind::kClip;
  const bool relu = activation.kind == ActivationKind::kRelu;
  *low = clip ? activation.alpha : relu ? 0.0f : -HUGE_VALF;
  *high = clip ? activation.beta : HUGE_VALF;
  return !clip && !relu && activation.kind != ActivationKind::kNone;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_DWCONV2D_NODE_H_
