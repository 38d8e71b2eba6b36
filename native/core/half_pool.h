// Pools of halves for every machine: a window is folded in single precision.
//
// A fold is a struct with `Code Read(PrepareContext&)`, `float Start() const`, `float Add(float sum, float x) const`,
// `float Finish(float sum, float taps) const` and `bool CountsPadding() const`; see pool.h.
#ifndef LATHE_CORE_HALF_POOL_H_
#define LATHE_CORE_HALF_POOL_H_

#include "native/core/convert.h"
#include "native/core/window.h"

namespace lathe {
namespace {

template <typename Fold>
struct HalfPool {
  struct State {
    Window window;
    bool ceil_mode;
    Fold fold;
  };

  static Code Prepare(PrepareContext& context) {
    State& state = *static_cast<State*>(context.state());
    LATHE_TRY(CheckArity(context, 1, 1, 1));
    LATHE_TRY(CheckAllTypes(context, DType::kF16));
    LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
    LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
    LATHE_TRY(ReadWindow(context, &state.window));
    LATHE_TRY(ReadInts(context, "kernel", 2, 1, kMaxExtent, state.window.kernel));
    LATHE_TRY(ReadBool(context, "ceil_mode", &state.ceil_mode));
    return state.fold.Read(context);
  }

  static Code Plan(PlanContext& context) {
    const State& state = *static_cast<const State*>(context.state());
    LATHE_TRY(CheckImages(context));
    const Shape& in = context.input(0).shape;
    Shape expected = {4, {in[0], 0, 0, in[3]}};
    for (int axis = 0; axis < 2; ++axis) {
      expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], state.ceil_mode);
    }
    return CheckShape(context, 0, expected);
  }

  static void RunPixel(const State& state, const Taps& vertical, const Taps& level, const Shape& in, const Half* image,
                       Half* to) {
    const Window& window = state.window;
    const int64_t inside = (vertical.last - vertical.first) * (level.last - level.first);
    const int64_t taps = state.fold.CountsPadding()
                             ? TapsPadded(window, 0, vertical, in[1]) * TapsPadded(window, 1, level, in[2])
                             : inside;
    for (int64_t channel = 0; channel < in[3]; ++channel) {
      float sum = state.fold.Start();
      for (int64_t i = vertical.first; i < vertical.last; ++i) {
        const int64_t line = (vertical.origin + i * window.dilations[0]) * in[2];
        for (int64_t j = level.first; j < level.last; ++j) {
          const int64_t pixel = line + level.origin + j * window.dilations[1];
          sum = state.fold.Add(sum, Widen(image[pixel * in[3] + channel]));
        }
      }
      to[channel] = Convert<Half>(state.fold.Finish(sum, static_cast<float>(taps > 0 ? taps : 1)));
    }
  }

  static void Run(const RunContext& context) {
    const State& state = context.template State<State>();
    const Shape& in = context.inputs[0].shape;
    const Shape& out = context.outputs[0].shape;
    if (out.Count() == 0) return;  // without channels there may be any number of pixels
    context.For(out[0] * out[1], 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t batch = line / out[1];
        const Half* image = context.inputs[0].As<Half>() + batch * in.Count(1, 4);
        const Taps vertical = TapsInside(state.window, 0, line - batch * out[1], in[1]);
        Half* to = context.outputs[0].As<Half>() + line * out[2] * out[3];
        for (int64_t pixel = 0; pixel < out[2]; ++pixel, to += out[3]) {
          RunPixel(state, vertical, TapsInside(state.window, 1, pixel, in[2]), in, image, to);
        }
      }
    });
  }
};

template <typename Fold>
constexpr KernelDef HalfPoolKernel(const char* name, const char* op) {
  using Kernel = HalfPool<Fold>;
  return {name, op, sizeof(typename Kernel::State), 0, -1, Kernel::Prepare, Kernel::Plan, Kernel::Run};
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_HALF_POOL_H_
