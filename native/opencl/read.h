// What units read and check of their nodes.
#ifndef LATHE_OPENCL_READ_H_
#define LATHE_OPENCL_READ_H_

#include "native/opencl/node.h"

namespace lathe {
namespace opencl {

constexpr int64_t kMostExtent = 1 << 24;  // of windows, strides and pads: sums of a few of them fit in 32 bits

// Exactly so many inputs and outputs, all of them pixels.
Code CheckPixels(Node& node, int inputs, int outputs);

// Whole numbers within limits.
Code ReadInt(const Node& node, const char* name, int64_t least, int64_t most, int32_t* value);
Code ReadInts(const Node& node, const char* name, int64_t least, int64_t most, int count, int32_t* values);

// Which of the words, separated by single spaces, an attribute is.
Code ReadChoice(const Node& node, const char* name, const char* words, int32_t* choice);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_READ_H_
