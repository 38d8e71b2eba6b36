// The kernels at the borders of a part: floats in the order of the host, and pixels.
#ifndef LATHE_OPENCL_BORDER_H_
#define LATHE_OPENCL_BORDER_H_

#include "native/opencl/node.h"

namespace lathe {
namespace opencl {

// `function` is to_device or from_device, `size` of the side that has pixels.
Code EnqueueBorder(Node& node, const char* function, DeviceTensor& x, DeviceTensor& y, const View& size);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_BORDER_H_
