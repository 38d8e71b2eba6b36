// Axes that are made one element of: the kernel of reduce.cl.
#ifndef LATHE_OPENCL_REDUCE_H_
#define LATHE_OPENCL_REDUCE_H_

#include "native/opencl/node.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

// kMean: the sum divided by the count.
enum class Folding { kSum, kMean, kExtreme, kProduct };

Code EnqueueReduce(Node& node, Folding folding);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_REDUCE_H_
