// Convolution of quantised numbers, any groups and dilation. The header of an instruction set (bytes_*.h) goes before
// this one.
#ifndef LATHE_OPS_CONV2D_BYTES_H_
#define LATHE_OPS_CONV2D_BYTES_H_

#include "native/core/byte_panels.h"
#include "native/ops/conv2d/conv2d_taps.h"

namespace lathe {
namespace {

constexpr int64_t kFewBytes = 16;         // a window of pixels with fewer channels is joined to one row
constexpr int64_t kMostJoined = 1 << 10;  // bytes of such a row

struct ByteConvState {
  BytePanelState panels;
  Window window;
  int64_t channels;  // of the input
  bool joined;
};

struct ByteConvPlan {
  int64_t threads;
  int64_t thread_bytes;
  bool copied;  // pixels that several windows read stand once more, with the sum in front
  int64_t row;  // bytes of a pixel, or of a joined window, from one to the next
};

// Filters [outputs, height, width, depth], or packed [groups, panels, height, width, steps of depth, bytes of a step].
__attribute__((cold)) Code ReadByteFilter(PrepareContext& context, int64_t groups, ByteConvState* state) {
  const Tensor& w = context.input(1);
  const bool plain = w.packing == Packing::kNone;
  LATHE_TRY(CheckRank(context, w, plain ? 4 : 6, "its filter"));
  const Shape& dims = w.shape;
  for (int axis = 0; axis < dims.rank; ++axis) {
    if (dims[axis] < 1 || dims[axis] > kMaxExtent)
      return context.Fail(Code::kBadModel, "its filter is empty or too large");
  }
  const int64_t outputs = plain ? dims[0] : context.output(0).shape[3];
  const int64_t channels = context.input(0).shape[3];
  if (outputs < 1 || outputs % groups != 0 || channels < 1 || channels % groups != 0)
    return context.Fail(Code::kBadModel, "groups do not divide its channels");
  state->channels = channels;
  state->window.kernel[0] = dims[plain ? 1 : 2];
  state->window.kernel[1] = dims[plain ? 2 : 3];
  state->panels.shape = {groups, outputs / groups, state->window.kernel[0] * state->window.kernel[1],
                         channels / groups};
  const BytePanelShape& shape = state->panels.shape;
  const bool fits = plain ? dims[3] == shape.depth
                          : dims[0] == groups && dims[1] == shape.panels() && dims[4] == shape.steps() &&
                                dims[5] == kBytePanel * kByteDepth;
  return fits ? Code::kOk : context.Fail(Code::kBadModel, "its filter does not fit its channels");
}

__attribute__((cold)) Code PrepareByteConv(PrepareContext& context) {
  ByteConvState& state = *static_cast<ByteConvState*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 4, 1));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state.window));
  int64_t groups = 0;
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &groups));
  LATHE_TRY(ReadByteFilter(context, groups, &state));
  if (context.input_count() > 3) LATHE_TRY(CheckRank(context, context.input(3), 4, "its residual"));
  const BytePanelShape& shape = state.panels.shape;
  state.joined = groups == 1 && shape.taps > 1 && shape.depth < kFewBytes && shape.taps * shape.depth <= kMostJoined;
  return PrepareBytePanels(context, kByteForm, state.joined, &state.panels);
}

__attribute__((cold)) Code PlanByteConv(PlanContext& context) {
  const ByteConvState& state = *static_cast<const ByteConvState*>(context.state());
  const BytePanelShape& shape = state.panels.shape;
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  if (in[3] != state.channels) return context.Fail(Code::kBadModel, "the filter has another number of input channels");
  Shape expected = {4, {in[0], 0, 0, shape.groups * shape.outputs}};
  for (int axis = 0; axis < 2; ++axis) expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], false);
  LATHE_TRY(CheckShape(context, 0, expected));
  if (context.input_count() > 3 && context.input(3).shape != expected)
    return context.Fail(Code::kBadModel, "the residual and the output differ in shape");
  if (shape.taps > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its window is too large");
  ByteConvPlan& plan = *static_cast<ByteConvPlan*>(context.plan());
  plan.threads = context.threads();
  plan.thread_bytes = ByteThreadBytes(shape);
  plan.row = in[3];
  if (state.joined) {
    plan.row = (shape.depth + kByteForm.reach() - 1) / kByteForm.reach() * kByteForm.reach();
    plan.thread_bytes += kBytePixels * plan.row;
    return RequestScratch(context, plan.threads * plan.thread_bytes);
  }
  plan.copied = kByteForm.row_sums && shape.groups == 1 && shape.taps > 1;
  int64_t extra = ByteTail::Bytes(in[3]);
  if (plan.copied) {
    plan.row = kByteSum + shape.steps() * kByteDepth;
    if (in.Count() > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its image is too large");
    extra = in.Count(0, 3) * plan.row;
  }
  // A pixel outside of the image goes before.
  return RequestScratch(context, plan.threads * plan.thread_bytes + plan.row + kByteForm.reach() + extra);
}

constexpr int64_t kWord = 8;  // bytes that are copied at once

// A few bytes, without reading behind them.
inline void CopyFew(const int8_t* from, int64_t count, int8_t* to) {
  if (count < kWord) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i < count - kWord; i += kWord) memcpy(to + i, from + i, kWord);
  memcpy(to + count - kWord, from + count - kWord, kWord);
}

// Every pixel with its sum in front, `row` bytes in all; what is left of the last step is not cleared.
inline void CopyPixels(const RunContext& context, const Tensor& input, int64_t row, int8_t* to) {
  const int64_t channels = input.shape[3], step = input.RowStep();
  const int8_t* from = input.As<int8_t>();
  context.For(input.shape.Count(0, 3), 1024, [&](int64_t begin, int64_t end, int) {
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      const int8_t* source = from + pixel * step;
      int8_t* target = to + pixel * row;
      int32_t sum = 0;
      if (channels < 16) {
        for (int64_t c = 0; c < channels; ++c) {
          target[kByteSum + c] = source[c];
          sum += source[c];
        }
      } else {
        memcpy(target + kByteSum, source, static_cast<size_t>(channels));
        sum = RowSum(source, channels);
      }
      memcpy(target, &sum, sizeof sum);
    }
  });
}

// A window that reaches out of the image, or whose pixels lie apart.
inline void JoinParted(const ByteConvState& state, const Tensor& input, const PixelPlace& place, int64_t top,
                       int64_t left, int8_t* to) {
  const Window& window = state.window;
  const Shape& in = input.shape;
  const int64_t step = input.RowStep();
  for (int64_t i = 0; i < window.kernel[0]; ++i) {
    const int64_t y = top + i * window.dilations[0];
    const int8_t* line = input.As<int8_t>() + (place.batch * in[1] + y) * in[2] * step;
    for (int64_t j = 0; j < window.kernel[1]; ++j, to += state.channels) {
      const int64_t x = left + j * window.dilations[1];
      if (y >= 0 && y < in[1] && x >= 0 && x < in[2]) {
        for (int64_t c = 0; c < state.channels; ++c) to[c] = line[x * step + c];
      } else {
        for (int64_t c = 0; c < state.channels; ++c) to[c] = static_cast<int8_t>(state.panels.x_zero);
      }
    }
  }
}

// The windows of pixels as one row each, in the order of the filters. What is left of the last step is not cleared.
inline void JoinWindows(const ByteConvState& state, const ByteConvPlan& plan, const Tensor& input, const Shape& out,
                        int64_t pixel, int count, int8_t* to) {
  const Window& window = state.window;
  const Shape& in = input.shape;
  const int64_t step = input.RowStep(), height = window.kernel[0];
  const int64_t bytes = window.kernel[1] * state.channels;  // of a line of a window
  const int64_t lines = window.dilations[0] * in[2] * step;
  const int64_t bottom = in[1] - window.dilations[0] * (height - 1);
  const bool whole = window.dilations[1] == 1 && step == state.channels;
  const int64_t right = whole ? in[2] - (window.kernel[1] - 1) : 0;
  PixelPlace place(pixel, out);
  for (int p = 0; p < count; ++p, place.Next(out), to += plan.row) {
    const int64_t top = place.line * window.strides[0] - window.before[0];
    const int64_t left = place.column * window.strides[1] - window.before[1];
    if (top < 0 || top >= bottom || left < 0 || left >= right) {
      JoinParted(state, input, place, top, left, to);
      continue;
    }
    const int8_t* from = input.As<int8_t>() + ((place.batch * in[1] + top) * in[2] + left) * step;
    int8_t* target = to;
    if (bytes >= kWord && bytes <= 2 * kWord) {
      for (int64_t i = 0; i < height; ++i, from += lines, target += bytes) {
        memcpy(target, from, kWord);
        memcpy(target + bytes - kWord, from + bytes - kWord, kWord);
      }
      continue;
    }
    for (int64_t i = 0; i < height; ++i, from += lines, target += bytes) CopyFew(from, bytes, target);
  }
}

void RunJoined(const RunContext& context, const BytePanelJob& job) {
  const ByteConvState& state = context.State<ByteConvState>();
  const ByteConvPlan& plan = context.Plan<ByteConvPlan>();
  const Tensor& input = context.inputs[0];
  const Shape& out = context.outputs[0].shape;
  RunByteJob(context, job, [&](int64_t pixel, int count, const int8_t** rows) {
    int8_t* windows = reinterpret_cast<int8_t*>(rows) + ByteThreadBytes(state.panels.shape);
    JoinWindows(state, plan, input, out, pixel, count, windows);
    for (int p = 0; p < count; ++p) rows[p] = windows + p * plan.row;
  });
}

void RunByteConv(const RunContext& context) {
  const ByteConvState& state = context.State<ByteConvState>();
  const ByteConvPlan& plan = context.Plan<ByteConvPlan>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const Window& window = state.window;
  const BytePanelShape& shape = state.panels.shape;
  BytePanelJob job = {};
  job.state = &state.panels;
  job.residual = context.input_count > 3 ? context.inputs[3].As<int8_t>() : nullptr;
  job.output = context.outputs[0].As<int8_t>();
  job.pixels = out.Count(0, 3);
  job.output_step = context.outputs[0].RowStep();
  job.scratch = static_cast<char*>(context.scratch);
  job.thread_bytes = plan.thread_bytes;
  if (state.joined) return RunJoined(context, job);
  int8_t* outside = reinterpret_cast<int8_t*>(job.scratch + plan.threads * plan.thread_bytes);
  int8_t* behind = outside + plan.row + kByteForm.reach();
  Tensor input = context.inputs[0];
  memset(outside, state.panels.x_zero, static_cast<size_t>(plan.row));
  if (plan.copied) {
    const int32_t outside_sum = state.panels.x_zero * static_cast<int32_t>(state.channels);
    CopyPixels(context, input, plan.row, behind);
    memcpy(outside, &outside_sum, sizeof outside_sum);
    outside += kByteSum;
    input.data = behind + kByteSum;
    input.pitch = plan.row;
    job.summed = true;
  }
  const int8_t* image = input.As<int8_t>();
  const int64_t step = input.RowStep();
  // Copies have whole steps.
  const ByteTail tail(image, in.Count(0, 3), in[3], step, plan.copied ? 0 : shape.depth, behind);
  if (out[1] == in[1] && out[2] == in[2] && shape.taps == 1 && window.strides[0] * window.strides[1] == 1) {
    return RunByteJob(context, job, [&](int64_t pixel, int count, const int8_t** rows) {
      for (int p = 0; p < count; ++p) rows[p] = image + (pixel + p) * step;
      tail.Place(1, count, rows);
    });
  }
  RunByteJob(context, job, [&](int64_t pixel, int count, const int8_t** rows) {
    LocateTaps<kBytePixels>(window, input, out, outside, pixel, count, rows);
    tail.Place(shape.taps, count, rows);
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CONV2D_BYTES_H_
