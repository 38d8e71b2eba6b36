// Convolution as a product of gathered rows with packed filters, any groups and dilation.
#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"
#include "native/ops/conv2d/conv2d_taps.h"

namespace lathe {
namespace {

struct ConvState {
  PanelState panels;
  Window window;
  int64_t channels;  // of the input
  // Few channels make short inner loops. Then the taps of one line are one tap of a copy of the line with its padding.
  bool merged;
};

struct ConvPlan {
  PanelPlan panels;       // its extra elements are the copies, or the zeros that pixels outside of the image read
  int64_t line_elements;  // of the image with its padding, where taps are merged
  int64_t chunk_lines;    // of the output in a chunk
  int64_t copied_lines;   // that those of a chunk read
};

constexpr int64_t kMostMergedChannels = 4;

__attribute__((cold)) Code PrepareConv(PrepareContext& context) {
  ConvState& state = *static_cast<ConvState*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 4, 1));
  LATHE_TRY(CheckAllTypes(context, kElementType));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state.window));
  LATHE_TRY(ReadActivation(context, &state.panels.activation));
  int64_t groups = 0;
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &groups));
  FilterShape filter = {};
  LATHE_TRY(ReadFilterShape(context, 4, groups, kMaxExtent, &filter));
  state.window.kernel[0] = filter.height;
  state.window.kernel[1] = filter.width;
  state.channels = groups * filter.depth;
  state.merged = groups == 1 && filter.depth <= kMostMergedChannels && filter.width > 1 &&
                 state.window.dilations[0] * state.window.dilations[1] == 1;
  state.panels.shape = {groups, filter.outputs / groups, filter.height * filter.width, filter.depth};
  if (state.merged) {
    state.panels.shape.taps = filter.height;
    state.panels.shape.depth = filter.width * filter.depth;
  }
  if (context.input_count() > 2) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
  if (context.input_count() > 3) LATHE_TRY(CheckRank(context, context.input(3), 4, "its residual"));
  return PreparePanels(context, context.input(1), &state.panels);
}

__attribute__((cold)) Code PlanConv(PlanContext& context) {
  const ConvState& state = *static_cast<const ConvState*>(context.state());
  const PanelShape& panels = state.panels.shape;
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  const Shape& filter = context.input(1).shape;
  const int64_t outputs = panels.groups * panels.outputs;
  if (in[3] != state.channels) {
    return context.Fail(Code::kBadModel, "the filter has another number of input channels");
  }
  const bool constant = context.input(1).is_constant();
  if (!constant && (filter[0] != outputs || filter[1] != state.window.kernel[0] ||
                    filter[2] != state.window.kernel[1] || filter[3] * panels.groups != state.channels)) {
    return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
  }
  if (context.input_count() > 2 && context.input(2).shape[0] != outputs) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  Shape expected = {4, {in[0], 0, 0, outputs}};
  for (int axis = 0; axis < 2; ++axis) expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], false);
  LATHE_TRY(CheckShape(context, 0, expected));
  for (int axis = 0; context.input_count() > 3 && axis < 4; ++axis) {
    if (context.input(3).shape[axis] != expected.dims[axis]) {
      return context.Fail(Code::kBadModel, "the residual and the output differ in shape");
    }
  }
  ConvPlan& plan = *static_cast<ConvPlan*>(context.plan());
  int64_t extra = in[3];
  if (state.merged) {
    plan.line_elements = (in[2] + state.window.before[1] + state.window.after[1]) * in[3];
    plan.chunk_lines = 1;
    if (expected[2] > 0 && expected[2] < kChunkPixels) plan.chunk_lines = kChunkPixels / expected[2];
    plan.copied_lines = state.window.kernel[0] + (plan.chunk_lines - 1) * state.window.strides[0];
    if (plan.line_elements > kMaxPackedElements / plan.copied_lines) {
      return context.Fail(Code::kUnsupported, "its lines are too long");
    }
    extra = context.threads() * plan.copied_lines * plan.line_elements;
  }
  return PlanPanels(context, state.panels, expected.Count(0, 3), extra, &plan.panels);
}

// Line by line: each thread copies the lines that those of its chunk read. Short lines share a chunk.
inline void RunMerged(const RunContext& context, const ConvState& state, const PanelJob& job, Element* copies) {
  const Window& window = state.window;
  const Shape& out = context.outputs[0].shape;
  const ConvPlan& plan = context.Plan<ConvPlan>();
  // Cold: small. The time goes into products.
  context.For(out[0] * out[1], plan.chunk_lines, [&](int64_t begin, int64_t end, int thread) __attribute__((cold)) {
    const Tensor& input = context.inputs[0];
    const Shape& in = input.shape;
    const int64_t step = window.strides[1] * in[3];
    const int64_t pixel_step = input.RowStep();
    const int64_t inside = in[2] * in[3];                           // of a line
    const int64_t together = pixel_step == in[3] ? inside : in[3];  // elements that stand close
    const int64_t elements = plan.line_elements;
    PanelChunk chunk = ChunkOfThread(job, thread);
    chunk.pixel = begin * out[2];
    chunk.count = 0;
    const int64_t size = plan.copied_lines * elements;
    Element* const copy = copies + thread * size;
    memset(copy, 0, static_cast<size_t>(size) * sizeof(Element));  // padding beside lines
    int64_t copied = 0, below = 0;                                 // lines of the copy; where in it the window begins
    for (int64_t line = begin; line < end; ++line) {
      const int64_t batch = line / out[1], y = line - batch * out[1];
      const int64_t top = y * window.strides[0] - window.before[0] - below;
      for (; copied < below + window.kernel[0]; ++copied) {
        const int64_t above = top + copied;
        Element* const to = copy + copied * elements + window.before[1] * in[3];
        if (above < 0 || above >= in[1]) {
          memset(to, 0, static_cast<size_t>(inside) * sizeof(Element));
          continue;
        }
        const Element* from = input.As<Element>() + (batch * in[1] + above) * in[2] * pixel_step;
        for (int64_t i = 0; i < inside; i += together, from += pixel_step) {
          memcpy(to + i, from, static_cast<size_t>(together) * sizeof(Element));
        }
      }
      for (int64_t x = 0; x < out[2];) {
        const int count = static_cast<int>(out[2] - x < kChunkPixels ? out[2] - x : kChunkPixels);
        const Element** rows = chunk.rows + chunk.count;
        for (int64_t i = 0; i < window.kernel[0]; ++i, rows += kChunkPixels) {
          const Element* from = copy + (below + i) * elements + x * step;
          for (int p = 0; p < count; ++p, from += step) rows[p] = from;
        }
        x += count;
        chunk.count += count;
        if (chunk.count + out[2] <= kChunkPixels && line + 1 < end && y + 1 < out[1]) {
          below += window.strides[0];  // the next line joins
          break;
        }
        PackInputs(job, chunk);
        RunPanelRange(job, chunk, 0, job.shape.panels());
        chunk.pixel += chunk.count;
        chunk.count = 0;
        if (x == out[2]) copied = below = 0;
      }
    }
  });
}

void RunConv(const RunContext& context) {
  const ConvState& state = context.State<ConvState>();
  const ConvPlan& plan = context.Plan<ConvPlan>();
  const Window& window = state.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const Element* image = context.inputs[0].As<Element>();
  const int64_t step = context.inputs[0].RowStep();
  Element* extra = nullptr;
  PanelJob job = StartPanels(context, state.panels, plan.panels, out.Count(0, 3), &extra);
  job.output_step = context.outputs[0].RowStep();
  job.residual = context.input_count > 3 ? context.inputs[3].As<Element>() : nullptr;
  if (state.merged) return RunMerged(context, state, job, extra);
  if (out[1] == in[1] && out[2] == in[2] && state.panels.shape.taps == 1 &&
      window.strides[0] * window.strides[1] == 1) {
    return RunPanelJob(context, job, [&](int64_t pixel, int count, const Element** rows) {
      for (int p = 0; p < count; ++p) rows[p] = image + (pixel + p) * step;
    });
  }
  for (int64_t i = 0; i < in[3]; ++i) extra[i] = 0.0f;
  RunPanelJob(context, job, [&](int64_t pixel, int count, const Element** rows) {
    LocateTaps<kChunkPixels>(window, context.inputs[0], out, extra, pixel, count, rows);
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::ConvState),
    .plan_size = sizeof(lathe::ConvPlan),
    .prepare = lathe::PrepareConv,
    .plan = lathe::PlanConv,
    .run = lathe::RunConv,
    .packings = lathe::PackingBit(lathe::kPanelPacking),
};
