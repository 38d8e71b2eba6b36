// Pools over two spatial axes: max_pool2d and avg_pool2d differ in how they fold a window. The header of an instruction
// set (vector_*.h) goes before this one.
//
// A fold is a struct with `Code Read(PrepareContext&)`, `Vec Start() const`, `Vec Add(Vec sum, Vec x) const` and
// `Vec Finish(Vec sum, float taps) const`. The taps are those inside the image, or inside the padded image where
// `bool CountsPadding() const` says so; 1 where there are none.
#ifndef LATHE_CORE_POOL_H_
#define LATHE_CORE_POOL_H_

#include "native/core/vector_element.h"
#include "native/core/window.h"

namespace lathe {
namespace {

constexpr int kPoolWidth = 4;                                       // vectors of channels that are folded side by side
constexpr int kWidePool = kVectorRegisters >= 32 ? 8 : kPoolWidth;  // as long as there are so many

// The taps of one window that lie inside the image.
struct PoolTaps {
  const Element* first;
  ptrdiff_t rows;
  ptrdiff_t columns;
  ptrdiff_t row_step;
  ptrdiff_t column_step;
};

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
    LATHE_TRY(CheckAllTypes(context, kElementType));
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

  // `width` whole vectors of channels, or one that holds `count` of them.
  template <int width, bool whole>
  static void FoldChannels(const Fold& fold, const PoolTaps& taps, int64_t channel, int count, float divisor,
                           Element* to) {
    Vec sums[width];
    for (int i = 0; i < width; ++i) sums[i] = fold.Start();
    const Element* row = taps.first + channel;
    for (ptrdiff_t y = taps.rows; y > 0; --y, row += taps.row_step) {
      const Element* from = row;
      for (ptrdiff_t x = taps.columns; x > 0; --x, from += taps.column_step) {
#pragma GCC unroll 8
        for (int i = 0; i < width; ++i) {
          sums[i] = fold.Add(sums[i], whole ? Load(from + i * kLanes) : LoadPart(from, count));
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < width; ++i) {
      const Vec result = fold.Finish(sums[i], divisor);
      whole ? Store(to + channel + i * kLanes, result) : StorePart(to + channel, result, count);
    }
  }

  static void RunPixel(const State& state, const Taps& vertical, const Taps& level, const Shape& in,
                       const Element* image, Element* to) {
    const int64_t channels = in[3];
    const Window& window = state.window;
    PoolTaps taps = {};
    taps.rows = static_cast<ptrdiff_t>(vertical.last - vertical.first);
    taps.columns = static_cast<ptrdiff_t>(level.last - level.first);
    taps.row_step = static_cast<ptrdiff_t>(window.dilations[0] * in[2] * channels);
    taps.column_step = static_cast<ptrdiff_t>(window.dilations[1] * channels);
    const int64_t y = vertical.origin + vertical.first * window.dilations[0];
    const int64_t x = level.origin + level.first * window.dilations[1];
    taps.first = taps.rows > 0 && taps.columns > 0 ? image + (y * in[2] + x) * channels : image;
    const int64_t inside = int64_t{taps.rows} * taps.columns;
    const int64_t count = state.fold.CountsPadding()
                              ? TapsPadded(window, 0, vertical, in[1]) * TapsPadded(window, 1, level, in[2])
                              : inside;
    const float divisor = static_cast<float>(count > 0 ? count : 1);
    constexpr int kStep = kPoolWidth * kLanes, kWideStep = kWidePool * kLanes;
    int64_t channel = 0;
    for (; kWideStep > kStep && channel + kWideStep <= channels; channel += kWideStep) {
      FoldChannels<kWidePool, true>(state.fold, taps, channel, 0, divisor, to);
    }
    for (; channel + kStep <= channels; channel += kStep) {
      FoldChannels<kPoolWidth, true>(state.fold, taps, channel, 0, divisor, to);
    }
    for (; channel + kLanes <= channels; channel += kLanes) {
      FoldChannels<1, true>(state.fold, taps, channel, 0, divisor, to);
    }
    const int rest = static_cast<int>(channels - channel);
    if (rest > 0) FoldChannels<1, false>(state.fold, taps, channel, rest, divisor, to);
  }

  static void Run(const RunContext& context) {
    const State& state = context.template State<State>();
    const Shape& in = context.inputs[0].shape;
    const Shape& out = context.outputs[0].shape;
    const Element* image = context.inputs[0].As<Element>();
    Element* output = context.outputs[0].As<Element>();
    const int64_t step = context.outputs[0].RowStep();
    if (out.Count() == 0) return;  // without channels there may be any number of pixels
    context.For(out[0] * out[1], 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t batch = line / out[1];
        const Taps vertical = TapsInside(state.window, 0, line - batch * out[1], in[1]);
        const Element* picture = image + batch * in.Count(1, 4);
        Element* to = output + line * out[2] * step;
        for (int64_t pixel = 0; pixel < out[2]; ++pixel, to += step) {
          const Taps level = TapsInside(state.window, 1, pixel, in[2]);
          RunPixel(state, vertical, level, in, picture, to);
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
