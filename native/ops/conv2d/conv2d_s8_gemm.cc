// Convolution of quantised numbers, any groups and dilation.
#include "native/kernel/gemm/byte_form.h"
#include "native/kernel/gemm/byte_panels.h"
#include "native/kernel/simd/copy_bytes.h"
#include "native/ops/conv2d/conv2d_taps.h"

namespace lathe {
namespace {

struct ByteConvState {
  BytePanelState panels;
  Window window;
  int64_t channels;  // of the input
  bool lines;        // the pixels of a line of the window are one row
};

struct ByteConvPlan {
  int64_t threads;
  int64_t thread_bytes;
  int64_t pitch;  // bytes from line to line of an image that has beside it what windows reach: where there are `lines`
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
  state.lines = groups == 1 && state.window.kernel[1] > 1 && state.window.dilations[1] == 1;
  return PrepareBytePanels(context, kByteForm, state.lines ? state.window.kernel[1] : 1, &state.panels);
}

// How many pixels windows reach beside a line, before it and behind it.
struct Reach {
  int64_t before;
  int64_t behind;

  Reach(const Window& window, int64_t width, int64_t columns) {
    before = window.before[1];
    const int64_t last = (columns - 1) * window.strides[1] - before + window.kernel[1];
    behind = last > width ? last - width : 0;
  }
};

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
  if (expected.Count() == 0) return Code::kOk;  // of images without pixels
  ByteConvPlan& plan = *static_cast<ByteConvPlan*>(context.plan());
  plan.threads = context.threads();
  plan.thread_bytes = ByteThreadBytes(shape);
  // Behind what threads have: a pixel or a line of a window outside of the image, and the copy.
  int64_t scratch = plan.threads * plan.thread_bytes;
  if (!state.lines) return RequestScratch(context, scratch + in[3] + kByteForm.reach() + ByteTail::Bytes(in[3]));
  const Reach reach(state.window, in[2], expected[2]);
  plan.pitch = (reach.before + in[2] + reach.behind) * in[3];
  if (in[0] * in[1] > kMaxPackedElements / plan.pitch)
    return context.Fail(Code::kUnsupported, "its image is too large");
  const int64_t line = shape.depth + 2 * kByteForm.reach() + 7;
  return RequestScratch(context, scratch + line + in[0] * in[1] * plan.pitch + kByteLoose);
}

// The image with the zero point beside its lines.
inline void CopyLines(const RunContext& context, const ByteConvState& state, const ByteConvPlan& plan, int8_t* to) {
  const Tensor& input = context.inputs[0];
  const Shape& in = input.shape;
  const int64_t channels = in[3], step = input.RowStep(), before = state.window.before[1] * channels;
  const int64_t behind = plan.pitch - before - in[2] * channels;
  const int8_t* image = input.As<int8_t>();
  constexpr int64_t kGrain = 4096;
  context.For(in[0] * in[1], kGrain / plan.pitch + 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      int8_t* target = to + line * plan.pitch;
      const int8_t* from = image + line * in[2] * step;
      const int8_t zero = static_cast<int8_t>(state.panels.x_zero);
      FillBytes(target, before, zero);
      target += before;
      if (step == channels) {
        CopyBytes(target, from, in[2] * channels);
      } else {
        for (int64_t x = 0; x < in[2]; ++x) CopyBytes(target + x * channels, from + x * step, channels);
      }
      FillBytes(target + in[2] * channels, behind, zero);
    }
  });
}

// Where the lines of windows begin: in the image, beside which is what they reach, or `outside`.
inline void LocateLines(const ByteConvState& state, const ByteConvPlan& plan, const int8_t* image,
                        const int8_t* outside, const Shape& in, const Shape& out, int64_t pixel, int count,
                        const int8_t** rows) {
  const Window& window = state.window;
  const int64_t step = window.strides[1] * state.channels;
  PixelPlace place(pixel, out);
  for (int p = 0; p < count;) {
    const int64_t left = out[2] - place.column;
    const int run = left < count - p ? static_cast<int>(left) : count - p;
    const int64_t top = place.line * window.strides[0] - window.before[0];
    const int8_t** row = rows + p;
    for (int64_t i = 0; i < window.kernel[0]; ++i, row += kByteChunkPixels) {
      const int64_t y = top + i * window.dilations[0];
      const bool inside = y >= 0 && y < in[1];
      const int8_t* from = inside ? image + (place.batch * in[1] + y) * plan.pitch + place.column * step : outside;
      PlaceRows(from, inside ? step : 0, run, row);
    }
    p += run;
    place.column += run - 1;
    place.Next(out);
  }
}

void RunLines(const RunContext& context, BytePanelJob job) {
  const ByteConvState& state = context.State<ByteConvState>();
  const ByteConvPlan& plan = context.Plan<ByteConvPlan>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const int64_t line = (state.panels.shape.depth + kByteForm.reach() + 7) / 8 * 8;
  int8_t* outside = reinterpret_cast<int8_t*>(job.scratch + plan.threads * plan.thread_bytes);
  memset(outside, state.panels.x_zero, static_cast<size_t>(line));
  CopyLines(context, state, plan, outside + line);
  job.eights = AtEight(outside, state.channels);
  job.loose = kByteLoose > 0;
  RunByteJob(context, job, [&](int64_t pixel, int count, const int8_t** rows) {
    LocateLines(state, plan, outside + line, outside, in, out, pixel, count, rows);
  });
}

void RunByteConv(const RunContext& context) {
  const ByteConvState& state = context.State<ByteConvState>();
  const ByteConvPlan& plan = context.Plan<ByteConvPlan>();
  const Tensor& input = context.inputs[0];
  const Shape& in = input.shape;
  const Shape& out = context.outputs[0].shape;
  const Window& window = state.window;
  const BytePanelShape& shape = state.panels.shape;
  if (out.Count() == 0) return;
  BytePanelJob job = {};
  job.state = &state.panels;
  job.residual = context.input_count > 3 ? context.inputs[3].As<int8_t>() : nullptr;
  job.output = context.outputs[0].As<int8_t>();
  job.pixels = out.Count(0, 3);
  job.output_step = context.outputs[0].RowStep();
  job.scratch = static_cast<char*>(context.scratch);
  job.thread_bytes = plan.thread_bytes;
  if (state.lines) return RunLines(context, job);
  int8_t* outside = reinterpret_cast<int8_t*>(job.scratch + plan.threads * plan.thread_bytes);
  memset(outside, state.panels.x_zero, static_cast<size_t>(in[3]));
  const int8_t* image = input.As<int8_t>();
  const int64_t step = input.RowStep();
  job.eights = AtEight(image, step) && AtEight(outside, shape.depth);
  const ByteTail tail(image, in.Count(0, 3), in[3], step, shape.depth, outside + in[3] + kByteForm.reach());
  if (out[1] == in[1] && out[2] == in[2] && shape.taps == 1 && window.strides[0] * window.strides[1] == 1) {
    job.dense = step == shape.depth;
    return RunByteJob(context, job, [&](int64_t pixel, int count, const int8_t** rows) {
      PlaceRows(image + pixel * step, step, count, rows);
      tail.Place(1, count, rows);
    });
  }
  RunByteJob(context, job, [&](int64_t pixel, int count, const int8_t** rows) {
    LocateTaps<kByteChunkPixels>(window, input, out, outside, pixel, count, rows);
    tail.Place(shape.taps, count, rows);
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::ByteConvState),
    .plan_size = sizeof(lathe::ByteConvPlan),
    .prepare = lathe::PrepareByteConv,
    .plan = lathe::PlanByteConv,
    .run = lathe::RunByteConv,
    .packings = lathe::PackingBit(lathe::Packing::kSigned16),
};
