// Tensors as kernels of the device see them.
#ifndef LATHE_OPENCL_TENSORS_H_
#define LATHE_OPENCL_TENSORS_H_

#include "native/opencl/cl.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace opencl {

// What a tensor lives in. The words are those of common.cl.
enum class Home : uint8_t {
  kImage,   // image2d_t of CL_RGBA: `i`
  kBuffer,  // the same pixels in a buffer, row by row: `b`
  kNumbers  // 32 bits each, in the order of the shape: indices, and floats on their way from and to the host
};

// Any shape is seen as n, h, w, c: c is the last axis, w and h those before it, n all others. Pixels hold four
// neighbours of the last axis: pixel (block * w + x, n * h + y). Lanes behind the last channel hold zeros, always.
struct View {
  int32_t n = 1, h = 1, w = 1, c = 1;
  int32_t blocks = 1;  // (c + 3) / 4

  int32_t width() const { return w * blocks; }  // in pixels
  int32_t height() const { return n * h; }
};

// Also true of tensors that are too large for 32 bits: those no device takes.
LATHE_INLINE bool ViewOf(const Shape& shape, View* view) {
  int64_t dims[4] = {1, 1, 1, 1};
  for (int axis = 0; axis < shape.rank; ++axis) {
    const int place = 3 - (shape.rank - 1 - axis);
    dims[place > 0 ? place : 0] *= shape.dims[axis];
  }
  const int64_t blocks = (dims[3] + 3) / 4;
  constexpr int64_t kMost = INT32_MAX;
  if (blocks * dims[2] > kMost || dims[0] * dims[1] > kMost || blocks * dims[2] * dims[0] * dims[1] > kMost / 4)
    return false;
  *view = {static_cast<int32_t>(dims[0]), static_cast<int32_t>(dims[1]), static_cast<int32_t>(dims[2]),
           static_cast<int32_t>(dims[3]), static_cast<int32_t>(blocks)};
  return true;
}

constexpr int32_t kStaging = -2;  // memory that the host sees, too

struct DeviceTensor {
  Shape shape;
  View view;
  Home home = Home::kImage;
  int32_t width = 0, height = 0;  // pixels; of numbers, how many there are, and 1
  int32_t block = -1;             // of the session's pool; kStaging; -1: neither
  cl_mem memory = nullptr;        // once there is some
  const Tensor* host = nullptr;   // of a constant: what is to be uploaded when a launch asks for it
  int32_t first = 0, last = 0;    // steps between which it holds something
};

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_TENSORS_H_
