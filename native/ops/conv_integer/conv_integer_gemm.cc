// Convolution of s8 or u8 numbers with constant filters, as s32 sums: products of packed panels with a copy of the
// image that has the zero point around it.
#include "native/kernel/gemm/zero_points.h"
#include "native/kernel/simd/copy_bytes.h"
#include "native/ops/conv2d/conv2d_taps.h"

namespace lathe {
namespace {

constexpr int64_t kGrain = 4096;  // bytes that are worth handing to another thread

struct State {
  IntegerPanels integer;
  Window window;
  int64_t channels;
  int64_t columns;  // of a window, each of which is a row; 1: those of a line are one row
};

struct Plan {
  int64_t threads;
  int64_t thread_bytes;
  int64_t above;  // lines around the image
  int64_t below;
  int64_t pitch;   // bytes from line to line
  int64_t pixels;  // of the copy
};

// Filters [outputs, height, width, depth], or packed [groups, panels, height, width, steps of depth, bytes of a step].
__attribute__((cold)) Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 4, 4, 1));
  LATHE_TRY(CheckIntegerOperands(context, DType::kS32));
  const Tensor& w = context.input(1);
  const Shape& dims = w.shape;
  const bool plain = w.packing == Packing::kNone;
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(CheckRank(context, w, plain ? 4 : 6, "its filter"));
  LATHE_TRY(ReadWindow(context, &state.window));
  int64_t groups = 0;
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &groups));
  for (int axis = 0; axis < dims.rank; ++axis) {
    if (dims[axis] < 1 || dims[axis] > kMaxExtent)
      return context.Fail(Code::kBadModel, "its filter is empty or too large");
  }
  const int64_t outputs = plain ? dims[0] : context.output(0).shape[3];
  state.channels = context.input(0).shape[3];
  if (outputs < 1 || outputs % groups != 0 || state.channels < 1 || state.channels % groups != 0)
    return context.Fail(Code::kBadModel, "groups do not divide its channels");
  int64_t* kernel = state.window.kernel;
  for (int axis = 0; axis < 2; ++axis) kernel[axis] = dims[axis + (plain ? 1 : 2)];
  BytePanelShape& shape = state.integer.panels.shape;
  shape = {groups, outputs / groups, kernel[0] * kernel[1], state.channels / groups};
  const bool fits = plain ? dims[3] == shape.depth
                          : dims[0] == groups && dims[1] == shape.panels() && dims[4] == shape.steps() &&
                                dims[5] == kBytePanel * kByteDepth;
  if (!fits) return context.Fail(Code::kBadModel, "its filter does not fit its channels");
  const bool lines = groups == 1 && state.window.dilations[1] == 1;
  state.columns = lines ? 1 : kernel[1];
  return PrepareByteSums(context, kByteForm, lines ? kernel[1] : 1, &state.integer.panels, &state.integer.weight_sums);
}

// How far windows reach behind an image along an axis.
int64_t Behind(const Window& window, int axis, int64_t size, int64_t count) {
  const int64_t end = (count - 1) * window.strides[axis] - window.before[axis] + WindowExtent(window, axis);
  return end > size ? end - size : 0;
}

// Scratch is what threads have, the words, the sum of the channels of each group of each pixel, and the copy.
struct Memory {
  char* of_threads;
  int32_t* zeros;
  uint32_t* pixel_sums;
  int8_t* copy;

  Memory(const Plan& plan, const BytePanelShape& shape, void* scratch) : of_threads(static_cast<char*>(scratch)) {
    zeros = reinterpret_cast<int32_t*>(of_threads + plan.threads * plan.thread_bytes);
    pixel_sums = reinterpret_cast<uint32_t*>(zeros + ZeroPoints::Words(shape.groups * shape.outputs));
    copy = reinterpret_cast<int8_t*>(pixel_sums + plan.pixels * shape.groups);
  }

  static int64_t Bytes(const Plan& plan, const BytePanelShape& shape, int64_t channels) {
    const int64_t words = ZeroPoints::Words(shape.groups * shape.outputs) + plan.pixels * shape.groups;
    return plan.threads * plan.thread_bytes + words * static_cast<int64_t>(sizeof(int32_t)) + plan.pixels * channels +
           kByteForm.reach();
  }
};

__attribute__((cold)) Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  const BytePanelShape& shape = state.integer.panels.shape;
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  if (in[3] != state.channels) return context.Fail(Code::kBadModel, "the filter has another number of channels");
  LATHE_TRY(CheckRowLength(context, kIntegerWZero, shape.groups * shape.outputs));
  Shape expected = {4, {in[0], 0, 0, shape.groups * shape.outputs}};
  for (int axis = 0; axis < 2; ++axis) expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], false);
  LATHE_TRY(CheckShape(context, 0, expected));
  if (shape.taps > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its window is too large");
  if (expected.Count() == 0) return Code::kOk;
  Plan& plan = *static_cast<Plan*>(context.plan());
  plan.threads = context.threads();
  plan.thread_bytes = ByteThreadBytes(shape);
  plan.above = state.window.before[0];
  plan.below = Behind(state.window, 0, in[1], expected[1]);
  plan.pitch = (state.window.before[1] + in[2] + Behind(state.window, 1, in[2], expected[2])) * in[3];
  const int64_t lines = plan.above + in[1] + plan.below;
  if (plan.pitch > kMaxPackedElements || lines > kMaxPackedElements / in[0] / plan.pitch)
    return context.Fail(Code::kUnsupported, "its image is too large");
  plan.pixels = in[0] * lines * (plan.pitch / in[3]);
  return RequestScratch(context, Memory::Bytes(plan, shape, in[3]));
}

// The image with the zero point around it.
void CopyImages(const RunContext& context, const ZeroPoints& zeros, const Memory& memory) {
  const State& state = context.State<State>();
  const Plan& plan = context.Plan<Plan>();
  const Shape& in = context.inputs[0].shape;
  const uint8_t* image = context.inputs[0].As<uint8_t>();
  const int8_t zero = static_cast<int8_t>(zeros.x_zero());
  const int64_t lines = plan.above + in[1] + plan.below, bytes = in[2] * in[3];
  const int64_t before = state.window.before[1] * in[3];
  context.For(in[0] * lines, kGrain / plan.pitch + 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      int8_t* line = memory.copy + i * plan.pitch;
      const int64_t batch = i / lines, y = i - batch * lines - plan.above;
      if (y < 0 || y >= in[1]) {
        FillBytes(line, plan.pitch, zero);
        continue;
      }
      FillBytes(line, before, zero);
      zeros.CopyBytes(image + (batch * in[1] + y) * bytes, bytes, line + before);
      FillBytes(line + before + bytes, plan.pitch - before - bytes, zero);
    }
  });
  memset(memory.copy + in[0] * lines * plan.pitch, 0, static_cast<size_t>(kByteForm.reach()));
}

// Where the rows of pixels begin.
class Rows {
 public:
  Rows(const RunContext& context, const int8_t* copy)
      : state_(context.State<State>()),
        plan_(context.Plan<Plan>()),
        out_(context.outputs[0].shape),
        copy_(copy),
        lines_(plan_.above + context.inputs[0].shape[1] + plan_.below) {}

  void Locate(int64_t pixel, int count, const int8_t** rows) const {
    const Window& window = state_.window;
    const int64_t step = window.strides[1] * state_.channels, beside = window.dilations[1] * state_.channels;
    PixelPlace place(pixel, out_);
    for (int p = 0; p < count;) {
      const int64_t left = out_[2] - place.column;
      const int run = left < count - p ? static_cast<int>(left) : count - p;
      const int8_t* line = copy_ + (place.batch * lines_ + place.line * window.strides[0]) * plan_.pitch;
      const int8_t** row = rows + p;
      for (int64_t i = 0; i < window.kernel[0]; ++i, line += window.dilations[0] * plan_.pitch) {
        for (int64_t j = 0; j < state_.columns; ++j, row += kByteChunkPixels)
          PlaceRows(line + place.column * step + j * beside, step, run, row);
      }
      p += run;
      place.column += run - 1;
      place.Next(out_);
    }
  }

 private:
  const State& state_;
  const Plan& plan_;
  const Shape& out_;
  const int8_t* copy_;
  int64_t lines_;
};

void SumPixels(const RunContext& context, const ZeroPoints& zeros, const Memory& memory) {
  const Plan& plan = context.Plan<Plan>();
  const State& state = context.State<State>();
  const int64_t groups = state.integer.panels.shape.groups, depth = state.channels / groups;
  context.For(plan.pixels, kGrain / state.channels + 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin * groups; i < end * groups; ++i)
      memory.pixel_sums[i] = zeros.SumOf(memory.copy + i * depth, depth);
  });
}

// Of a group, the sum of a window.
uint32_t SumWindow(const RunContext& context, const Memory& memory, const PixelPlace& place, int64_t group) {
  const State& state = context.State<State>();
  const Plan& plan = context.Plan<Plan>();
  const Window& window = state.window;
  const int64_t lines = plan.above + context.inputs[0].shape[1] + plan.below, width = plan.pitch / state.channels;
  const int64_t groups = state.integer.panels.shape.groups, beside = window.dilations[1] * groups;
  const int64_t line = place.batch * lines + place.line * window.strides[0];
  const uint32_t* from = memory.pixel_sums + (line * width + place.column * window.strides[1]) * groups + group;
  uint32_t sum = 0;
  for (int64_t i = 0; i < window.kernel[0]; ++i, from += window.dilations[0] * width * groups) {
    for (int64_t j = 0; j < window.kernel[1]; ++j) sum += from[j * beside];
  }
  return sum;
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Plan& plan = context.Plan<Plan>();
  const BytePanelShape& shape = state.integer.panels.shape;
  const Shape& out = context.outputs[0].shape;
  if (out.Count() == 0) return;
  const Memory memory(plan, shape, context.scratch);
  const ZeroPoints zeros(context, state.integer, memory.zeros);
  CopyImages(context, zeros, memory);
  if (zeros.shifted()) SumPixels(context, zeros, memory);
  BytePanelJob job = {};
  job.state = &state.integer.panels;
  job.sums = context.outputs[0].As<int32_t>();
  job.pixels = out.Count(0, 3);
  job.output_step = out[3];
  job.scratch = memory.of_threads;
  job.thread_bytes = plan.thread_bytes;
  const Rows rows(context, memory.copy);
  RunByteJob<true>(context, job, [&](int64_t pixel, int count, const int8_t** to) { rows.Locate(pixel, count, to); });
  context.For(job.pixels, kByteChunkPixels, [&](int64_t begin, int64_t end, int) {
    PixelPlace place(begin, out);
    for (int64_t pixel = begin; pixel < end; ++pixel, place.Next(out)) {
      for (int64_t group = 0; group < shape.groups; ++group) {
        zeros.FinishGroup(group, zeros.shifted() ? SumWindow(context, memory, place, group) : 0,
                          job.sums + pixel * out[3] + group * shape.outputs,
                          [](int64_t, const auto& sums, auto& results) { memcpy(results, sums, sizeof results); });
      }
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::Plan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
    .packings = lathe::PackingBit(lathe::Packing::kSigned16),
};
