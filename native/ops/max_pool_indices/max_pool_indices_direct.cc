// The largest element of each window over any number of spatial axes, channels first, and its place in the input.
#include "native/kernel/check.h"
#include "native/kernel/math/math.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

constexpr int kMaxAxes = kMaxRank - 2;

struct State {
  int64_t axes;
  int64_t kernel[kMaxAxes];
  int64_t strides[kMaxAxes];
  int64_t dilations[kMaxAxes];
  int64_t pads[2 * kMaxAxes];
  bool ceil_mode;
  bool column_major;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 2));
  const int rank = context.input(0).shape.rank;
  if (context.input(0).dtype != DType::kF32 || context.output(0).dtype != DType::kF32 ||
      context.output(1).dtype != DType::kS64) {
    return context.Fail(Code::kUnsupported, "this kernel has other types");
  }
  if (rank < 3) return context.Fail(Code::kBadModel, "its input has no spatial axes");
  const int axes = rank - 2;
  state.axes = axes;
  LATHE_TRY(ReadInts(context, "kernel", axes, 1, kMaxExtent, state.kernel));
  LATHE_TRY(ReadInts(context, "strides", axes, 1, kMaxExtent, state.strides));
  LATHE_TRY(ReadInts(context, "dilations", axes, 1, kMaxExtent, state.dilations));
  LATHE_TRY(ReadInts(context, "pads", 2 * axes, 0, kMaxExtent, state.pads));
  LATHE_TRY(ReadBool(context, "ceil_mode", &state.ceil_mode));
  return ReadBool(context, "column_major", &state.column_major);
}

int64_t Windows(const State& state, int axis, int64_t size) {
  const int64_t before = state.pads[axis];
  const int64_t stride = state.strides[axis];
  const int64_t extent = state.dilations[axis] * (state.kernel[axis] - 1) + 1;
  const int64_t room = size + before + state.pads[axis + state.axes] - extent;
  if (room < 0 && (!state.ceil_mode || room <= -stride)) return 0;
  if (!state.ceil_mode) return room / stride + 1;
  const int64_t touching = (room + stride - 1) / stride + 1;
  const int64_t beginning = (size + before + stride - 1) / stride;
  return touching < beginning ? touching : beginning;
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  Shape expected = context.input(0).shape;
  for (int axis = 0; axis < state.axes; ++axis) {
    if (expected[2 + axis] > kMaxExtent) return context.Fail(Code::kUnsupported, "an image is too large");
    expected.dims[2 + axis] = Windows(state, axis, expected[2 + axis]);
  }
  LATHE_TRY(CheckShape(context, 0, expected));
  return CheckShape(context, 1, expected);
}

// The part of a window along one axis that lies inside: taps [first, last), tap 0 at `origin`.
struct Reach {
  int64_t first;
  int64_t last;
  int64_t origin;
};

Reach Inside(const State& state, int axis, int64_t position, int64_t size) {
  Reach reach;
  const int64_t dilation = state.dilations[axis];
  reach.origin = position * state.strides[axis] - state.pads[axis];
  reach.first = reach.origin < 0 ? (dilation - 1 - reach.origin) / dilation : 0;
  const int64_t fitting = reach.origin < size ? (size - 1 - reach.origin) / dilation + 1 : 0;
  reach.last = fitting < state.kernel[axis] ? fitting : state.kernel[axis];
  return reach;
}

// The best element of one window of one channel; `steps` are the strides of the input's spatial axes.
int64_t Best(const State& state, const Reach* reach, const int64_t* steps, const float* image) {
  const int axes = static_cast<int>(state.axes);
  int64_t tap[kMaxAxes];
  for (int axis = 0; axis < axes; ++axis) {
    tap[axis] = reach[axis].first;
    if (reach[axis].first >= reach[axis].last) return -1;
  }
  int64_t best = -1;
  for (;;) {
    int64_t place = 0;
    for (int axis = 0; axis < axes; ++axis) {
      place += (reach[axis].origin + tap[axis] * state.dilations[axis]) * steps[axis];
    }
    const float value = image[place];
    if (best < 0 || value > image[best] || (value != value && image[best] == image[best])) best = place;
    int axis = axes - 1;
    while (axis >= 0 && ++tap[axis] == reach[axis].last) {
      tap[axis] = reach[axis].first;
      --axis;
    }
    if (axis < 0) return best;
  }
}

// A place within a channel, counted with the first spatial axis fastest.
int64_t ColumnMajor(const Shape& in, int64_t place) {
  int64_t result = 0;
  for (int axis = in.rank - 1; axis >= 2; --axis) {  // from the fastest axis, which becomes the slowest
    int64_t step = 1;
    for (int other = 2; other < axis; ++other) step *= in[other];
    result += place % in[axis] * step;
    place /= in[axis];
  }
  return result;
}

void RunChannel(const State& state, const Shape& in, const Shape& out, int64_t channel, const float* image, float* to,
                int64_t* places) {
  const int axes = static_cast<int>(state.axes);
  const int64_t size = in.Count(2, in.rank);
  int64_t steps[kMaxAxes];
  for (int axis = 0; axis < axes; ++axis) steps[axis] = in.Count(3 + axis, in.rank);
  Reach reach[kMaxAxes];
  const int64_t count = out.Count(2, out.rank);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (int axis = axes - 1; axis >= 0; --axis) {
      reach[axis] = Inside(state, axis, rest % out[2 + axis], in[2 + axis]);
      rest /= out[2 + axis];
    }
    const int64_t best = Best(state, reach, steps, image);
    to[i] = best < 0 ? -HUGE_VALF : image[best];
    places[i] = best < 0 ? -1 : channel * size + (state.column_major ? ColumnMajor(in, best) : best);
  }
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const float* image = context.inputs[0].As<float>();
  float* to = context.outputs[0].As<float>();
  int64_t* places = context.outputs[1].As<int64_t>();
  const int64_t size = in.Count(2, in.rank);
  const int64_t count = out.Count(2, out.rank);
  context.For(out.Count(0, 2), 1, [=, &state, &in, &out](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      RunChannel(state, in, out, i, image + i * size, to + i * count, places + i * count);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
