// Depthwise convolution with a square window of 3 or 5, stride 1 or 2.
#ifndef LATHE_OPS_DWCONV2D_SWEEP_H_
#define LATHE_OPS_DWCONV2D_SWEEP_H_

#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
#include "native/kernel/depthwise/depthwise_tiles_arm.h"
#else
#include "native/kernel/depthwise/depthwise_rows.h"
#endif
#include "native/kernel/simd/simd.h"
#include "native/ops/dwconv2d/dwconv2d_node.h"

namespace lathe {
namespace {

template <int kernel>
Code PrepareSweep(PrepareContext& context) {
  DwState& state = *static_cast<DwState*>(context.state());
  LATHE_TRY(ReadDepthwise(context, &state));
  const Window& window = state.window;
  const bool square = window.kernel[0] == kernel && window.kernel[1] == kernel;
  const bool steps = window.strides[0] == window.strides[1] && window.strides[0] <= 2;
  const bool dense = window.dilations[0] == 1 && window.dilations[1] == 1;
  if (square && steps && dense && state.multiplier == 1 && context.input(1).shape[2] >= DwUnit(kernel))
    return Code::kOk;
  return context.Fail(Code::kUnsupported, "this kernel has another window");
}

// Scratch is a row of zeros, for the padding above and below.
inline Code PlanSweep(PlanContext& context) {
  LATHE_TRY(CheckDepthwise(context));
  const Shape& in = context.input(0).shape;
  return RequestScratch(context, in[2] * in[3] * static_cast<int64_t>(sizeof(Element)));
}

// Some rows, with a window that is larger than 3 x 3.
template <int kernel, int stride>
void RunDwLarge(const DwRows& rows, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t last) {
#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
  RunDwTiles<kernel, stride>(rows, begin, end, first, last);
#else
  RunDwRows<kernel, stride>(rows, begin, end, first, last);
#endif
}

// How a run is cut, by shape alone.
struct SweepCut {
  int64_t lines;    // of an image: kDwRows rows each
  int64_t parts;    // of the channels, each of what goes by together; the last also has what remains
  int64_t part;     // channels of a part
  int64_t columns;  // that go by together

  SweepCut(const Shape& in, const Shape& out, int64_t rows, int64_t kernel, int64_t stride) {
    constexpr int64_t kItems = 32;       // few lines are split by channels, so that all threads have something to do
    constexpr int64_t kCached = 256000;  // elements; a larger image goes by in blocks of columns, as it lies in memory
    constexpr int64_t kTurns = kLanes == 4 ? 24 : 4;  // of all slots, in a block: several vectors share a line of cache
    lines = (out[1] + rows - 1) / rows;
    const int64_t items = out[0] * lines;
    const int64_t unit = DwUnit(kernel);
    const int64_t units = out[3] / unit;
    const int64_t splits = items > 0 && items < kItems ? kItems / items : 1;
    part = (units + splits - 1) / splits * unit;
    parts = units * unit / part;
    const bool cached = (in[1] * in[2] + out[1] * out[2]) * in[3] <= kCached;
    const bool busy = kernel > 3;  // so much to do per column that the way to memory costs nothing
    columns = cached || busy ? out[2] : kTurns * ((kernel - 1) / stride + 1);
  }
};

// Applies the rest of an activation to some channels of one line.
inline void ActivateLine(const Activation& activation, Element* line, int64_t pixels, int64_t channels, int64_t first,
                         int64_t last) {
  ActivateRows(activation, line + first, pixels, channels, last - first);
}

// What the lines of one run share.
struct SweepJob {
  const Element* image;
  const Element* zeros;
  const Shape* in;
  const Shape* out;
  const DwState* state;
  DwRows rows;
  bool rest;  // of the activation
};

// `lines` lines from `top` on, as far as there are so many, to `output`; `inputs` are the lines that they look at.
template <int kernel>
void RunSweepRows(const SweepJob& job, int64_t columns, const Element* const* inputs, int64_t top, int64_t lines,
                  Element* output, int64_t first, int64_t last) {
  const Shape& out = *job.out;
  const int64_t line = out[2] * out[3];
  const int64_t count = top + lines <= out[1] ? lines : out[1] - top;
  DwRows rows = job.rows;
  rows.inputs = inputs;
  rows.output_row = static_cast<ptrdiff_t>(line);
  rows.lines = static_cast<ptrdiff_t>(count);
  const bool halves = job.state->window.strides[0] == 2;
  for (int64_t x = 0; x < out[2]; x += columns) {
    const int64_t end = x + columns < out[2] ? x + columns : out[2];
    rows.output = output + x * out[3];
    const auto begin_column = static_cast<ptrdiff_t>(x), end_column = static_cast<ptrdiff_t>(end);
    const auto begin_channel = static_cast<ptrdiff_t>(first), end_channel = static_cast<ptrdiff_t>(last);
    if constexpr (kernel == 3) {
      RunDw3x3(rows, halves, begin_column, end_column, begin_channel, end_channel);
    } else {
      const auto run = halves ? RunDwLarge<kernel, 2> : RunDwLarge<kernel, 1>;
      run(rows, begin_column, end_column, begin_channel, end_channel);
    }
  }
  for (int64_t i = 0; job.rest && i < count; ++i) {
    ActivateLine(job.state->activation, output + i * line, out[2], out[3], first, last);
  }
}

// The same of an image that lies in memory as a whole.
template <int kernel>
void RunSweepLines(const SweepJob& job, const SweepCut& cut, int64_t batch, int64_t top, int64_t lines, Element* output,
                   int64_t first, int64_t last) {
  const Shape& in = *job.in;
  constexpr int kMost = DwInputs(kernel, 2, kDwRows<kernel>);
  const Element* inputs[kMost];
  for (int i = 0; i < kMost; ++i) {
    const int64_t y = top * job.state->window.strides[0] - job.state->window.before[0] + i;
    inputs[i] = y >= 0 && y < in[1] ? job.image + (batch * in[1] + y) * in[2] * in[3] : job.zeros;
  }
  RunSweepRows<kernel>(job, cut.columns, inputs, top, lines, output, first, last);
}

// `image` is input 0 of a node, and the result has the shape `out`; `zeros` has room for a line of the image.
inline SweepJob StartSweep(const DwState& state, const Tensor& image, const Element* filter, const Element* bias,
                           const Shape& out, Element* zeros) {
  SweepJob job = {};
  job.state = &state;
  job.in = &image.shape;
  job.out = &out;
  const Shape& in = image.shape;
  memset(zeros, 0, static_cast<size_t>(in[2] * in[3]) * sizeof(Element));
  job.zeros = zeros;
  job.image = image.As<Element>();
  job.rows.filter = filter;
  job.rows.bias = bias;
  job.rows.output_pixel = job.rows.channels = static_cast<ptrdiff_t>(in[3]);
  job.rows.width = static_cast<ptrdiff_t>(in[2]);
  job.rows.before = static_cast<ptrdiff_t>(state.window.before[1]);
  job.rest = ReadLimits(state.activation, &job.rows.low, &job.rows.high);
  return job;
}

template <int kernel>
void RunSweep(const RunContext& context) {
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const Element* bias = context.input_count > 2 ? context.inputs[2].As<Element>() : nullptr;
  const SweepJob job = StartSweep(context.State<DwState>(), context.inputs[0], context.inputs[1].As<Element>(), bias,
                                  out, static_cast<Element*>(context.scratch));
  Element* output = context.outputs[0].As<Element>();
  const SweepCut cut(in, out, kDwRows<kernel>, kernel, job.state->window.strides[0]);
  context.For(cut.lines * out[0] * cut.parts, 1, [&](int64_t item, int64_t end, int) {
    for (; item < end; ++item) {
      const int64_t lines = item / cut.parts;
      const int64_t part = item - lines * cut.parts;
      const int64_t batch = lines / cut.lines;
      const int64_t last = part + 1 == cut.parts ? out[3] : (part + 1) * cut.part;
      const int64_t top = (lines - batch * cut.lines) * kDwRows<kernel>;
      RunSweepLines<kernel>(job, cut, batch, top, kDwRows<kernel>, output + (batch * out[1] + top) * out[2] * out[3],
                            part * cut.part, last);
    }
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_DWCONV2D_SWEEP_H_
