// Operators on two operands that broadcast: the kernel of binary.cl.
#ifndef LATHE_OPENCL_BINARY_H_
#define LATHE_OPENCL_BINARY_H_

#include "native/opencl/node.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

// `activated`: the operator has an activation.
Code EnqueueBinary(Node& node, bool activated);

// The plan of a unit without one.
Code PlanBinary(Node& node);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_BINARY_H_
