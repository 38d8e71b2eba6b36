// What the kernels of control flow share: sizes and checks of what goes into and out of the regions of their node.
#ifndef LATHE_KERNEL_CONTROL_REGION_BORDERS_H_
#define LATHE_KERNEL_CONTROL_REGION_BORDERS_H_

#include "native/kernel/loops/copy.h"

namespace lathe {
namespace {

inline int64_t BytesOf(const Tensor& tensor) {
  return tensor.shape.Count() * static_cast<int64_t>(SizeOf(tensor.dtype));
}

// One number or one truth value, of any rank.
inline Code CheckSingle(const Reporter& reporter, const Tensor& tensor, const char* what) {
  return tensor.shape.Count() == 1 ? Code::kOk
                                   : reporter.Fail(Code::kBadModel, "its %s does not have one element", what);
}

inline bool IsTrue(const Tensor& tensor) { return *tensor.As<uint8_t>() != 0; }

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_CONTROL_REGION_BORDERS_H_
