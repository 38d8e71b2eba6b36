// Transposed convolution taken apart: output pixels at one distance from the stride's grid, a phase, are an ordinary
// convolution of the whole image with every so many taps of the filter.
#ifndef LATHE_OPS_DECONV2D_PHASES_H_
#define LATHE_OPS_DECONV2D_PHASES_H_

#include "native/kernel/math/activation.h"
#include "native/kernel/spatial/window.h"

namespace lathe {
namespace {

struct DeconvState {
  Window window;
  int64_t output_padding[2];
  int64_t groups;
  int64_t outputs;  // per group
  int64_t depth;
  Activation activation;
};

inline Code PrepareDeconv(PrepareContext& context, DType dtype, DeconvState* state) {
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  LATHE_TRY(CheckAllTypes(context, dtype));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.input(1), 4, "its filter"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state->window));
  LATHE_TRY(ReadInts(context, "output_padding", 2, 0, kMaxExtent, state->output_padding));
  LATHE_TRY(ReadActivation(context, &state->activation));
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &state->groups));
  const Shape& filter = context.input(1).shape;
  for (int axis = 0; axis < 4; ++axis) {
    if (filter[axis] < 1 || filter[axis] > kMaxExtent) return context.Fail(Code::kBadModel, "its filter is empty");
  }
  if (filter[0] % state->groups != 0) return context.Fail(Code::kBadModel, "groups do not divide the outputs");
  if (filter.Count() > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its filters are too large");
  state->window.kernel[0] = filter[1];
  state->window.kernel[1] = filter[2];
  state->outputs = filter[0] / state->groups;
  state->depth = filter[3];
  return context.input_count() == 3 ? CheckRank(context, context.input(2), 1, "its bias") : Code::kOk;
}

inline Code PlanDeconv(PlanContext& context, const DeconvState& state) {
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  const Window& window = state.window;
  const int64_t outputs = state.groups * state.outputs;
  if (in[3] != state.groups * state.depth) {
    return context.Fail(Code::kBadModel, "the filter has another number of input channels");
  }
  const Shape filter = {4, {outputs, window.kernel[0], window.kernel[1], state.depth}};
  if (context.input(1).shape != filter) {
    return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
  }
  if (context.input_count() == 3 && context.input(2).shape[0] != outputs) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  Shape expected = {4, {in[0], 0, 0, outputs}};
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t whole =
        (in[1 + axis] - 1) * window.strides[axis] + WindowExtent(window, axis) + state.output_padding[axis];
    expected.dims[1 + axis] = whole - window.before[axis] - window.after[axis];
  }
  return CheckShape(context, 0, expected);
}

// Where the columns that an input pixel reaches are its own, and none of them is cut off, they are like outputs of one
// wider pixel.
inline bool MergesColumns(const DeconvState& state) {
  const Window& window = state.window;
  return state.groups == 1 && window.kernel[1] == window.strides[1] && window.before[1] == 0 && window.after[1] == 0 &&
         window.dilations[1] == 1 && state.output_padding[1] == 0;
}

inline DeconvState Merged(DeconvState state) {
  state.outputs *= state.window.kernel[1];
  state.window.kernel[1] = state.window.strides[1] = 1;
  return state;
}

inline DeconvState Unmerged(DeconvState state, int64_t columns) {
  if (columns == 1) return state;
  state.outputs /= columns;
  state.window.kernel[1] = state.window.strides[1] = columns;
  return state;
}

// The taps along an axis that reach the outputs of a phase.
struct AxisPhase {
  int64_t size;    // outputs
  int64_t taps;    // how many
  int64_t before;  // those of phases with smaller remainders, which come before
  int64_t first;   // the first output's position in the padded image
  int64_t remainder;
};

inline int64_t RemainderOf(const Window& window, int axis, int64_t tap) {
  return tap * window.dilations[axis] % window.strides[axis];
}

// The phase whose first output is `first`, along an axis of `size` outputs.
inline AxisPhase PhaseOf(const Window& window, int axis, int64_t first, int64_t size) {
  AxisPhase phase = {};
  phase.size = size > first ? (size - first - 1) / window.strides[axis] + 1 : 0;
  phase.first = first + window.before[axis];
  phase.remainder = phase.first % window.strides[axis];
  for (int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
    const int64_t remainder = RemainderOf(window, axis, tap);
    phase.taps += remainder == phase.remainder;
    phase.before += remainder < phase.remainder;
  }
  return phase;
}

// The most taps of a phase.
inline int64_t MostTaps(const Window& window) {
  int64_t most = 1;
  for (int axis = 0; axis < 2; ++axis) {
    int64_t a = window.strides[axis], b = window.dilations[axis];
    while (b != 0) {
      const int64_t rest = a % b;
      a = b;
      b = rest;
    }
    most *= (window.kernel[axis] - 1) / (window.strides[axis] / a) + 1;
  }
  return most;
}

// Where a tap has its place among those of its phase.
struct TapPlace {
  int64_t rank;
  int64_t taps;
  int64_t before;

  TapPlace(const Window& window, int axis, int64_t tap) : rank(0), taps(0), before(0) {
    const int64_t own = RemainderOf(window, axis, tap);
    for (int64_t other = 0; other < window.kernel[axis]; ++other) {
      const int64_t remainder = RemainderOf(window, axis, other);
      rank += remainder == own && other < tap;
      taps += remainder == own;
      before += remainder < own;
    }
  }
};

// Phases along an axis of `size` outputs.
inline int64_t PhaseCount(const Window& window, int axis, int64_t size) {
  return window.strides[axis] < size ? window.strides[axis] : size;
}

// Calls f(tap, input position of the first output) for the taps of a phase.
template <typename F>
inline void ForTaps(const Window& window, int axis, const AxisPhase& phase, const F& f) {
  for (int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
    if (RemainderOf(window, axis, tap) != phase.remainder) continue;
    f(tap, (phase.first - tap * window.dilations[axis]) / window.strides[axis]);
  }
}

// A pixel of a phase, counted on.
struct PhasePlace {
  int64_t batch;
  int64_t line;
  int64_t column;

  PhasePlace(int64_t pixel, const AxisPhase& rows, const AxisPhase& columns) {
    const int64_t lines = pixel / columns.size;
    batch = lines / rows.size;
    line = lines - batch * rows.size;
    column = pixel - lines * columns.size;
  }
};

// Calls f(place, done, run) for the parts of `count` pixels from `pixel` that lie in one line.
template <typename F>
inline void ForLines(int64_t pixel, int64_t count, const AxisPhase& rows, const AxisPhase& columns, const F& f) {
  PhasePlace place(pixel, rows, columns);
  for (int64_t done = 0; done < count;) {
    const int64_t left = columns.size - place.column;
    const int64_t run = left < count - done ? left : count - done;
    f(place, done, run);
    done += run;
    place.column = 0;
    if (++place.line < rows.size) continue;
    place.line = 0;
    ++place.batch;
  }
}

// What pixels of a phase read: for each tap of it `chunk` pointers. `zeros` stands for what is outside.
template <int chunk, typename Element>
inline void LocatePhase(const Window& window, const Tensor& input, const Element* zeros, const AxisPhase& rows,
                        const AxisPhase& columns, int64_t pixel, int64_t count, const Element** table) {
  const Shape& in = input.shape;
  const int64_t step = input.RowStep();
  ForLines(pixel, count, rows, columns, [&](const PhasePlace& place, int64_t done, int64_t run) {
    const Element** row = table + done;
    ForTaps(window, 0, rows, [&](int64_t, int64_t top) {
      const int64_t y = place.line + top;
      const bool inside = y >= 0 && y < in[1];
      const Element* line = inside ? input.As<Element>() + (place.batch * in[1] + y) * in[2] * step : zeros;
      ForTaps(window, 1, columns, [&](int64_t, int64_t left) {
        const int64_t x = place.column + left, end = inside && x < in[2] ? in[2] - x : 0;
        const int64_t last = end < run ? end : run;
        int64_t i = 0;
        for (; i < last && i < -x; ++i) row[i] = zeros;
        const Element* from = line + (x + i) * step;
        for (; i < last; ++i, from += step) row[i] = from;
        for (; i < run; ++i) row[i] = zeros;
        row += chunk;
      });
    });
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_DECONV2D_PHASES_H_
