// Rows of a depthwise convolution with a small square window, for kernels that hold the rows of their input in
// whatever way; depthwise_rows.h has the loops.
#ifndef LATHE_KERNEL_DEPTHWISE_DEPTHWISE_H_
#define LATHE_KERNEL_DEPTHWISE_DEPTHWISE_H_

#include <stddef.h>

#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
// Rows of output that share the loads of the filters: see depthwise_strips.h and depthwise_tiles_arm.h.
template <int kernel>
constexpr int kDwRows = kernel == 3              ? 4
                        : kVectorRegisters >= 32 ? 2
                                                 : 1;
// Channels that go by together.
constexpr int kDwChannels = kVectorRegisters >= 32 ? 2 * kLanes : kLanes;
#else
// Rows of output that share the loads of a column: more than one where the sums leave room for it.
template <int kernel>
constexpr int kDwRows = kVectorRegisters >= 32 && kernel == 3 ? 2 : 1;
constexpr int kDwChannels = kLanes;
#endif

// The same for a window of this size: fewer do not have a kernel.
constexpr int DwUnit(int64_t kernel) { return kernel == 3 ? kDwChannels : kLanes; }

// Rows that go from one convolution to the other together where two are one: not so many that they leave the cache.
constexpr int kDwFusedRows = kDwRows<3> < 2 ? kDwRows<3> : 2;

// Rows of input that so many rows of output look at.
constexpr int DwInputs(int kernel, int stride, int rows) { return kernel + (rows - 1) * stride; }

}  // namespace
inline namespace LATHE_ISA {

// One call's rows. Distances are in elements.
struct DwRows {
  const Element* const* inputs;  // DwInputs() rows, each at column 0 and channel 0; padding is a row of zeros
  const Element* filter;         // [kernel, kernel, channels]
  const Element* bias;           // may be null
  Element* output;               // of the first row, at the first column that is wanted and channel 0
  ptrdiff_t output_row;          // from row to row
  ptrdiff_t lines;               // rows of output, up to kDwRows
  ptrdiff_t output_pixel;        // from column to column
  ptrdiff_t channels;            // of an input pixel and of the filter
  ptrdiff_t width;               // columns of the input
  ptrdiff_t before;              // columns of padding in front of it
  float low;                     // limits of the results
  float high;
};

// Columns [begin, end) of the output and channels [first, last) of them, at least kDwChannels, for a window of 3 x 3
// and steps of one column or two. Once per instruction set: depthwise_unit.h
void RunDw3x3(const DwRows& job, bool halves, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t last);

}  // namespace LATHE_ISA
}  // namespace lathe

#endif  // LATHE_KERNEL_DEPTHWISE_DEPTHWISE_H_
