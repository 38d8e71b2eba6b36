// What kernels of dwconv2d on stored bytes read from their node. Sums are exact, and rounding is the same for all
// instruction sets:
//
//   sum = bias + sum over the taps inside the image of (x - zero point of x) * w
//   y   = clip(single(sum) * factor), rounded half to even, + zero point
#ifndef LATHE_OPS_DWCONV2D_BYTES_H_
#define LATHE_OPS_DWCONV2D_BYTES_H_

#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/quantised/requantise.h"
#include "native/kernel/spatial/window.h"

namespace lathe {
namespace {

struct DwByteState {
  Window window;
  int64_t multiplier;
  int64_t channels;  // of the output
  const int8_t* filter;
  const int32_t* bias;   // of every output channel
  const float* factors;  // as well
  int32_t x_zero;
  Steps steps;
};

inline Code ReadDwBias(PrepareContext& context, const DwByteState& state, int32_t* starts) {
  const Tensor& bias = context.input(2);
  if (bias.dtype != DType::kS32 || !bias.is_constant())
    return context.Fail(Code::kUnsupported, "its bias is not constant, or no s32");
  LATHE_TRY(CheckRank(context, bias, 1, "its bias"));
  if (bias.shape[0] != state.channels)
    return context.Fail(Code::kBadModel, "the bias does not have one number per output channel");
  memcpy(starts, bias.data, static_cast<size_t>(state.channels) * sizeof *starts);
  return Code::kOk;
}

inline Code ReadDwScales(PrepareContext& context, DwByteState* state) {
  const Tensor& w = context.input(1);
  Stored x = {}, y = {};
  LATHE_TRY(ReadStored(context, context.input(0), &x));
  LATHE_TRY(ReadStored(context, context.output(0), &y));
  if (w.quant == nullptr || !w.is_constant()) return context.Fail(Code::kUnsupported, "its filter is not constant");
  for (const int64_t zero : w.quant->zeros) {
    if (zero != 0) return context.Fail(Code::kUnsupported, "its filter is not symmetric");
  }
  const bool single = w.quant->axis < 0;
  if (!single && w.quant->axis != 2) return context.Fail(Code::kUnsupported, "its filter has not a scale per output");
  state->x_zero = x.zero;
  state->steps.zero = y.zero;
  LATHE_TRY(ReadStoredClip(context, y, &state->steps.low, &state->steps.high));
  float* factors = nullptr;
  int32_t* starts = nullptr;
  LATHE_TRY(AllocateArray(context, state->channels, &factors));
  LATHE_TRY(AllocateArray(context, state->channels, &starts));
  for (int64_t i = 0; i < state->channels; ++i) {
    const float scale = w.quant->scales[static_cast<size_t>(single ? 0 : i)];
    LATHE_TRY(ReadFactor(context, x.scale * scale, y.scale, factors + i));
  }
  if (context.input_count() > 2) LATHE_TRY(ReadDwBias(context, *state, starts));
  state->filter = w.As<int8_t>();
  state->bias = starts;
  state->factors = factors;
  return Code::kOk;
}

inline Code ReadDwBytes(PrepareContext& context, DwByteState* state) {
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  const Tensor* tensors[] = {&context.input(0), &context.input(1), &context.output(0)};
  for (const Tensor* tensor : tensors) {
    if (tensor->dtype != DType::kS8) return context.Fail(Code::kUnsupported, "this kernel has other element types");
  }
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.input(1), 3, "its filter"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state->window));
  LATHE_TRY(ReadInt(context, "multiplier", 1, kMaxExtent, &state->multiplier));
  const Shape& filter = context.input(1).shape;
  for (int axis = 0; axis < 3; ++axis) {
    if (filter[axis] < 1 || filter[axis] > kMaxExtent) return context.Fail(Code::kBadModel, "its filter is empty");
  }
  state->window.kernel[0] = filter[0];
  state->window.kernel[1] = filter[1];
  state->channels = filter[2];
  // A product is less than 2^15: sums stay within 32 bits.
  if (filter[0] * filter[1] > INT32_MAX / 32768) return context.Fail(Code::kUnsupported, "its filters are too large");
  return ReadDwScales(context, state);
}

constexpr int kQuarters = 4;  // a vector of bytes is four of sums

// The place of a channel among the sums of its block.
inline int64_t SumPlace(int64_t channel, int64_t width) {
  return channel % 16 / 4 * (width / kQuarters) + channel / 16 * 4 + channel % 4;
}

// That the shapes of this session belong together.
inline Code PlanDwBytes(PlanContext& context) {
  const DwByteState& state = *static_cast<const DwByteState*>(context.state());
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  if (in[3] > kMaxExtent || state.channels != in[3] * state.multiplier)
    return context.Fail(Code::kBadModel, "the filter has another number of channels");
  Shape expected = {4, {in[0], 0, 0, state.channels}};
  for (int axis = 0; axis < 2; ++axis) expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], false);
  return CheckShape(context, 0, expected);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_DWCONV2D_BYTES_H_
