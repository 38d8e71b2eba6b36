// Some lines of a depthwise convolution with a window of 3 x 3, for the vectors of channels whose filters fit into
// registers: see depthwise_aarch64.h and depthwise_armv7.h for who computes them.
#ifndef LATHE_KERNEL_DEPTHWISE_DEPTHWISE_STRIP_H_
#define LATHE_KERNEL_DEPTHWISE_DEPTHWISE_STRIP_H_

#include <stddef.h>

#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

// Of all outputs the middle column of the window lies in the image. What changes from line to line may be used up.
struct DwStrip {
  const Element* const* inputs;  // of the first line the three rows that it looks at; the next line's are `stride` on
  const Element* filter;         // [9][channels]
  const Element* bias;
  Element* output;
  size_t filter_bytes;  // from tap to tap
  size_t start_bytes;   // from a row's begin to the first column that is read
  size_t pixel_bytes;   // from column to column
  size_t output_bytes;
  size_t line_bytes;  // from line to line of the output
  size_t lines;       // at least one
  size_t steps;       // outputs of a line whose last column lies in the image
  size_t before;      // whether the first column of the first output does
  size_t after;       // whether one more output ends with the column in front of its last
  size_t clip;        // 0: no limits; 1: the low one; 2: both
  Element low;
  Element high;
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_DEPTHWISE_DEPTHWISE_STRIP_H_
