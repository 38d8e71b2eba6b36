// Convolution with a window of one pixel to few channels: a vector holds elements of depth, and its lanes are added up
// at the end. Panels of outputs would be mostly empty.
#include "native/kernel/gemm/dots.h"
#include "native/kernel/gemm/job_items.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_activation.h"
#include "native/kernel/spatial/window.h"

namespace lathe {
namespace {

constexpr int64_t kDotItem = 1024;  // pixels of an item of work

struct DotState {
  Activation activation;
  int64_t depth;
  int64_t outputs;
  float* packed;  // [vectors of depth][outputs][kLanes]
};

// Pixels that follow each other.
struct DotJob {
  const float* image;
  int64_t image_step;  // from pixel to pixel
  int64_t pixels;
  int64_t depth;
  const float* weights;
  const float* start;  // per output a vector whose sum is the bias
  float* output;
  int64_t output_step;
};

template <int pixels, int sums>
void RunDotJob(const DotJob& job) {
  float* to = job.output;
  for (int64_t first = 0; first < job.pixels; first += pixels, to += pixels * job.output_step) {
    const int64_t left = job.pixels - first;
    const float* rows[pixels];
#pragma GCC unroll 8
    for (int p = 0; p < pixels; ++p) rows[p] = job.image + (first + (p < left ? p : 0)) * job.image_step;
    Vec all[pixels * sums];
#pragma GCC unroll 16
    for (int i = 0; i < pixels * sums; ++i) all[i] = Load(job.start + i % sums * kLanes);
    AddDots<pixels, sums>(rows, job.depth, job.weights, all);
    float results[pixels * sums];
    const bool direct = left >= pixels && job.output_step == sums;
    StoreDots(direct ? to : results, all);
    for (int p = 0; !direct && p < pixels && p < left; ++p) {
      memcpy(to + p * job.output_step, results + p * sums, sums * sizeof(float));
    }
  }
}

inline void RunDotJobOf(int64_t sums, const DotJob& job) {
  switch (sums) {
    case 1:
      return RunDotJob<8, 1>(job);
    case 2:
      return RunDotJob<4, 2>(job);
    case 3:
      return RunDotJob<4, 3>(job);
    default:
      return RunDotJob<kVectorRegisters >= 32 ? 4 : 2, 4>(job);
  }
}

__attribute__((cold)) Code PrepareDots(PrepareContext& context) {
  DotState& state = *static_cast<DotState*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 4, 1));
  LATHE_TRY(CheckAllTypes(context, kElementType));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.input(1), 4, "its filter"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  if (context.input_count() > 2) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
  if (context.input_count() > 3) LATHE_TRY(CheckRank(context, context.input(3), 4, "its residual"));
  Window window = {};
  LATHE_TRY(ReadWindow(context, &window));
  LATHE_TRY(ReadActivation(context, &state.activation));
  int64_t groups = 0;
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &groups));
  const Tensor& filter = context.input(1);
  state.outputs = filter.shape[0];
  state.depth = filter.shape[3];
  bool single = groups == 1 && filter.is_constant() && state.outputs >= 1 && state.outputs <= kMostSums &&
                state.depth >= 1 && state.depth <= kMaxExtent;
  for (int axis = 0; axis < 2; ++axis) {
    single &=
        filter.shape[1 + axis] == 1 && window.strides[axis] == 1 && window.before[axis] == 0 && window.after[axis] == 0;
  }
  if (!single) return context.Fail(Code::kUnsupported, "this kernel has windows of one pixel and few outputs");
  // Room is cleared: what fills up the last vector is zero.
  LATHE_TRY(AllocateArray(context, DivideUp(state.depth, kLanes) * state.outputs * kLanes, &state.packed));
  const float* from = filter.As<float>();
  for (int64_t n = 0; n < state.outputs; ++n) {
    for (int64_t k = 0; k < state.depth; ++k, ++from) {
      state.packed[(k / kLanes * state.outputs + n) * kLanes + k % kLanes] = *from;
    }
  }
  return Code::kOk;
}

__attribute__((cold)) Code PlanDots(PlanContext& context) {
  const DotState& state = *static_cast<const DotState*>(context.state());
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  if (in[3] != state.depth) {
    return context.Fail(Code::kBadModel, "the filter has another number of input channels");
  }
  if (context.input_count() > 2 && context.input(2).shape[0] != state.outputs) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  const Shape expected = {4, {in[0], in[1], in[2], state.outputs}};
  for (int axis = 0; context.input_count() > 3 && axis < 4; ++axis) {
    if (context.input(3).shape[axis] != expected.dims[axis]) {
      return context.Fail(Code::kBadModel, "the residual and the output differ in shape");
    }
  }
  return CheckShape(context, 0, expected);
}

void RunDots(const RunContext& context) {
  const DotState& state = context.State<DotState>();
  const int64_t outputs = state.outputs, all = context.outputs[0].shape.Count(0, 3);
  const float* residual = context.input_count > 3 ? context.inputs[3].As<float>() : nullptr;
  float start[kMostSums * kLanes] = {};
  for (int64_t n = 0; context.input_count > 2 && n < outputs; ++n) start[n * kLanes] = context.inputs[2].As<float>()[n];
  const int64_t step = context.outputs[0].RowStep(), image_step = context.inputs[0].RowStep();
  context.For(DivideUp(all, kDotItem), 1, [&](int64_t item, int64_t end, int) {
    for (; item < end; ++item) {
      const int64_t first = item * kDotItem, count = all - first < kDotItem ? all - first : kDotItem;
      float* const output = context.outputs[0].As<float>() + first * step;
      const float* const image = context.inputs[0].As<float>() + first * image_step;
      RunDotJobOf(outputs, {image, image_step, count, state.depth, state.packed, start, output, step});
      for (int64_t i = 0; residual != nullptr && i < count * outputs; ++i) {
        output[i / outputs * step + i % outputs] += residual[first * outputs + i];
      }
      ActivateRows(state.activation, output, count, step, outputs);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::DotState),
    .prepare = lathe::PrepareDots,
    .plan = lathe::PlanDots,
    .run = lathe::RunDots,
};
