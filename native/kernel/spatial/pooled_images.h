// What pools over two spatial axes do around the fold of one window: max_pool2d and avg_pool2d differ in how they fold,
// and so do element types.
//
// A fold is a struct with `Code Read(PrepareContext&)`, `bool CountsPadding() const` and, for its type of numbers,
// `T Start() const`, `T Add(T sum, T x) const` and `T Finish(T sum, float taps) const`. The taps are those inside the
// image, or inside the padded image where it counts padding; 1 where there are none.
#ifndef LATHE_KERNEL_SPATIAL_POOLED_IMAGES_H_
#define LATHE_KERNEL_SPATIAL_POOLED_IMAGES_H_

#include "native/kernel/spatial/window.h"

namespace lathe {
namespace {

template <typename Fold>
struct PoolState {
  Window window;
  bool ceil_mode;
  Fold fold;

  float TapsOf(const Taps& vertical, const Taps& level, const Shape& in) const {
    const int64_t taps = fold.CountsPadding()
                             ? TapsPadded(window, 0, vertical, in[1]) * TapsPadded(window, 1, level, in[2])
                             : (vertical.last - vertical.first) * (level.last - level.first);
    return static_cast<float>(taps > 0 ? taps : 1);
  }
};

// `Pixel::Run(state, vertical, level, in, pixel, image, to)` folds one window for all channels; `pixel` elements lie
// from pixel to pixel of the image.
template <typename Fold, typename T, DType dtype, typename Pixel>
struct PooledImages {
  using State = PoolState<Fold>;

  static Code Prepare(PrepareContext& context) {
    State& state = *static_cast<State*>(context.state());
    LATHE_TRY(CheckArity(context, 1, 1, 1));
    LATHE_TRY(CheckAllTypes(context, dtype));
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

  static void Run(const RunContext& context) {
    const State& state = context.template State<State>();
    const Shape& in = context.inputs[0].shape;
    const Shape& out = context.outputs[0].shape;
    const T* image = context.inputs[0].As<T>();
    T* output = context.outputs[0].As<T>();
    const int64_t from_step = context.inputs[0].RowStep(), step = context.outputs[0].RowStep();
    if (out.Count() == 0) return;  // without channels there may be any number of pixels
    context.For(out[0] * out[1], 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t batch = line / out[1];
        const Taps vertical = TapsInside(state.window, 0, line - batch * out[1], in[1]);
        const T* picture = image + batch * in[1] * in[2] * from_step;
        T* to = output + line * out[2] * step;
        for (int64_t pixel = 0; pixel < out[2]; ++pixel, to += step) {
          const Taps level = TapsInside(state.window, 1, pixel, in[2]);
          Pixel::Run(state, vertical, level, in, from_step, picture, to);
        }
      }
    });
  }
};

template <typename Kernel>
constexpr KernelFunctions PooledImagesKernel() {
  return {
      .state_size = sizeof(typename Kernel::State),
      .prepare = Kernel::Prepare,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SPATIAL_POOLED_IMAGES_H_
