// Pools over windows: the kernel of pool.cl.
#ifndef LATHE_OPENCL_POOL_H_
#define LATHE_OPENCL_POOL_H_

#include "native/opencl/node.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

// `counts_padding`: taps in the padding are taps.
Code EnqueuePool(Node& node, bool counts_padding);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_POOL_H_
