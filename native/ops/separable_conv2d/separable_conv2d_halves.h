// A depthwise and a 1x1 convolution of halves in one, in either order, for every machine: sums in single precision,
// pixel by pixel. What lies between the two is rounded as it would be if it were stored.
#ifndef LATHE_OPS_SEPARABLE_CONV2D_HALVES_H_
#define LATHE_OPS_SEPARABLE_CONV2D_HALVES_H_

#include "native/kernel/math/activation.h"
#include "native/kernel/math/convert.h"
#include "native/kernel/spatial/window.h"

namespace lathe {
namespace {

enum PairInput { kImage, kPointwiseFilter, kPointwiseBias, kDepthwiseFilter, kDepthwiseBias, kResidual };

struct HalfPairState {
  Window window;
  Activation first;
  Activation second;
};

constexpr const char* kFirstNames[][3] = {
    {"depthwise_activation", "depthwise_activation_alpha", "depthwise_activation_beta"},
    {"pointwise_activation", "pointwise_activation_alpha", "pointwise_activation_beta"}};

template <bool pointwise_first>
Code PrepareHalfPair(PrepareContext& context) {
  HalfPairState& state = *static_cast<HalfPairState*>(context.state());
  LATHE_TRY(CheckArity(context, 5, pointwise_first ? 5 : 6, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF16));
  constexpr int kRanks[] = {4, 4, 1, 3, 1, 4};
  for (int i = 0; i < context.input_count(); ++i) {
    LATHE_TRY(CheckRank(context, context.input(i), kRanks[i], "one of its inputs"));
  }
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state.window));
  LATHE_TRY(ReadActivation(context, kFirstNames[pointwise_first], &state.first));
  LATHE_TRY(ReadActivation(context, &state.second));
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t size = context.input(kDepthwiseFilter).shape[axis];
    if (size < 1 || size > kMaxExtent) return context.Fail(Code::kBadModel, "its depthwise filter is empty");
    state.window.kernel[axis] = size;
  }
  return Code::kOk;
}

template <bool pointwise_first>
Code PlanHalfPair(PlanContext& context) {
  const HalfPairState& state = *static_cast<const HalfPairState*>(context.state());
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(kImage).shape;
  const Shape& pointwise = context.input(kPointwiseFilter).shape;
  const Shape& depthwise = context.input(kDepthwiseFilter).shape;
  const int64_t outputs = pointwise[0];
  const int64_t channels = pointwise_first ? outputs : in[3];
  if (pointwise != Shape{4, {outputs, 1, 1, in[3]}} || context.input(kPointwiseBias).shape[0] != outputs) {
    return context.Fail(Code::kBadModel, "its filters have another number of channels");
  }
  const Shape filter = {3, {state.window.kernel[0], state.window.kernel[1], channels}};
  if (depthwise != filter || context.input(kDepthwiseBias).shape[0] != channels) {
    return context.Fail(Code::kBadModel, "its depthwise filter has another shape");
  }
  Shape expected = {4, {in[0], 0, 0, outputs}};
  for (int axis = 0; axis < 2; ++axis) expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], false);
  LATHE_TRY(CheckShape(context, 0, expected));
  if (context.input_count() > kResidual && context.input(kResidual).shape != expected) {
    return context.Fail(Code::kBadModel, "the residual and the output differ in shape");
  }
  if (channels > kMaxPackedElements / context.threads()) {
    return context.Fail(Code::kUnsupported, "it has too many channels");
  }
  return RequestScratch(context, context.threads() * channels * static_cast<int64_t>(sizeof(float)));
}

// The output of a 1x1 convolution for one pixel.
template <typename T>
float Pointwise(const RunContext& context, const T* pixel, int64_t output) {
  const int64_t depth = context.inputs[kPointwiseFilter].shape[3];
  const Half* filter = context.inputs[kPointwiseFilter].As<Half>() + output * depth;
  float sum = Widen(context.inputs[kPointwiseBias].As<Half>()[output]);
  for (int64_t k = 0; k < depth; ++k) sum += Widen(pixel[k]) * Widen(filter[k]);
  return sum;
}

inline float Between(const Activation& activation, float sum) {
  Activate(activation, &sum, 1);
  return Widen(Convert<Half>(sum));
}

// The sums of a depthwise convolution for one pixel of the output, of what `value(channel, pixel of the input)` gives.
template <typename F>
void Depthwise(const RunContext& context, const Window& window, int64_t pixel, float* sums, const F& value) {
  const Shape& in = context.inputs[kImage].shape;
  const Shape& out = context.outputs[0].shape;
  const int64_t channels = context.inputs[kDepthwiseFilter].shape[2];
  const Half* bias = context.inputs[kDepthwiseBias].As<Half>();
  const int64_t line = pixel / out[2];
  const int64_t batch = line / out[1];
  const Taps down = TapsInside(window, 0, line - batch * out[1], in[1]);
  const Taps along = TapsInside(window, 1, pixel - line * out[2], in[2]);
  for (int64_t c = 0; c < channels; ++c) sums[c] = Widen(bias[c]);
  for (int64_t i = down.first; i < down.last; ++i) {
    const int64_t y = batch * in[1] + down.origin + i * window.dilations[0];
    for (int64_t j = along.first; j < along.last; ++j) {
      const int64_t x = along.origin + j * window.dilations[1];
      const Half* filter = context.inputs[kDepthwiseFilter].As<Half>() + (i * window.kernel[1] + j) * channels;
      for (int64_t c = 0; c < channels; ++c) sums[c] += value(c, y * in[2] + x) * Widen(filter[c]);
    }
  }
}

template <bool pointwise_first>
void RunHalfPair(const RunContext& context) {
  const HalfPairState& state = context.State<HalfPairState>();
  const Half* image = context.inputs[kImage].As<Half>();
  const int64_t depth = context.inputs[kImage].shape[3];
  const int64_t channels = context.inputs[kDepthwiseFilter].shape[2];
  const Shape& out = context.outputs[0].shape;
  const Half* residual = context.input_count > kResidual ? context.inputs[kResidual].As<Half>() : nullptr;
  context.For(out.Count(0, 3), 1, [&](int64_t begin, int64_t end, int thread) {
    float* between = static_cast<float*>(context.scratch) + thread * channels;
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      Depthwise(context, state.window, pixel, between, [&](int64_t c, int64_t at) {
        return pointwise_first ? Between(state.first, Pointwise(context, image + at * depth, c))
                               : Widen(image[at * depth + c]);
      });
      for (int64_t c = 0; !pointwise_first && c < channels; ++c) between[c] = Between(state.first, between[c]);
      for (int64_t o = 0; o < out[3]; ++o) {
        const int64_t at = pixel * out[3] + o;
        float sum = pointwise_first ? between[o] : Pointwise(context, between, o);
        if (residual != nullptr) sum += Widen(residual[at]);
        Activate(state.second, &sum, 1);
        context.outputs[0].As<Half>()[at] = Convert<Half>(sum);
      }
    }
  });
}

template <bool pointwise_first>
constexpr KernelFunctions HalfPairKernel() {
  return {
      .state_size = sizeof(HalfPairState),
      .prepare = PrepareHalfPair<pointwise_first>,
      .plan = PlanHalfPair<pointwise_first>,
      .run = RunHalfPair<pointwise_first>,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SEPARABLE_CONV2D_HALVES_H_
