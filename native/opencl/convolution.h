// What the units of convolutions and products share: filters, windows, and the launches of tile.cl.
#ifndef LATHE_OPENCL_CONVOLUTION_H_
#define LATHE_OPENCL_CONVOLUTION_H_

#include "native/opencl/node.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

// Index 0 is vertical, 1 horizontal; pads are first those before, then those behind.
struct Convolution {
  View in, out;
  int32_t kernel[2], strides[2], dilations[2], pads[4];
  int32_t group_inputs, group_outputs;
  int32_t blocks;  // of input channels that one block of outputs reads, at most
};

// A convolution whose filter is the constant [outputs, height, width, inputs / groups]: attributes, and all inputs.
// Whether the output has the right height and width is left to `CountsWindows`.
Code ReadConvolution(Node& node, Convolution* made);

// The attributes and images of any convolution, and nothing of its filter's channels.
Code ReadWindows(Node& node, int filter_rank, Convolution* made);

// kBadModel unless the output has one pixel per window.
Code CheckWindows(const Node& node, const Convolution& conv);

// Inputs 2 and 3: a bias of the output's channels, and a tensor of its shape. Either may be missing.
Code CheckAdded(Node& node);
// -DADDED, and those inputs as the next tensors.
void AddInputs(Node& node, Launch* launch);
// The heights, widths and blocks or channels of input and output, and the windows: fourteen ints.
void AddWindows(const Convolution& conv, Launch* launch);

// Any filter as pixels of four outputs: (channel of the blocks that are read, block of outputs * taps + tap). The
// argument is the number of groups. Also of a matrix [outputs, inputs].
void FillFilter(const float* source, const Shape& shape, int32_t width, int32_t height, const int64_t (&arguments)[4],
                float* pixels);

// Whether so many items are too few for all units of the device to hide how long reads take.
bool LeavesIdle(const Node& node, int64_t items);

// How many blocks of outputs an item takes of that many items with one each.
int32_t BlocksOfItem(const Node& node, int64_t items, int32_t blocks);

// The kernels of conv2d and deconv2d, on `work_x` tiles per line.
Code EnqueueConvolution(Node& node, const Convolution& conv, const char* function, bool slides, int64_t work_x);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_CONVOLUTION_H_
