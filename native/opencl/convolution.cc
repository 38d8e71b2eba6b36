#include "native/opencl/convolution.h"

#include "native/opencl/device.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {
namespace {

int64_t Smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// Where the blocks of input channels begin that a block of outputs reads. The kernels count alike.
int64_t FirstBlock(int64_t block, int64_t group_inputs, int64_t group_outputs, int64_t in_blocks, int64_t blocks) {
  return Smaller(4 * block / group_outputs * group_inputs / 4, in_blocks - blocks);
}

// Of the blocks of outputs, the most input blocks that the groups of one's channels cover.
int32_t MostBlocks(const Convolution& conv) {
  int64_t most = 0;
  for (int64_t block = 0; block < conv.out.blocks; ++block) {
    const int64_t last_output = Smaller(4 * block + 3, conv.out.c - 1);
    const int64_t first = 4 * block / conv.group_outputs * conv.group_inputs / 4;
    const int64_t count = ((last_output / conv.group_outputs + 1) * conv.group_inputs + 3) / 4 - first;
    if (count > most) most = count;
  }
  return static_cast<int32_t>(most);
}

}  // namespace

void FillFilter(const float* source, const Shape& shape, int32_t width, int32_t height, const int64_t (&arguments)[4],
                float* pixels) {
  const int64_t outputs = shape[0], inputs = shape[-1], taps = shape.Count(1, shape.rank - 1);
  const int64_t group_outputs = outputs / arguments[0], in_blocks = (inputs * arguments[0] + 3) / 4;
  for (int64_t row = 0; row < height; ++row) {
    const int64_t block = row / taps, tap = row % taps;
    const int64_t first = 4 * FirstBlock(block, inputs, group_outputs, in_blocks, width / 4);
    for (int64_t lane = 0; lane < Smaller(4, outputs - 4 * block); ++lane) {
      const int64_t output = 4 * block + lane;
      const float* numbers = source + (output * taps + tap) * inputs;
      float* to = pixels + (row * width + output / group_outputs * inputs - first) * 4 + lane;
      for (int64_t i = 0; i < inputs; ++i) to[4 * i] = numbers[i];
    }
  }
}

Code CheckAdded(Node& node) {
  const DeviceTensor& y = node.output(0);
  bool fits = true;
  if (node.input_count() > 2) {
    const Shape& bias = node.input(2).shape;
    fits = bias.rank == 1 && bias[0] == y.view.c;
  }
  if (node.input_count() > 3) fits = fits && node.input(3).shape == y.shape;
  return fits ? Code::kOk : node.Fail(Code::kBadModel, "its bias or its residual has another shape than its output");
}

void AddInputs(Node& node, Launch* launch) {
  launch->Define("ADDED", node.input_count() - 2);
  for (int i = 2; i < node.input_count(); ++i) launch->In(node.input(i));
}

void AddWindows(const Convolution& conv, Launch* launch) {
  const View& in = conv.in;
  const View& out = conv.out;
  launch->Ints({in.h, in.w, in.blocks, out.h, out.w, out.c, conv.kernel[0], conv.kernel[1], conv.strides[0],
                conv.strides[1], conv.dilations[0], conv.dilations[1], conv.pads[0], conv.pads[1]});
}

Code ReadWindows(Node& node, int filter_rank, Convolution* made) {
  const int inputs = node.input_count();
  LATHE_TRY(CheckPixels(node, inputs < 2 ? 2 : inputs > 4 ? 4 : inputs, 1));
  const Shape& filter = node.input(1).shape;
  if (node.input(0).shape.rank != 4 || node.output(0).shape.rank != 4 || filter.rank != filter_rank)
    return node.Fail(Code::kBadModel, "one of its tensors has the wrong rank");
  if (!node.is_constant(1)) return node.Fail(Code::kUnsupported, "its filter is no constant");
  made->in = node.input(0).view;
  made->out = node.output(0).view;
  LATHE_TRY(ReadInts(node, "strides", 1, kMostExtent, 2, made->strides));
  LATHE_TRY(ReadInts(node, "dilations", 1, kMostExtent, 2, made->dilations));
  LATHE_TRY(ReadInts(node, "pads", 0, kMostExtent, 4, made->pads));
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t side = filter[filter_rank - 3 + axis];
    if (side < 1 || (side - 1) * made->dilations[axis] >= kMostExtent || made->in.n != made->out.n)
      return node.Fail(Code::kBadModel, "its filter or its batch has a size that does not fit");
    made->kernel[axis] = static_cast<int32_t>(side);
  }
  return CheckAdded(node);
}

Code CheckWindows(const Node& node, const Convolution& conv) {
  const int64_t in[] = {conv.in.h, conv.in.w}, out[] = {conv.out.h, conv.out.w};
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t extent = int64_t{conv.kernel[axis] - 1} * conv.dilations[axis] + 1;
    const int64_t room = in[axis] + conv.pads[axis] + conv.pads[axis + 2] - extent;
    if (room < 0 || room / conv.strides[axis] + 1 != out[axis])
      return node.Fail(Code::kBadModel, "its output does not have the size of its windows");
  }
  return Code::kOk;
}

Code ReadConvolution(Node& node, Convolution* made) {
  LATHE_TRY(ReadWindows(node, 4, made));
  int32_t groups = 0;
  LATHE_TRY(ReadInt(node, "groups", 1, kMostExtent, &groups));
  const Shape& filter = node.input(1).shape;
  if (filter[0] < 1 || filter[0] % groups != 0 || filter[0] != made->out.c || filter[3] < 1 ||
      filter[3] * groups != made->in.c)
    return node.Fail(Code::kBadModel, "its filter does not fit its channels");
  made->group_inputs = static_cast<int32_t>(filter[3]);
  made->group_outputs = static_cast<int32_t>(filter[0] / groups);
  made->blocks = MostBlocks(*made);
  return Code::kOk;
}

bool LeavesIdle(const Node& node, int64_t items) { return items < int64_t{1024} * node.device().compute_units; }

int32_t BlocksOfItem(const Node& node, int64_t items, int32_t blocks) {
  // Two take a quarter of the reads away, but twice the registers, which these do not have, and half the items.
  const DeviceFacts& device = node.device();
  if (device.maker == Maker::kMali || device.maker == Maker::kPowerVr) return 1;
  return blocks % 2 == 0 && !LeavesIdle(node, items) ? 2 : 1;
}

Code EnqueueConvolution(Node& node, const Convolution& conv, const char* function, bool slides, int64_t work_x) {
  const View& out = conv.out;
  const int32_t groups = out.c / conv.group_outputs;
  const int64_t rows = int64_t{out.blocks} * conv.kernel[0] * conv.kernel[1];
  if (rows > INT32_MAX) return node.Fail(Code::kUnsupported, "its filter is too large");
  DeviceTensor* filter;
  LATHE_TRY(node.Packed(1, 4 * conv.blocks, static_cast<int32_t>(rows), FillFilter, {groups, 0, 0, 0}, &filter));
  const int32_t of_item = groups > 1 ? 1 : BlocksOfItem(node, work_x * out.blocks * out.height(), out.blocks);
  Launch launch(node, function);
  launch.Define("BLOCKS", of_item).Define("SLIDE", slides).In(node.input(0)).In(*filter).Out(node.output(0));
  AddInputs(node, &launch);
  AddWindows(conv, &launch);
  launch.Ints({conv.blocks, conv.group_inputs, conv.group_outputs}).Activation();
  return launch.Enqueue(work_x, out.blocks / of_item, out.height());
}

}  // namespace opencl
}  // namespace lathe
