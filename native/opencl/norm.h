// Normalisation over series of pixels: the kernel of norm.cl, which says what all of this is.
#ifndef LATHE_OPENCL_NORM_H_
#define LATHE_OPENCL_NORM_H_

#include "native/opencl/node.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

struct Norm {
  bool groups = false, centred = true, lanes = true, noted = false;
  int operands = 0;                 // inputs behind the first one that the kernel reads
  int64_t columns = 1, images = 1;  // how many series there are
  int64_t size = 1, step = 1, breadth = 1, rows = 1;
  int64_t numbers = 1;  // of a series
};

// The node's attribute `epsilon` goes to the kernel.
Code EnqueueNorm(Node& node, const Norm& norm, DeviceTensor& y);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_NORM_H_
