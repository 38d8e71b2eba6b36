// The element types that this kernel is compiled for: op.yaml names them, and the build says so by LATHE_TYPE_<TYPE>.
#ifndef LATHE_KERNEL_KERNEL_TYPES_H_
#define LATHE_KERNEL_KERNEL_TYPES_H_

#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

// KernelType is the one type of a kernel; KernelTypes<Rest> lists it, or is Rest for kernels of type `any`.
#if defined(LATHE_TYPE_F32)
using KernelType = float;
#elif defined(LATHE_TYPE_S32)
using KernelType = int32_t;
#elif defined(LATHE_TYPE_S64)
using KernelType = int64_t;
#endif

#if defined(LATHE_TYPE_ANY)
template <typename Rest>
using KernelTypes = Rest;
#else
template <typename Rest>
using KernelTypes = Types<KernelType>;
#endif

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_KERNEL_TYPES_H_
