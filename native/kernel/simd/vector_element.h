// The type of tensors whose elements a set of vectors holds.
#ifndef LATHE_KERNEL_SIMD_VECTOR_ELEMENT_H_
#define LATHE_KERNEL_SIMD_VECTOR_ELEMENT_H_

#include "native/kernel/simd/simd.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

constexpr DType kElementType = sizeof(Element) == 2 ? DType::kF16 : DType::kF32;

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_ELEMENT_H_
