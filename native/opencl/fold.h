// Tensors with a border around them: the kernel of fold.cl.
#ifndef LATHE_OPENCL_FOLD_H_
#define LATHE_OPENCL_FOLD_H_

#include "native/opencl/movement.h"

namespace lathe {
namespace opencl {

enum Border { kFilled, kMirrored, kOutermost, kOnceMore };

// `before`: how wide the border is in front, for each axis. What follows from the shapes is behind.
Code EnqueueFold(Node& node, Border border, const int32_t* before, float fill);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_FOLD_H_
