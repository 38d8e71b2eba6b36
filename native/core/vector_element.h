// The type of tensors whose elements a set of vectors holds. The header of an instruction set (vector_*.h) goes before
// this one.
#ifndef LATHE_CORE_VECTOR_ELEMENT_H_
#define LATHE_CORE_VECTOR_ELEMENT_H_

#include "native/core/kernel.h"

namespace lathe {
namespace {

constexpr DType kElementType = sizeof(Element) == 2 ? DType::kF16 : DType::kF32;

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_VECTOR_ELEMENT_H_
