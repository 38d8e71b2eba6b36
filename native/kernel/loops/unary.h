// Functions of one number, written once for all element types: `Operation` is a template over the type it computes in.
#ifndef LATHE_KERNEL_LOOPS_UNARY_H_
#define LATHE_KERNEL_LOOPS_UNARY_H_

#include "native/kernel/loops/elementwise.h"
#include "native/kernel/loops/typed.h"
#if defined(LATHE_VARIANT_TABLE)
#include "native/kernel/quantised/byte_table.h"
#endif

namespace lathe {
namespace {

// The variant `table` looks quantised bytes up, `simple` maps f32, and `generic` serves the types of `List`.
template <typename Operation, typename List>
constexpr KernelFunctions AnyUnaryKernel() {
#if defined(LATHE_VARIANT_TABLE)
  return ByteTableKernel<Operation>();
#elif defined(LATHE_TYPE_F32)
  return UnaryKernel<Operation>();
#else
  return TypedUnaryKernel<Operation, List>();
#endif
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_UNARY_H_
