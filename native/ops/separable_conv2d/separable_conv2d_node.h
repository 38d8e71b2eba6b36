// What all kernels of separable_conv2d read from their node, and how they cut their work.
//
// A block of lines of the image goes through both convolutions before the next one begins, so that what lies between
// them stays in cache: each thread has one block of it, in scratch memory.
#ifndef LATHE_OPS_SEPARABLE_CONV2D_NODE_H_
#define LATHE_OPS_SEPARABLE_CONV2D_NODE_H_

#include "native/kernel/depthwise/depthwise.h"
#include "native/kernel/gemm/packing.h"
#include "native/kernel/simd/simd.h"
#include "native/ops/dwconv2d/dwconv2d_node.h"

namespace lathe {
namespace {

// Inputs behind the image.
constexpr int kPointwiseFilter = 1;
constexpr int kPointwiseBias = 2;
constexpr int kDepthwiseFilter = 3;
constexpr int kDepthwiseBias = 4;
constexpr int kResidual = 5;

constexpr const char* kDepthwiseNames[] = {"depthwise_activation", "depthwise_activation_alpha",
                                           "depthwise_activation_beta"};

// Reads both convolutions: the activation of the first one, whose attributes have these names, that of the second one,
// the window of the depthwise one and the filter of the other. pointwise_dwconv2d has the same inputs, but no residual.
inline Code ReadBoth(PrepareContext& context, const char* const (&names)[3], int most, Activation* first,
                     Activation* second, Window* window, FilterShape* filter) {
  LATHE_TRY(CheckArity(context, 5, most, 1));
  LATHE_TRY(CheckAllTypes(context, kElementType));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(CheckRank(context, context.input(kPointwiseBias), 1, "its bias"));
  LATHE_TRY(CheckRank(context, context.input(kDepthwiseFilter), 3, "its depthwise filter"));
  LATHE_TRY(CheckRank(context, context.input(kDepthwiseBias), 1, "its depthwise bias"));
  if (context.input_count() > kResidual) LATHE_TRY(CheckRank(context, context.input(kResidual), 4, "its residual"));
  LATHE_TRY(ReadWindow(context, window));
  LATHE_TRY(ReadActivation(context, names, first));
  LATHE_TRY(ReadActivation(context, second));
  LATHE_TRY(ReadFilterShape(context, 4, 1, kMaxExtent, filter));
  if (filter->height * filter->width != 1) return context.Fail(Code::kBadModel, "its filter has more than one tap");
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t size = context.input(kDepthwiseFilter).shape[axis];
    if (size < 1 || size > kMaxExtent) return context.Fail(Code::kBadModel, "its depthwise filter is empty");
    window->kernel[axis] = size;
  }
  return Code::kOk;
}

// Whether depthwise.h has this window.
inline Code CheckSwept(PrepareContext& context, const Window& window, int64_t kernel) {
  const bool square = window.kernel[0] == kernel && window.kernel[1] == kernel;
  const bool steps = window.strides[0] == window.strides[1] && window.strides[0] <= 2;
  const bool dense = window.dilations[0] == 1 && window.dilations[1] == 1;
  if (square && steps && dense && context.input(kDepthwiseFilter).shape[2] >= DwUnit(kernel)) return Code::kOk;
  return context.Fail(Code::kUnsupported, "this kernel has another window");
}

// Checks that the shapes of this session belong together: of the filter that was read, and the channels of the
// depthwise convolution. Gives the shape of the output.
inline Code CheckBoth(PlanContext& context, const Window& window, int64_t depth, int64_t outputs, int64_t channels,
                      Shape* expected) {
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  const Tensor& pointwise = context.input(kPointwiseFilter);
  const Shape& filter = context.input(kDepthwiseFilter).shape;
  if (in[3] != depth || filter[2] != channels || context.input(kDepthwiseBias).shape[0] != channels) {
    return context.Fail(Code::kBadModel, "its filters have another number of channels");
  }
  for (int axis = 0; axis < 2; ++axis) {
    if (filter[axis] != window.kernel[axis]) {
      return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
    }
  }
  if (!pointwise.is_constant() && (pointwise.shape[0] != outputs || pointwise.shape[1] != 1 ||
                                   pointwise.shape[2] != 1 || pointwise.shape[3] != depth)) {
    return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
  }
  if (context.input(kPointwiseBias).shape[0] != outputs) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  *expected = {4, {in[0], 0, 0, outputs}};
  for (int axis = 0; axis < 2; ++axis) expected->dims[1 + axis] = WindowCount(window, axis, in[1 + axis], false);
  return CheckShape(context, 0, *expected);
}

// The work of a session.
struct SeparableCut {
  Shape between;   // of what lies between the convolutions
  int64_t lines;   // of a block
  int64_t blocks;  // of an image
  int64_t threads;
  int64_t elements;  // of a block
};

// Checks the shapes and cuts the image into blocks of about `pixels`: whole numbers of `step` lines each, at least one.
inline Code CutSeparable(PlanContext& context, const DwState& depthwise, int64_t channels, int64_t outputs,
                         int64_t pixels, int64_t step, SeparableCut* cut) {
  Shape expected = {};
  LATHE_TRY(CheckBoth(context, depthwise.window, channels, outputs, channels, &expected));
  for (int axis = 0; context.input_count() > kResidual && axis < 4; ++axis) {
    if (context.input(kResidual).shape[axis] != expected.dims[axis]) {
      return context.Fail(Code::kBadModel, "the residual and the output differ in shape");
    }
  }
  cut->between = expected;
  cut->between.dims[3] = channels;
  const int64_t width = expected[2] > 0 ? expected[2] : 1;
  const int64_t most = pixels / width;
  cut->lines = most > step ? most - most % step : step;
  cut->blocks = (expected[1] + cut->lines - 1) / cut->lines;
  cut->threads = context.threads();
  cut->elements = cut->lines * width * channels;
  if (cut->elements > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its lines are too long");
  return Code::kOk;
}

// Calls `f(batch, first, end, thread)` for the lines of every block.
template <typename F>
inline void ForBlocks(const RunContext& context, const SeparableCut& cut, const F& f) {
  context.For(cut.between[0] * cut.blocks, 1, [&](int64_t item, int64_t last, int thread) {
    for (; item < last; ++item) {
      const int64_t batch = item / cut.blocks;
      const int64_t first = (item - batch * cut.blocks) * cut.lines;
      const int64_t end = first + cut.lines < cut.between[1] ? first + cut.lines : cut.between[1];
      f(batch, first, end, thread);
    }
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SEPARABLE_CONV2D_NODE_H_
