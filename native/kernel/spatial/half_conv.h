// Convolutions of halves for every machine: each output is one sum in single precision, which is rounded at its end.
// They say what is right, and run what no better kernel runs; nothing is packed, and nothing is fast.
#ifndef LATHE_KERNEL_SPATIAL_HALF_CONV_H_
#define LATHE_KERNEL_SPATIAL_HALF_CONV_H_

#include "native/kernel/math/activation.h"
#include "native/kernel/math/convert.h"
#include "native/kernel/spatial/window.h"

namespace lathe {
namespace {

struct HalfConvState {
  Window window;
  Activation activation;
  int64_t output_padding[2];
  int64_t groups;
  int64_t outputs;  // of a group
  int64_t depth;    // inputs of a group
};

// What a kind of convolution is: which inputs meet which taps, and where its filters have them.
struct HalfConv {
  static constexpr int kMost = 4;  // operands
  static constexpr bool kDepthwise = false;
  static Code Read(PrepareContext&, HalfConvState*) { return Code::kOk; }
  static int64_t Size(const HalfConvState& state, int axis, int64_t size) {
    return WindowCount(state.window, axis, size, false);
  }
  // Where a tap looks; outside of the image where nothing is.
  static int64_t Source(const Window& window, int axis, int64_t position, int64_t tap) {
    return position * window.strides[axis] - window.before[axis] + tap * window.dilations[axis];
  }
};

struct HalfDeconv : HalfConv {
  static constexpr int kMost = 3;
  static Code Read(PrepareContext& context, HalfConvState* state) {
    return ReadInts(context, "output_padding", 2, 0, kMaxExtent, state->output_padding);
  }
  static int64_t Size(const HalfConvState& state, int axis, int64_t size) {
    const Window& window = state.window;
    return (size - 1) * window.strides[axis] + WindowExtent(window, axis) + state.output_padding[axis] -
           window.before[axis] - window.after[axis];
  }
  static int64_t Source(const Window& window, int axis, int64_t position, int64_t tap) {
    const int64_t reach = position + window.before[axis] - tap * window.dilations[axis];
    return reach < 0 || reach % window.strides[axis] != 0 ? -1 : reach / window.strides[axis];
  }
};

struct HalfDepthwise : HalfConv {
  static constexpr int kMost = 3;
  static constexpr bool kDepthwise = true;
};

// Filters are [outputs, height, width, depth], or [height, width, outputs] where each input has its own.
template <typename Kind>
Code PrepareHalfConv(PrepareContext& context) {
  HalfConvState& state = *static_cast<HalfConvState*>(context.state());
  constexpr int kRank = Kind::kDepthwise ? 3 : 4;
  LATHE_TRY(CheckArity(context, 2, Kind::kMost, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF16));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.input(1), kRank, "its filter"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state.window));
  LATHE_TRY(ReadActivation(context, &state.activation));
  LATHE_TRY(Kind::Read(context, &state));
  const Shape& filter = context.input(1).shape;
  for (int axis = 0; axis < kRank; ++axis) {
    if (filter[axis] < 1 || filter[axis] > kMaxExtent) return context.Fail(Code::kBadModel, "its filter is empty");
  }
  constexpr int kWindow = Kind::kDepthwise ? 0 : 1;
  for (int axis = 0; axis < 2; ++axis) state.window.kernel[axis] = filter[kWindow + axis];
  const int64_t all = filter[Kind::kDepthwise ? 2 : 0];
  if (Kind::kDepthwise) {
    LATHE_TRY(ReadInt(context, "multiplier", 1, kMaxExtent, &state.outputs));
    state.groups = all / state.outputs;
    state.depth = 1;
  } else {
    LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &state.groups));
    state.outputs = all / state.groups;
    state.depth = filter[3];
  }
  if (state.groups * state.outputs != all) return context.Fail(Code::kBadModel, "groups do not divide the outputs");
  if (context.input_count() > 2) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
  if (context.input_count() > 3) LATHE_TRY(CheckRank(context, context.input(3), 4, "its residual"));
  return Code::kOk;
}

template <typename Kind>
Code PlanHalfConv(PlanContext& context) {
  const HalfConvState& state = *static_cast<const HalfConvState*>(context.state());
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  const Shape& filter = context.input(1).shape;
  const int64_t outputs = state.groups * state.outputs;
  Shape known = {4, {outputs, state.window.kernel[0], state.window.kernel[1], state.depth}};
  if (Kind::kDepthwise) known = {3, {state.window.kernel[0], state.window.kernel[1], outputs}};
  if (filter != known) return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
  if (in[3] != state.groups * state.depth) {
    return context.Fail(Code::kBadModel, "the filter has another number of input channels");
  }
  if (context.input_count() > 2 && context.input(2).shape[0] != outputs) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  Shape expected = {4, {in[0], 0, 0, outputs}};
  for (int axis = 0; axis < 2; ++axis) expected.dims[1 + axis] = Kind::Size(state, axis, in[1 + axis]);
  LATHE_TRY(CheckShape(context, 0, expected));
  if (context.input_count() > 3 && context.input(3).shape != expected) {
    return context.Fail(Code::kBadModel, "the residual and the output differ in shape");
  }
  return Code::kOk;
}

// The sum of one output: of pixel (`row`, `column`) of an image.
template <typename Kind>
float SumHalves(const HalfConvState& state, const Shape& in, const Half* image, const Half* filters, int64_t row,
                int64_t column, int64_t output) {
  const Window& window = state.window;
  const int64_t outputs = state.groups * state.outputs;
  const Half* channels = image + output / state.outputs * state.depth;
  float sum = 0.0f;
  for (int64_t i = 0; i < window.kernel[0]; ++i) {
    const int64_t y = Kind::Source(window, 0, row, i);
    if (y < 0 || y >= in[1]) continue;
    for (int64_t j = 0; j < window.kernel[1]; ++j) {
      const int64_t x = Kind::Source(window, 1, column, j);
      if (x < 0 || x >= in[2]) continue;
      const Half* inputs = channels + (y * in[2] + x) * in[3];
      const int64_t tap = i * window.kernel[1] + j;
      if (Kind::kDepthwise) {
        sum += Widen(*inputs) * Widen(filters[tap * outputs + output]);
        continue;
      }
      const Half* filter = filters + (output * window.kernel[0] * window.kernel[1] + tap) * state.depth;
      for (int64_t c = 0; c < state.depth; ++c) sum += Widen(inputs[c]) * Widen(filter[c]);
    }
  }
  return sum;
}

template <typename Kind>
void RunHalfConv(const RunContext& context) {
  const HalfConvState& state = context.State<HalfConvState>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const Half* bias = context.input_count > 2 ? context.inputs[2].As<Half>() : nullptr;
  const Half* residual = context.input_count > 3 ? context.inputs[3].As<Half>() : nullptr;
  const Half* filters = context.inputs[1].As<Half>();
  Half* to = context.outputs[0].As<Half>();
  context.For(out.Count(0, 3), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      const int64_t line = pixel / out[2];
      const int64_t batch = line / out[1];
      const Half* image = context.inputs[0].As<Half>() + batch * in.Count(1, 4);
      for (int64_t o = 0; o < out[3]; ++o) {
        const int64_t at = pixel * out[3] + o;
        float sum = SumHalves<Kind>(state, in, image, filters, line - batch * out[1], pixel - line * out[2], o);
        if (bias != nullptr) sum += Widen(bias[o]);
        if (residual != nullptr) sum += Widen(residual[at]);
        Activate(state.activation, &sum, 1);
        to[at] = Convert<Half>(sum);
      }
    }
  });
}

template <typename Kind>
constexpr KernelFunctions HalfConvKernel() {
  return {
      .state_size = sizeof(HalfConvState),
      .prepare = PrepareHalfConv<Kind>,
      .plan = PlanHalfConv<Kind>,
      .run = RunHalfConv<Kind>,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SPATIAL_HALF_CONV_H_
