// Places of elements along an axis: the kernel of place.cl.
#ifndef LATHE_OPENCL_PLACE_H_
#define LATHE_OPENCL_PLACE_H_

#include "native/opencl/node.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

// Of the largest element, or with `sign` -1 of the smallest.
Code EnqueuePlace(Node& node, float sign);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_PLACE_H_
