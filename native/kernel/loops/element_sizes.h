// Element types by their size alone, for kernels that move elements one by one.
#ifndef LATHE_KERNEL_LOOPS_ELEMENT_SIZES_H_
#define LATHE_KERNEL_LOOPS_ELEMENT_SIZES_H_

#include "native/kernel/math/convert.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

// Calls `f` with a null pointer of the unsigned type of an element's size: enough to move elements.
template <typename F>
inline void WithSizeOf(DType dtype, const F& f) {
  switch (SizeOf(dtype)) {
    case 1:
      return f(static_cast<const uint8_t*>(nullptr));
    case 2:
      return f(static_cast<const uint16_t*>(nullptr));
    case 4:
      return f(static_cast<const uint32_t*>(nullptr));
    default:
      return f(static_cast<const uint64_t*>(nullptr));
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_ELEMENT_SIZES_H_
