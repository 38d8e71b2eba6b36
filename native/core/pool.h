// Pools over two spatial axes: max_pool2d and avg_pool2d differ in how they fold a window.
//
// A fold is a struct with `Code Read(PrepareContext&)`, `void Start(float*, int64_t) const` (clears the accumulators of
// all channels), `void Add(float*, const float*, int64_t) const` and
// `void Finish(float*, int64_t, int64_t inside, int64_t padded) const`: how many taps lie inside the image, and how
// many inside the padded image. The accumulators are the output itself.
#ifndef LATHE_CORE_POOL_H_
#define LATHE_CORE_POOL_H_

#include "native/core/window.h"

namespace lathe {
namespace {

template <typename Fold>
struct Pool {
  struct State {
    Window window;
    bool ceil_mode;
    Fold fold;
  };

  static Code Prepare(PrepareContext& context) {
    State& state = *static_cast<State*>(context.state());
    LATHE_TRY(CheckArity(context, 1, 1, 1));
    LATHE_TRY(CheckAllTypes(context, DType::kF32));
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

  static void RunPixel(const State& state, const Taps& vertical, const Taps& level, const Shape& in, const float* image,
                       float* to) {
    const int64_t channels = in[3];
    state.fold.Start(to, channels);
    for (int64_t i = vertical.first; i < vertical.last; ++i) {
      const int64_t y = vertical.origin + i * state.window.dilations[0];
      for (int64_t j = level.first; j < level.last; ++j) {
        const int64_t x = level.origin + j * state.window.dilations[1];
        state.fold.Add(to, image + (y * in[2] + x) * channels, channels);
      }
    }
    const int64_t inside = (vertical.last - vertical.first) * (level.last - level.first);
    state.fold.Finish(to, channels, inside,
                      TapsPadded(state.window, 0, vertical, in[1]) * TapsPadded(state.window, 1, level, in[2]));
  }

  static void Run(const RunContext& context) {
    const State& state = context.template State<State>();
    const Shape& in = context.inputs[0].shape;
    const Shape& out = context.outputs[0].shape;
    const float* image = context.inputs[0].As<float>();
    float* output = context.outputs[0].As<float>();
    if (out.Count() == 0) return;  // without channels there may be any number of pixels
    context.For(out[0] * out[1], 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t batch = line / out[1];
        const Taps vertical = TapsInside(state.window, 0, line - batch * out[1], in[1]);
        for (int64_t pixel = 0; pixel < out[2]; ++pixel) {
          const Taps level = TapsInside(state.window, 1, pixel, in[2]);
          RunPixel(state, vertical, level, in, image + batch * in.Count(1, 4),
                   output + (line * out[2] + pixel) * out[3]);
        }
      }
    });
  }
};

template <typename Fold>
constexpr KernelDef PoolKernel(const char* name, const char* op) {
  using Kernel = Pool<Fold>;
  return {name, op, sizeof(typename Kernel::State), 0, -1, Kernel::Prepare, Kernel::Plan, Kernel::Run};
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_POOL_H_
