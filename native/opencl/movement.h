// Operators that only move elements. Each launch writes all of y; the texts of the kernels end with movement.cl.
#ifndef LATHE_OPENCL_MOVEMENT_H_
#define LATHE_OPENCL_MOVEMENT_H_

#include "native/opencl/node.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

// Where the four channels of a pixel of y are in x.
enum class Together { kNot, kInPixels, kInRuns };

// Begins a launch of movement.cl with what all of its kernels are given; the unit's own parameters follow.
void BeginMove(Launch& launch, DeviceTensor& x, DeviceTensor& y, Together together);
// Ends it.
Code EndMove(Launch& launch, const DeviceTensor& y);

// How an axis of y walks through x: along which of its axes, -1 where it stands still, and how far by each element.
struct Walk {
  int32_t axis;
  int32_t step;
};

// walk.cl. `walks` has one for each axis of y; `starts` says for each axis of x where the first element of y is. What
// would lie outside of x is found out here.
Code EnqueueWalk(Node& node, DeviceTensor& x, DeviceTensor& y, const Walk* walks, const int32_t* starts);

// The product of dims [begin, end): of a tensor whose view fits.
int32_t CountOf(const Shape& shape, int begin, int end);

// The leading axes of a tensor, all but the last two, as few as possible: what makes up its rows.
constexpr int kRowAxes = 4;

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_MOVEMENT_H_
