// What the kernels of control flow share: moving tensors into and out of the regions of their node.
#ifndef LATHE_CORE_BODIES_H_
#define LATHE_CORE_BODIES_H_

#include "native/core/copy.h"

namespace lathe {
namespace {

inline int64_t BytesOf(const Tensor& tensor) {
  return tensor.shape.Count() * static_cast<int64_t>(SizeOf(tensor.dtype));
}

// Copies a tensor. Sizes that only the data decides may differ from those that were compared in `plan`, if the model is
// wrong: no more is copied than both have.
inline void MoveTensor(const RunContext& context, const Tensor& from, const Tensor& to) {
  const int64_t bytes = BytesOf(from) < BytesOf(to) ? BytesOf(from) : BytesOf(to);
  CopyRows(context, from.data, bytes, to.data, bytes, 1, bytes);
}

// One number or one truth value, of any rank.
inline Code CheckSingle(const Reporter& reporter, const Tensor& tensor, const char* what) {
  return tensor.shape.Count() == 1 ? Code::kOk
                                   : reporter.Fail(Code::kBadModel, "its %s does not have one element", what);
}

inline bool IsTrue(const Tensor& tensor) { return *tensor.As<uint8_t>() != 0; }

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BODIES_H_
