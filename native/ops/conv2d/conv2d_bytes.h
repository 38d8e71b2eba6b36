// Convolution of quantised numbers, any groups and dilation. The header of an instruction set (bytes_*.h) goes before
// this one.
#ifndef LATHE_OPS_CONV2D_BYTES_H_
#define LATHE_OPS_CONV2D_BYTES_H_

#include "native/core/byte_panels.h"
#include "native/ops/conv2d/conv2d_taps.h"

namespace lathe {
namespace {

struct ByteConvState {
  BytePanelState panels;
  Window window;
  int64_t channels;  // of the input
};

struct ByteConvPlan {
  int64_t threads;
  int64_t thread_bytes;
  // Pixels that several windows read, and those whose last step is not whole, are copied, with the sum in front.
  bool copied;
  int64_t row;  // bytes of a pixel
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
  return PrepareBytePanels(context, &state.panels);
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
  int64_t extra = in[3];  // a pixel outside of the image
  plan.copied = shape.groups == 1 && (shape.taps > 1 || shape.depth % kByteDepth != 0);
  if (plan.copied) {
    plan.row = kByteSum + shape.steps() * kByteDepth;
    if (in.Count() > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its image is too large");
    extra = (in.Count(0, 3) + 1) * plan.row;
  }
  return RequestScratch(context, plan.threads * plan.thread_bytes + extra);
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
        sum = SumBytes(source, channels);
      }
      memcpy(target, &sum, sizeof sum);
    }
  });
}

void RunByteConv(const RunContext& context) {
  const ByteConvState& state = context.State<ByteConvState>();
  const ByteConvPlan& plan = context.Plan<ByteConvPlan>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const Window& window = state.window;
  BytePanelJob job = {};
  job.state = &state.panels;
  job.residual = context.input_count > 3 ? context.inputs[3].As<int8_t>() : nullptr;
  job.output = context.outputs[0].As<int8_t>();
  job.pixels = out.Count(0, 3);
  job.output_step = context.outputs[0].RowStep();
  job.scratch = static_cast<char*>(context.scratch);
  job.thread_bytes = plan.thread_bytes;
  job.readable = state.panels.shape.depth / kByteDepth * kByteDepth;
  int8_t* outside = reinterpret_cast<int8_t*>(job.scratch + plan.threads * plan.thread_bytes);
  Tensor input = context.inputs[0];
  const int32_t outside_sum = state.panels.x_zero * static_cast<int32_t>(state.channels);
  memset(outside, state.panels.x_zero, static_cast<size_t>(plan.row));
  if (plan.copied) {
    CopyPixels(context, input, plan.row, outside + plan.row);
    memcpy(outside, &outside_sum, sizeof outside_sum);
    outside += kByteSum;
    input.data = outside + plan.row;
    input.pitch = plan.row;
    job.readable = plan.row - kByteSum;
    job.summed = true;
  }
  const int8_t* image = input.As<int8_t>();
  const int64_t step = input.RowStep();
  if (out[1] == in[1] && out[2] == in[2] && state.panels.shape.taps == 1 &&
      window.strides[0] * window.strides[1] == 1) {
    return RunByteJob(context, job, [&](int64_t pixel, int count, const int8_t** rows) {
      for (int p = 0; p < count; ++p) rows[p] = image + (pixel + p) * step;
    });
  }
  RunByteJob(context, job, [&](int64_t pixel, int count, const int8_t** rows) {
    LocateTaps<kBytePixels>(window, input, out, outside, pixel, count, rows);
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CONV2D_BYTES_H_
